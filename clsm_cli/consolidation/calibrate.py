"""Predict and calibrate: each claim against what is known (Nemori §3.2; CAIM's review).

What is known already is *predicted*: the statement gains a source. What is not is a *gap*: a new
statement. A newer value of a slot is a *conflict*: the old row is superseded, a copy of it is closed
at the day of the change, and the new one stands in its place. An older value never replaces a newer
one, whatever the order in which they are read: it becomes a closed row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import supersession_check, values
from clsm_cli.consolidation.values import (
    NEW_WORDS,
    STATES,
    holds,
    is_same_day,
    is_same_value,
    news,
    since,
    with_reason,
)
from clsm_cli.model.episodes import lowest_trust
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import closed_copy_id
from clsm_cli.text import sameness

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from clsm_cli.config import ConsolidationSettings
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.lookup import Known
    from clsm_cli.consolidation.valued import Past


@dataclass(slots=True)
class Doubt:
    """Two statements that a person should look at; ``at``: since when the other one holds."""

    reason: str
    kept: Statement
    other: str
    at: str | None = None


@dataclass(slots=True)
class Outcome:
    """What became of the claims of a run: how many were predicted, new, corrected, refused."""

    counts: Counter[str] = field(default_factory=Counter)
    doubts: list[Doubt] = field(default_factory=list)


class Calibration:
    """Statements as they become while claims are read, in the order of their time."""

    def __init__(
        self,
        known: Known,
        settings: ConsolidationSettings,
        tags_of: Callable[[str], tuple[str, ...]],
        now: str,
    ) -> None:
        self.known = known
        self.settings = settings
        self.tags_of = tags_of
        self.now = now
        self.outcome = Outcome()
        self._superseded: str | None = None
        self._start: str | None = None
        self._saying = ""

    def read(self, claim: Claim, vector: Any) -> None:
        """Take one claim; ``vector`` is the unit vector of its text, or None without a model."""
        full = self.known.full_slot
        claim = claim._replace(
            slot=full(claim.subject, claim.slot, claim.value),
            past=tuple(p._replace(slot=full(p.subject, p.slot, p.value) or "") for p in claim.past),
        )
        self._superseded = self._start = None
        self._saying = claim.text
        if self.known.was_withdrawn(claim.text):
            self.outcome.counts["withdrawn before"] += 1
            return
        if claim.kind == "task":
            done = self._task(claim)
        else:
            done = claim.is_single and not claim.is_ended and self._slot(claim)
            values.of_claim(self, claim)
            if not done:
                supersession_check.of_claim(self, claim, vector)
        if not done and not self._predicted(claim, vector):
            said = supersession_check.said_before(self.known, claim, vector)
            if said is not None and self._superseded is None and self.settings.predict:
                self.reinforce(said, claim)
            else:
                self._add(claim, vector)

    def vanish(self, closed: Mapping[str, str]) -> None:
        """Close what rests only on blocks that their documents hold no longer.

        Args:
            closed: Key of such a block → when it went.
        """
        for row in list(self.known.rows.values()):
            if (
                row.is_current
                and not row.pinned
                and row.sources
                and closed.keys() >= {*row.sources}
            ):
                self.close(row, max(closed[key] for key in row.sources))

    def contradict(self, rule: Statement, turns: Iterable[str]) -> None:
        """Note that some turns say the opposite of a rule."""
        told = tuple(sorted({*rule.contradicted_by, *turns}))
        if told != rule.contradicted_by:
            self.outcome.counts["contradictions"] += 1
            self.known.put(replace(rule, contradicted_by=told))

    def _predicted(self, claim: Claim, vector: Any) -> bool:
        """Whether a statement says the same already: it is reinforced."""
        if not self.settings.predict:
            return False
        for found, cosine in self.known.nearest(claim.text, vector):
            if self._superseded is not None and found.slot != claim.slot:
                continue  # what ended a value stands in its place
            if not sameness.says_the_same(claim.text, found.text, cosine):
                self._doubt(claim, found, cosine)
                continue
            if not is_same_day(claim, found):
                continue
            if found.is_current:
                self.reinforce(found, claim)
                return True
            heir = self.known.heir_of(found.id)
            if heir is not None:
                return self._against(heir, claim)
            if found.valid_until and {*claim.turns} <= {*found.sources}:
                return True  # read again: what ended since has ended
        return False

    def _doubt(self, claim: Claim, found: Statement, cosine: float) -> None:
        if not found.is_current or cosine < self.settings.near_cosine:
            return
        if sameness.polarity(claim.text) != sameness.polarity(found.text):
            self.outcome.doubts.append(Doubt("contradiction", found, claim.text, claim.valid_from))
        elif cosine >= self.settings.same_cosine:
            self.outcome.doubts.append(Doubt("near duplicate", found, claim.text))

    def _slot(self, claim: Claim) -> bool:
        """Bring the values of one slot of one subject in order of time; True when all is said.

        A value without a date, in a note that a person keeps up to date, holds since the store got
        the note; one that was known and ended before says nothing new.
        """
        if not claim.slot:
            return False
        rows = self.known.of_slot(claim.subject, claim.slot)
        same = [row for row in rows if is_same_value(row.value, claim.value)]
        for row in same:
            if holds(row, claim.valid_from):
                self._extend(row, claim, rows)
                self._start = row.valid_from  # an undated claim holds as long as the value it tells
                is_said = sameness.says_the_same(row.text, claim.text, 1.0)
                is_fact = claim.kind == "fact"  # of a rule its own words are the rule
                return is_said or (is_fact and len(news(claim.text, row.text)) < NEW_WORDS)
        others = [row for row in rows if row not in same]
        at = claim.valid_from or claim.observed
        settled = next((row for row in others if row.pinned and row.is_current), None)
        if settled is not None and since(settled) <= at:
            return self._against(settled, claim)
        if not self._ends(others, claim, at):
            return True
        later = min((start for row in rows if (start := since(row)) > at), default=None)
        if later is not None:
            self._add_closed(claim, later)
        return later is not None

    def _ends(self, others: Collection[Statement], claim: Claim, at: str) -> bool:
        """End other values where the claim's begins; False where it cannot be told which holds."""
        for row in others:
            if row.valid_until is not None:
                if (row.valid_from or "") < at < row.valid_until:
                    self.known.put(replace(row, valid_until=at))
            elif since(row) < at or (
                row.valid_from == at and (claim.announces or values.is_resumed(row, others))
            ):
                self.close(row, at)
            elif row.valid_from == at:
                self.doubt(row, claim)
                return False
        return True

    def _against(self, settled: Statement, claim: Claim) -> bool:
        """Ask about a claim that says otherwise than a person; it does not stand beside."""
        if since(settled) < (claim.valid_from or ""):
            self.doubt(settled, claim)
        return True

    def doubt(self, row: Statement, claim: Claim) -> None:
        """Put a statement and a claim that says otherwise to review."""
        self.outcome.doubts.append(Doubt("contradiction", row, claim.text, claim.valid_from))
        self.outcome.counts["contradictions"] += 1

    def _extend(self, row: Statement, claim: Claim, rows: Iterable[Statement]) -> None:
        """Evidence of a value that is known; it may have held earlier than was thought."""
        at = claim.valid_from
        if row.valid_from is None and row.valid_until and at and at < row.valid_until:
            pass  # the first day on which it is known to have held
        elif row.valid_from and at and at < row.valid_from:
            between = [r for r in rows if r.id != row.id and at <= (r.valid_from or "")]
            if any((r.valid_from or "") < row.valid_from for r in between):
                at = None
        else:
            at = None
        self.reinforce(row, claim, at)

    def _task(self, claim: Claim) -> bool:
        """Bring a task on; True when it is known, or a done one that nobody had to do."""
        row = self.known.task_of(claim.text, claim.state)
        if row is not None:
            state = max(row.state, claim.state, key=lambda s: STATES.index(s or "open"))
            is_kept = state == "blocked" and not claim.reason
            text = row.text if is_kept else with_reason(row.text, claim.reason)
            due = claim.due or row.due
            self.reinforce(replace(row, state=state, due=due, text=text), claim)
            return True
        return claim.state == "done"

    def reinforce(self, row: Statement, claim: Claim, start: str | None = None) -> None:
        """Add the sources of a claim to a statement that says the same."""
        if {*claim.turns} <= {*row.sources} and row == self.known.rows[row.id] and start is None:
            return
        self.outcome.counts["predicted"] += 1
        if row.pinned:
            return
        sources = tuple(sorted({*row.sources, *claim.turns}))
        trust = lowest_trust([row.trust, claim.trust])
        self.known.put(
            replace(row, sources=sources, trust=trust, valid_from=start or row.valid_from)
        )

    def close(self, row: Statement, at: str) -> None:
        """Close what holds no longer: the first two of the three rows of a correction (docs/format.md §6)."""
        if row.pinned:
            self.outcome.doubts.append(Doubt("contradiction", row, self._saying, at))
            return
        self.outcome.counts["corrected"] += 1
        self._superseded = row.id
        self.known.put(replace(row, superseded_at=self.now))
        copy = replace(
            row, id=closed_copy_id(row.id, at), rev=(0, ""), valid_until=at, supersedes=None
        )
        self.known.put(replace(copy, recorded_at=self.now))

    def _add(self, claim: Claim, vector: Any) -> None:
        self.outcome.counts["tasks" if claim.kind == "task" else "new"] += 1
        self.known.put(self._statement(claim), vector)

    def _add_closed(self, claim: Claim, until: str) -> None:
        self.outcome.counts["of the past"] += 1
        self.known.put(replace(self._statement(claim), valid_until=until))

    def add_past(self, claim: Claim, past: Past, start: str | None) -> None:
        """Add a value that was over before memory heard of it, as a closed row."""
        told = claim._replace(
            text=past.line,
            kind="fact",
            subject=past.subject,
            slot=past.slot,
            value=past.value,
            valid_from=start,
        )
        self.outcome.counts["of the past"] += 1
        row = self._statement(told._replace(is_ended=False))
        self.known.put(replace(row, valid_from=start, valid_until=past.until, supersedes=None))

    def _statement(self, claim: Claim) -> Statement:
        return Statement(
            id=self.known.birth_id(claim.text, claim.valid_from or claim.turn, claim.turn),
            rev=(0, ""),
            text=with_reason(claim.text, claim.reason),
            kind=claim.kind,
            stream=claim.stream,
            topic=claim.topic,
            state=claim.state,
            due=claim.due,
            subject=claim.subject,
            slot=None if claim.is_ended else claim.slot,
            value=None if claim.is_ended else claim.value,
            sources=tuple(sorted(claim.turns)),
            valid_from=claim.valid_from or self._start,
            recorded_at=self.now,
            supersedes=self._superseded,
            tags=tuple(sorted(self.tags_of(claim.text))),
            trust=claim.trust,
        )
