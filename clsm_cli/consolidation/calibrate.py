"""Predict and calibrate: compare each claim with the known statements (Nemori §3.2; CAIM's review).

A known claim is *predicted*: its statement gains a source. An unknown one is a *gap*: a new statement. One
that ends a statement is a *conflict* (``supersession_check``): the old row is superseded, a copy of it is
closed at the day of the change, and the new row replaces it. An older sentence never replaces a newer one,
in whatever order they are read.

After a git merge of what two machines learnt separately, the Markdown may again contain a row that one of
them closed, and each may have a different value of one thing. Closed rows are closed again
(``restore_closings``), and the other machine's statements are judged as if they were claims now
(``compare_machines``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.consolidation import supersession_check
from clsm_cli.consolidation.supersession_check import OVER, since
from clsm_cli.model.clocks import day_of, seconds
from clsm_cli.model.episodes import lowest_trust
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import closed_copy_id
from clsm_cli.store.topics import text_sha
from clsm_cli.text import sameness
from clsm_cli.text.time import expressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.lookup import StatementIndex
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.consolidation.supersession_check import Rival

TASK_STATES = ("open", "blocked", "done")
"""A task's state only moves to a later one."""


class Doubt(NamedTuple):
    """A statement, and a claim that may contradict it; ``chance``: probability that the claim ends it."""

    kept: Statement
    claim: Statement
    chance: float = 0.0


@dataclass
class Calibration:
    """The statements while claims are read, in order of time.

    Attributes:
        counts: Outcomes of claims: predicted, new, corrected, refused …
        superseded: Id of the row that the last claim closed.
    """

    state: StoreState
    known: StatementIndex
    counts: Counter[str] = field(default_factory=Counter)
    doubts: list[Doubt] = field(default_factory=list)
    superseded: str | None = None

    def sort_key(self, time: str | None) -> float:
        """Sort key of a time, whatever its offset."""
        return seconds(time, self.state.store.zone)

    def rivals(self, claim: Statement, vector: Any) -> list[Rival]:
        """Statements that a claim may replace, and that may have replaced it; the most likely last."""
        rewritten, zone = self.state.rewritten, self.state.store.zone
        return supersession_check.rivals(self.known, rewritten, claim, vector, zone)

    def read(self, claim: Claim, vector: Any) -> None:
        """Process one claim; ``vector``: the unit vector of its text, None without a model."""
        self.superseded = None
        if any(map(self.known.was_withdrawn, (claim.text, claim.item))):
            self.counts["withdrawn before"] += 1
            return
        if claim.kind == "task":
            if not self._update_task(claim):
                self._add(claim, vector)
            return
        near = self.known.nearest(claim.text, vector)
        if self._predicted(claim, near):
            return
        if supersession_check.owner_says_otherwise(self.known, claim, vector):
            self.counts["refused"] += 1
            return
        if self._replaces(claim, vector):
            return
        paraphrased = supersession_check.said_before(self.known, claim, vector)
        if paraphrased is not None and self.superseded is None and self.state.settings.predict:
            self.reinforce(paraphrased, claim)
            return
        self._add(claim, vector)

    def close_vanished(self, closed: Mapping[str, str], most: float) -> int:
        """Close statements whose blocks have all been removed from their documents; return how many stay.

        All do if they are more than ``most``: an agent may reorganise its notes, or a file be cut off.
        """
        gone = [
            row
            for row in self.known.rows.values()
            if row.is_current and not row.pinned and row.sources and closed.keys() >= {*row.sources}
        ]
        if len(gone) > most:
            return len(gone)
        for row in gone:
            self.close(row, max((closed[key] for key in row.sources), key=self.sort_key))
        return 0

    def _predicted(self, claim: Claim, near: Iterable[tuple[Statement, float]]) -> bool:
        """Whether a statement already says the same; if so, reinforce it."""
        if not self.state.settings.predict:
            return False
        for found, cosine in near:
            same = sameness.is_equivalent(claim.text, found.text, cosine)
            if not same or not is_same_day(claim, found, self.state.store.zone):
                continue
            if found.is_current:
                self.reinforce(found, claim)
                return True
            if successors := self.known.successors_of(found.id):
                successor = successors[0]
                if self.sort_key(since(successor)) < self.sort_key(claim.valid_from):
                    self.queue_contradiction(successor, claim)
                return True  # a person replaced it
            if found.valid_until and {*claim.sources} <= {*found.sources}:
                return True  # read again; it has ended since
        return False

    def _replaces(self, claim: Claim, vector: Any) -> bool:
        """Close the statements that a claim replaces, the most likely last: that one it supersedes.

        Returns:
            Whether the claim is done with: it belongs to the past, or it contradicts a pinned statement.
        """
        found = self.rivals(claim, vector)
        if ends := [since(each.row) for each in found if each.is_later and each.chance >= OVER]:
            # A newer statement replaced it before it was read.
            self.counts["of the past"] += 1
            end = min(ends, key=self.sort_key)
            self.known.put(replace(self._statement(claim), valid_until=end))
            return True
        older = [each for each in found if not each.is_later]
        for each in older:
            if each.chance >= OVER:
                self.close(each.row, since(claim))
        if older and all(each.chance < OVER for each in older):
            self.queue_contradiction(older[-1].row, claim, older[-1].chance)
            return older[-1].row.pinned
        return False

    def queue_contradiction(self, row: Statement, claim: Claim, chance: float = 1.0) -> None:
        """Queue a statement and a contradicting claim for review."""
        self.doubts.append(Doubt(row, claim, chance))
        self.counts["contradictions"] += 1

    def _update_task(self, claim: Claim) -> bool:
        """Update a known task; False if its line was rewritten, or if it is new and not yet done."""
        row = self.known.task_of(claim.item or claim.text)
        if row is None:
            return claim.state == "done"
        if claim.state == "done" != row.state and self._is_open_beside(row, claim):
            return True
        state = max(row.state, claim.state, key=lambda s: TASK_STATES.index(s or "open"))
        earlier = [*chain.from_iterable(map(self.state.earlier_blocks, claim.sources))]
        is_reworded = row.text != claim.text and not {*row.sources}.isdisjoint(earlier)
        if is_reworded and state != "done" and not row.pinned:
            self.close(row, since(claim))
            return False
        done_at = row.done_at
        if state == "done" != row.state:  # a line of an old note may be ticked today
            ticked = self.state.closed_blocks.get(earlier[0]) if earlier else None
            done_at = ticked or since(claim)
        now = replace(row, state=state, due=claim.due or row.due, done_at=done_at)
        self.reinforce(now, claim)
        return True

    def _is_open_beside(self, row: Statement, claim: Claim) -> bool:
        """Whether the note that ticks a task also holds it open, as the next time of one that recurs."""
        notes = self.state.notes_of_blocks
        note = notes.get(claim.sources[0])
        beside = {*row.sources} - {*claim.sources}
        return note is not None and any(notes.get(key) == note for key in beside)

    def reinforce(self, row: Statement, claim: Claim) -> None:
        """Add the sources of a claim to a statement."""
        if {*claim.sources} <= {*row.sources} and row == self.known.rows[row.id]:
            return
        self.counts["predicted"] += 1
        if row.pinned:
            return
        sources = tuple(sorted({*row.sources, *claim.sources}))
        trust = lowest_trust([row.trust, claim.trust])
        self.known.put(replace(row, sources=sources, trust=trust))

    def close(self, row: Statement, at: str) -> None:
        """Close a statement unless it is pinned (``rivals`` sends those to review)."""
        if row.pinned:
            return
        self.counts["corrected"] += 1
        self.superseded = row.id
        for each in closed_rows(row, at, self.state.now):
            self.known.put(each)

    def _add(self, claim: Claim, vector: Any) -> None:
        self.counts["tasks" if claim.kind == "task" else "new"] += 1
        self.known.put(self._statement(claim), vector)

    def _statement(self, claim: Claim) -> Statement:
        values: dict[str, Any] = {f.name: getattr(claim, f.name) for f in fields(Statement)}
        turn = claim.sources[0]
        return replace(
            Statement(**values),
            id=self.known.birth_id(claim.text, claim.valid_from or turn, turn),
            sources=tuple(sorted(claim.sources)),
            recorded_at=self.state.now,
            supersedes=self.superseded,
        )


