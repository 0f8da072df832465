"""Keys whose form their issuer documents: ``formats.tsv``."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, table_rows
from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.labels import phrase_places
from clsm_cli.text.secrets.secret_values import Secret

_LEFT = r"(?<![A-Za-z0-9])"
_RIGHT = r"(?![A-Za-z0-9])"
_MIN_PREFIX = 4  # minimum characters of a token before a line break
_LINE_END_REACH = 300  # characters to read on either side of a line break
_MIN_KEY = 12  # length of the shortest key
_LONG_WORD = re.compile(rf"\S{{{_MIN_KEY},}}+")
"""A word long enough for a key; patterns run on these alone, and prose has few."""
_TESTS: dict[str, Callable[[str], bool] | None] = {
    "": None,
    "mixed": secret_values.is_mixed,
    "opaque": secret_values.is_opaque,
    "random": secret_values.is_random,
    "given": secret_values.is_actual_value,
    "password": secret_values.is_password,
}


class Format(NamedTuple):
    """A kind of key."""

    kind: str  # name of its mask
    is_token: bool  # whether it has no blank, so that a line break inside can be recognised
    hints: tuple[str, ...]  # the lower-cased text has one of these, else the pattern is skipped
    accept: Callable[[str], bool] | None  # further test of a match; None: none
    pattern: str  # group 1 is masked; without a group, the whole match


@cache
def formats() -> tuple[Format, ...]:
    """All formats, the surest first."""
    return tuple(
        Format(kind, place == "token", tuple(hints.split(" ")), _TESTS[test], pattern)
        for kind, place, hints, test, pattern in table_rows("secrets/formats", L=_LEFT, R=_RIGHT)
    )


_LINE_END = r"(?a)[^\s\\]{0,300}(?<=[\w.+/=-])([ \t]{0,8}\\?\n[ \t>]{0,8})([\w.+/=-]\S{0,299})"
"""The rest of a word, a line break as mail and terminals insert it, and the next word."""


def find(text: str) -> list[Secret]:
    """The keys of a text, the surest first, and those with a line break inside."""
    lowered = text.lower()
    hinted = {number: form for hint, number, form in _spaced_hints() if hint in lowered}
    found = [(n, span) for n, form in hinted.items() for span in _matches(form, text, 0, len(text))]
    found += _token_matches(text)
    spans = [span for _, span in sorted(found, key=lambda pair: pair[0])]
    return [*spans, *_broken_tokens(text, lowered)] if "\n" in text else spans


@cache
def _formats(*, is_token: bool) -> tuple[tuple[int, Format], ...]:
    return tuple(pair for pair in enumerate(formats()) if pair[1].is_token == is_token)


@cache
def _spaced_hints() -> tuple[tuple[str, int, Format], ...]:
    forms = _formats(is_token=False)
    return tuple((hint, number, form) for number, form in forms for hint in form.hints)


def _token_matches(text: str) -> Iterator[tuple[int, Secret]]:
    found = _LONG_WORD.finditer(text)
    words = grouped((m.group(), m.span()) for m in found if not m.group().isalpha())
    if not words:
        return
    lowered = [(word.lower(), places) for word, places in words.items()]
    together = "\n".join(word for word, _ in lowered)
    for number, form in _formats(is_token=True):
        for hint in form.hints:
            if hint in together:
                for start, end in [p for word, places in lowered if hint in word for p in places]:
                    for span in _matches(form, text, start, end):
                        yield number, span


def _matches(form: Format, text: str, start: int, end: int) -> Iterator[Secret]:
    for match in compiled(form.pattern).finditer(text, start, end):
        group = match.lastindex or 0
        if form.accept is None or form.accept(match.group(group)):
            yield Secret(match.start(group), match.end(group), form.kind)


@cache
def _prefix_hints() -> tuple[tuple[str, Format], ...]:
    """Hints that are long enough to recognise the first piece of a broken key."""
    forms = (form for _, form in _formats(is_token=True))
    return tuple((h, form) for form in forms for h in form.hints if len(h) >= _MIN_PREFIX - 1)


def _broken_tokens(text: str, lowered: str) -> Iterator[Secret]:
    """Keys that are found only without the line break inside them."""
    words = "\n".join({*lowered.split()})
    seen: set[tuple[int, Format]] = set()
    for hint, form in _prefix_hints() if len(lowered) == len(text) else ():
        for place in phrase_places(lowered, hint) if hint in words else ():
            gap = compiled(_LINE_END).match(text, place)
            if gap is None or (gap.start(1), form) in seen:
                continue
            seen.add((gap.start(1), form))
            start = _token_start(text, gap.start(1))
            before = text[start : gap.start(1)]
            joined = before + gap.group(2)
            is_whole = any(_matches(form, before, 0, len(before)))
            if is_whole and not secret_values.is_opaque(gap.group(2)):
                continue
            for span in _matches(form, joined, 0, len(joined)):
                if span.start < len(before) < span.end:
                    end = gap.start(2) + span.end - len(before)
                    yield Secret(start + span.start, end, form.kind)


def _token_start(text: str, place: int) -> int:
    spaces = [text.rfind(blank, max(0, place - _LINE_END_REACH), place) for blank in " \n\t"]
    return max(max(spaces) + 1, place - _LINE_END_REACH, 0)
