"""Expressions of time: plain ones and beyond, holidays, parts of periods; and what stays unread."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import column, table

from clsm_cli.text.time import periods
from clsm_cli.text.time.expressions import absolutise, find_expressions
from clsm_cli.text.time.periods import iso_period

FRIDAY = date(2023, 6, 16)


def read(text: str, at: date = FRIDAY) -> list[tuple[str, str]]:
    found = find_expressions(text, at)
    return [(each.text, iso_period((each.first, each.until))) for each in found]


@pytest.mark.parametrize(("question", "day"), table(__file__, "questions"))
def test_a_question_of_what_is_looks_ahead(question: str, day: str) -> None:
    (found,) = find_expressions(question, FRIDAY, is_question=True)
    assert found.first.isoformat() == day


def test_a_day_without_a_year_is_no_day_in_other_languages() -> None:
    assert read("Ablesung am 15. Februar, zahlen bis 3. März") == []


@pytest.mark.parametrize(("text", "days"), table(__file__, "expressions"))
def test_expressions(text: str, days: str) -> None:
    assert [found for _, found in read(f"So {text}.")] == [days]


def test_no_false_hits() -> None:
    assert [each for each in column(__file__, "no dates") if read(each)] == []
    assert find_expressions("the end of the decade", date(9998, 1, 1), is_question=True) == []


@pytest.mark.parametrize(("at", "text", "days"), table(__file__, "edges"))
def test_edges_of_the_calendar(at: str, text: str, days: str) -> None:
    assert read(text, date.fromisoformat(at)) == [(text, days)]


def test_flags() -> None:
    found = find_expressions("recently, 2 days ago, in 2020", FRIDAY)
    assert [each.precise for each in found] == [False, True, True]
    assert [each.relative for each in found] == [True, True, False]


@pytest.mark.parametrize(("text", "result"), table(__file__, "dated"))
def test_a_day_is_dated_once(text: str, result: str) -> None:
    assert absolutise(text, FRIDAY) == result
    assert absolutise(result, FRIDAY) == result


PHRASES = [
    *("yesterday", "last week", "on Friday", "May 8", "in June", "a few days ago"),
    *("2023-05-08", "in 2025", "the", "every", "(", ")", ".", "will", "next", "last"),
    *("May", "'s", "2023", "8", "week", "ago", "two", "(2023)"),
]


@given(st.lists(st.sampled_from(PHRASES), max_size=8).map(" ".join), st.dates())
@examples(300)
def test_expressions_are_ordered_and_hold_a_day(text: str, at: date) -> None:
    end = 0
    for each in find_expressions(text, at):
        assert each.start >= end
        assert each.text == text[each.start : each.end]
        assert each.until - each.first >= timedelta(days=1)
        end = each.end


def test_easter() -> None:
    """By the tables of churches: the ends of its range, and years in which shorter rules fail."""
    days = "1999-04-04 2000-04-23 2008-03-23 2011-04-24 2019-04-21 2024-03-31 2026-04-05 2038-04-25"
    assert " ".join(str(periods.easter(int(day[:4]))) for day in days.split()) == days


@pytest.mark.parametrize(("name", "year", "day"), table(__file__, "holidays"))
def test_holidays_that_move(name: str, year: str, day: str) -> None:
    assert periods.holiday(name, int(year))[0].isoformat() == day


def test_what_is_told_is_not_dated_by_guess() -> None:
    assert [each for each in column(__file__, "told") if absolutise(each, FRIDAY) != each] == []
