"""What a claim takes the place of where no slot says so.

CMA (section 3.4) closes what a newer memory contradicts. Here a claim must say that it is a change
(``text.changes``), be about the same names as an earlier statement but for one, the value, and be
near to it in meaning: nearer where they share no other word than the names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.consolidation.values import since
from clsm_cli.records import NamedTuple
from clsm_cli.text import changes
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from typing import Any

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.known import Known
    from clsm_cli.model.graph import Statement

ALIKE = 0.60
"""Cosine from which two sentences that share names alone are about one thing."""
NEAR = 0.45
"""The same where they share a content word too."""
_KINDS = frozenset({"fact", "preference", "convention", "decision"})


class Successor(NamedTuple):
    """A claim as it stands after what it replaces was found.

    Attributes:
        value: Its value.
        replaced: What it takes the place of, the least alike first.
    """

    value: str
    replaced: tuple[Statement, ...]


def find(known: Known, claim: Claim, vector: Any) -> Successor | None:
    """What a claim replaces; None where that is nothing.

    Args:
        known: What is known.
        claim: Of a sentence, with no value or one of a slot with one value at a time.
        vector: Unit vector of its text; without one nothing is found.
    """
    if not _may_change(claim) or vector is None or not changes.tells_change(claim.text):
        return None
    at = claim.valid_from or claim.observed
    found = []
    value = None
    for row, cosine in known.alike(vector, NEAR):
        if not _may_end(row, claim, at):
            continue
        new = changes.new_value(claim.text, row.text)
        if new is None:
            continue
        is_value = row.slot is not None or changes.tells_change(row.text)
        is_topic = changes.shares_topic(claim.text, row.text)
        if (cosine >= ALIKE and (is_value or is_topic)) or (is_value and is_topic):
            found.append(row)
            value = value or new
    return Successor(value, tuple(reversed(found))) if value else None


def _may_change(claim: Claim) -> bool:
    return claim.kind in _KINDS and not claim.is_ended and (claim.slot is None or claim.is_single)


def _may_end(row: Statement, claim: Claim, at: str) -> bool:
    return (
        row.is_current
        and not row.pinned
        and row.kind in _KINDS
        and (row.slot is None or is_single(row.slot))
        and since(row) < at
        and not {*claim.turns} & {*row.sources}
    )
