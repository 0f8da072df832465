"""What grows in an inbox costs the index its own rows, and the index says what a fresh one says."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic, inbox
from clsm_cli.store.index import database, maintenance
from clsm_cli.store.index.opening import bring_up_to_date
from clsm_cli.store.layout import Store

SESSION = "harbour"
TEXTS = ("The ferry leaves at nine.", "I moved to Leeds.", "Is it late? We met yesterday.")


@pytest.fixture
def box(store: Store) -> Path:
    return inbox.path_of(store.inbox, SESSION)


def capture(box: Path, *texts: str) -> None:
    turns = [
        Turn(turn_key(SESSION, "Mara", None, text), "Mara", "user", text, "2026-02-24T08:00:00Z")
        for text in texts
    ]
    items = [inbox.CapturedTurn(SESSION, turn, "2026-02-24T22:00:00Z") for turn in turns]
    atomic.append(box, inbox.render(items))


def rows_by_text(store: Store) -> dict[str, int]:
    """Rows of passages by text, in an index that says what one made anew says."""
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, None, None)
        assert maintenance.differences(store, connection) == []
        return dict(connection.execute("SELECT text, id FROM passages ORDER BY id"))


def test_what_was_captured_before_keeps_its_rows(store: Store, box: Path) -> None:
    capture(box, *TEXTS[:2])
    before = rows_by_text(store)
    capture(box, TEXTS[2], TEXTS[0])  # the second one is known
    after = rows_by_text(store)
    assert list(after) == list(TEXTS)
    assert {text: after[text] for text in before} == before


def test_a_torn_line_and_its_end(store: Store, box: Path) -> None:
    capture(box, *TEXTS[:2])
    whole = box.read_bytes()
    box.write_bytes(whole[:-20])
    assert list(rows_by_text(store)) == [TEXTS[0]]
    box.write_bytes(whole)
    assert list(rows_by_text(store)) == list(TEXTS[:2])
