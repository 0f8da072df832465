from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from clsm_cli.text.todo import due_day, is_same_task, todos, wordings

TUESDAY = date(2026, 2, 10)


@pytest.mark.parametrize(("text", "task", "state", "due"), table(__file__, "items"))
def test_items(text: str, task: str, state: str, due: str) -> None:
    assert [todo[:3] for todo in todos(text, TUESDAY)] == [(task, state, due or None)]


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


@pytest.mark.parametrize(("text", "due"), table(__file__, "due days"))
def test_due_days(text: str, due: str) -> None:
    assert due_day(f"Do it {text}", TUESDAY) == (due or None)


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
