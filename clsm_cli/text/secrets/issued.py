"""Keys whose form their issuer documents: ``formats.tsv``."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, table_rows
from clsm_cli.text.secrets import Secret, secret_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFT = r"(?<![A-Za-z0-9])"
_RIGHT = r"(?![A-Za-z0-9])"
_PREFIX = 4
"""Characters of a token before the line end, at least."""
_FAR = 300
"""Characters on either side of a line end that are looked at."""
_WHOLE = 20
"""Characters of a token that a line end may have broken; a shorter one is a word."""
_TESTS: dict[str, Callable[[str], bool] | None] = {
    "": None,
    "mixed": secret_values.is_mixed,
    "opaque": secret_values.is_opaque,
    "random": secret_values.is_random,
    "given": secret_values.is_actual_value,
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
        Format(kind, place == "token", tuple(hints.split(" ")), _TESTS[test], pattern)
        for kind, place, hints, test, pattern in table_rows("secrets/formats", L=_LEFT, R=_RIGHT)
    )


@cache
def _gap() -> re.Pattern[str]:
    """A token, a line end as mail and terminals put one into it, and what follows."""
    return re.compile(
        r"(?<!\S)(\S{4,}+)([ \t]{0,8}\n[ \t>]{0,8})(?=([\w.+/=-]\S{0,299}))", re.ASCII
    )


def find(text: str) -> list[Secret]:
    """The keys of a text, the surest first, and those that a line end breaks."""
    lowered = text.lower()
    hinted = (form for form in formats() if any(hint in lowered for hint in form.hints))
    spans = [span for form in hinted for span in _matches(form, text)]
    return [*spans, *_broken(text)] if "\n" in text else spans


def _matches(form: Format, text: str) -> Iterator[Secret]:
    for match in compiled(form.pattern).finditer(text):
        group = match.lastindex or 0
        if form.accept is None or form.accept(match.group(group)):
            yield Secret(match.start(group), match.end(group), form.kind)


def _broken(text: str) -> Iterator[Secret]:
    """Keys that are one only when the line end in them is taken out."""
    forms = [form for form in formats() if form.is_token]
    for gap in _gap().finditer(text):
        before = gap[1][-_FAR:].rstrip("\\")
        joined, lowered = before + gap[3], before.lower()
        if lowered == before and before.isalpha():
            continue  # a word
        start = gap.end(1) - len(gap[1][-_FAR:])
        for form in forms if len(joined) >= _WHOLE and len(before) >= _PREFIX else ():
            marks = (hint for hint in form.hints if len(hint) >= _PREFIX - 1)
            if not any(mark in lowered for mark in marks) or any(_matches(form, before)):
                continue
            for span in _matches(form, joined):
                if span.start < len(before) < span.end:
                    end = gap.end(2) + span.end - len(before)
                    yield Secret(start + span.start, end, form.kind)
