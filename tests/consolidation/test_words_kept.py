"""A statement is its author's sentence; the days that are certain stand beside it, and no others."""

from datetime import datetime
from pathlib import Path

import pytest
from ingesting import new_store
from sleeping import current, rows, sleep, told
from small_store import note

from clsm_cli.commands.context import context_lines
from clsm_cli.model.graph import Statement
from clsm_cli.retrieval.briefing import brief
from clsm_cli.store.layout import Store

NOTE = """# 9 March 2026

- My passport expires on 30 October, and I must renew it in Leeds.
- My brother Tom moved to Leeds last week, to a flat of 900 euros a month.
- [ ] Send the manuscript by 15 November
- [ ] Water the ferns by 1 March
"""
NIGHT = "2026-03-10T08:00:00+00:00"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("kept")
    store = new_store(folder / "memory")
    note(store, folder / "2026-03-09.md", NOTE)
    sleep(store, NIGHT)
    return store


def of(store: Store, words: str) -> Statement:
    return next(row for row in rows(store).values() if words in row.text and row.is_current)


def test_texts_are_the_words_of_the_note(store: Store) -> None:
    texts = [row.text for row in rows(store).values() if row.kind != "gist"]
    assert len(texts) >= 2
    assert all(text in NOTE for text in texts)


def test_what_is_certain_stands_beside(store: Store) -> None:
    assert of(store, "manuscript").due == "2026-11-15"
    assert of(store, "ferns").due is None  # a week late, or next year's


def test_the_context_gives_the_day_that_words_count_from(store: Store) -> None:
    lines = context_lines(brief(store, datetime.fromisoformat("2026-03-20T08:00:00+00:00"), 2000))
    assert any(line.endswith("/2026-03-09.md") for line in lines)
    assert any("moved to Leeds last week, to a flat" in line for line in lines)
    assert not any("2025" in line or "2027" in line for line in lines)


def test_a_note_without_a_day_has_no_tomorrow(tmp_path: Path) -> None:
    boxes = "- [ ] Submit the form by 4 April\n- [ ] Call Ada Vos about the mortgage tomorrow\n"
    store = new_store(tmp_path / "memory")
    note(store, tmp_path / "MEMORY.md", f"# Open\n\n{boxes}")
    sleep(store, NIGHT)
    assert [row.due for row in rows(store).values() if row.kind == "task"] == [None, None]


def test_the_same_words_of_two_days_are_two_statements(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    said = "I broke my left wrist yesterday, playing tennis with Paul."
    for name, time in ("a", "2026-03-02T18:00:00+00:00"), ("b", "2026-03-06T18:00:00+00:00"):
        told(store, tmp_path, name, ("Ida", time, said))
    sleep(store, NIGHT)
    assert [said in text for text in current(store, "wrist")] == [True, True]
    sleep(store, "2026-03-12T08:00:00+00:00", rebuild=True)
    assert [said in text for text in current(store, "wrist")] == [True, True]
