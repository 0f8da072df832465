"""What a claim takes the place of where no slot says so, and what it says again.

CMA (section 3.4) closes what a newer memory contradicts. Each statement near to a claim in meaning is
judged by the head of pairs. A likely update closes it; what may be one is put to review, as one
question with both sentences. What an agent or a page says ends nothing that the owner said.
"""

from __future__ import annotations

from itertools import takewhile
from operator import sub
from typing import TYPE_CHECKING

from clsm_cli.consolidation.values import since
from clsm_cli.heads import pair_head
from clsm_cli.model.trust import TRUST_ORDER
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from typing import Any

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.lookup import Known
    from clsm_cli.heads.pair_head import Relation
    from clsm_cli.model.graph import Statement

NEAR = 0.40
"""Cosine from which two sentences may be about one thing."""
MOST = 8
"""Statements that are judged beside a claim: the nearest."""
OVER, ASKED = 0.93, 0.85
"""Probabilities of an update from which it closes what it replaces, and from which a person is asked."""
SAME = 0.80
"""Probability from which a claim says again what a statement says."""
_KINDS = frozenset({"fact", "preference", "convention", "decision"})


def of_claim(calibration: Calibration, claim: Claim, vector: Any) -> None:
    """Close what a claim replaces, the most likely last: that is what it supersedes.

    Args:
        calibration: What is known.
        claim: Of a sentence, with no value or one of a slot with one value at a time.
        vector: Unit vector of its text; without one nothing is found.
    """
    found = _replaced(calibration.known, claim, vector)
    for chance, _, row in found:
        if chance >= OVER:
            calibration.close(row, claim.valid_from or claim.observed)
    asked = [row for chance, _, row in found if chance < OVER]
    if asked and len(asked) == len(found):
        calibration.doubt(asked[-1], claim)


def said_before(known: Known, claim: Claim, vector: Any) -> Statement | None:
    """The current statement that says in other words what a claim says, with its numbers and names.

    Args:
        known: What is known.
        claim: Of a sentence.
        vector: Unit vector of its text; without one nothing is found.
    """
    if vector is None or claim.is_ended or claim.kind not in _KINDS:
        return None
    new, found = pair_head.sentence(claim.text), []
    for row, cosine in known.alike(vector, NEAR)[:MOST]:
        old = pair_head.sentence(row.text)
        if (
            row.is_current
            and row.kind in _KINDS
            and not _differ_in_subject(row.text, claim.text)
            and pair_head.particulars(old) == pair_head.particulars(new)
        ):
            same = _relation(known, row, claim, vector, cosine).same
            found += [(same, row.id, row)] if same >= SAME else []
    return max(found, key=lambda each: each[:2])[2] if found else None


def _relation(known: Known, row: Statement, claim: Claim, vector: Any, cosine: float) -> Relation:
    head, old, new = pair_head.load(), pair_head.sentence(row.text), pair_head.sentence(claim.text)
    features = pair_head.pair_features(old, new, cosine)
    moved = list(map(sub, vector.tolist(), known.vector_of(row.id)))
    return head.relation(features, head.along(moved), head.meant(old, new))


def _replaced(known: Known, claim: Claim, vector: Any) -> list[tuple[float, str, Statement]]:
    """The statements that a claim may replace: how likely, id and row, the likeliest last."""
    is_state = claim.slot is None or claim.is_single
    if vector is None or claim.is_ended or claim.kind not in _KINDS or not is_state:
        return []
    found = []
    for row, cosine in known.alike(vector, NEAR)[:MOST]:
        if _may_end(row, claim, claim.valid_from or claim.observed):
            chance = _relation(known, row, claim, vector, cosine).update
            if chance >= OVER and _differ_in_subject(row.text, claim.text):
                chance = ASKED
            if chance >= ASKED:
                found.append((chance, row.id, row))
    return sorted(found, key=lambda each: each[:2])


def _differ_in_subject(old: str, new: str) -> bool:
    """Whether two sentences end alike for longer than they begin alike: they may be about two things.

    >>> _differ_in_subject("My cousin Ada lives in Ghent.", "My uncle Bruno lives in Ghent.")
    True
    >>> _differ_in_subject("Ada lives in Ghent.", "Ada lives in Leiden now.")
    False
    """
    one, two = old.casefold().split(), new.casefold().split()
    return _alike(one[::-1], two[::-1]) > _alike(one, two)


def _alike(one: list[str], two: list[str]) -> int:
    """How many words two lists have in common at their beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))))


def _may_end(row: Statement, claim: Claim, at: str) -> bool:
    return (
        row.is_current
        and not row.pinned
        and row.kind in _KINDS
        and (row.slot is None or is_single(row.slot))
        and since(row) < at
        and not {*claim.turns} & {*row.sources}
        and TRUST_ORDER.index(claim.trust) >= TRUST_ORDER.index(row.trust)
    )
