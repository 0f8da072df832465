"""Secrets in table cells, with the heading of the column or the previous cell as label."""

import itertools
import re
from collections.abc import Iterator

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.secrets import contextual, labels
from clsm_cli.text.secrets.secret_values import Secret

_RULE = re.compile(r"[\s|:-]*-{2,}[\s|:-]*\Z")
_MARKUP = " \t*_`\"'"


class Cell(NamedTuple):
    """A cell as a line of its own, "Door, Code: 4471".

    Attributes:
        line: The heading, or the cell before it, and the value.
        start: Where the value begins in ``line``.
        place: Where it begins in the text.
        is_prose: Whether the line heads a table, so that a word in it is no value.
    """

    line: str
    start: int
    place: int
    is_prose: bool = False


def find(text: str) -> list[Secret]:
    """Secrets in Markdown tables, and in comma- or tab-separated values under a line of headings."""
    found = []
    for cell in cells(text):
        for secret in contextual.find(cell.line):
            is_word = cell.is_prose and cell.line[secret.start : secret.end].isalpha()
            if secret.start >= cell.start and not is_word:
                shift = cell.place - cell.start
                found.append(Secret(shift + secret.start, shift + secret.end, secret.kind))
    return found


def cells(text: str) -> Iterator[Cell]:
    """The cells that have a heading or stand behind another, in a table or line that has a label."""
    mark, headings, is_telling, start = "", list[str](), False, 0
    for line, after in itertools.pairwise([*text.split("\n"), ""]):
        spans = list(_cells(line, mark)) if mark else []
        is_row = bool(spans) and len(spans) == len(headings)
        if not is_row:
            mark = _separator(line, after)
            headings = _headings(line, mark) if mark else []
            is_telling = bool(mark) and labels.has_label(line)
        elif is_telling:
            for heading, span in zip(headings, spans, strict=True):
                yield _cell(line, start, span, heading)
        if "|" in line and labels.has_label(line):
            for (begin, end), span in itertools.pairwise(_cells(line, "|")):
                cell = _cell(line, start, span, line[begin:end].rstrip(": "))
                yield cell._replace(is_prose=not is_row and bool(mark))
        start += len(line) + 1


def _cell(line: str, offset: int, span: tuple[int, int], heading: str) -> Cell:
    before = f"{heading}: "
    return Cell(before + line[slice(*span)], len(before), offset + span[0])


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
