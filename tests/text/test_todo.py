from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from clsm_cli.text.todo import due_day, is_same_task, todos, wordings

TUESDAY = date(2026, 2, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] Water the figs", ("Water the figs", "open", None)),
        ("- [x] Water the figs", ("Water the figs", "done", None)),
        ("* [X] **Water** the [[Figs]]", ("Water the Figs", "done", None)),
        ("1. [ ] Water the figs", ("Water the figs", "open", None)),
        ("- [!] Roof", ("Roof", "blocked", None)),
        ("- [ ] Essay, due on 27 February", ("Essay, due on 27 February", "open", "2026-02-27")),
        ("- [ ] Essay (tomorrow)", ("Essay (tomorrow)", "open", "2026-02-11")),
        ("- [ ] Essay 2026-03-01 #work", ("Essay 2026-03-01", "open", "2026-03-01")),
        ("- [ ] Pay the rent by the 20th", ("Pay the rent by the 20th", "open", "2026-02-20")),
        ("- [x] Sent it on 2 January", ("Sent it on 2 January", "done", None)),
        ("- [ ] ~~Water the figs~~", ("Water the figs", "done", None)),
    ],
)
def test_items(text: str, expected: tuple[str, str, str | None]) -> None:
    assert [todo[:3] for todo in todos(text, TUESDAY)] == [expected]


def test_no_task() -> None:
    none = [
        "- Water the figs", "- [-] Water the figs", "- [~] Water the figs", "- [ ] ", "- [ ] ...",
        "- [link](https://example.org)", "```\n- [ ] Water the figs\n```",
        "I must water the figs by Friday.",
    ]  # fmt: skip
    assert [each for each in none if todos(each, TUESDAY)] == []


def test_places_in_the_text() -> None:
    text = "Today:\n- [ ] one door\n  and its frame\n- [x] two doors\nAda came to see both of them."
    found = todos(text, TUESDAY)
    assert [text[todo.start : todo.end] for todo in found] == [
        "- [ ] one door\n  and its frame",
        "- [x] two doors",
    ]
    assert [todo.text for todo in found] == ["one door and its frame", "two doors"]


def test_each_bullet_is_an_item() -> None:
    assert [todo.text for todo in todos("• [ ] oil\n• [ ] wax", TUESDAY)] == ["oil", "wax"]


def test_a_wrapped_item_goes_on() -> None:
    (found,) = todos("- [x] two doors for\nAda and Ben and a\nframe for each one", TUESDAY)
    assert found.text == "two doors for Ada and Ben and a frame for each one"


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("by Friday", "2026-02-13"), ("until Friday", "2026-02-13"), ("on Tuesday", None),
        ("on Wednesday", "2026-02-11"),
        ("today", "2026-02-10"), ("on 9 February", None), ("on 9 April", "2026-04-09"),
        ("in two weeks", "2026-03-01"), ("by next week", "2026-02-22"), ("in March", None),
        ("since Friday", None), ("asked on Monday and after Friday", "2026-02-16"),
        ('he says "this week"', None), ("last week", None), ("some day", None),
    ],
)  # fmt: skip
def test_due_days(text: str, due: str | None) -> None:
    assert due_day(f"Do it {text}", TUESDAY) == due


def test_only_days_with_a_year_without_a_day_of_writing() -> None:
    assert due_day("by 2026-03-01", None) == due_day("by 1 March 2026", None) == "2026-03-01"
    assert due_day("by 1 March", None) is None


def same(first: str, second: str) -> bool:
    return is_same_task(wordings(first)[0], wordings(second)[0])


@pytest.mark.parametrize(("first", "second"), table(__file__, "same task"))
def test_same_task(first: str, second: str) -> None:
    assert same(first, second)
    assert same(second, first)


@pytest.mark.parametrize(("first", "second"), table(__file__, "other task"))
def test_other_task(first: str, second: str) -> None:
    assert not same(first, second)
    assert not same(second, first)


@given(st.text(alphabet="-[] x\n!`aI need Friday", max_size=120))
def test_every_task_lies_in_its_text(text: str) -> None:
    found = todos(text, TUESDAY)
    assert all(0 <= todo.start < todo.end <= len(text) and todo.text for todo in found)
    assert [todo.start for todo in found] == sorted(todo.start for todo in found)
