"""Questions and the days they ask about; the answers were written before the questions were read."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import column, table

from clsm_cli.text.time import bounds

TUESDAY = date(2026, 2, 24)


def said(question: str, at: date = TUESDAY) -> str:
    times = bounds.read_times(question, at)
    return " ".join(f"{first or 'open'} {until or 'open'}" for first, until in times.periods)


@pytest.mark.parametrize("asked", column(__file__, "weeks"))
def test_a_numbered_week_goes_by_its_name_in_many_languages(asked: str) -> None:
    assert said(f"What happened in {asked}?") == "2026-02-09 2026-02-16"
    assert said("Is the heater an 11 kW 7 litre one?") == ""


@pytest.mark.parametrize("case", table(__file__, "blind"), ids=lambda case: case[0])
def test_questions_written_blind(case: tuple[str, ...]) -> None:
    """Whether the words fix the bounds (either: both will do), and the days that are right."""
    question, hard, *days = case
    assert said(question) in days
    assert hard in {"either", "hard" if bounds.read_times(question, TUESDAY).hard else "soft"}


@pytest.mark.parametrize(("question", "days"), table(__file__, "bounds"))
def test_bounds(question: str, days: str) -> None:
    assert said(question) == days


def test_hard_and_soft() -> None:
    soft = ["recently", "around 3 May", "in mid-January", "a few days ago and last week"]
    soft.append("what is the capital of France")
    asked = ["last summer", "since 2020", *soft]
    assert [each for each in asked if not bounds.read_times(each, TUESDAY).hard] == soft


WORDS = [
    *("since", "until", "before", "after", "between", "from", "to", "and", ",", "the"),
    *("around", "by", "last", "next", "first", "end of", "early", "mid-", "week", "of"),
    *("quarter", "before last", "May", "3", "5 and 6", "2020", "Monday", "Christmas"),
    *("yesterday", "summer", "two weeks ago", "2026-02-24", "31", "in", "on the 5th"),
    *("this time last year", "half", "?", "did", "will"),
]


@given(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=60), st.dates()
)
@examples(300)
def test_any_question_has_ordered_disjoint_periods(question: str, at: date) -> None:
    times = bounds.read_times(question, at)
    end = date.min
    for first, until in times.periods:
        start = first or date.min
        assert start >= end
        end = until or date.max
        assert start < end
    assert not (times.contradictory and times.periods)
