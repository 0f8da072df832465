from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.todo import due_day, is_done_of, is_same_task, todos

TUESDAY = date(2026, 2, 10)


def _short(text: str, heading: tuple[str, ...] = ()) -> list[tuple[str, str, str | None, str]]:
    return [todo[:4] for todo in todos(text, TUESDAY, heading)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] Water the figs", ("Water the figs", "open", None, "")),
        ("- [x] Water the figs", ("Water the figs", "done", None, "")),
        ("* [X] **Water** the [[Figs]]", ("Water the Figs", "done", None, "")),
        ("1. [ ] Water the figs", ("Water the figs", "open", None, "")),
        ("- [!] Roof", ("Roof", "blocked", None, "")),
        ("- [ ] Roof: blocked until May", ("Roof", "blocked", None, "until May")),
        ("- [ ] Roof, blocked by the scaffold", ("Roof", "blocked", None, "the scaffold")),
        ("- [ ] Roof: blocked, no news", ("Roof", "blocked", None, "no news")),
        ("- [ ] Roof: waits for the slates", ("Roof", "blocked", None, "the slates")),
        ("- [x] Roof: blocked until May", ("Roof: blocked until May", "done", None, "")),
        (
            "TODO: call the roofer by Friday",
            ("Call the roofer by Friday", "open", "2026-02-13", ""),
        ),
        ("- TODO(ada): sort the nails", ("Sort the nails", "open", None, "")),
        ("// TODO: close the socket", ("Close the socket", "open", None, "")),
        (
            "- [ ] Essay, due on 27 February",
            ("Essay, due on 27 February", "open", "2026-02-27", ""),
        ),
        ("- [ ] Essay (tomorrow)", ("Essay (tomorrow)", "open", "2026-02-11", "")),
        ("- [ ] Essay 2026-03-01 #work", ("Essay 2026-03-01", "open", "2026-03-01", "")),
        ("- [ ] Fix the blocked drain", ("Fix the blocked drain", "open", None, "")),
        ("- [ ] Pay the rent by the 20th", ("Pay the rent by the 20th", "open", "2026-02-20", "")),
        ("todo: buy clay", ("Buy clay", "open", None, "")),
        ("- [ ] ~~Water the figs~~", ("Water the figs", "done", None, "")),
    ],
)
def test_items(text: str, expected: tuple[str, str, str | None, str]) -> None:
    assert _short(text) == [expected]


@pytest.mark.parametrize(
    "heading", ["Todo", "To do", "TODOs", "Tasks", "Next steps", "Open tasks", "Todo for today"]
)
def test_bullets_under_a_heading(heading: str) -> None:
    assert _short("- Paint the door", ("Monday", heading)) == [("Paint the door", "open", None, "")]
    text = f"## {heading}\n\n- Paint the door\n\n## Weather\n\n- Rain"
    assert [todo[0] for todo in _short(text)] == ["Paint the door"]


@pytest.mark.parametrize(
    "text",
    [
        "- Paint the door",
        "- [-] Paint the door",
        "- [ ]",
        "- [link](a.md) to the door",
        "```\n- [ ] Paint the door\n```",
        "The todo list is long.",
        "I need to think.",
        "I need to think about it by Friday.",
        "I need to tell you something.",
        "I have to say it was good.",
        "I had to call the bank.",
        "I don't need to call the bank.",
        "If I need to call the bank, I will.",
        "Do I need to call the bank?",
        "I'll call you.",
        "I'll send it.",
        "I should call the bank some day.",
        "We need to keep going.",
        "I need to take a break tomorrow.",
        "I think I need to talk to him.",
        "I'm going to see a play with Ada tonight.",
        "I need to save enough money.",
        "She called the bank yesterday.",
        "I will always remember Friday.",
        "> I need to call the bank tomorrow",
        "",
    ],
)
def test_no_task(text: str) -> None:
    assert todos(text, TUESDAY) == []


@pytest.mark.parametrize(
    ("text", "task", "due"),
    [
        ("I need to call the bank tomorrow.", "Call the bank tomorrow", "2026-02-11"),
        ("Hi! I have to renew my passport, but not now.", "Renew my passport", None),
        ("Please remind me to water the figs.", "Water the figs", None),
        ("Remind me on Friday to call Ada.", "Call Ada", "2026-02-13"),
        ("Don't forget to lock the shed.", "Lock the shed", None),
        ("I'll send it by Friday.", "Send it by Friday", "2026-02-13"),
        (
            "I'm going to pick up the parcel on Saturday",
            "Pick up the parcel on Saturday",
            "2026-02-14",
        ),
        ("We still need to order the tiles.", "Order the tiles", None),
        ("I have to see the dentist on 12 March.", "See the dentist on 12 March", "2026-03-12"),
        ("Can you remind me to feed the cat on Friday?", "Feed the cat on Friday", "2026-02-13"),
        ("I promise to send the photos by Monday.", "Send the photos by Monday", "2026-02-16"),
        ("Need to order clay.", "Order clay", None),
        ("I've got to return the books, because they wait.", "Return the books", None),
    ],
)
def test_commitments(text: str, task: str, due: str | None) -> None:
    assert _short(text) == [(task, "open", due, "")]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("by Friday", "2026-02-13"),
        ("on Wednesday", "2026-02-11"),
        ("on Tuesday", None),
        ("today", "2026-02-10"),
        ("on 9 February", None),
        ("on 9 April", "2026-04-09"),
        ("in two weeks", "2026-03-01"),
        ("by next week", "2026-02-22"),
        ("in March", None),
        ("since Friday", None),
        ("asked on Monday and after Friday", "2026-02-16"),
        ('he says "this week"', None),
        ("last week", None),
        ("some day", None),
    ],
)
def test_due_days(text: str, due: str | None) -> None:
    assert due_day(f"Do it {text}", TUESDAY) == due


