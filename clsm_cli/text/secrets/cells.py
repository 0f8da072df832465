"""Secrets in table cells, with the heading of the column or the previous cell as label."""

import itertools
import re
from collections.abc import Iterator

from clsm_cli.text.secrets import labelled
from clsm_cli.text.secrets.secret_values import Secret

_RULE = re.compile(r"[\s|:-]*-{2,}[\s|:-]*\Z")
_MARKUP = " \t*_`\"'"


def find(text: str) -> list[Secret]:
    """Secrets in Markdown tables, and in comma- or tab-separated values under a line of headings."""
    found: list[Secret] = []
    mark, headings, is_telling, start = "", list[str](), False, 0
    lines = text.split("\n")
    for line, after in itertools.pairwise([*lines, ""]):
        cells = list(_cells(line, mark)) if mark else []
        is_row = bool(cells) and len(cells) == len(headings)
        if not is_row:
            mark = _separator(line, after)
            headings = _headings(line, mark) if mark else []
            is_telling = bool(mark) and labelled.has_label(line)
        elif is_telling:
            for heading, cell in zip(headings, cells, strict=True):
                found += _cell(line, start, cell, heading)
        if "|" in line and labelled.has_label(line):
            named = _row(line, start)
            found += named if is_row or not mark else (e for e in named if not _is_word(text, e))
        start += len(line) + 1
    return found


def _separator(line: str, after: str) -> str:
    """What separates the cells of the table that a line heads; empty if it heads none."""
    if "|" in line and _RULE.match(after):
        return "|"
    marks = (mark for mark in ",\t;" if mark in line and after.count(mark) == line.count(mark))
    return next(marks, "")


def _headings(line: str, mark: str) -> list[str]:
    """The headings of columns, each after the first, which is the thing that a code opens: "| Door | Code |"."""
    found = [line[start:end] for start, end in _cells(line, mark)]
    return [*found[:1], *(f"{found[0]}, {heading}" for heading in found[1:])]


def _cells(line: str, mark: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each cell of a line, without markup around it."""
    start = 0
    for piece in line.split(mark):
        end = start + len(piece)
        inner = piece.strip(_MARKUP)
        begin = start + (len(piece) - len(piece.lstrip(_MARKUP)))
        if inner or (start and end < len(line)):
            yield begin, begin + len(inner)
        start = end + len(mark)


def _cell(line: str, offset: int, cell: tuple[int, int], label: str) -> Iterator[Secret]:
    before = f"{label}: "
    shift = offset + cell[0] - len(before)
    for secret in labelled.find(before + line[slice(*cell)]):
        if secret.start >= len(before):
            yield Secret(shift + secret.start, shift + secret.end, secret.kind)


def _row(line: str, offset: int) -> Iterator[Secret]:
    """Yield the secrets of a row in which a cell is the label of the next: "| Password | … |"."""
    for (start, end), cell in itertools.pairwise(_cells(line, "|")):
        yield from _cell(line, offset, cell, line[start:end].rstrip(": "))


def _is_word(text: str, secret: Secret) -> bool:
    return text[secret.start : secret.end].isalpha()
