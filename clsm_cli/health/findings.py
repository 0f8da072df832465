"""Findings of ``clsm doctor``, and the table of their codes.

The table (``findings.tsv``) gives severity, meaning, what ``--fix`` does and what a person can do.
docs/doctor.md shows it; a test compares the two.
"""

import csv
import os
from typing import Literal, cast

from clsm_cli.startup.records import NamedTuple

Severity = Literal["damage", "warning", "note"]
"""Damage: something is lost or unreadable. Warning: it works, but may fail later or for other users.
Note: no action needed."""
SEVERITIES: tuple[Severity, ...] = ("damage", "warning", "note")


class Finding(NamedTuple):
    """One problem in a store or around it."""

    code: str  # kind of problem, in kebab case; its meaning never changes
    severity: Severity
    path: str
    reason: str
    next_step: str  # a clause: "run: git gc", "nothing; …"
    line: int | None = None
    mends: bool = False


class Code(NamedTuple):
    """A kind of finding."""

    severity: Severity
    meaning: str
    fix: str  # what ``--fix`` does; "" for nothing
    next_step: str = ""  # for a person, where ``--fix`` does nothing


def _load() -> dict[str, Code]:
    path = os.path.join(os.path.dirname(__file__), "findings.tsv")
    with open(path, encoding="utf-8") as table:
        rows = csv.reader(table, csv.excel_tab)
        next(rows)
        return {name: Code(cast("Severity", how_bad), *rest) for name, how_bad, *rest in rows}


CODES = _load()  # code → its row, in the order of the page
MODEL = frozenset({"model-damaged"})  # damage outside the store: exit code 15


def make_finding(
    code: str,
    path: str,
    reason: str,
    *,
    line: int | None = None,
    mends: bool | None = None,
    severity: Severity | None = None,
    next_step: str = "",
) -> Finding:
    """A finding of a code; arguments override the table.

    >>> make_finding("left-over", ".tmp-x", "was left by a killed command").severity
    'note'
    """
    kind = CODES[code]
    is_mended = bool(kind.fix) if mends is None else mends
    usual = "run: clsm doctor --fix" if is_mended else kind.next_step or "mend it by hand"
    step = next_step or usual
    return Finding(code, severity or kind.severity, path, reason, step, line, is_mended)
