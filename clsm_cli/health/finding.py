"""What ``clsm doctor`` says of a store: one finding a thing that is not as it should be."""

from __future__ import annotations

from typing import Literal

from clsm_cli.records import NamedTuple

Severity = Literal["damage", "warning", "note"]
"""Damage: something is lost or cannot be read as it stands. Warning: it works, but may not for long
or for others. Note: worth knowing, nothing to do."""
SEVERITIES: tuple[Severity, ...] = ("damage", "warning", "note")


class Finding(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        code: What kind of thing, in kebab case; never changes its meaning.
        severity: How bad it is.
        path: The file or folder, relative to the store where it lies in it; "" for the whole store.
        reason: What is wrong, in plain words, without the path.
        next_step: What to do about it, as a clause: "run: git gc", "nothing; …".
        line: Of the file, from 1; None for all of it.
        mends: Whether ``--fix`` mends it.
    """

    code: str
    severity: Severity
    path: str
    reason: str
    next_step: str
    line: int | None = None
    mends: bool = False
