"""Secrets in table cells, recognised by the heading of their column or row."""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.labelled import fold, labels
from clsm_cli.text.secrets.secret_values import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULE = re.compile(r"[\s|:-]*-{2,}[\s|:-]*\Z")
_MARKUP = " \t*_`\"'"
_KINDS = {"password": "password", "pin": "pin", "key": "secret", "lone key": "secret"}
_ROWS = 400
"""Rows of a table of comma-separated values that are looked at; a longer one is data."""


@cache
def _headings() -> dict[str, str]:
    return {text: _KINDS[kind] for text, kind in labels() if kind in _KINDS}


def find(text: str) -> list[Secret]:
    """Those of Markdown tables, and of comma- or tab-separated values under a line of headings."""
    found: list[Secret] = []
    telling: dict[int, str] = {}
    mark, left, start = "", 0, 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        cells = list(_cells(line, mark)) if mark and left else []
        if not cells or len(cells) <= max(telling, default=0):
            mark, telling, left = _table(line, lines[number + 1 : number + 2])
            if not telling and "|" in line:
                found += _row(line, start)
        else:
            left -= 1
            for column, kind in telling.items():
                found += _cell(line, start, cells[column], kind)
        start += len(line) + 1
    return found


def _table(line: str, after: list[str]) -> tuple[str, dict[int, str], int]:
    """The mark between cells and the telling columns, if a line heads a table."""
    if "|" in line and after and _RULE.match(after[0]):
        return "|", _telling(line, "|"), 1 << 30
    for mark in (",", "\t", ";"):
        if mark in line and after and after[0].count(mark) == line.count(mark):
            return mark, _telling(line, mark), _ROWS
    return "", {}, 0


def _telling(line: str, mark: str) -> dict[int, str]:
    headings = _headings()
    found = {}
    for column, (start, end) in enumerate(_cells(line, mark)):
        name = fold(line[start:end]).strip(_MARKUP)
        if name in headings:
            found[column] = headings[name]
    return found


def _cells(line: str, mark: str) -> Iterator[tuple[int, int]]:
    """Where each cell of a line stands, without the markup round it."""
    start = 0
    for piece in line.split(mark):
        end = start + len(piece)
        inner = piece.strip(_MARKUP)
        begin = start + (len(piece) - len(piece.lstrip(_MARKUP)))
        if inner or (start and end < len(line)):
            yield begin, begin + len(inner)
        start = end + len(mark)


def _cell(line: str, offset: int, cell: tuple[int, int], kind: str) -> list[Secret]:
    value = line[cell[0] : cell[1]]
    return [Secret(offset + cell[0], offset + cell[1], kind)] if _is_secret(value, kind) else []


def _is_secret(value: str, kind: str) -> bool:
    if not value or " " in value or not secret_values.is_actual_value(value):
        return False
    if kind == "pin":
        return value.isdigit() and 3 <= len(value) <= 8
    if kind == "secret":
        return len(value) >= 12 and secret_values.is_random(value)
    return secret_values.is_password(value)


def _row(line: str, offset: int) -> Iterator[Secret]:
    """A row whose first cell is the heading of the second: "| Password | … |"."""
    cells = list(_cells(line, "|"))
    headings = _headings()
    for (start, end), cell in itertools.pairwise(cells):
        kind = headings.get(fold(line[start:end]).strip(_MARKUP + ":"))
        if kind:
            yield from _cell(line, offset, cell, kind)
