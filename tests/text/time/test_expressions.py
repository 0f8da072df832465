"""Expressions of time: plain ones and beyond, holidays, parts of periods; and what stays unread."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.time import periods
from clsm_cli.text.time.expressions import absolutise, find_expressions
from clsm_cli.text.time.periods import iso_period

FRIDAY = date(2023, 6, 16)


def read(text: str, at: date = FRIDAY) -> list[tuple[str, str]]:
    found = find_expressions(text, at)
    return [(each.text, iso_period((each.first, each.until))) for each in found]


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("what do I have on Monday?", "2023-06-19"),
        ("what do I have on the 30th?", "2023-06-30"),
        ("Anything on Monday?", "2023-06-19"),
        ("who sang on Monday?", "2023-06-12"),
        ("what is planned for the 30th?", "2023-06-30"),
        ("what was planned for the 30th?", "2023-05-30"),
        ("any plans for the weekend?", "2023-06-17"),
        ("what did I do on Wednesday the 7th?", "2023-06-07"),
        ("is the hall free on Monday?", "2023-06-19"),
        ("what has worked on Monday?", "2023-06-12"),
        ("what do the notes of Monday say?", "2023-06-12"),
        ("do you know what she did on Monday?", "2023-06-12"),
        ("wo war ich am 3. März?", "2023-03-03"),
        ("qué hicimos el 3 de abril de 2022?", "2022-04-03"),
        ("vi ses den 20 juni", "2023-06-20"),
        ("5月3日", "2023-05-03"),
    ],
)
def test_a_question_of_what_is_looks_ahead(question: str, day: str) -> None:
    (found,) = find_expressions(question, FRIDAY, is_question=True)
    assert found.first.isoformat() == day


def test_a_day_without_a_year_is_no_day_in_other_languages() -> None:
    assert read("Ablesung am 15. Februar, zahlen bis 3. März") == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2026-02-24", "2026-02-24"),
        ("Samstag, 14. März 2026", "2026-03-14"),
        ("2026年3月5日", "2026-03-05"),
        ("le 1er août 2025", "2025-08-01"),
        ("24 February 2026", "2026-02-24"),
        ("the 24th of February, 2026", "2026-02-24"),
        ("Feb 24th, 2026", "2026-02-24"),
        ("Feb. 24 2026", "2026-02-24"),
        ("Sunday, 25 December", "2022-12-25"),
        ("Feb 24", "2023-02-24"),
        ("July 3", "2023-07-03"),
        ("we will fly on July 3", "2023-07-03"),
        ("8-10 May", "2023-05-08 to 2023-05-10"),
        ("29 February", "2020-02-29"),
        ("February 2026", "2026-02"),
        ("in 2025", "2025"),
        ("summer of 2021", "2021-06-01 to 2021-08-31"),
        ("in June", "2023-06"),
        ("in July", "2023-07"),
        ("next May", "2024-05"),
        ("last June", "2022-06"),
        ("yesterday", "2023-06-15"),
        ("today", "2023-06-16"),
        ("tonight", "2023-06-16"),
        ("this morning", "2023-06-16"),
        ("tomorrow morning", "2023-06-17"),
        ("the day before yesterday", "2023-06-14"),
        ("last week", "2023-06-05 to 2023-06-11"),
        ("this week", "2023-06-12 to 2023-06-18"),
        ("next week", "2023-06-19 to 2023-06-25"),
        ("earlier this week", "2023-06-12 to 2023-06-16"),
        ("last weekend", "2023-06-10 to 2023-06-11"),
        ("last month", "2023-05"),
        ("next year", "2024"),
        ("last summer", "2022-06-01 to 2022-08-31"),
        ("last Friday", "2023-06-09"),
        ("on Friday", "2023-06-09"),
        ("Monday night", "2023-06-12"),
        ("next Friday", "2023-06-23"),
        ("we will meet on Tuesday", "2023-06-20"),
        ("3 days ago", "2023-06-13"),
        ("a few days ago", "2023-06-11 to 2023-06-14"),
        ("a couple of weeks ago", "2023-05-29 to 2023-06-04"),
        ("two weeks ago", "2023-05-29 to 2023-06-04"),
        ("two months ago", "2023-04"),
        ("ten years ago", "2013"),
        ("in three days", "2023-06-19"),
        ("the last two weeks", "2023-06-02 to 2023-06-16"),
        ("the other day", "2023-06-09 to 2023-06-15"),
        ("recently", "2023-06-02 to 2023-06-16"),
        ("last Christmas", "2022-12-24 to 2022-12-26"),
        ("Christmas 2021", "2021-12-24 to 2021-12-26"),
        ("last quarter", "2023-01-01 to 2023-03-31"),
        ("Q2 2022", "2022-04-01 to 2022-06-30"),
        ("H2 of last year", "2022-07-01 to 2022-12-31"),
        ("a fortnight ago", "2023-05-29 to 2023-06-04"),
        ("a week or two ago", "2023-05-29 to 2023-06-11"),
        ("the weekend before last", "2023-06-03 to 2023-06-04"),
        ("the summer before last", "2021-06-01 to 2021-08-31"),
        ("the 1990s", "1990-01-01 to 1999-12-31"),
        ("the '80s", "1980-01-01 to 1989-12-31"),
        ("the end of last month", "2023-05-21 to 2023-05-31"),
        ("the first half of 2022", "2022-01-01 to 2022-06-30"),
        ("the last Friday of May 2022", "2022-05-27"),
        ("the first three days of last month", "2023-05-01 to 2023-05-03"),
        ("the week before last Christmas", "2022-12-17 to 2022-12-23"),
        ("the second of May", "2023-05-02"),
        ("Wed. 6 July", "2022-07-06"),
        ("3 May last year", "2022-05-03"),
        ("Tuesday of last week", "2023-06-06"),
        ("March to May 2022", "2022-03-01 to 2022-05-31"),
        ("2019-2021", "2019-01-01 to 2021-12-31"),
    ],
)
def test_expressions(text: str, days: str) -> None:
    assert [found for _, found in read(f"So {text}.")] == [days]


def test_no_false_hits() -> None:
    none = [
        "You may march on. May I? March on! May the force be with you.",
        "One second. The sun is up. Sat down and wed. Mark 5.",
        "v2.24, 3.5 may 10 be enough; section 1.2.3; option 2 may do",
        "in 2000 tokens, of 2048 nodes, 2024 people, 1999.5",
        "Last time and next time. The second one. June is a friend, April said so.",
        "every Monday; Mondays; 30 February; decent Janet Augustus",
        "May 5 people come?",
        "1234-56-78, 2023-13-40, 10-2023-05-01, phone 555-2023",
    ]
    assert [each for each in none if read(each)] == []


@pytest.mark.parametrize(
    ("at", "text", "days"),
    [
        (date(2024, 3, 1), "yesterday", "2024-02-29"),
        (date(2023, 3, 1), "yesterday", "2023-02-28"),
        (date(2024, 3, 31), "a month ago", "2024-02"),
        (date(2024, 2, 29), "a year ago", "2023"),
        (date(2024, 1, 1), "last month", "2023-12"),
        (date(2024, 1, 1), "last week", "2023-12-25 to 2023-12-31"),
        (date(2023, 6, 18), "last weekend", "2023-06-10 to 2023-06-11"),
        (date(2024, 1, 15), "this winter", "2023-12-01 to 2024-02-29"),
    ],
)
def test_edges_of_the_calendar(at: date, text: str, days: str) -> None:
    assert read(text, at) == [(text, days)]


def test_flags() -> None:
    found = find_expressions("recently, 2 days ago, in 2020", FRIDAY)
    assert [each.precise for each in found] == [False, True, True]
    assert [each.relative for each in found] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("I went yesterday.", "I went yesterday (2023-06-15)."),
        ("yesterday's talk", "yesterday's (2023-06-15) talk"),
        ("last week", "last week (2023-06-05 to 2023-06-11)"),
        ("last month and last year", "last month (2023-05) and last year (2022)"),
        ("on 24 February 2026", "on 24 February 2026"),
        ("yesterday (2023-06-15) only", "yesterday (2023-06-15) only"),
        ("nothing here", "nothing here"),
        ("today (2023-06-16), 16 June,", "today (2023-06-16), 16 June,"),
        ("yesterday (15 June 2023)", "yesterday (15 June 2023)"),
        ("today, 15 June", "today (2023-06-16), 15 June"),
        ("3 May last year", "3 May last year (2022-05-03)"),
    ],
)
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


@pytest.mark.parametrize(
    ("name", "year", "day"),
    [
        ("thanksgiving", 2023, "2023-11-23"),
        ("black friday", 2023, "2023-11-24"),
        ("memorial day", 2023, "2023-05-29"),
        ("mother's day", 2023, "2023-05-14"),
        ("labor day", 2025, "2025-09-01"),
        ("good friday", 2023, "2023-04-07"),
        ("ash wednesday", 2026, "2026-02-18"),
        ("whit monday", 2025, "2025-06-09"),
    ],
)
def test_holidays_that_move(name: str, year: int, day: str) -> None:
    assert periods.holiday(name, year)[0].isoformat() == day


def test_what_is_told_is_not_dated_by_guess() -> None:
    none = [
        "blocked until the end of March",
        "We had planned it for Easter",
        "She grilled over the weekend on Christmas trees",
        "He broke it in the fall",
        "on the 5th floor, an hour ago, in the first half of the week",
        "the second of all, a quarter of it, Q2 is wrong, in her 20s",
        "the end of the day, the middle of nowhere, half of 20",
    ]
    assert [each for each in none if absolutise(each, FRIDAY) != each] == []