def closed_rows(row: Statement, at: str, now: str) -> tuple[Statement, Statement]:
    """The first two of the three rows of a correction (docs/format.md §6)."""
    copy = replace(row, id=closed_copy_id(row.id, at), rev=(0, ""), valid_until=at)
    return replace(row, superseded_at=now), replace(copy, recorded_at=now, supersedes=None)


def is_same_day(claim: Claim, row: Statement, zone: tzinfo) -> bool:
    """Whether a claim and a statement with the same words mean the same day by "yesterday".

    True if the claim is only read again.
    """
    at = day_of(claim.recorded_at, zone)
    before = day_of(row.valid_from or row.recorded_at, zone)
    if not (at and before) or {*claim.sources} <= {*row.sources}:
        return True
    return at == before or expressions.same_days(claim.text, at, row.text, before)


def restore_closings(rows: Mapping[str, Statement], now: str) -> dict[str, Statement]:
    """All statements; those that any machine closed are closed again."""
    copies = _closed_copies(rows.values())
    return {i: _as_closed(row, copies[i], now) if i in copies else row for i, row in rows.items()}


def compare_machines(calibration: Calibration, device: str) -> None:
    """Judge the statements of other machines against the known ones, the oldest first.

    Where a person corrected one statement differently on two machines, both stay until the person decides.
    """
    known = calibration.known

    def order(row: Statement) -> tuple[float, str]:
        return calibration.sort_key(since(row)), row.id

    rows = [row for row in known.rows.values() if row.is_current and row.rev[1] != device]
    for row in sorted(rows, key=order):
        rival, *more = sorted(known.successors_of(row.supersedes), key=order) or [row]
        calibration.doubts += [Doubt(rival, each, 1.0) for each in more]
        if not row.sources or not known.rows[row.id].is_current:
            continue
        found = calibration.rivals(row, known.vector_of(row.id))
        sure = [each for each in found if each.chance >= OVER]
        for each in sure:
            if not each.is_later:
                calibration.close(each.row, since(row))
        if ends := [since(each.row) for each in sure if each.is_later]:
            calibration.close(row, min(ends, key=calibration.sort_key))


def _as_closed(row: Statement, copy: Statement, now: str) -> Statement:
    """A row restored to the state that the closing machine gave it."""
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
    """Rows that are current or withdrawn although a machine closed them: id → the closed copy."""
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
