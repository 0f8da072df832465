"""Conversations in order of time; what a question asks of them is in retrieval/test_time_scope.py."""

import itertools
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

from ingesting import take
from small_store import note, row

from clsm_cli.store.index import database, session_queries
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

END = '{{"type": "session_end", "session": "{}", "timestamp": "{}"}}\n'


def test_order_is_that_of_instants(store: Store, tmp_path: Path) -> None:
    """Two conversations that ended, told in the wrong order and in two zones; one open; a note."""
    late = "2026-02-20T23:30:00-05:00"
    rows = [
        row("We met [[Odette]] at the quay.", session="late", timestamp=late),
        END.format("late", late),
        row("The kettle is new.", session="early", timestamp="2026-02-20T23:55:00+01:00"),
        row("It whistles.", session="early", timestamp="2026-02-21T00:10:00+01:00"),
        END.format("early", "2026-02-21T00:10:00+01:00"),
        row("Still here?", session="open", timestamp="2026-02-24T08:00:00+01:00"),
    ]
    take(store, stdin="".join(rows).encode())
    path = tmp_path / "2026-02-19.md"
    note(store, path, "# Day\n\nA note about [[Odette]].\n", model=False)
    with open_index(store, None) as opened:
        found = session_queries.sessions_by_time(opened.index.connection)
    assert [each.id for each in found] == [str(path), "early", "late", "open"]
    assert [each.is_note for each in found] == [True, False, False, False]
    assert found[2].start == datetime(2026, 2, 21, 4, 30, tzinfo=UTC).timestamp()
    assert found[2].day == date(2026, 2, 21).toordinal()  # in the zone of the store
    assert [each.last_open for each in found[:3]] == [None, None, None]
    assert found[3].last_open == datetime(2026, 2, 24, 7, tzinfo=UTC).timestamp()


def test_one_of_many_conversations_or_notes_is_found_without_reading_the_others(
    store: Store,
) -> None:
    rows = [{"name": str(n), "at": f"2026-02-{n % 28 + 1:02}"} for n in range(1000)]
    with closing(database.in_memory(None)) as connection:
        for values in (
            "places (id, session, episode) VALUES (:name, :name, 'e')",
            "passages (place, key, part, length) VALUES (:name, :name, 0, 1)",
            "documents VALUES (:name, 'memory/' || :name)",
            "episodes (id, file, document, recorded) VALUES (:name, 1, :name, :at)",
        ):
            connection.executemany(f"INSERT INTO {values}", rows)
        index, steps = Index(connection, store), itertools.count()
        assert index.capture_times("8") == ("2026-02-08", "2026-02-09")  # reads them all, once
        connection.set_progress_handler(lambda: next(steps) * 0, 1)
        assert index.keys_in_episodes("7") == {"7"}
        assert [turn.key for turn in index.known_turns("7")] == ["7"]
        assert session_queries.statements_of_session(connection, "7") == []
        assert index.capture_times("7") == ("2026-02-07", "2026-02-08")
        assert next(steps) < len(rows)
