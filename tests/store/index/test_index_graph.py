"""However records come, change and go on two machines: the graph's rows are what the records say."""

from contextlib import closing
from random import Random

import pytest
from index_changes import NODES, Files, brought_up
from small_store import state

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import logs, shards
from clsm_cli.store.index import graph_queries, maintenance
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id


@pytest.mark.parametrize("seed", range(6))
def test_the_graph_is_what_the_joined_records_say(store: Store, seed: int) -> None:
    files = Files(store, Random(100 + seed))
    files.add_episode()
    for _ in range(12):
        files.describe()
    connection = brought_up(store)
    joined = shards.load_graph(store.graphs()).records
    nodes = {r.id: r for r in joined.values() if isinstance(r, Node)}
    found = graph_queries.nodes(connection, [graph_queries.number_of(node) for node in NODES])
    assert {row.id: (row.label, row.aliases, row.n) for row in found.values()} == {
        node.id: (node.label, node.aliases, node.n) for node in nodes.values()
    }
    for node in nodes.values():
        name = node_id(node.label)
        named = graph_queries.nodes_by_name(connection, [name])[name]
        assert graph_queries.number_of(node.id) in named
    edges = {
        (*ends, r.type, r.weight)
        for r in joined.values()
        if isinstance(r, Edge) and r.type != "next" and r.pinned and r.superseded_at is None
        for ends in ((r.source, r.target), (r.target, r.source))
    }
    numbers = {graph_queries.number_of(node): node for node in (*NODES, "missing")}
    assert {
        (numbers[link.node], numbers[link.other], link.type, link.weight)
        for link in graph_queries.pinned_links(connection, numbers)
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
        for turn, mentioned in graph_queries.nodes_of_turns(connection, files.keys()).items()
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
    with closing(brought_up(store)) as connection:
        return maintenance.differences(store, connection)


def test_a_statement_that_comes_into_another_folder(store: Store) -> None:
    state(store, "identity", "people", "Mara lives in Haarlem.", ("0123456789ab",))
    assert differences(store) == []
    (path,) = store.graph("identity").iterdir()
    other = store.graph("flow") / path.name
    other.parent.mkdir(parents=True)
    path.rename(other)
    assert differences(store) == []
    other.write_bytes(other.read_bytes().replace(b"Haarlem", b"Leeds"))
    assert differences(store) == []
