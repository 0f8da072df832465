"""Lines of documents that got another value: a label, or the first cell of a row, with something else behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text.plain import to_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABELLED = re.compile(r"([^\s:|][^:|]{0,40}):\s+(\S.*)")
_TASK = re.compile(r"\s*[-*+]\s+\[.\]\s")


def rewritten_lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    r"""The lines of two versions of a block that have one label and two values, the later first.

    >>> list(rewritten_lines("- Rent: 900\n- Dog: Rex", "- Rent: 950\n- Dog: Rex\n- Cat: Mia"))
    [('Rent: 950', 'Rent: 900')]
    >>> list(rewritten_lines("| Gate | 4 |", "| Gate | 7 |"))
    [('Gate: 7', 'Gate: 4')]
    """
    before = _values(old)
    for label, value in _values(new).items():
        if before.get(label, value) != value:
            yield f"{label}: {value}", f"{label}: {before[label]}"


def _values(text: str) -> dict[str, str]:
    """Label → value of the lines that have both, and whose label no other has."""
    found: dict[str, str] = {}
    twice = set()
    for line in text.splitlines():
        if _TASK.match(line):
            continue
        first, *cells = [to_plain(each).strip() for each in line.strip().strip("|").split("|")]
        match = _LABELLED.fullmatch(first)
        label, value = match.groups() if match and not cells else (first, ", ".join(cells))
        if label in found:
            twice.add(label)
        if label and value:
            found[label] = value
    return {label: value for label, value in found.items() if label not in twice}
