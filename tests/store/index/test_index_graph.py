"""However records come, change and go on two machines: the graph's rows are what the records say."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from index_changes import brought_up
from ingesting import new_store
from small_store import state

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import logs, shards
from clsm_cli.store.index import database, graph_queries, maintenance
from clsm_cli.store.index.opening import bring_up_to_date
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id

NODES = ("mara", "brian", "heron", "quay")
ALIASES = ("Mara Lind", "the heron", "harbour")
TURNS = {"e-1": ("00000000000a", "00000000000b"), "e-2": ("00000000000c", "00000000000d")}
DEVICES = ("pi", "attic")


def put(store: Store, path: str, *records: Record) -> None:
    """Write one shard; none removes it."""
    full = store.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.unlink(missing_ok=True)
    if records:
        full.write_bytes(shards.render(records))


def anew(store: Store) -> sqlite3.Connection:
    database.discard(store.derived)
    return brought_up(store)


def a_node(random: Random, device: str) -> Node:
    return Node(
        id=random.choice(NODES),
        rev=(random.randrange(1, 4), device),
        label=random.choice(NODES).title(),
        aliases=tuple(sorted(random.sample(ALIASES, random.randrange(3)))),
        n=random.randrange(9),
        last=random.choice([None, "2026-02-24", "2026-02-20T08:00:00+01:00"]),
    )


def an_edge(random: Random, device: str) -> Edge:
    source, target = random.sample((*NODES, "missing"), 2)
    return Edge(
        id=f"x-{random.randrange(6)}",
        rev=(random.randrange(1, 4), device),
        source=source,
        target=target,
        type=random.choice(["co_occurs", "owns", "next"]),
        weight=random.choice([0.1, 0.5]),
        pinned=random.choice([True, True, False]),
        superseded_at=random.choice([None, None, "2026-02-24T00:00:00Z"]),
    )


def an_episode(random: Random, device: str) -> EpisodeRecord:
    episode = random.choice([*TURNS])
    return EpisodeRecord(
        id=episode,
        rev=(random.randrange(1, 4), device),
        mentions={
            node: tuple(sorted(random.sample(TURNS[episode], random.randrange(1, 3))))
            for node in random.sample(NODES, random.randrange(3))
        },
        stage=random.choice(["pending", "consolidated"]),
    )


def scramble(store: Store, random: Random) -> None:
    """Write one shard anew; an id stands in it once."""
    device = random.choice(DEVICES)
    folder = random.choice(["projects/graph", f"flow/{device}/graph"])
    makers: list[Callable[[Random, str], Record]] = [a_node, an_edge]
    make = an_episode if folder.startswith("flow") else random.choice(makers)
    records = {each.id: each for each in (make(random, device) for _ in range(4))}
    put(store, f"{folder}/{random.randrange(3)}.yaml", *records.values())


@pytest.mark.parametrize("seed", range(6))
def test_the_graph_is_what_the_joined_records_say(store: Store, seed: int) -> None:
    random = Random(100 + seed)
    for _ in range(8):
        scramble(store, random)
    connection = brought_up(store)
    joined = shards.load_graph(store.graphs()).records
    nodes = {r.id: r for r in joined.values() if isinstance(r, Node)}
    found = graph_queries.nodes(connection, [graph_queries.number_of(node) for node in NODES])
    assert {row.id: (row.label, row.aliases, row.n) for row in found.values()} == {
        node.id: (node.label, node.aliases, node.n) for node in nodes.values()
    }
    for node in nodes.values():
        assert (
            graph_queries.number_of(node.id)
            in graph_queries.nodes_by_name(connection, [node_id(node.label)])[node_id(node.label)]
        )
    edges = {
        (*ends, r.type, r.weight)
        for r in joined.values()
        if isinstance(r, Edge) and r.type != "next" and r.pinned and r.superseded_at is None
        for ends in ((r.source, r.target), (r.target, r.source))
    }
    numbers = {graph_queries.number_of(node): node for node in (*NODES, "missing")}
    assert {
        (numbers[link.node], numbers[link.other], link.type, link.weight)
        for link in graph_queries.set_by_hand(connection, numbers)
    } == edges
    told = {
        (turn, node)
        for r in joined.values()
        if isinstance(r, EpisodeRecord)
        for node, turns in r.mentions.items()
        for turn in turns
    }
    assert {
        (turn, numbers[node])
        for turn, mentioned in graph_queries.nodes_of_turns(
            connection, sum(TURNS.values(), ())
        ).items()
        for node in mentioned
    } == told


def test_folded_uses_are_read_and_a_bad_line_is_reported(store: Store) -> None:
    store.flow.mkdir(parents=True, exist_ok=True)
    lines = [
        logs.render(logs.Use("f-1", "2026-02-20", 2)),
        logs.render(logs.Use("f-1", "2026-02-22", 1)),
        b'{"id": "f-2"}',
    ]
    (store.flow / "uses.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    connection = brought_up(store)
    found = connection.execute("SELECT id, day, n FROM uses ORDER BY id, day").fetchall()
    assert found == [("f-1", 739667, 2), ("f-1", 739669, 1)]
    (listed,) = connection.execute("SELECT problems FROM files WHERE kind = 'uses'").fetchone()
    assert listed == '[[3, "is no line of uses"]]'


# A record may lie in the folder of another stream: the index says the same however it was made.


def differences(store: Store) -> list[str]:
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, None, None)
        return maintenance.differences(store, connection)


def test_a_statement_that_comes_into_another_folder(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    state(store, "identity", "people", "Mara lives in Haarlem.", ("0123456789ab",))
    assert differences(store) == []
    (path,) = store.graph("identity").iterdir()
    other = store.graph("flow") / path.name
    other.parent.mkdir(parents=True)
    path.rename(other)
    assert differences(store) == []
    other.write_bytes(other.read_bytes().replace(b"Haarlem", b"Leeds"))
    assert differences(store) == []
