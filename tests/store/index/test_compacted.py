"""What is not indexed any more is in no byte of the index; what is stays, to the bit."""

import sqlite3
from contextlib import closing

import pytest
from forgetting.planting import holding
from ingesting import embedder
from laid_down import lay_document, lay_episode

from clsm_cli.errors import DiskError, LockedError
from clsm_cli.model.episodes import EpisodeRecord, Turn
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic, shards
from clsm_cli.store.index import database, maintenance
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import bring_up_to_date, open_index
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.layout import Store

CANARY = "xylograph"
KEPT = ("The ferry leaves at nine.", "Salt is in the blue jar.", "Brian burns beech.")
GONE = (f"Where is the {CANARY}?", f"Ask Mr {CANARY.title()} about the mill.")
REV = (1, "pi")

SALT = Node(id="salt", rev=REV, label="Salt", aliases=("sea salt",))


@pytest.fixture
def store(store: Store) -> Store:
    lay_episode(store.flow, "harbour", _turns("harbour", *KEPT))
    told = _turns("mill", *GONE)
    mill = lay_episode(store.flow, "mill", told)
    for path, title, text in (
        ("notes.md", "Salt", "Salt keeps."),
        (f"{CANARY}.md", CANARY.title(), f"One {CANARY} a day."),
    ):
        lay_document(store, path, 1, [(title, turn) for turn in _turns(path, text, speaker="")])
    node = Node(id=CANARY, rev=REV, label=CANARY.title(), aliases=(f"old {CANARY}",))
    edge = Edge(id="x-1", rev=REV, source=CANARY, target=f"{CANARY}-mill", weight=0.5)
    atomic.put(store.graph("projects") / "0.yaml", shards.render([node, SALT, edge]))
    record = EpisodeRecord(id=mill, rev=REV, mentions={CANARY: tuple(turn.key for turn in told)})
    atomic.put(store.graph("flow") / "0.yaml", shards.render([record]))
    _fresh(store)
    return store


def _turns(session: str, *texts: str, speaker: str = "Mara") -> list[Turn]:
    heading = (session.title(),)
    keys = [turn_key(session, "Mara", None, text) for text in texts]
    told = zip(keys, texts, strict=True)
    return [Turn(key, speaker, "user", text, heading=heading) for key, text in told]


def _fresh(store: Store) -> None:
    with closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, embedder(), None)


def _forget(store: Store) -> None:
    """The files of what has the canary go."""
    for name in holding(store.root, CANARY):
        if name.endswith((".md", ".yaml")):
            (store.root / name).unlink()
    atomic.put(store.graph("projects") / "0.yaml", shards.render([SALT]))
    _fresh(store)


def _found(store: Store) -> list[str]:
    """Files of the index that hold the canary, whatever the case."""
    return holding(store.derived / "index", CANARY)


def _vectors(store: Store) -> dict[int, tuple[bytes, bytes]]:
    """Digest of a text → its codes, of the sentence and of its tokens."""
    connection = database.open_to_read(store.derived)
    assert connection is not None
    with closing(connection):
        index = Index(connection, store)
        sentences, tokens = index.vectors.sentence_rows() or b"", index.vectors.token_rows() or b""
        return {
            digest: (
                bytes(sentences[row * SENTENCE_BYTES : (row + 1) * SENTENCE_BYTES]),
                bytes(tokens[first * TOKEN_BYTES : (first + count) * TOKEN_BYTES]),
            )
            for digest, row, first, count, _ in connection.execute("SELECT * FROM vectors")
        }


def _used(store: Store) -> set[int]:
    with open_index(store, embedder()) as opened:
        query = (
            "SELECT embedded FROM passages UNION"
            " SELECT embedded FROM nodes WHERE embedded IS NOT NULL"
        )
        return {row[0] for row in opened.index.connection.execute(query)}


def test_what_went_is_in_no_byte_and_what_stays_is_the_same(store: Store) -> None:
    _forget(store)
    assert "index.sqlite" in _found(store)
    before, used = _vectors(store), _used(store)
    assert used < before.keys()
    maintenance.compact(store)
    assert _found(store) == []
    after = _vectors(store)
    assert after == {digest: before[digest] for digest in used}
    files = {path.name: path.stat() for path in (store.derived / "index").iterdir()}
    assert files["sentences.q4"].st_size == SENTENCE_BYTES * len(used)
    assert files["tokens.q2"].st_size == sum(len(tokens) for _, tokens in after.values())
    assert files["index.sqlite"].st_mode & 0o777 == 0o600


def test_nothing_is_replaced_under_a_reader(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its offsets belong to the files that are there; it must end first."""
    _forget(store)
    before, used = _vectors(store), _used(store)
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "timeout": 0.1}))
    reader = database.open_to_read(store.derived)
    assert reader is not None
    with closing(reader):
        reader.execute("BEGIN")
        assert VectorFiles(reader, store.derived).committed.sentences == len(before)
        with pytest.raises(LockedError):
            maintenance.compact(store)
        rows = Index(reader, store).vectors.sentence_rows()
        assert rows is not None
        assert len(rows) == len(before) * SENTENCE_BYTES
        reader.execute("ROLLBACK")
    _fresh(store)
    assert _vectors(store).keys() == used
    maintenance.compact(store)
    assert _found(store) == []
    assert _vectors(store) == {digest: before[digest] for digest in used}


@pytest.mark.parametrize("step", ["refresh", "changes"])
def test_a_crash_costs_vectors(store: Store, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(store)
    before, used = _vectors(store), _used(store)

    def stopped(*_: object) -> None:
        raise DiskError(store.derived, "the power went")

    with monkeypatch.context() as patch:
        patch.setattr(maintenance, step, stopped)
        with pytest.raises(DiskError):
            maintenance.compact(store)
    assert _found(store) == []
    _fresh(store)
    assert _vectors(store) == {digest: before[digest] for digest in used}
