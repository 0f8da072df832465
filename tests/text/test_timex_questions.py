"""Questions and the days they ask about; the answers were written before the questions were read."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.time import bounds

TUESDAY = date(2026, 2, 24)

CASES: list[tuple[str, bool | None, list[str]]] = [
    ("What did I promise Kofi the Thursday before last?", True, ["2026-02-12 2026-02-13"]),
    ("Did anything break in the first week of February?", True, ["2026-02-01 2026-02-08", "2026-02-02 2026-02-09"]),
    ("What did I read in the autumn of 2024?", True, ["2024-09-01 2024-12-01"]),
    ("What was on my mind at the start of this month?", False, ["2026-02-01 2026-02-11", "2026-02-01 2026-02-08", "2026-02-01 2026-02-06"]),
    ("How many runs did I do in the last three months?", True, ["2025-11-24 2026-02-25", "2025-11-25 2026-02-25"]),
    ("What did Petra send me a couple of days ago?", False, ["2026-02-22 2026-02-23", "2026-02-21 2026-02-24", "2026-02-21 2026-02-23"]),
    ("What have I been up to since Christmas?", True, ["2025-12-24 2026-02-25", "2025-12-25 2026-02-25", "2025-12-27 2026-02-25"]),
    ("What was decided by the end of 2025?", None, ["open 2026-01-01"]),
    ("Whom did I meet on the 12th?", True, ["2026-02-12 2026-02-13"]),
    ("Where was I on 3 March last year?", True, ["2025-03-03 2025-03-04"]),
    ("What did the plumber charge on Tuesday of last week?", True, ["2026-02-17 2026-02-18"]),
    ("Which bugs did we fix in late January?", False, ["2026-01-21 2026-02-01", "2026-01-20 2026-02-01"]),
    ("What did I cook on New Year's Day?", True, ["2026-01-01 2026-01-02"]),
    ("What did I dream the night before last?", True, ["2026-02-22 2026-02-23", "2026-02-22 2026-02-24"]),
    ("What was said in the meetings of 5, 6 and 9 February?", True, ["2026-02-05 2026-02-07 2026-02-09 2026-02-10"]),
    ("What did I plant between April and June 2025?", True, ["2025-04-01 2025-07-01"]),
    ("Did I see the doctor within the last fortnight?", True, ["2026-02-10 2026-02-25", "2026-02-11 2026-02-25"]),
    ("What did I do the day after Thanksgiving?", True, ["2025-11-28 2025-11-29"]),
    ("What did I write down half an hour ago?", True, ["2026-02-24 2026-02-25"]),
    ("What did I do last Saturday night?", True, ["2026-02-21 2026-02-22", "2026-02-21 2026-02-23"]),
    ("Which songs did I learn over the summer holidays of 2025?", None, ["2025-06-01 2025-09-01"]),
    ("What did I spend in the second quarter of 2025?", True, ["2025-04-01 2025-07-01"]),
    ("What did I say about the roof on the first Sunday of December?", True, ["2025-12-07 2025-12-08"]),
    ("What were we working on this time last year?", False, ["2025-02-17 2025-03-04", "2025-02-24 2025-02-25", "2025-02-01 2025-03-01"]),
    ("How did I feel before Easter?", True, ["open 2025-04-18", "open 2025-04-19", "open 2025-04-20"]),
    ("What happened from 28 December to 4 January?", True, ["2025-12-28 2026-01-05"]),
    ("What did I pay for rent two years ago?", False, ["2024-01-01 2025-01-01", "2024-02-24 2024-02-25"]),
    ("What's the news from the past 48 hours?", True, ["2026-02-22 2026-02-25"]),
    ("What did Dana tell me on Valentine's Day?", True, ["2026-02-14 2026-02-15"]),
    ("Did I call my mother at the weekend?", True, ["2026-02-21 2026-02-23"]),
]  # fmt: skip
"""Asked on a Tuesday: whether the words fix the bounds (None: either), and the days that are right."""


def said(question: str, at: date = TUESDAY) -> str:
    times = bounds.read_times(question, at)
    return " ".join(f"{first or 'open'} {until or 'open'}" for first, until in times.periods)


@pytest.mark.parametrize(
    "asked",
    [
        "week 7", "calendar week 7", "wk. 7", "KW 7", "Kalenderwoche 7", "la semaine 7 de 2026",
        "vecka 7",
    ],
)  # fmt: skip
def test_a_numbered_week_goes_by_its_name_in_many_languages(asked: str) -> None:
    assert said(f"What happened in {asked}?") == "2026-02-09 2026-02-16"
    assert said("Is the heater an 11 kW 7 litre one?") == ""


@pytest.mark.parametrize(("question", "hard", "days"), CASES)
def test_questions_written_blind(question: str, hard: bool | None, days: list[str]) -> None:
    assert said(question) in days
    assert hard in {None, bounds.read_times(question, TUESDAY).hard}


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("in June before May 2020 after 2021", ""),
        ("in June 2021 before May 2020", ""),
        ("after 3 May and before 10 May", "2025-05-04 2025-05-10"),
        ("what did I say after 3 May about what I ate before 10 May", "open open"),
        ("on Monday and Tuesday", "2026-02-17 2026-02-18 2026-02-23 2026-02-24"),
        ("on Monday, Tuesday", "2026-02-17 2026-02-18 2026-02-23 2026-02-24"),
        ("in June and July", "2025-06-01 2025-08-01"),
        ("in 2023 or 2024", "2023-01-01 2025-01-01"),
        ("last week on Tuesday", "2026-02-17 2026-02-18"),
        ("between 28 December and 3 January", "2025-12-28 2026-01-04"),
        ("between 3 March and 7 April 2028", "2028-03-03 2028-04-08"),
        ("from 2019 to 2021", "2019-01-01 2022-01-01"),
        ("from 5 May on", "2025-05-05 open"),
        ("prior to 2020", "open 2020-01-01"),
        ("around 3 May", "2025-04-30 2025-05-07"),
        ("on 6 and 9 May", "2025-05-06 2025-05-07 2025-05-09 2025-05-10"),
        ("two weeks before Christmas", "2025-12-08 2025-12-15"),
        ("what will I do on Friday?", "2026-02-27 2026-02-28"),
        ("what did I plan to do on Friday?", "2026-02-20 2026-02-21"),
        ("what is due by Friday?", "open 2026-02-28"),
        ("on 13.11.2025", "2025-11-13 2025-11-14"),
        ("on 3/11/2025", ""),
        ("the last weekend before 10 April 2023", "2023-04-08 2023-04-10"),
        ("on the Sunday before October 25, 2022", "2022-10-23 2022-10-24"),
        ("the first Friday after Easter 2025", "2025-04-25 2025-04-26"),
        ("what did she recently cook in May", "2025-05-01 2025-06-01"),
        ("a year ago today", "2025-02-24 2025-02-25"),
        ("two weeks ago today", "2026-02-10 2026-02-11"),
        ("a fortnight ago to the day", "2026-02-10 2026-02-11"),
        ("a week ago", "2026-02-17 2026-02-18"),
        ("on Friday two weeks ago", "2026-02-13 2026-02-14"),
        ("three weeks ago on Monday", "2026-02-02 2026-02-03"),
        ("the evening before 3 May 2025", "2025-05-02 2025-05-03"),
        ("two days prior to 3 May 2025", "2025-05-01 2025-05-02"),
        ("been up to since yesterday", "2026-02-23 2026-02-25"),
    ],
)
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
