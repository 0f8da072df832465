"""Values, times and words of statements, as ``calibrate`` compares them.

Values that are over: what a sentence says of them, and what stops with the thing they are of.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.consolidation.valued import STOPPED
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.valued import Past
    from clsm_cli.model.graph import Statement

STATES = ("open", "blocked", "done")
"""A task only goes forward."""
NEW_WORDS = 4
"""Content stems by which a sentence says more than the one that holds its value already."""


_DEFINED = re.compile(r"([^\W_][^:.!?]{1,60}): ")
_NAMED = re.compile(
    r"((?:[A-Z][\w-]*|\w*[a-z]\w*[_\d]\w*)(?:\s(?:[A-Z][\w-]*|van|von|der|den|de|of))*)(?:['’]s)?\s(?=[a-z])"
)
"""What a sentence begins with: a name and a colon, or a run of capitalised words."""


def since(row: Statement) -> str:
    """Since when a row holds; of one without a time all that is known is when it was recorded.

    One that is over held before that; where its first day is not known, it sorts before all others.
    """
    return row.valid_from or ("" if row.valid_until else row.recorded_at or "")


def is_same_value(a: str | None, b: str | None) -> bool:
    """Whether two values are one: equal, or one says less of the same ("shed", "signal shed").

    >>> is_same_value("signal shed", "Shed"), is_same_value("10 minutes", "minutes")
    (True, False)
    """
    one, other = set(value_of(a).split()), set(value_of(b).split())
    if one == other:
        return True
    has_number = any(map(str.isdigit, "".join(one ^ other)))
    return bool(one and other) and not has_number and (one <= other or other <= one)


def value_of(value: str | None) -> str:
    """A value to compare: without case, single blanks."""
    return " ".join((value or "").casefold().split())


def with_reason(text: str, reason: str) -> str:
    """A task and why it is blocked; a newer reason takes the place of an older one.

    >>> with_reason("Tax return (blocked: no form)", "until the bank writes")
    'Tax return (blocked: until the bank writes)'
    """
    task = text.partition(" (blocked: ")[0]
    return f"{task} (blocked: {reason})" if reason else task


def news(text: str, known: str) -> set[str]:
    """The content stems that a text has and another does not."""
    return set(stems(text)) - set(stems(known))


def holds(row: Statement, at: str | None) -> bool:
    """Whether a row's interval holds a time; a current one also what is before it."""
    if at is None or row.valid_until is None:
        return True
    return (row.valid_from or "") <= at < row.valid_until


def leading_name(text: str) -> str | None:
    """Id of the name that a sentence begins with, which it is about; None for none.

    >>> leading_name("The Slow Lane: a book."), leading_name("Mara Lind has a boat.")
    ('the-slow-lane', 'mara-lind')
    >>> leading_name("By noon Mara had left."), leading_name("I keep bees.")
    (None, None)
    """
    named = _DEFINED.match(text) or _NAMED.match(text)
    if named is None or named.group(1).split()[0] in NO_NAMES - {"The"}:
        return None
    return node_id(named.group(1))


def is_same_day(claim: Claim, row: Statement) -> bool:
    """Whether a claim and a statement in the same words mean the same day by "yesterday".

    One that is read again does.
    """
    then = row.valid_from or row.recorded_at
    if not (claim.observed and then) or {*claim.turns} <= {*row.sources}:
        return True
    at, before = (date.fromisoformat(time[:10]) for time in (claim.observed, then))
    return at == before or expressions.same_days(claim.text, at, row.text, before)


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
