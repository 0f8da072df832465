"""What has a tombstone does not exist for any reader, and a sweep takes it out of the files."""

from dataclasses import replace

import pytest
from forgetting.planting import holding
from laid_down import bury

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Block, Document, Episode, EpisodeRecord, OpenQuestion, Turn
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import statement_id, tombstone_hash
from clsm_cli.model.tombstones import visible
from clsm_cli.store import (
    atomic,
    cleanup,
    episode_files,
    inbox,
    logs,
    record_files,
    runs,
    settle,
    shards,
    topics,
)
from clsm_cli.store.layout import Store

NOW = "2026-02-24T08:00:00Z"
GONE, LEFT = "0" * 12, "1" * 12
REV = (1, "pi")
CANARY = "The canary is called Pip."


def hashes(*ids: str) -> frozenset[str]:
    return frozenset(map(tombstone_hash, ids))


def row(record: str = "f-1", *sources: str, text: str = CANARY) -> Statement:
    return Statement(
        id=record,
        rev=REV,
        text=text,
        text_sha=topics.text_sha(text),
        stream="identity",
        topic="birds",
        sources=sources,
        recorded_at=NOW,
    )


def test_tombstones_are_read_again_when_they_grow(store: Store) -> None:
    assert logs.load_tombstones(store) == frozenset()
    assert bury(store, ["a"]) == hashes("a")
    assert bury(store, ["b"]) == hashes("a", "b")


EDGE = Edge(id="g-1", rev=REV, source="a", target="b")
PIP = Node(id="pip", rev=REV, summary=CANARY, sources=(GONE, LEFT))
MINE = Node(id="pip", rev=REV, summary="Mine.", pinned=True)
WALK = EpisodeRecord(id="e-1", rev=REV)
MENTIONS = {"pip": (GONE,), "mara": (GONE, LEFT), "x": ()}
BLOCKS = tuple(Block(key=key, line_start=n, line_end=n) for n, key in enumerate((GONE, LEFT)))
RECORDS: dict[str, tuple[Record, Record | None]] = {
    "a statement loses a source": (row("f-1", GONE, LEFT), row("f-1", LEFT)),
    "a statement without any left": (row("f-1", GONE), None),
    "one that has none by a person": (row(), row()),
    "what it superseded": (replace(row(), supersedes="f-gone"), row()),
    "itself": (row("f-gone", LEFT), None),
    "the record of an episode": (EpisodeRecord(id="e-gone", rev=REV), None),
    "an edge": (replace(EDGE, sources=(GONE,)), None),
    "an edge at an episode": (replace(EDGE, source="e-gone"), None),
    "a derived edge": (EDGE, EDGE),
    "a summary": (PIP, replace(PIP, summary="", sources=(LEFT,))),
    "a pinned summary": (replace(MINE, sources=(GONE,)), MINE),
    "mentions": (
        replace(WALK, mentions=MENTIONS),
        replace(WALK, mentions={"mara": (LEFT,), "x": ()}),
    ),
    "an answer": (
        replace(WALK, open_questions=(OpenQuestion("Who?", GONE),)),
        replace(WALK, open_questions=(OpenQuestion("Who?"),)),
    ),
    "blocks": (
        Document(id="d", rev=REV, blocks=BLOCKS, closed={GONE: (NOW, LEFT), "2" * 12: (NOW, GONE)}),
        Document(id="d", rev=REV, blocks=BLOCKS[1:], closed={"2" * 12: (NOW, "")}),
    ),
    "a document without any left": (Document(id="d-1", rev=REV, closed={GONE: (NOW, "")}), None),
    "an empty document": (Document(id="d-1", rev=REV), Document(id="d-1", rev=REV)),
}


@pytest.mark.parametrize("case", RECORDS)
def test_what_is_left_of_a_record(case: str) -> None:
    record, left = RECORDS[case]
    forgotten = hashes(GONE, "f-gone", "e-gone")
    assert visible(record, forgotten) == left
    assert visible(record, frozenset()) is record
    found = shards.fold([shards.Shard((record,), (), None)], forgotten).records
    assert found == ({} if left is None else {record.id: left})
    if left is not None:
        assert visible(left, forgotten) is left


def test_a_shard_that_is_written_holds_nothing_forgotten(store: Store) -> None:
    names = [f"f-{n}" for n in range(200)]
    one, two, three, new = [
        name for name in names if shards.shard_name(name, 1) == shards.shard_name(names[0], 1)
    ][:4]
    old = [row(one, GONE), row(two, GONE, LEFT), row(three, LEFT)]
    runs.apply(store, "test", NOW, record_files.plan_records(store, "identity", old))
    bury(store, [GONE, three])
    runs.apply(store, "test", NOW, record_files.plan_records(store, "identity", [row(new, LEFT)]))
    found = shards.load_graph([store.graph("identity")]).records
    assert found == {two: row(two, LEFT), new: row(new, LEFT)}


