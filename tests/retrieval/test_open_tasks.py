"""A question for what is open is answered by the open tasks, one for days to come by what names them."""

from pathlib import Path

import pytest
from sample_store import ask
from sleeping import sleep
from small_store import note
from tables import table

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


@pytest.mark.parametrize(("is_answered", "question"), table(__file__, "due"))
def test_those_due_come_first(busy: Store, is_answered: str, question: str) -> None:
    found = [each.text.rpartition(": ")[2] for each in ask(busy, question).memories]
    assert (found == TASKS) == (is_answered == "yes")


@pytest.mark.parametrize(("question", "tasks"), table(__file__, "names and times"))
def test_those_of_a_name_or_a_time(store: Store, tmp_path: Path, question: str, tasks: str) -> None:
    boat = "- [ ] Mia: order sails 📅 2026-03-04\n- [ ] @Ben call the mooring\n- [x] Ben: tar\n"
    rest = "- [ ] new chairs for Ben by 5 March\n- [ ] return the keys by 20 February\n"
    rest += "- [ ] Ben: new rope by 27 February\n\n## Harbour Tower\n\n- [ ] Mia: paint\n"
    note(store, tmp_path / "2026-02-18.md", f"# 18 February 2026\n\n## Boat\n\n{boat}{rest}")
    sleep(store, "2026-02-18T23:00:00+01:00")
    found = [each.text for each in ask(store, question, now="2026-02-25T09:00:00+01:00").memories]
    expected = tasks.split(", ")
    assert len(found) == len(expected), found
    assert all(task in text for task, text in zip(expected, found, strict=True)), found


def test_when_a_thing_is_due_is_no_question_for_the_tasks_that_name_it(
    store: Store, tmp_path: Path
) -> None:
    text = "The draft of Harbour Tower is due on 4 March.\n\n- [ ] Harbour Tower: paint\n"
    note(store, tmp_path / "2026-02-18.md", f"# 18 February 2026\n\n{text}")
    sleep(store, "2026-02-18T23:00:00+01:00")
    (first, *_) = ask(store, "when is Harbour Tower due?").memories
    assert "4 March" in first.text


def test_it_says_where_a_task_stands(busy: Store, tmp_path: Path) -> None:
    (first,) = ask(busy, "what is open?", k=1).memories
    source = first.sources[0]
    assert (source.path, source.line_start) == (str(tmp_path / "2026-02-19.md"), 4)


@pytest.mark.parametrize(("question", "found"), table(__file__, "on or by a day"))
def test_what_is_due(store: Store, tmp_path: Path, question: str, found: str) -> None:
    lines = (
        "The roofer looks at the damp on Friday 27 February.",
        "Dentist on 4 March, 8:50.",
        "Ada painted the boat on Friday.",
        "Ella's birthday is on 12 March.",
    )
    note(store, tmp_path / "2026-02-24.md", "# Home\n\n" + "".join(f"- {each}\n" for each in lines))
    memories = ask(store, question).memories
    assert (memories[0].text if memories else "") == found


def test_a_box_of_a_living_list_is_due_on_the_day_it_names(store: Store, tmp_path: Path) -> None:
    lines = "# Todo\n\n- [ ] order gloves for the whole team\n"
    for day in (20, 24):
        note(store, tmp_path / "todo.md", lines, now=f"2026-02-{day}T20:00:00+01:00")
        sleep(store, f"2026-02-{day}T23:00:00+01:00")
        lines += "- [ ] send the receipts of the stolen tools to Ada before 4 March\n"
    (first, *_) = ask(store, "what is due next week?").memories
    assert "receipts" in first.text
