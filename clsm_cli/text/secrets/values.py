"""Values in running text that may be a password or a code, before anything around them is read.

A number, a word with digits or marks, joined words, groups of characters, spelled digits; after a label also
plain words, phrases and quotations. Most are no secrets: ``contextual`` judges them.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, table_rows
from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.labels import UNSPACED_CLASS, Label
from clsm_cli.text.tokens import STOP_WORDS

Form = Literal["digits", "mixed", "joined", "groups", "list", "spelled", "word", "phrase", "quoted"]


class Value(NamedTuple):
    """Span and form of a value: ``text[start:end]``."""

    start: int
    end: int
    form: Form


_PIECE = rf"[^\s\"`“”„«»<>(){{}}\[\]|,;、。，；：【】「」『』（）{UNSPACED_CLASS}]+"
_LEFT = rf"(?<![^\W{UNSPACED_CLASS}])(?<!['’])(?<![.,/$€£¥+&?%-])(?<!\d:)"
_DIGITS = (
    rf"{_LEFT}[#*]?(?:[A-Z][ -]?\d|[a-z]?\d)(?:[ -]?\d|[ ]-[ ]\d){{2,47}}[A-Za-z]?[#*]?"
    rf"(?![^\W{UNSPACED_CLASS}]|[%°/]|[-.,:]\d)"
)
_DATE = r"\d{4}-\d\d-\d\d|\d\d?-\d\d?-\d{4}"
_AMOUNT = r"\d{1,4}(?:[-/.:]\d{1,4}){1,5}|\d+(?:[.,]\d+)+|v?\d+(?:\.\d+)+\S*|\+\d[\d -]+"
_KEY = r"(?:[^\W\d]|[-.\[\]'\\])+(?:[=:]+|=>)(?=.)"
_PARAMETER = r"[?&][\w.-]+=([^&#\s]{8,})"
_JOINED = r"[^\W\d_]{2,}(?:[-_.][^\W\d_]+){1,6}"
_GROUPS = (
    r"(?<![\w-])(?:(?:[A-Z0-9]{4,8}[ -]){2,15}[A-Z0-9]{4,8}"
    r"|(?:[a-z]*\d[a-z0-9]*[ -]|(?<=[ -])[a-z]{4,6}[ -]){2,15}[a-z0-9]{4,8})(?![\w-])"
)
_LIST = (
    r"(?<![\w-])(?:(?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8}"
    r"|(?:\d\d?[.)] ?[a-z]{3,8}[ ,\n]{1,3}){11,23}\d\d?[.)] ?[a-z]{3,8})\b"
)
"""Twelve words or more, as a wallet's."""
_QUOTED = r"(?:[\"“„«`「『]|(?<!\w)')([^\"”“»'`」』\n]{4,60})[\"”“»'`」』]"
_PLAIN = r"(?<!\w)[^\W\d_]{3,}(?!\w)"
_RUN_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)?"
_RUN = rf"{_RUN_WORD}(?:[ -]{_RUN_WORD})*"
_SENTENCE_END = r"[.!?;](?:\s|$)|\n"
_NUMERAL = rf"[^\W\d_{UNSPACED_CLASS}]+(?:['’][^\W\d_]+)?|[{UNSPACED_CLASS}]"
_OPENING, _ENDING = "*_~'’‘-–—→.!?/\\", "*_~'’‘.:?…\\/-"
_MARKS = frozenset("!@#$%^&*+?~")
_MIN_LENGTH, _MIN_SPELLED = 4, 3
_REACH, _WORDS = 90, 5  # around a label for passwords: characters, plain words
_MAX_LINK = 6  # letters of a word next to a phrase: "use … as the password"
_MAX_WORDS = 8  # words of a phrase
_SURE = frozenset(("password", "homonym", "login", "words"))
"""Labels after which a plain word or phrase may be the secret."""


def values(text: str, labels: Sequence[Label]) -> Iterator[Value]:
    """The values of a text that may be secrets; they may overlap."""
    for match in compiled(_DIGITS).finditer(text):
        if not compiled(_DATE).fullmatch(match.group()):
            yield Value(*match.span(), "digits")
    for match in compiled(_GROUPS).finditer(text):
        if secret_values.is_mixed(match.group()):
            yield Value(*match.span(), "groups")
    for match in compiled(_PIECE).finditer(text):
        if len(match.group()) >= _MIN_LENGTH and not match.group().isalpha():
            yield from _in_piece(text, *match.span())
    for match in compiled(_LIST).finditer(text):
        yield Value(*match.span(), "list")
    yield from _spelled(text)
    labelled = frozenset(place for _, start, end in labels for place in range(start, end))
    for label in labels:
        yield from _after_label(text, label)
        if label[0] in _SURE:
            yield from _phrases(text, label, labelled)


