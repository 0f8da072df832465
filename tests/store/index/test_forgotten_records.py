"""Records of which something was forgotten: what is left of them is shown, and nothing else."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import atomic, logs, shards
from clsm_cli.store.index import database, graph_queries
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import bring_up_to_date
from clsm_cli.store.topics import text_sha

if TYPE_CHECKING:
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store

A, B = "00000000000a", "00000000000b"
REV = (1, "pi")
AT = "2026-02-24T00:00:00Z"


def put(store: Store, path: str, *records: Any) -> None:
    atomic.put(store.root / path, shards.render(sorted(records, key=lambda each: each.id)))


def bury(store: Store, *ids: str) -> None:
    lines = [logs.render(logs.Tombstone(tombstone_hash(each), AT)) for each in ids]
    atomic.put(store.root / "tombstones" / "pi.jsonl", b"\n".join(lines) + b"\n")


def fresh(store: Store) -> Index:
    with closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, None, None)
        return Index(database.in_memory(connection), store)


def shown(index: Index) -> dict[str, tuple[str, ...]]:
    """The visible statements: id → sources."""
    found = index.passages(index.current_rows())
    return {passage.key: passage.sources for passage in found.values()}


def states(store: Store, stream: Stream, **sources: tuple[str, ...]) -> None:
    """Statements in a topic file and its shard, or in flow."""
    records = []
    for name, turns in sources.items():
        text = f"The {name} is here."
        inside: dict[str, Any] = (
            {"text": text} if stream == "flow" else {"text_sha": text_sha(text)}
        )
        records.append(
            Statement(
                id=name, rev=REV, stream=stream, topic="t", sources=turns, subject="m", **inside
            )
        )
    if stream == "flow":
        put(store, "flow/pi/graph/0.yaml", *records)
    else:
        put(store, f"{stream}/graph/0.yaml", *records)
        lines = "".join(f"- The {name} is here. ^{name}\n" for name in sources)
        atomic.put(store.root / stream / "t.md", lines.encode())


@pytest.mark.parametrize("stream", ["projects", "tasks", "flow"])
def test_a_statement_goes_with_all_that_it_rests_on(store: Store, stream: Stream) -> None:
    states(store, stream, one=(A,), two=(A, B), none=(), own=(B,))
    assert shown(fresh(store)).keys() == {"one", "two", "none", "own"}
    bury(store, A, "own")
    index = fresh(store)
    assert shown(index) == {"two": (B,), "none": ()}
    assert index.record("one") is None
    assert index.record("own") is None
    assert isinstance(two := index.record("two"), Statement)
    assert two.sources == (B,)
    bury(store)
    assert shown(fresh(store)) == {"one": (A,), "two": (A, B), "none": (), "own": (B,)}


def test_an_item_with_the_id_of_what_was_forgotten_is_not_shown(store: Store) -> None:
    """An old clone's line comes back by a merge, its record does not."""
    atomic.put(store.root / "projects" / "t.md", b"- The ferry is late. ^f-1\n- Salt keeps.\n")
    bury(store, "f-1")
    found = fresh(store)
    assert [p.text for p in found.passages(found.current_rows()).values()] == ["Salt keeps."]


def test_who_writes_a_forgotten_sentence_again_means_it(store: Store) -> None:
    atomic.put(store.root / "projects" / "t.md", b"- Salt keeps.\n")
    (born,) = shown(fresh(store))
    bury(store, born)
    (again,) = shown(fresh(store))
    assert again != born


def test_a_node_is_shown_as_long_as_a_turn_that_is_left_mentions_it(store: Store) -> None:
    mentions = {"mara": (A, B), "brian": (A,), "quay": (A,)}
    put(store, "flow/pi/graph/0.yaml", EpisodeRecord(id="e-1", rev=REV, mentions=mentions))
    nodes = [
        Node(id=name, rev=REV, label=name.title(), n=len(turns), pinned=name == "quay")
        for name, turns in mentions.items()
    ]
    put(store, "projects/graph/0.yaml", *nodes, Node(id="heron", rev=REV, label="Heron"))

    def counted() -> dict[str, int]:
        index = fresh(store)
        numbers = [graph_queries.number_of(name) for name in (*mentions, "heron")]
        found = graph_queries.nodes(index.connection, numbers).values()
        assert {row.id for row in found} == {n for n in (*mentions, "heron") if index.node(n)}
        known = graph_queries.named(index.connection, [*mentions, "heron"])
        assert known.keys() == {row.id for row in found}
        return {row.id: row.n for row in found}

    assert counted() == {"mara": 2, "brian": 1, "quay": 1, "heron": 0}
    bury(store, A)
    assert counted() == {"mara": 1, "quay": 0}
    later = EpisodeRecord(id="e-2", rev=REV, mentions={"heron": (B,)})
    put(store, "flow/pi/graph/1.yaml", later)
    assert counted() == {"mara": 1, "quay": 0, "heron": 0}
    (store.root / "flow/pi/graph/1.yaml").unlink()
    assert counted() == {"mara": 1, "quay": 0}


def test_an_edge_goes_with_all_that_it_rests_on(store: Store) -> None:
    edges = [
        Edge(id=name, rev=REV, source="mara", target=name, sources=turns, weight=0.5)
        for name, turns in {"one": (A,), "two": (A, B), "none": ()}.items()
    ]
    put(store, "projects/graph/0.yaml", *edges)
    bury(store, A)
    index = fresh(store)
    found = graph_queries.links(index.connection, [graph_queries.number_of("mara")])
    assert {link.other for link in found} == {
        graph_queries.number_of("two"),
        graph_queries.number_of("none"),
    }


def test_a_turn_that_two_episodes_hold_stays_mentioned_when_one_goes(store: Store) -> None:
    """An episode that lost turns is forgotten; another has those that stay."""
    bury(store, "e-0")
    put(store, "flow/pi/graph/0.yaml", EpisodeRecord(id="e-1", rev=REV, mentions={"mara": (A,)}))
    put(store, "flow/pi/graph/1.yaml", EpisodeRecord(id="e-2", rev=REV, mentions={"brian": (A,)}))
    both = {graph_queries.number_of("mara"), graph_queries.number_of("brian")}
    assert {*graph_queries.noted(fresh(store).connection, [A])[A]} == both
    (store.root / "flow/pi/graph/1.yaml").unlink()
    assert graph_queries.noted(fresh(store).connection, [A]) == {
        A: [graph_queries.number_of("mara")]
    }
    bury(store, "e-0", "e-1")
    assert graph_queries.noted(fresh(store).connection, [A]) == {}
