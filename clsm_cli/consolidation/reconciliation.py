"""What two machines learnt apart, after git put their files together.

Git joins records line by line: of one slot several values may then hold at a time, a row that one
machine closed may stand in the Markdown again, or be gone from it while the other had added a source.
None of that is what a person did. The slots that are out of order are learnt anew from the turns that
their rows rest on, in the order of time, as one machine that heard all of them would have done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import values
from clsm_cli.consolidation.lookup import MEANT
from clsm_cli.consolidation.values import is_same_value, since, value_of
from clsm_cli.model.ids import closed_copy_id
from clsm_cli.store.topics import text_sha
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from clsm_cli.consolidation.calibrate import Calibration, Doubt
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.model.graph import Statement

Slot = tuple[str, str]  # node that it is of, and its name

_NEVER = "9"
"""Sorts after every time."""


class Reunion:
    """Brings the statements of several machines in order.

    Args:
        rows: All statements with their texts, by id, as they were read.
        node_of: The node that the id of a name stands for.
        now: UTC time of the run.
    """

    def __init__(
        self, rows: Mapping[str, Statement], node_of: Callable[[str], str], now: str
    ) -> None:
        self.rows = dict(rows)
        self.doubts: list[Doubt] = []
        self._node_of = node_of
        self._now = now
        self._copies = _closed_copies(rows.values())

    def settle(
        self,
        told: Callable[[Collection[str]], list[Claim]],
        calibrate: Callable[[Iterable[Statement]], Calibration],
        vectors: Callable[[list[str]], dict[str, Any]],
    ) -> dict[str, Statement]:
        """The statements in order.

        Args:
            told: The claims of some turns, given by their keys, in the order of time.
            calibrate: What is known, ready to read claims.
            vectors: Unit vectors of texts.
        """
        slots = self._torn()
        for record in self._copies.keys() - {r.id for r in self._of(slots)}:
            self.rows[record] = self._closed(self.rows[record])
        if not slots:
            return self.rows
        slots = self._with_partners(slots)
        group = {row.id: row for row in self._of(slots)}
        about = {node for node, _ in slots}
        rows = [r for r in self.rows.values() if r.subject and self._node_of(r.subject) in about]
        said = told({key for row in rows for key in row.sources})
        claims = [
            claim for claim in said if self._is_value(claim, slots) or self._ends(claim, slots)
        ]
        learnt = {i: row for i, row in group.items() if self._is_learnt(row, claims)}
        calibration = calibrate(row for i, row in self.rows.items() if i not in learnt)
        known = vectors([claim.text for claim in claims])
        for claim in claims:
            if self._is_value(claim, slots):
                calibration.read(claim, known.get(claim.text))
            else:
                values.of_claim(calibration, claim)
        self.doubts += calibration.outcome.doubts
        found = dict(calibration.known.rows)
        for i, old in learnt.items():
            found[i] = self._stamped(found[i], old) if i in found else self._closed(old)
        return found

    def _slot(self, row: Statement | Claim) -> Slot | None:
        """The slot of one value at a time that a row tells of; None for any other."""
        if not row.subject or not row.slot or not is_single(row.slot):
            return None
        return (self._node_of(row.subject), row.slot)

    def _is_value(self, claim: Claim, slots: Collection[Slot]) -> bool:
        """Whether a claim gives one of some slots a value."""
        slot = self._slot(claim)
        if slot is None or not claim.is_single or claim.is_ended:
            return False
        meant = (slot[0], MEANT.get(slot[1]))
        return slot in slots or meant in {(node, name.partition("/")[0]) for node, name in slots}

    def _ends(self, claim: Claim, slots: Collection[Slot]) -> bool:
        """Whether a claim says of a value of one of some slots that it is over."""
        return any((self._node_of(past.subject), past.slot) in slots for past in claim.past)

    def _of(self, slots: Collection[Slot]) -> list[Statement]:
        return [row for row in self.rows.values() if self._slot(row) in slots]

    def _torn(self) -> set[Slot]:
        """The slots whose rows cannot come from one machine."""
        groups: dict[Slot, list[Statement]] = {}
        for row in self.rows.values():
            if (slot := self._slot(row)) is not None:
                groups.setdefault(slot, []).append(row)
        return {slot for slot, rows in groups.items() if self._is_torn(rows)}

    def _is_torn(self, rows: Iterable[Statement]) -> bool:
        rows = list(rows)
        if any(row.id in self._copies for row in rows):
            return True
        believed = sorted((row for row in rows if _is_believed(row)), key=since)
        shown = {key for row in believed for key in row.sources}
        if any(
            not {*row.sources} <= shown for row in rows if row.superseded_at and not row.withdrawn
        ):
            return True
        for place, row in enumerate(believed):
            end = row.valid_until or _NEVER
            for later in believed[place + 1 :]:
                if since(later) >= end:
                    break
                is_same = is_same_value(row.value, later.value)
                if not is_same or (row.text == later.text and not row.is_current):
                    return True
        return False

    def _with_partners(self, slots: set[Slot]) -> set[Slot]:
        """With the states that end values, and the values that states end (``endings``)."""
        known = {slot for row in self.rows.values() if (slot := self._slot(row)) is not None}
        return slots | {
            (node, name)
            for node, name in known
            for _, torn in (each for each in slots if each[0] == node)
            if {_kind(name), _kind(torn)} == {"status", "going"}
        }

    def _is_learnt(self, row: Statement, claims: Iterable[Claim]) -> bool:
        """Whether a row would come again from its turns; what a person said or set would not."""
        is_ours = row.id in self._copies or not (row.pinned or row.withdrawn)
        return is_ours and any(
            {*claim.turns} & {*row.sources}
            and any(
                value_of(value) == value_of(row.value)
                for value in (claim.value, *(past.value for past in claim.past))
            )
            for claim in claims
        )

    def _closed(self, row: Statement) -> Statement:
        """A row that does not hold, as the machine left it that closed it."""
        if row.superseded_at and not row.withdrawn:
            return row
        copy = self._copies.get(row.id, row)
        return replace(
            row,
            text=row.text or copy.text,
            trust=copy.trust,
            pinned=copy.pinned,
            withdrawn=False,
            superseded_at=row.superseded_at or self._now,
        )

    def _stamped(self, new: Statement, old: Statement) -> Statement:
        """A row that was learnt again, with what its record had besides."""
        superseded = new.superseded_at and (old.superseded_at or self._now)
        return replace(
            new,
            rev=old.rev,
            text_sha=old.text_sha,
            recorded_at=old.recorded_at,
            superseded_at=superseded,
            contradicted_by=tuple(sorted({*old.contradicted_by, *new.contradicted_by})),
            extra=old.extra,
        )


def _is_believed(row: Statement) -> bool:
    return row.superseded_at is None and not row.withdrawn


def _kind(slot: str) -> str:
    name = slot.partition("/")[0]
    return "going" if name in values.GOING else name


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
