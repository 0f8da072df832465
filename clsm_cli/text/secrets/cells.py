"""Secrets in table cells, with the heading of the column or the previous cell as label."""

import itertools
import re
from collections.abc import Iterator

from clsm_cli.text.secrets import labelled
from clsm_cli.text.secrets.secret_values import Secret

_RULE = re.compile(r"[\s|:-]*-{2,}[\s|:-]*\Z")
_MARKUP = " \t*_`\"'"
_NO_LIMIT = 1 << 30
_MAX_ROWS = 400  # maximum rows of comma-separated values to search; a longer table is data
_HEADING = re.compile(r"[^:=.,;?!]{1,60}")  # a heading; longer text, or text with marks, is none


def find(text: str) -> list[Secret]:
    """Secrets in Markdown tables, and in comma- or tab-separated values under a line of headings."""
    found: list[Secret] = []
    telling: dict[int, str] = {}
    mark, left, width, start = "", 0, 0, 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        cells = list(_cells(line, mark)) if mark and left else []
        if (
            not cells
            or len(cells) <= max(telling, default=0)
            or (mark != "|" and len(cells) != width)
        ):
            mark, telling, left = _table(line, lines[number + 1 : number + 2])
            width = sum(1 for _ in _cells(line, mark)) if mark else 0
        else:
            left -= 1
            for column, heading in telling.items():
                found += _cell(line, start, cells[column], heading)
        if "|" in line:
            is_heading = bool(telling) and left == _NO_LIMIT
            found += (
                each
                for each in _row(line, start)
                if not (is_heading and text[each.start : each.end].isalpha())
            )
        start += len(line) + 1
    return found


def _table(line: str, after: list[str]) -> tuple[str, dict[int, str], int]:
    """Separator, labelled columns and row limit of the table that a line heads."""
    if "|" in line and after and _RULE.match(after[0]):
        return "|", _labelled_columns(line, "|"), _NO_LIMIT
    for mark in (",", "\t", ";"):
        if mark in line and after and after[0].count(mark) == line.count(mark):
            return mark, _labelled_columns(line, mark), _MAX_ROWS
    return "", {}, 0


def _labelled_columns(line: str, mark: str) -> dict[int, str]:
    if not labelled.has_label(line):
        return {}
    headings = [line[start:end] for start, end in _cells(line, mark)]
    thing = f"{headings[0]}, "  # which a code opens: "| Door | Code |"
    return {
        column: f"{thing if column else ''}{text}"
        for column, text in enumerate(headings)
        if _is_label(text)
    }


def _is_label(text: str) -> bool:
    return bool(_HEADING.fullmatch(text)) and labelled.is_heading(text)


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
    if labelled.has_label(line):
        for (start, end), cell in itertools.pairwise(_cells(line, "|")):
            label = line[start:end].rstrip(": ")
            if _is_label(label):
                yield from _cell(line, offset, cell, label)
