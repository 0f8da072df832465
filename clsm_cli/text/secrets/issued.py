"""Keys whose form is documented by who issues them: ``formats.tsv``."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text.secrets import Secret, secret_values, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFT = r"(?<![A-Za-z0-9])"
_RIGHT = r"(?![A-Za-z0-9])"
_PREFIX = 4
"""Characters of a token before the line end, at least."""
_WHOLE = 20
"""Characters of a token that a line end may have broken; a shorter one is a word."""
_TESTS: dict[str, Callable[[str], bool] | None] = {
    "": None,
    "mixed": secret_values.is_mixed,
    "opaque": secret_values.is_opaque,
    "random": secret_values.is_random,
    "given": secret_values.is_given,
    "password": secret_values.is_password,
}


class Format(NamedTuple):
    """A kind of key.

    Attributes:
        kind: What takes its place in a text.
        is_token: Whether it has no blank in it, so that a line end in it can be told.
        hints: One of these is in the lower-cased text, else the pattern is not tried.
        accept: Whether what was matched is a secret; None: it is.
        pattern: Group 1 is what gets masked; without a group, the whole match.
    """

    kind: str
    is_token: bool
    hints: tuple[str, ...]
    accept: Callable[[str], bool] | None
    pattern: str


@cache
def formats() -> tuple[Format, ...]:
    """All of them, in the order in which they are looked for: the surest first."""
    return tuple(
        Format(
            kind,
            place == "token",
            tuple(hints.split(" ")),
            _TESTS[test],
            pattern.replace("{L}", _LEFT).replace("{R}", _RIGHT),
        )
        for kind, place, hints, test, pattern in tables.rows("formats")
    )


@cache
def _line_ends() -> re.Pattern[str]:
    """A line end within what may be one token, as mail and terminals break them."""
    return re.compile(r"(?<=[\w.+/=-])[ \t]{0,8}\\?\n[ \t>]{0,8}(?=[\w.+/=-])", re.ASCII)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of ``formats``, compiled at first need."""
    return re.compile(pattern)


def find(text: str) -> list[Secret]:
    """The keys of a text, also those that a line end breaks."""
    chosen = _hinted(text)
    found = [span for each in chosen for span in _matches(each, text)]
    tokens = [each for each in chosen if each.is_token]
    return [*found, *_broken(text, tokens)] if tokens and "\n" in text else found


@cache
def _hints() -> tuple[tuple[str, int], ...]:
    return tuple((hint, number) for number, each in enumerate(formats()) for hint in each.hints)


def _hinted(text: str) -> list[Format]:
    lowered, chosen = text.lower(), formats()
    return [chosen[n] for n in sorted({n for hint, n in _hints() if hint in lowered})]


def _matches(form: Format, text: str) -> Iterator[Secret]:
    for match in compiled(form.pattern).finditer(text):
        group = match.lastindex or 0
        if form.accept is None or form.accept(match.group(group)):
            yield Secret(match.start(group), match.end(group), form.kind)


def _broken(text: str, chosen: list[Format]) -> Iterator[Secret]:
    """Keys that are one only when the line end in them is taken out."""
    for gap in _line_ends().finditer(text):
        start, end = _start(text, gap.start()), _end(text, gap.end())
        before = text[start : gap.start()]
        joined = before + text[gap.end() : end]
        if len(before) < _PREFIX or len(joined) < _WHOLE:
            continue
        for form in chosen:
            if any(_matches(form, before)):
                continue
            for span in _matches(form, joined):
                if span.start < len(before) < span.end:
                    yield Secret(start + span.start, gap.end() + span.end - len(before), form.kind)


def _start(text: str, place: int) -> int:
    begin = place
    while begin and place - begin < 300 and not text[begin - 1].isspace():
        begin -= 1
    return begin


def _end(text: str, place: int) -> int:
    end = place
    while end < len(text) and end - place < 300 and not text[end].isspace():
        end += 1
    return end
