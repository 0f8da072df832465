"""Records of which something was forgotten: what is left of them is shown, and nothing else."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import atomic, logs, shards
from clsm_cli.store.index import database, graph_queries
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import bring_up_to_date
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
        known = graph_queries.nodes_by_name(index.connection, [*mentions, "heron"])
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


def test_a_turn_that_two_episodes_hold_stays_mentioned_when_one_goes(store: Store) -> None:
    """An episode that lost turns is forgotten; another has those that stay."""
    bury(store, "e-0")
    put(store, "flow/pi/graph/0.yaml", EpisodeRecord(id="e-1", rev=REV, mentions={"mara": (A,)}))
    put(store, "flow/pi/graph/1.yaml", EpisodeRecord(id="e-2", rev=REV, mentions={"brian": (A,)}))
    both = {graph_queries.number_of("mara"), graph_queries.number_of("brian")}
    assert {*graph_queries.nodes_of_turns(fresh(store).connection, [A])[A]} == both
    (store.root / "flow/pi/graph/1.yaml").unlink()
    assert graph_queries.nodes_of_turns(fresh(store).connection, [A]) == {
        A: [graph_queries.number_of("mara")]
    }
    bury(store, "e-0", "e-1")
    assert graph_queries.nodes_of_turns(fresh(store).connection, [A]) == {}
