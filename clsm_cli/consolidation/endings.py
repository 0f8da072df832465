"""Values that are over: what a sentence says of them, and what stops with the thing they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation.valued import STOPPED
from clsm_cli.consolidation.values import is_same_value, since, value_of
from clsm_cli.model.tombstones import birth_ids, first_free

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.valued import Past
    from clsm_cli.model.graph import Statement

GOING = frozenset({"interval", "rate", "time"})
"""Slots whose values hold only while the thing does something: what is paused has no interval."""

_STARTED = frozenset(
    {"enabled", "in service", "live", "online", "production", "running", "switched on", "turned on"}
)


def of_claim(calibration: Calibration, claim: Claim) -> None:
    """Bring what a claim says of older values, and of a thing that stops or goes on."""
    for past in claim.past:
        if past.until is not None:
            _past(calibration, claim, past, past.until)
    at = claim.valid_from
    if claim.slot != "status" or at is None or claim.is_ended:
        return
    states = calibration.known.of_slot(claim.subject, "status")
    if any(since(row) > at for row in states):
        return  # an older state, told late
    if claim.value in STOPPED:
        _stop(calibration, claim, at)
    elif claim.value in _STARTED:
        _go_on(calibration, claim, at, states)


def _past(calibration: Calibration, claim: Claim, past: Past, until: str) -> None:
    """Close a value that is over; one that memory never held becomes a closed row."""
    rows = calibration.known.of_slot(past.subject, past.slot)
    same = [row for row in rows if _is_it(row, past)]
    for row in same:
        is_asked = row.pinned and not claim.is_ended  # the newer value was a doubt already
        if row.is_current and since(row) < until and not is_asked:
            calibration.close(row, until)
    if same or not past.is_told or (past.is_single and any(_covers(row, until) for row in rows)):
        return
    before = [row.valid_until for row in rows if row.valid_until and row.valid_until < until]
    start = past.since or (max(before, default=None) if past.is_single else None)
    calibration.add_past(claim, past, start)


def _is_it(row: Statement, past: Past) -> bool:
    if past.is_single:
        return is_same_value(row.value, past.value)
    return value_of(row.value) == value_of(past.value)


def _covers(row: Statement, day: str) -> bool:
    """Whether a row holds just before a day."""
    return since(row) < day and (row.valid_until is None or row.valid_until >= day)


def _stop(calibration: Calibration, claim: Claim, at: str) -> None:
    for row in _going(calibration, claim):
        if row.is_current and since(row) < at:
            calibration.close(row, at)


def _go_on(calibration: Calibration, claim: Claim, at: str, states: Iterable[Statement]) -> None:
    """What a stop ended holds again, where nothing newer is known."""
    stops = {row.valid_from for row in states if row.value in STOPPED and row.valid_until == at}
    rows = list(_going(calibration, claim))
    current = {row.slot for row in rows if row.valid_until is None}
    for row in rows:
        if row.valid_until in stops and row.slot not in current:
            again = replace(
                row,
                id=first_free(
                    birth_ids(" ".join(row.text.lower().split()), at, claim.turn),
                    calibration.known.forgotten,
                ),
                rev=(0, ""),
                valid_from=at,
                valid_until=None,
                sources=tuple(sorted({*row.sources, *claim.turns})),
                recorded_at=calibration.now,
            )
            calibration.known.put(again)


def _going(calibration: Calibration, claim: Claim) -> Iterable[Statement]:
    for slot in calibration.known.slots_of(claim.subject):
        if slot.partition("/")[0] in GOING:
            yield from calibration.known.of_slot(claim.subject, slot)


def is_resumed(row: Statement, rows: Iterable[Statement]) -> bool:
    """Whether a row goes on with a value that was closed before: a newer one may replace it at once."""
    return any(
        each.valid_until and each.id != row.id and each.text == row.text and not each.is_current
        for each in rows
    )
