"""Numbers with check digits: payment cards, bank accounts, national ids."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows
from clsm_cli.text.secrets import Secret, secret_values
from clsm_cli.text.secrets.labelled import Phrases, fold, phrase_places

if TYPE_CHECKING:
    from collections.abc import Iterator

_CARD = re.compile(
    r"(?<![\w.,/+:#=-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})"
    r"(?![\w/]|[-.,:]\d)",
    re.ASCII,
)
_ISSUER = re.compile(
    r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|3(?:0[0-5]|[689])|35(?:2[89]|[3-8])"
    r"|6(?:011|4[4-9]|5)|62"
)
"""First digits that ISO/IEC 7812 gives to networks of cards."""
_SIZES = {"4": (13, 16, 19), "3": (14, 15, 16, 19), "5": (16,), "2": (16,), "6": (16, 17, 18, 19)}
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"
    r"(?![A-Za-z0-9])"
)


_DIGITS = re.compile(r"(?:\d[ .-]?){4,}|(?<=[A-Z]{6})\d\d", re.ASCII)
"""What every number has."""
_ROUND = 12
"""Characters of a number before its digits, or behind them."""


class Number(NamedTuple):
    """A number that a state gives to people: labels in lower case, form, and check."""

    labels: tuple[str, ...]
    is_known: bool
    pattern: str
    check: str


@cache
def states() -> tuple[Number, ...]:
    """All of ``numbers.tsv``."""
    return tuple(
        Number(tuple(row[1].split("|")), row[2] == "yes", row[3], row[4] if len(row) > 4 else "")
        for row in table_rows("secrets/numbers")
    )


@cache
def _compiled(pattern: str, *, is_known: bool) -> re.Pattern[str]:
    if is_known:
        return re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])", re.ASCII)
    link = r"[^\w\n]{0,4}(?:[ \t](?:is|ist|est|es|é|è|är|jest)[ \t])?[^\w\n]{0,3}"
    return re.compile(rf"{link}((?i:{pattern}))(?![\w-])", re.ASCII)


def find(text: str) -> list[Secret]:
    """Card numbers, account numbers and people's numbers of a text."""
    found = [Secret(*match.span(), "card") for match in _CARD.finditer(text) if _is_card(match)]
    found += (
        Secret(*match.span(), "iban")
        for match in _IBAN.finditer(text)
        if 15 <= sum(map(str.isalnum, match.group())) <= 34 and secret_values.is_iban(match.group())
    )
    return [*found, *_people(text)]


def _is_card(match: re.Match[str]) -> bool:
    digits = "".join(filter(str.isdigit, match.group()))
    return (
        bool(_ISSUER.match(digits))
        and len(digits) in _SIZES[digits[0]]
        and len(set(digits)) > 1
        and secret_values.luhn(digits)
    )


def _people(text: str) -> Iterator[Secret]:
    folded = fold(text)
    runs = [match.span() for match in _DIGITS.finditer(text)]
    around = [(max(0, start - _ROUND), end + _ROUND) for start, end in runs]
    for number in states():
        if number.is_known and number.check:
            pattern = _compiled(number.pattern, is_known=True)
            for bare in (
                bare for start, end in around for bare in pattern.finditer(text, start, end)
            ):
                if secret_values.has_check(bare.group(), number.check):
                    yield Secret(*bare.span(), "national-number")
    for label, number in _phrases().within(folded):
        for place in phrase_places(folded, label):
            if place and folded[place - 1].isalnum():
                continue
            match = _compiled(number.pattern, is_known=False).match(text, place + len(label))
            if match and secret_values.has_check(match.group(1), number.check):
                yield Secret(*match.span(1), "national-number")


@cache
def _phrases() -> Phrases[Number]:
    pairs = ((fold(label), number) for number in states() for label in number.labels if label)
    return Phrases(pairs)
