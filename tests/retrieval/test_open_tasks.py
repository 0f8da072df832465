"""A question for what is open is answered by the open tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_store import ask
from sleeping import sleep
from small_store import note

from clsm_cli.store.layout import Store

TASKS = ["pay the rent by 3 March", "cancel the gym", "stamps"]
PAGES = (
    "Need to:\n\n- [ ] stamps\n- [ ] sell the boat\n",
    "- [ ] cancel the gym\n- [ ] pay the rent by 3 March\n\nSold:\n\n- [x] sell the boat\n",
)


@pytest.fixture
def busy(store: Store, tmp_path: Path) -> Store:
    for number, text in enumerate(PAGES, start=18):
        note(store, tmp_path / f"2026-02-{number}.md", f"# {number} February 2026\n\n{text}")
        sleep(store, f"2026-02-{number}T23:00:00+01:00")
    return store


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("which tasks are open?", True),
        ("what do I still have to do?", True),
        ("what should I do next?", True),
        ("what needs to be done?", True),
        ("which tasks are done?", False),
        ("what did I still do?", False),
        ("what is open at the gym?", False),
    ],
)
def test_those_due_come_first(busy: Store, question: str, *, is_answered: bool) -> None:
    found = [each.text.rpartition(": ")[2] for each in ask(busy, question).memories]
    assert (found == TASKS) == is_answered


def test_it_says_where_a_task_stands(busy: Store, tmp_path: Path) -> None:
    (first,) = ask(busy, "what is open?", k=1).memories
    assert (first.sources[0].path, first.sources[0].line_start) == (
        str(tmp_path / "2026-02-19.md"),
        4,
    )
