"""Predict and calibrate: compare each claim with what is known (Nemori §3.2; CAIM's review).

What is known already is *predicted*: the statement gains a source. What is not is a *gap*: a new
statement. What says that something holds no longer is a *conflict* (``supersession_check``): the old row is
superseded, a copy of it is closed at the day of the change, and the new one stands in its place. An
older sentence never replaces a newer one, whatever the order in which they are read.

After git merged what two machines learnt separately, a row that one had closed may stand in the Markdown
again, and each may have heard another value of one thing: what was closed is closed again (``settled``),
and what the other machine learnt is judged as if it were told now (``compare``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
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

STATES = ("open", "blocked", "done")
"""A task only goes forward."""


class Doubt(NamedTuple):
    """A statement and a claim that a person should look at; ``chance``: that the claim ends it."""

    reason: str
    kept: Statement
    claim: Claim
    chance: float = 0.0


@dataclass
class Calibration:
    """Statements as they become while claims are read, in the order of their time.

    Attributes:
        counts: How many claims were predicted, new, corrected, refused.
        superseded: Id of the row that the last claim closed.
    """

    state: StoreState
    known: StatementIndex
    counts: Counter[str] = field(default_factory=Counter)
    doubts: list[Doubt] = field(default_factory=list)
    superseded: str | None = None

    def begins(self, time: str | None) -> float:
        """What times are put in order by, whichever clock each is written on."""
        return seconds(time, self.state.store.zone)

    def rivals(self, claim: Statement, vector: Any) -> list[Rival]:
        """What a claim may replace, and what may have replaced it; likeliest last."""
        rewritten, zone = self.state.rewritten, self.state.store.zone
        return supersession_check.rivals(self.known, rewritten, claim, vector, zone)

    def read(self, claim: Claim, vector: Any) -> None:
        """Take one claim; ``vector`` is the unit vector of its text, or None without a model."""
        self.superseded = None
        if any(map(self.known.was_withdrawn, (claim.text, claim.item))):
            self.counts["withdrawn before"] += 1
            return
        if claim.kind == "task":
            if not self._task(claim):
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
        said = supersession_check.said_before(self.known, claim, vector)
        if said is not None and self.superseded is None and self.state.settings.predict:
            self.reinforce(said, claim)
            return
        for found, cosine in near:
            self._doubt(claim, self.known.rows[found.id], cosine)
        self._add(claim, vector)

    def vanish(self, closed: Mapping[str, str]) -> None:
        """Close what rests only on blocks that their documents hold no longer."""
        for row in list(self.known.rows.values()):
            if (
                row.is_current
                and not row.pinned
                and row.sources
                and closed.keys() >= {*row.sources}
            ):
                self.close(row, max((closed[key] for key in row.sources), key=self.begins))

    def _predicted(self, claim: Claim, near: Iterable[tuple[Statement, float]]) -> bool:
        """Whether a statement says the same already: it is reinforced."""
        if not self.state.settings.predict:
            return False
        for found, cosine in near:
            same = sameness.is_equivalent(claim.text, found.text, cosine)
            if not same or not is_same_day(claim, found, self.state.store.zone):
                continue
            if found.is_current:
                self.reinforce(found, claim)
                return True
            heir = self.known.heir_of(found.id)
            if heir is not None:
                if self.begins(since(heir)) < self.begins(claim.valid_from):
                    self.doubt(heir, claim)
                return True  # what a person replaced does not come back beside it
            if found.valid_until and {*claim.sources} <= {*found.sources}:
                return True  # read again: what ended since has ended
        return False

    def _replaces(self, claim: Claim, vector: Any) -> bool:
        """Close what a claim replaces, the most likely last: that is what it supersedes.

        Returns:
            Whether the claim is dealt with: it held once and is closed, or it says otherwise than a person.
        """
        found = self.rivals(claim, vector)
        if ends := [since(each.row) for each in found if each.is_later and each.chance >= OVER]:
            # A newer statement had replaced it before it was read.
            self.counts["of the past"] += 1
            self.known.put(replace(self._statement(claim), valid_until=min(ends, key=self.begins)))
            return True
        older = [each for each in found if not each.is_later]
        for each in older:
            if each.chance >= OVER:
                self.close(each.row, since(claim))
        if older and all(each.chance < OVER for each in older):
            self.doubt(older[-1].row, claim, older[-1].chance)
            return older[-1].row.pinned
        return False

    def _doubt(self, claim: Claim, found: Statement, cosine: float) -> None:
        """Put to review what is near in meaning and yet not the same."""
        if not found.is_current or cosine < self.state.settings.near_cosine:
            return
        if sameness.is_equivalent(claim.text, found.text, cosine):
            return  # of another day
        if sameness.has_same_preference(claim.text, found.text):
            return
        if sameness.polarity(claim.text) != sameness.polarity(found.text):
            self.doubts.append(Doubt("contradiction", found, claim))
        elif cosine >= self.state.settings.same_cosine:
            self.doubts.append(Doubt("near duplicate", found, claim))

    def doubt(self, row: Statement, claim: Claim, chance: float = 1.0) -> None:
        """Put a statement and a claim that says otherwise to review."""
        self.doubts.append(Doubt("contradiction", row, claim, chance))
        self.counts["contradictions"] += 1

    def _task(self, claim: Claim) -> bool:
        """Bring a task on; True when it is known, or a done one that nobody had to do."""
        row = self.known.task_of(claim.item or claim.text)
        if row is not None:
            state = max(row.state, claim.state, key=lambda s: STATES.index(s or "open"))
            is_news = state == "done" != row.state
            done_at = since(claim) if is_news else row.done_at
            now = replace(row, state=state, due=claim.due or row.due, done_at=done_at)
            self.reinforce(now, claim)
            return True
        return claim.state == "done"

    def reinforce(self, row: Statement, claim: Claim) -> None:
        """Add the sources of a claim to a statement that says the same."""
        if {*claim.sources} <= {*row.sources} and row == self.known.rows[row.id]:
            return
        self.counts["predicted"] += 1
        if row.pinned:
            return
        sources = tuple(sorted({*row.sources, *claim.sources}))
        trust = lowest_trust([row.trust, claim.trust])
        self.known.put(replace(row, sources=sources, trust=trust))

    def close(self, row: Statement, at: str) -> None:
        """Close what holds no longer, unless a person pinned it: ``rivals`` has that asked."""
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
        # All that it says; what it is called, and since when it is known, is the store's to say.
        told: dict[str, Any] = {f.name: getattr(claim, f.name) for f in fields(Statement)}
        turn = claim.sources[0]
        return replace(
            Statement(**told),
            id=self.known.birth_id(claim.text, claim.valid_from or turn, turn),
            sources=tuple(sorted(claim.sources)),
            recorded_at=self.state.now,
            supersedes=self.superseded,
            tags=self.state.tags_of(claim.text),
        )


def closed_rows(row: Statement, at: str, now: str) -> tuple[Statement, Statement]:
    """The first two of the three rows of a correction (docs/format.md §6)."""
    copy = replace(row, id=closed_copy_id(row.id, at), rev=(0, ""), valid_until=at)
    return replace(row, superseded_at=now), replace(copy, recorded_at=now, supersedes=None)


def is_same_day(claim: Claim, row: Statement, zone: tzinfo) -> bool:
    """Whether a claim and a statement in the same words mean the same day by "yesterday".

    One that is read again does.
    """
    at = day_of(claim.recorded_at, zone)
    before = day_of(row.valid_from or row.recorded_at, zone)
    if not (at and before) or {*claim.sources} <= {*row.sources}:
        return True
    return at == before or expressions.same_days(claim.text, at, row.text, before)


def settled(rows: Mapping[str, Statement], now: str) -> dict[str, Statement]:
    """All statements, those that a machine had closed as that machine left them."""
    copies = _closed_copies(rows.values())
    return {i: _closed(row, copies[i], now) if i in copies else row for i, row in rows.items()}


def compare(calibration: Calibration, device: str) -> None:
    """Judge what other machines learnt beside what is known; the oldest first."""
    known = calibration.known
    rows = [row for row in known.rows.values() if row.is_current and row.rev[1] != device]
    for row in sorted(rows, key=lambda row: (calibration.begins(since(row)), row.id)):
        if not row.sources or not known.rows[row.id].is_current:
            continue
        found = calibration.rivals(row, known.vector_of(row.id))
        sure = [each for each in found if each.chance >= OVER]
        for each in sure:
            if not each.is_later:
                calibration.close(each.row, since(row))
        if ends := [since(each.row) for each in sure if each.is_later]:
            calibration.close(row, min(ends, key=calibration.begins))


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