def test_only_days_with_a_year_without_a_day_of_writing() -> None:
    assert due_day("by 2026-03-01", None) == due_day("by 1 March 2026", None) == "2026-03-01"
    assert due_day("by 1 March", None) is None


def test_items_under_a_heading_for_what_waits() -> None:
    assert _short("- Roof: waiting for slates", ("Blocked",)) == [
        ("Roof", "blocked", None, "slates")
    ]
    assert _short("- Roof\n- [x] Door", ("Waiting for",)) == [
        ("Roof", "blocked", None, ""),
        ("Door", "done", None, ""),
    ]


def test_places_in_the_text() -> None:
    text = "A note.\n\nTodo:\n- one door\n  and its frame\n- [x] two doors\n\nI need to call Ada."
    found = todos(text, TUESDAY)
    assert [text[todo.start : todo.end] for todo in found] == [
        "- one door\n  and its frame",
        "- [x] two doors",
        "I need to call Ada.",
    ]
    assert [todo.text for todo in found] == ["One door and its frame", "Two doors", "Call Ada"]


@pytest.mark.parametrize(
    ("done", "task"),
    [
        (
            "Appointment for Mia with Dr. Bell: Monday, 09:20",
            "Make an appointment for Mia with Dr. Bell, she limps",
        ),
        (
            "System moved to the new disk",
            "Move the system from the card to the new disk (tomorrow)",
        ),
        ("Probe mounted", "Mount the temperature probe (Ada, when it is dry)"),
        ("Blood result", "Telephone for the blood result on Wednesday"),
        ("Bought the lamp oil", "Buy lamp oil"),
        ("I called the bank today", "Call the bank tomorrow"),
        ("Sent the letter to Aunt Rosa", "Send a letter to Aunt Rosa"),
        ("Chapter three", "Chapter three of the report: costs"),
    ],
)
def test_done(done: str, task: str) -> None:
    assert is_done_of(done, task)


@pytest.mark.parametrize(
    ("done", "task"),
    [
        ("Mia to the doctor", "Make an appointment for Mia with Dr. Bell, she limps"),
        ("Lamp chosen: brass, plain", "Order the lamp (prices compared)"),
        ("System moved to the new disk", "Order the new disk"),
        ("Chapter two", "Chapter three of the report: costs"),
        ("I have not called the bank yet", "Call the bank"),
        ("I'll call the bank", "Call the bank"),
        ("I need to call the bank", "Call the bank"),
        ("Called the bank?", "Call the bank"),
        ("Letter to Rosa", "Letter to Otto about the clock"),
        ("Library", "Return the books to the library"),
        ("Done", "Done"),
    ],
)
def test_not_done(done: str, task: str) -> None:
    assert not is_done_of(done, task)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Order the disk drive (prices compared)", "Order a disk drive and its board"),
        (
            "Ask the town for a permit to hang a gauge",
            "Ask the town again about the permit for the gauge",
        ),
        ("Call the vet about Mia", "Telephone the vet about Mia on Friday"),
        ("Restore test", "Restore test, second attempt, with stopwatch"),
        ("Library", "library (tomorrow)"),
    ],
)
def test_same_task(first: str, second: str) -> None:
    assert is_same_task(first, second)
    assert is_same_task(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Order the pump", "Sell the pump"),
        ("Letter to Aunt Rosa about the wall clock", "Telephone Aunt Rosa to hear the clock"),
        ("Section two of the essay", "Section three of the essay"),
        ("Ten candles, plain", "Cake: talk to Otto, ten candles, one horse"),
        ("Paint the door", "Water the figs"),
        ("", ""),
    ],
)
def test_other_task(first: str, second: str) -> None:
    assert not is_same_task(first, second)
    assert not is_same_task(second, first)


@given(st.text(alphabet="-[] x\n!ToDO:blocked.aI need call Friday", max_size=120))
def test_every_task_lies_in_its_text(text: str) -> None:
    found = todos(text, TUESDAY)
    assert all(0 <= todo.start < todo.end <= len(text) and todo.text for todo in found)
    assert [todo.start for todo in found] == sorted(todo.start for todo in found)
