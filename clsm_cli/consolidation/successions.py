"""What a claim takes the place of where no slot says so.

CMA (section 3.4) closes what a newer memory contradicts. Here a claim must say that it is a change
(``text.changes``), be about the same names as an earlier statement but for one, the value, and be
near to it in meaning: nearer where they share no other word than the names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.consolidation.values import since
from clsm_cli.text import changes
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from typing import Any

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.known import Known
    from clsm_cli.model.graph import Statement

ALIKE = 0.60
"""Cosine from which two sentences that share names alone are about one thing: of 24 facts in five
wordings each it joins two wordings in three, and two facts never or, of two people, in one case of
a thousand."""
NEAR = 0.40
"""The same where they share a content word too."""
_KINDS = frozenset({"fact", "preference", "convention", "decision"})


def of_claim(calibration: Calibration, claim: Claim, vector: Any) -> Claim:
    """Close what a claim replaces; the claim, with the slot of that, where it had another or none.

    Args:
        calibration: What is known.
        claim: Of a sentence, with no value or one of a slot with one value at a time.
        vector: Unit vector of its text; without one nothing is found.
    """
    found = _replaced(calibration.known, claim, vector)
    for row, _ in reversed(found):  # the most alike last: that is what it supersedes
        calibration.close(row, claim.valid_from or claim.observed)
    for row, value in found:
        if row.slot and row.slot != claim.slot:
            return claim._replace(subject=row.subject, slot=row.slot, value=value, is_single=True)
    return claim


def _replaced(known: Known, claim: Claim, vector: Any) -> list[tuple[Statement, str]]:
    """The statements that a claim replaces, the most alike first, each with the value instead."""
    is_state = claim.slot is None or claim.is_single
    if vector is None or claim.is_ended or claim.kind not in _KINDS or not is_state:
        return []
    if not changes.tells_change(claim.text):
        return []
    at = claim.valid_from or claim.observed
    found = []
    for row, cosine in known.alike(vector, NEAR):
        value = changes.new_value(claim.text, row.text) if _may_end(row, claim, at) else None
        if value and _is_about_one(row, claim, cosine):
            found.append((row, value))
    return found


def _is_about_one(row: Statement, claim: Claim, cosine: float) -> bool:
    """Whether a statement and a claim that differ in a value alone tell of one thing."""
    is_value = row.slot is not None or changes.tells_change(row.text)
    is_topic = changes.shares_topic(claim.text, row.text)
    return (is_value and is_topic) or (cosine >= ALIKE and (is_value or is_topic))


def _may_end(row: Statement, claim: Claim, at: str) -> bool:
    return (
        row.is_current
        and not row.pinned
        and row.kind in _KINDS
        and (row.slot is None or is_single(row.slot))
        and since(row) < at
        and not {*claim.turns} & {*row.sources}
    )
