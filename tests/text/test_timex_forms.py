"""Forms beyond the plain ones: holidays, parts of periods, quarters and decades; and what stays unread."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from clsm_cli.text import periods
from clsm_cli.text.timex import absolutise, find
from clsm_cli.text.timex_words import HOLIDAY_CUES

FRIDAY = date(2023, 6, 16)

EASTERS = [
    *("1999-04-04", "2000-04-23", "2008-03-23", "2011-04-24", "2016-03-27", "2019-04-21"),
    *("2020-04-12", "2021-04-04", "2022-04-17", "2023-04-09", "2024-03-31", "2025-04-20"),
    *("2026-04-05", "2038-04-25"),
]
"""From the tables of churches."""


@pytest.mark.parametrize("day", EASTERS)
def test_easter(day: str) -> None:
    assert periods.easter(int(day[:4])).isoformat() == day


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


def test_nth_weekdays_are_those_of_a_calendar() -> None:
    for month in range(1, 13):
        days = [date(2024, month, 1) + timedelta(days=step) for step in range(31)]
        days = [day for day in days if day.month == month]
        for weekday in range(7):
            held = [day for day in days if day.weekday() == weekday]
            for number in range(1, len(held) + 1):
                found = periods.nth_weekday(2024, month, weekday, number)
                assert found == held[number - 1]
            assert periods.nth_weekday(2024, month, weekday, -1) == held[-1]


@pytest.mark.parametrize(
    ("text", "first", "until"),
    [
        ("last Christmas", "2022-12-24", "2022-12-27"),
        ("Christmas 2021", "2021-12-24", "2021-12-27"),
        ("last quarter", "2023-01-01", "2023-04-01"),
        ("Q2 2022", "2022-04-01", "2022-07-01"),
        ("H2 of last year", "2022-07-01", "2023-01-01"),
        ("a fortnight ago", "2023-05-29", "2023-06-05"),
        ("a week or two ago", "2023-05-29", "2023-06-12"),
        ("the weekend before last", "2023-06-03", "2023-06-05"),
        ("the summer before last", "2021-06-01", "2021-09-01"),
        ("the 1990s", "1990-01-01", "2000-01-01"),
        ("the '80s", "1980-01-01", "1990-01-01"),
        ("the end of last month", "2023-05-21", "2023-06-01"),
        ("the first half of 2022", "2022-01-01", "2022-07-01"),
        ("the last Friday of May 2022", "2022-05-27", "2022-05-28"),
        ("the first three days of last month", "2023-05-01", "2023-05-04"),
        ("the week before last Christmas", "2022-12-17", "2022-12-24"),
        ("the second of May", "2023-05-02", "2023-05-03"),
        ("3 May last year", "2022-05-03", "2022-05-04"),
        ("Tuesday of last week", "2023-06-06", "2023-06-07"),
        ("March to May 2022", "2022-03-01", "2022-06-01"),
        ("2019-2021", "2019-01-01", "2022-01-01"),
    ],
)
def test_forms(text: str, first: str, until: str) -> None:
    [found] = find(f"It was {text}.", FRIDAY)
    assert (found.first.isoformat(), found.until.isoformat()) == (first, until)


@pytest.mark.parametrize(
    "text",
    [
        "blocked until the end of March",
        "We had planned it for Easter",
        "She grilled over the weekend on Christmas trees",
        "He broke it in the fall",
        "on the 5th floor, an hour ago, in the first half of the week",
        "the second of all, a quarter of it, Q2 is wrong, in her 20s",
        "the end of the day, the middle of nowhere, half of 20",
    ],
)
def test_what_is_told_is_not_dated_by_guess(text: str) -> None:
    assert absolutise(text, FRIDAY) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("today, 16 June,", "today (2023-06-16), 16 June,"),
        ("today (2023-06-16), 16 June,", "today (2023-06-16), 16 June,"),
        ("today is 16 June 2023.", "today is 16 June 2023."),
        ("yesterday (15 June 2023)", "yesterday (15 June 2023)"),
        ("today, 15 June", "today (2023-06-16), 15 June"),
        ("3 May last year", "3 May last year (2022-05-03)"),
    ],
)
def test_a_day_is_dated_once(text: str, result: str) -> None:
    assert absolutise(text, FRIDAY) == result
    assert absolutise(result, FRIDAY) == result


def test_every_holiday_has_its_cue() -> None:
    names = {*periods._FIXED, *periods._BY_WEEKDAY, *periods._BY_EASTER}
    for name in names:
        assert any(cue in name for cue in HOLIDAY_CUES), name
        assert periods.holiday(name, 2024)[0].year == 2024
