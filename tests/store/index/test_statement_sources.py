"""What a statement rests on, after its sources changed and its text did not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ingesting import new_store
from small_store import state

from clsm_cli.model.graph import Statement
from clsm_cli.store import shards
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

FIRST, SECOND = "0123456789ab", "ba9876543210"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A statement that rests on one turn, in the index."""
    store = new_store(tmp_path / "memory")
    state(store, "identity", "people", "Mara keeps bees.", (FIRST,))
    assert keys(store) == [FIRST]
    return store


def keys(store: Store) -> list[str]:
    """The turns that all statements rest on, as the index has them."""
    with open_index(store, None) as opened:
        connection = opened.index.connection
        found = [row for (row,) in connection.execute("SELECT id FROM passages")]
        return [key for _, key in graph_queries.source_keys(connection, found)]


def rest_on(store: Store, *sources: str) -> None:
    """Give the statement other sources, as a run or a merge does."""
    (path,) = shards.shard_files(store.graph("identity"))
    (row,) = shards.read(path).records
    assert isinstance(row, Statement)
    path.write_bytes(shards.render([replace(row, sources=sources, rev=(row.rev[0] + 1, "pc"))]))


def test_it_gains_a_source(store: Store) -> None:
    rest_on(store, FIRST, SECOND)
    assert keys(store) == sorted([FIRST, SECOND])


@pytest.mark.parametrize("sources", [(), (SECOND,)])
def test_it_loses_one(store: Store, sources: tuple[str, ...]) -> None:
    rest_on(store, *sources)
    assert keys(store) == [*sources]