def test_items_of_forgotten_statements_do_not_exist(store: Store) -> None:
    page = f"- {CANARY}  ^f-gone\n- Mara whistles.  ^f-1\n- Pip sings.  ^f-2\n- {CANARY}\n"
    atomic.put(store.root / "identity" / "birds.md", page.encode())
    told = row("f-1", LEFT, text="Mara whistles."), row("f-2", GONE, text="Pip sings.")
    runs.apply(store, "test", NOW, record_files.plan_records(store, "identity", told))
    plain = statement_id(CANARY.lower())
    forgotten = bury(store, ["f-gone", GONE, plain])
    seen = shards.load_graph(store.graphs(), forgotten).records
    again = topics.birth_id(CANARY, forgotten)
    assert again != plain
    found = record_files.load_statements(store, seen, NOW)
    assert {i: each.withdrawn for i, each in found.items()} == {"f-1": False, again: False}


def turn(key: str, text: str) -> Turn:
    return Turn(key=key, speaker="user", role="user", text=text, time="2026-02-24T08:00:00+00:00")


def test_an_episode_without_its_forgotten_turns() -> None:
    whole = Episode("e-1", "main", (turn(GONE, CANARY), turn(LEFT, "Fine.")), NOW)
    assert episode_files.without_forgotten(whole, frozenset()) is whole
    assert episode_files.without_forgotten(whole, hashes("e-1")) is None
    assert episode_files.without_forgotten(whole, hashes(GONE, LEFT)) is None
    left = episode_files.without_forgotten(whole, hashes(GONE))
    assert left is not None
    assert [each.key for each in left.turns] == [LEFT]


def fill(store: Store) -> None:
    """Statements with items, an episode, an inbox; some of another machine."""
    rows = [row("f-1", GONE), row("f-2", LEFT, text="Mara whistles.")]
    runs.apply(store, "test", NOW, record_files.plan_records(store, "identity", rows))
    page = f"# Birds\n\nA word of mine.\n\n## Pip\n\n- {CANARY}  ^f-1\n\n## Mara\n\n- Mara whistles.  ^f-2\n"
    atomic.put(store.root / "identity" / "birds.md", page.encode())
    atomic.put(store.root / "projects" / "pip.md", f"# Pip\n\n- {CANARY}  ^f-gone\n".encode())
    flow = store.root / "flow" / "pc"
    episode = Episode("e-0123456789ab", "main", (turn(GONE, CANARY), turn(LEFT, "Fine.")), NOW)
    atomic.put(episode_files.file_of(episode, flow), episode_files.render(episode))
    box = [(GONE, CANARY), ("2" * 12, "Hm.")]
    items = [inbox.CapturedTurn("s", turn(key, text), NOW) for key, text in box]
    atomic.append(inbox.path_of(flow / "inbox", "s"), inbox.render(items))
    atomic.put(flow / "graph" / "a.yaml", shards.render([row("f-9", GONE)]))


def test_a_sweep_takes_out_what_came_back_and_nothing_else(store: Store) -> None:
    fill(store)
    forgotten = bury(store, [GONE, "e-0123456789ab", "f-gone"])
    kept = set(store.derived.glob("runs/*"))
    seen = shards.load_graph(store.graphs(), forgotten).records
    assert set(seen) == set(record_files.load_statements(store, seen, NOW)) == {"f-2"}
    cleanup.sweep(store, NOW)
    assert holding(store.root, CANARY) == []
    page = (store.root / "identity" / "birds.md").read_text(encoding="utf-8")
    assert "A word of mine." in page
    assert "Pip" not in page
    assert "- Mara whistles.  ^f-2" in page
    assert not (store.root / "projects" / "pip.md").exists()
    assert set(shards.load_graph(store.graphs()).records) == {"f-2"}
    (path,) = episode_files.files(store.root / "flow" / "pc")  # a turn that nothing else holds
    rest = episode_files.read(path)
    assert [each.key for each in rest.turns] == [LEFT]
    assert rest.id != "e-0123456789ab"
    (box,) = inbox.files(store.root / "flow" / "pc" / "inbox")
    assert [item.turn.text for item in inbox.read(box).turns] == ["Hm."]
    assert cleanup.plan(store, forgotten) == []
    assert settle.plan(store, NOW) == ([], [])
    assert set(store.derived.glob("runs/*")) == kept  # nothing is kept of what went
