"""What a person without a name says of themselves is looked up as theirs, and replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ingesting import new_store
from sample_store import ask
from sleeping import NOW, rows, sleep, told

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("question", ["Where do I live?", "Where does the user live?"])
def test_where_the_user_lives(tmp_path: Path, question: str) -> None:
    store = new_store(tmp_path / "memory")
    told(store, tmp_path, "a", ("user", "2026-01-05T10:00:00+01:00", "I live in Leeds now."))
    told(store, tmp_path, "b", ("user", "2026-02-02T10:00:00+01:00", "I've moved to York."))
    sleep(store)
    held = [row for row in rows(store).values() if row.slot and row.superseded_at is None]
    assert {(row.subject, row.slot) for row in held} == {("user", "residence")}
    assert [row.value for row in held if row.is_current] == ["York"]
    assert [fact.value for fact in ask(store, question, now=NOW).facts] == ["York"]
    then = ask(store, question, now=NOW, as_of="2026-01-20")
    assert [fact.value for fact in then.facts] == ["Leeds"]


def test_a_named_person_is_not_the_user(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    told(store, tmp_path, "a", ("user", "2026-01-05T10:00:00+01:00", "Mara lives in Leeds now."))
    sleep(store)
    assert ask(store, "Where do I live?", now=NOW).facts == ()
    assert [fact.value for fact in ask(store, "Where does Mara live?", now=NOW).facts] == ["Leeds"]
