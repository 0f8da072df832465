"""Where a sentence has a value of the kind of another: a day, a quantity, a name, or what a label names."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import number_words, pattern
from clsm_cli.text.name_matching import NON_NAMES
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import STOP_WORDS

_LABELLED = re.compile(r"(?P<label>[^:.!?]{1,60}):\s[^\s:](?:[^:]*[^:.!?])?$")
"""A label and its value; before a sentence with its mark stands a heading."""
_NAME = re.compile(r"[^\W\d_a-z][\w'’&+-]*(?:\s[^\W\d_a-z][\w'’&+-]*)*")


class Quantity(NamedTuple):
    """A number with its unit: first character, the one after the last, and the unit in the singular."""

    start: int
    end: int
    unit: str


def with_value(text: str, value: str, at: date) -> str | None:
    """A sentence with a value in the place of the one of its kind; None where it has not just one.

    A day takes the place of a day, a quantity of one with its unit, a name of a name behind the first
    word. A day that the sentence tells besides may tell since when.

    >>> day = __import__("datetime").date(2026, 3, 1)
    >>> with_value("Nina's birthday is 2 May.", "3 June", day)
    "Nina's birthday is 3 June."
    >>> with_value("The bell rings every 10 minutes.", "15 minutes", day)
    'The bell rings every 15 minutes.'
    >>> with_value("The desk is £8 a day.", "£9", day)
    'The desk is £9 a day.'
    >>> with_value("The bell is loud.", "15 minutes", day) is None
    True
    """
    value = value.rstrip(".")
    places = _places(text, value, at)
    if len(places) != 1:
        return None
    start, end = places[0]
    return text[:start] + value + text[end:]


def label_of(text: str) -> str | None:
    """What stands before the colon of a label and its value; None where a text is none.

    >>> label_of("Office: the quay"), label_of("Office: we left the quay.")
    ('Office', None)
    """
    labelled = _LABELLED.match(text)
    return labelled["label"] if labelled else None


def _places(text: str, value: str, at: date) -> list[tuple[int, int]]:
    """Where a text has something of the kind of a value: first character, and the one after the last."""
    days = expressions.find_expressions(text, at)
    told = expressions.find_expressions(value, at)
    if told and told[0].text == value:
        return [(each.start, each.end) for each in days]
    if any(each.certain for each in days):
        return []  # it may say since when the old value holds
    if (quantity := next(quantities(value), None)) and not quantity.start:
        same = [each for each in quantities(text) if each.unit == quantity.unit]
        rest = value[quantity.end :]  # "£9 a day" takes the place of "£8 a day"
        return [(e.start, e.end + len(rest)) for e in same if text.startswith(rest, e.end)]
    found = [*_NAME.finditer(text)] if _NAME.fullmatch(value) else []
    return [each.span() for each in found if each.start() and each.group() not in NON_NAMES]


def quantities(text: str) -> Iterator[Quantity]:
    """The numbers of a text, in digits or words, with their units.

    An amount of money is whole without a word behind it, and a word that says nothing by itself
    ("8 a day") is no unit.

    >>> [each.unit for each in quantities("£8 a day, 20 %, four weeks, 9 a day, £4 million")]
    ['£', '%', 'week', '', '£']
    """
    for found in _quantity().finditer(text):
        end, unit = found.end("amount"), found["currency"] or ""
        word = (found["unit"] or "").strip()
        if word and not unit and word.casefold() not in STOP_WORDS:
            end, unit = found.end(), word.removesuffix("s")
        yield Quantity(found.start(), end, unit)


@cache
def _quantity() -> re.Pattern[str]:
    words = "|".join(sorted(number_words(), key=len, reverse=True))
    number = rf"(?:\d+(?:[.,:]\d+)*|(?i:{words})(?![\w-]))"
    amount = rf"(?P<currency>[$€£¥])\s?{number}(?:{pattern('money.scale').pattern})?"
    return re.compile(
        rf"(?<![\w.,:-])(?P<amount>{amount}|{number})"
        r"(?P<unit>\s?[%$€£¥]|(?:\s|(?=[^\W\d]))[^\W\d_]+)?"
    )