def _in_piece(text: str, start: int, end: int) -> Iterator[Value]:
    """The value at the end of "key=value", "user:value" or "user/value", or the whole."""
    piece = text[start:end]
    if "://" in piece:
        for match in compiled(_PARAMETER).finditer(text, start, end):
            yield Value(*match.span(1), "mixed")
        return
    if piece.count("/") > 1:
        return
    if not (key := compiled(_KEY).match(piece)):
        start += piece.find("/") + 1
        key = compiled(_KEY).match(text[start:end])
    start += key.end() if key else 0
    while start < end and text[start] in _OPENING:
        start += 1
    while end > start and text[end - 1] in _ENDING:
        end -= 1
    value = text[start:end]
    if len(value) < _MIN_LENGTH or not secret_values.is_actual_value(value):
        return
    if compiled(_JOINED).fullmatch(value.rstrip("!?")) and not secret_values.is_file(value):
        yield Value(start, end, "joined")
    elif _is_mixed(value):
        yield Value(start, end, "mixed")


def _is_mixed(value: str) -> bool:
    """Whether a value has letters, and digits or marks, and is no amount, time or version; "!" may end a sentence."""
    is_odd = any(map(str.isdigit, value)) or not _MARKS.isdisjoint(value[1:].rstrip("!?"))
    return is_odd and any(map(str.isalpha, value)) and not compiled(_AMOUNT).fullmatch(value)


def _spelled(text: str) -> Iterator[Value]:
    """Digits in words, "four four seven one"."""
    spans: list[tuple[int, int]] = []
    for match in compiled(_NUMERAL).finditer(text):
        if match.group().lower() not in _numerals():
            continue
        if spans and text[spans[-1][1] : match.start()].strip(" ,.-·") not in ("", "double"):
            if len(spans) >= _MIN_SPELLED:
                yield Value(spans[0][0], spans[-1][1], "spelled")
            spans = []
        spans.append(match.span())
    if len(spans) >= _MIN_SPELLED:
        yield Value(spans[0][0], spans[-1][1], "spelled")


@cache
def _numerals() -> frozenset[str]:
    cells = (cell for _, *digits in table_rows("secrets/digits") for cell in digits)
    return frozenset(word for cell in cells for word in cell.split("|"))


def _after_label(text: str, label: Label) -> Iterator[Value]:
    kind, _, end = label
    line_end = text.find("\n", end + 3)
    stop = min(end + _REACH, line_end if line_end >= 0 else len(text))
    for match in compiled(_QUOTED).finditer(text, end, stop):
        if not match.group(1).strip().isdigit():
            yield Value(*match.span(1), "quoted")
    words = list(compiled(_PLAIN).finditer(text, end, stop))
    for match in words[: _WORDS if kind in _SURE else 1]:
        if match.start() > end and text[match.end() : match.end() + 1] != "-":
            yield Value(*match.span(), "word")


def _phrases(text: str, label: Label, labelled: frozenset[int]) -> Iterator[Value]:
    """Words in the sentence of a label that may be its value: between marks, labels and short words."""
    _, place, after = label
    begin = max(0, place - _REACH)
    for mark in compiled(_SENTENCE_END).finditer(text, begin, place):
        begin = mark.end()
    behind = compiled(_SENTENCE_END).search(text, after, after + _REACH)
    stop = behind.start() if behind else min(len(text), after + _REACH)
    for run in compiled(_RUN).finditer(text, begin, stop):
        words: list[tuple[int, int]] = []
        for word in (*compiled(_RUN_WORD).finditer(text, *run.span()), None):
            if word and word.start() not in labelled and word.end() - 1 not in labelled:
                words.append(word.span())
                continue
            for start, end in _bounded(text, words):
                if end <= place or " " in text[start:end] or "-" in text[start:end]:
                    yield Value(start, end, "phrase")
            words = []


def _bounded(text: str, words: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of words, each between two short words or at an end; the last says something itself."""
    is_short = [end - start <= _MAX_LINK for start, end in words]
    is_stop = [text[start:end].lower() in STOP_WORDS for start, end in words]
    for first, (start, _) in enumerate(words):
        for last in range(first, min(len(words), first + _MAX_WORDS)):
            is_begun = first == 0 or is_short[first - 1]
            is_ended = last + 1 == len(words) or is_short[last + 1]
            if is_begun and is_ended and not is_stop[last]:
                yield start, words[last][1]
