"""The vector files: their rows are as documented, and only what the database has committed counts."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ingesting import _embed as real_vectors
from ingesting import embedder
from laid_down import lay_capture

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic
from clsm_cli.store.index import database
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.layout import Store

SALT = "The salt isn't in the blue jar."
BEECH = "Brian burns beech in the workshop."
ROW = {"sentences.q4": 192, "tokens.q2": 16}
FILES = sorted(ROW)


def key_of(text: str) -> str:
    return turn_key("harbour", "Mara", None, text)


def capture(store: Store, *texts: str) -> None:
    for text in texts:
        lay_capture(store, "harbour", Turn(key_of(text), "Mara", "user", text))


@pytest.fixture
def both(store: Store) -> Store:
    capture(store, SALT, BEECH)
    return store


def rows_of(store: Store, engine: Embedder | None = None) -> dict[str, bytes]:
    """The committed rows of each file, brought up to date."""
    with open_index(store, engine or embedder()) as opened:
        sentences, tokens = opened.index.vectors.sentence_rows(), opened.index.vectors.token_rows()
        return {"sentences.q4": bytes(sentences or b""), "tokens.q2": bytes(tokens or b"")}


def by_row(store: Store) -> list[str]:
    """The texts of the first two rows."""
    with open_index(store, None) as opened:
        found = opened.index.rows_of_vectors([0, 1])
        rows = {vector: row for vector, _, _, row in found}
        passages = opened.index.passages([rows[0], rows[1]])
        return [passages[rows[0]].text, passages[rows[1]].text]


def path_of(store: Store, name: str) -> Path:
    return store.derived / "index" / name


def nibbles(rows: bytes) -> Any:
    """Codes of ``sentences.q4``: component j low in byte j, component j + 192 high."""
    packed = np.frombuffer(rows, np.uint8).reshape(-1, 192)
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(int)


def pairs(rows: bytes) -> Any:
    """Codes of ``tokens.q2``: components 2j, 2j + 32, 2j + 1, 2j + 33 in byte j, lowest bits first."""
    packed = np.frombuffer(rows, np.uint8).reshape(-1, 16)
    codes = np.zeros((len(packed), 64), int)
    for place, first in enumerate((0, 32, 1, 33)):
        codes[:, first : first + 31 : 2] = packed >> 2 * place & 3
    return codes


def test_rows_hold_the_codes_of_the_real_vectors(both: Store) -> None:
    rows = rows_of(both)
    texts = by_row(both)
    embedded = real_vectors(texts)
    wanted = [np.clip(np.rint(e.sentence * 40), -7, 7) + 8 for e in embedded]
    assert np.array_equal(nibbles(rows["sentences.q4"]), np.asarray(wanted))
    kept = {SALT: ["salt", "blue", "jar"], BEECH: ["brian", "burns", "beech", "workshop"]}
    found = zip(texts, embedded, strict=True)
    rows_of_words = ((e, [e.pieces.index(w) for w in kept[text]]) for text, e in found)
    tokens = np.concatenate([e.tokens[places] for e, places in rows_of_words])
    assert np.array_equal(pairs(rows["tokens.q2"]), np.clip(np.floor(tokens * 10), -2, 1) + 2)


@pytest.mark.parametrize("name", FILES)
def test_bytes_past_the_committed_rows_do_not_exist(store: Store, name: str) -> None:
    capture(store, SALT)
    before = rows_of(store)
    with path_of(store, name).open("ab") as file:
        file.write(b"torn by a crash" * 50)
    assert rows_of(store) == before
    capture(store, BEECH)
    after = rows_of(store)
    for each in FILES:
        assert after[each].startswith(before[each])
        assert path_of(store, each).stat().st_size == len(after[each]) > len(before[each])


def test_a_file_that_is_made_anew_has_its_name_for_good_before_its_rows_count(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut brings the file of the other engine back under rows of this one."""
    capture(store, SALT)
    rows_of(store)
    other = Embedder("other", lambda: real_vectors)
    done: list[tuple[Path, int]] = []
    sync = atomic.sync_folder

    def synced(folder: Path) -> None:
        with sqlite3.connect(database.path_of(store.derived)) as index:
            (count,) = index.execute("SELECT COUNT(*) FROM vectors").fetchone()
        done.append((folder, count))
        sync(folder)

    monkeypatch.setattr(atomic, "sync_folder", synced)
    rows_of(store, other)
    folder = database.path_of(store.derived).parent
    assert [each for each in done if each[0] == folder] == [(folder, 0)] * len(FILES)


def turn_a_bit(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("place", [0, 191, 192, 300])
def test_a_bit_that_turned_in_a_sentence_is_made_right_at_once(both: Store, place: int) -> None:
    with open_index(both, embedder()) as opened:
        before = opened.index.vectors_of([key_of(SALT), key_of(BEECH)])
    turn_a_bit(path_of(both, "sentences.q4"), place)
    asked: list[str] = []

    def counted(texts: Any) -> Any:
        asked.extend(texts)
        return real_vectors(texts)

    with open_index(both, Embedder(embedder().engine, lambda: counted)) as opened:
        assert opened.warnings == []
        after = opened.index.vectors_of([key_of(SALT), key_of(BEECH)])
    assert len(asked) == 1, "only the text whose vector it was"
    assert all(np.array_equal(after[key], before[key]) for key in before)
    with open_index(both, Embedder(embedder().engine, pytest.fail)) as opened:
        assert opened.index.vectors.waiting == 0


def test_tokens_that_turned_are_left_out_and_made_anew_by_the_next(both: Store) -> None:
    with open_index(both, embedder()) as opened:
        rows = opened.index.current_rows()
        before = {
            each.key: bytes(opened.index.vectors.tokens_of(each.vector_rows) or b"")
            for each in opened.index.traits(rows).values()
        }
        spoilt = next(e for e in opened.index.traits(rows).values() if e.key == key_of(BEECH))
    turn_a_bit(path_of(both, "tokens.q2"), spoilt.token * ROW["tokens.q2"] + 20)
    with open_index(both, embedder()) as opened:
        for each in opened.index.traits(rows).values():
            found = opened.index.vectors.tokens_of(each.vector_rows)
            assert found == (None if each.key == key_of(BEECH) else before[each.key])
        assert opened.index.vectors.damaged == {spoilt.vector}
        assert "damaged where 1 passages" in opened.late_warnings()[0]
    with open_index(both, embedder()) as opened:
        tokens_of = opened.index.vectors.tokens_of
        after = opened.index.traits(opened.index.current_rows()).values()
        assert {e.key: bytes(tokens_of(e.vector_rows) or b"") for e in after} == before
        assert opened.late_warnings() == opened.warnings == []


def test_a_row_of_another_text_is_none(both: Store) -> None:
    """A number that turned in the database points at vectors that are right, of something else."""
    rows_of(both)
    with sqlite3.connect(database.path_of(both.derived)) as index:
        index.execute("UPDATE vectors SET row = 1 - row")
    for is_right in (False, True):
        with open_index(both, embedder()) as opened:
            found = opened.index.traits(opened.index.current_rows()).values()
            held = [opened.index.vectors.tokens_of(each.vector_rows) is not None for each in found]
            assert held == [is_right, is_right]
