"""The times of an exported chat, whose form is that of the phone that exported it.

Which of two numbers is the day and which the month is decided over the whole file: by one that can be
no month, by the separator, by dates that would lie in the future, and by the order of the messages.
Where all that leaves it open nothing is guessed.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKED = "[\u200e\u200f]*"
DATE = (
    rf"(?P<a>\d{{1,4}}){_MARKED}(?P<mark>[./-]) ?(?P<b>\d{{1,2}}){_MARKED}(?P=mark) ?"
    r"(?P<c>\d{1,4})\.?"
)
CLOCK = (
    r"(?:(?P<before>[^\W\d][^\d\s:]{0,7})\s?)?(?P<hour>\d{1,2})[:.](?P<minute>\d\d)"
    r"(?:[:.](?P<second>\d\d))?(?:\s?(?P<after>[^\W\d][^\d\]–-]{0,11}?))?"
)
_LETTERS = re.compile(r"[\W\d_]")
_EARLY, _LATE = (
    frozenset(_LETTERS.sub("", word).casefold() for word in words.split())
    for words in (
        "AM πμ 上午 凌晨 清晨 早上 午前 오전 ص قظ ÖÖ SA PD fm ap dop пр.об дп de ก่อนเที่ยง पूर्वाह्न לפנה״צ",
        "PM μμ 下午 中午 晚上 午後 오후 م بظ ÖS CH MD em ip odp сл.об пп du หลังเที่ยง अपराह्न אחה״צ",
    )
)
"""Halves of the day, their letters alone: CLDR, dayPeriods, am and pm (of zh also the flexible ones)."""
FIRST_YEAR = 2009
"""Of WhatsApp; an earlier year, or one to come, is of another calendar."""


class Stamp(NamedTuple):
    """Three numbers in their order, the sign between them, and the clock; None: not understood."""

    numbers: tuple[int, int, int]
    mark: str
    clock: str | None


Order = tuple[int, int, int]
"""Which of three numbers are the year, the month and the day."""
YEAR_FIRST: Order = (0, 1, 2)
DAY_FIRST: Order = (2, 1, 0)
MONTH_FIRST: Order = (2, 0, 1)


def stamp(match: re.Match[str]) -> Stamp | None:
    """The time that a match of ``DATE`` and ``CLOCK`` tells; None where its hour is none."""
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    numbers = int(match["a"]), int(match["b"]), int(match["c"])
    if minute > 59 or second > 59 or hour > 23:
        return None
    halves = [half for name in ("before", "after") if (half := _half(match[name])) is not None]
    if match["after"] and not halves:
        return Stamp(numbers, match["mark"], None)
    if halves:
        if hour > 12:
            return None
        hour = hour % 12 + halves[0]
    return Stamp(numbers, match["mark"], f"{hour:02}:{minute:02}:{second:02}")


def _half(word: str | None) -> int | None:
    """Hours that a half of the day adds; None for another word."""
    letters = _LETTERS.sub("", word or "").casefold()
    return 0 if letters in _EARLY else 12 if letters in _LATE else None


def order_of(stamps: Sequence[Stamp], today: date, *, day_first: bool | None = None) -> Order | str:
    """Which number is what, or why that cannot be told.

    Args:
        stamps: Of a chat, in its order.
        today: No message is later than the next day.
        day_first: What the user says.

    >>> def told(*texts):
    ...     numbers = (tuple(map(int, text.split("/"))) for text in texts)
    ...     return order_of([Stamp(each, "/", "12:00:00") for each in numbers], date(2026, 5, 1))
    >>> told("3/4/26", "13/4/26") == DAY_FIRST, told("3/4/26", "3/14/26") == MONTH_FIRST
    (True, True)
    >>> told("28/2/26", "1/3/26", "2/3/26") == DAY_FIRST, told("1/12/26") == MONTH_FIRST
    (True, True)
    >>> told("3/4/26", "4/4/26")
    'the day and the month of its dates cannot be told apart (3/4/26)'
    """
    if all(each.numbers[0] > 31 for each in stamps):
        return YEAR_FIRST if _fits(stamps, YEAR_FIRST, today) else _STRANGE
    possible = [order for order in (DAY_FIRST, MONTH_FIRST) if _fits(stamps, order, today)]
    if day_first is not None:
        possible = [DAY_FIRST if day_first else MONTH_FIRST]
        return possible[0] if _fits(stamps, possible[0], today) else _STRANGE
    if len(possible) == 2 and stamps[0].mark == "/":
        steps = [_steps_back(stamps, order, today) for order in possible]
        possible = [order for order, n in zip(possible, steps, strict=True) if n == min(steps)]
    if not possible:
        return _STRANGE
    # With a full stop or a hyphen between them every locale of CLDR writes the day first.
    if len(possible) == 1 or stamps[0].mark != "/":
        return possible[0]
    numbers = "/".join(map(str, stamps[0].numbers))
    return f"the day and the month of its dates cannot be told apart ({numbers})"


_STRANGE = "its dates are none that clsm knows, of another calendar or in the future"


def day_of(numbers: Sequence[int], order: Order) -> date | None:
    """The day of three numbers; None where there is none.

    >>> day_of((31, 12, 25), DAY_FIRST)
    datetime.date(2025, 12, 31)
    """
    year, month, day = (numbers[place] for place in order)
    try:
        return date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        return None


def _fits(stamps: Sequence[Stamp], order: Order, today: date) -> bool:
    last = today + timedelta(days=1)
    days = (day_of(each.numbers, order) for each in stamps)
    return all(day is not None and day.year >= FIRST_YEAR and day <= last for day in days)


def _steps_back(stamps: Sequence[Stamp], order: Order, today: date) -> int:
    days = [day_of(each.numbers, order) or today for each in stamps]
    return sum(later < earlier for earlier, later in pairwise(days))
