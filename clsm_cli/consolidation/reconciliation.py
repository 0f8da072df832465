"""Reconcile statements that two machines learnt separately, after git merged their files.

Git joins records line by line: a row that one machine closed may stand in the Markdown again, or be gone
from it while the other had added a source; and of two machines each may have heard another value of one
thing. None of that is what a person did. What was closed is closed again, and what another machine
learnt is judged beside what is known here, as if it were told now.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation import supersession_check
from clsm_cli.consolidation.claims import Claim
from clsm_cli.model.ids import closed_copy_id
from clsm_cli.store.topics import text_sha

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.model.graph import Statement


def settled(rows: Mapping[str, Statement], now: str) -> dict[str, Statement]:
    """All statements, those that a machine had closed as that machine left them."""
    copies = _closed_copies(rows.values())
    return {i: _closed(row, copies[i], now) if i in copies else row for i, row in rows.items()}


def compare(calibration: Calibration, device: str) -> None:
    """Judge what other machines learnt beside what is known; the oldest first."""
    known = calibration.known
    rows = [row for row in known.rows.values() if row.is_current and row.rev[1] != device]
    for row in sorted(rows, key=lambda row: (supersession_check.since(row), row.id)):
        if not row.sources or not known.rows[row.id].is_current:
            continue
        found = supersession_check.rivals(calibration, _as_claim(row), known.vector_of(row.id))
        sure = [each for each in found if each.chance >= supersession_check.OVER]
        for each in sure:
            if not each.is_later:
                calibration.close(each.row, supersession_check.since(row))
        if ends := [supersession_check.since(each.row) for each in sure if each.is_later]:
            calibration.close(row, min(ends))


def _as_claim(row: Statement) -> Claim:
    return Claim(
        text=row.text,
        kind=row.kind,
        stream=row.stream,
        topic=row.topic,
        turn=row.sources[0],
        more_turns=row.sources[1:],
        trust=row.trust,
        valid_from=row.valid_from,
        observed=row.recorded_at or "",
        subject=row.subject,
    )


def _closed(row: Statement, copy: Statement, now: str) -> Statement:
    """A row that does not hold, as the machine left it that closed it."""
    if row.superseded_at and not row.withdrawn:
        return row
    return replace(
        row,
        text=row.text or copy.text,
        trust=copy.trust,
        pinned=copy.pinned,
        withdrawn=False,
        superseded_at=row.superseded_at or now,
    )


def _closed_copies(rows: Iterable[Statement]) -> dict[str, Statement]:
    """Rows that hold, or were withdrawn, although a machine closed them: id → the closed copy."""
    closed: dict[str, list[Statement]] = {}
    others = []
    for row in rows:
        if row.valid_until is not None:
            closed.setdefault(text_sha(row.text), []).append(row)
        elif row.is_current or row.withdrawn:
            others.append(row)
    return {
        row.id: copy
        for row in others
        for copy in closed.get(text_sha(row.text) if row.text else row.text_sha, ())
        if closed_copy_id(row.id, copy.valid_until or "") == copy.id
    }
