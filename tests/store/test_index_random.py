"""However files come, change and go: what is counted is exact, and the index is as if made anew."""

from __future__ import annotations

import shutil
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from index_changes import Files, contents, rows

from clsm_cli.store.index import database, vector_rows
from clsm_cli.store.index.opening import Embedder, bring_up_to_date

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from clsm_cli.store.layout import Store


def fake(texts: Sequence[str]) -> Any:
    """Any vectors of the right shape: what is tested here is how many there are."""
    ones = np.ones((1, 64), np.float32) / 8
    sentence = np.ones(384, np.float32) / np.float32(384**0.5)
    return [SimpleNamespace(sentence=sentence, tokens=ones, pieces=("salt",)) for _ in texts]


def brought_up(store: Store, embedder: Embedder | None) -> sqlite3.Connection:
    connection = database.open_to_write(store.derived)
    bring_up_to_date(store, connection, embedder, None)
    return connection


def check_counts(connection: sqlite3.Connection) -> None:
    assert rows(connection, "SELECT passages, length FROM totals") == rows(
        connection, "SELECT COUNT(*), COALESCE(SUM(length), 0) FROM passages WHERE current"
    )
    assert rows(connection, "SELECT name, n FROM speakers ORDER BY name") == rows(
        connection,
        "SELECT speaker, COUNT(*) FROM passages WHERE speaker <> '' GROUP BY speaker ORDER BY 1",
    )
    assert rows(connection, "SELECT digest FROM waiting ORDER BY digest") == rows(
        connection,
        "SELECT DISTINCT embedded FROM passages WHERE embedded NOT IN (SELECT digest FROM vectors)"
        " ORDER BY embedded",
    )
    sentences, tokens = rows(connection, "SELECT COUNT(*), COALESCE(SUM(tokens), 0) FROM vectors")[
        0
    ]
    assert vector_rows.committed(connection)[:2] == (sentences, tokens)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_counted_is_what_is_there(store: Store, seed: int) -> None:
    random = Random(seed)
    files = Files(store, random)
    for _ in range(12):
        for _ in range(random.randrange(1, 4)):
            files.change()
        embedder = Embedder(random.choice(["one", "one", "two"]), lambda: fake)
        connection = brought_up(store, random.choice([None, embedder]))
        check_counts(connection)
        connection.close()


@pytest.mark.parametrize("seed", range(6))
def test_changes_lead_to_the_index_that_would_be_made_anew(store: Store, seed: int) -> None:
    random = Random(seed)
    files = Files(store, random)
    for _ in range(12):
        for _ in range(random.randrange(1, 4)):
            files.change()
        connection = brought_up(store, None)
        grown = contents(connection)
        connection.close()
    shutil.rmtree(store.derived)
    connection = brought_up(store, None)
    made_anew = contents(connection)
    connection.close()
    for table, expected in made_anew.items():
        assert grown[table] == expected, table
