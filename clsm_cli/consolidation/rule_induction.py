"""Rules: what several sessions show becomes a statement; what contradicts one weakens it.

Nothing is counted: the evidence lies in the episodes' records, one observation a session, and a
rule is worked out from all of it. So a run over the same sessions again changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from clsm_cli.consolidation import claims
from clsm_cli.consolidation.rule_evidence import is_same
from clsm_cli.model.episodes import lowest_trust
from clsm_cli.scoring.rule_confidence import confidence
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import evidence_queries
from clsm_cli.text import sameness
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.model.episodes import EpisodeRecord, Observation
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.trust import Trust

SHARED = 0.6
"""Share of a rule's stems that what contradicts it has in common with it."""


class Seen(NamedTuple):
    """An observation, and the session that shows it."""

    observation: Observation
    session: str
    time: str | None
    trust: Trust
    episode: str


def groups(seen: Iterable[Seen]) -> list[list[Seen]]:
    """Observations of one rule together, the earliest first.

    Each is compared with the first of every group with which it shares a stem.
    """
    ordered = sorted(seen, key=lambda each: (each.time or "", each.observation.turns))
    found: list[list[Seen]] = []
    by_stem: dict[tuple[str, str], list[int]] = {}
    for each in ordered:
        kind, words = each.observation.kind, each.observation.key.split()
        near = sorted({place for word in words for place in by_stem.get((kind, word), ())})
        place = next(
            (p for p in near if is_same(found[p][0].observation, each.observation)), len(found)
        )
        if place == len(found):
            found.append([])
        found[place].append(each)
        for word in words:
            members = by_stem.setdefault((kind, word), [])
            if place not in members:
                members.append(place)
    return found


def sureness(group: Sequence[Seen], contradictions: int) -> float:
    """How sure a rule is, from the days of its sessions; see ``scoring/rule_confidence``."""
    days = {(each.session, (each.time or "")[:10]) for each in group}
    return confidence(
        sorted(day for _, day in days if day),
        contradictions=contradictions,
        is_correction=group[0].observation.kind == "correction",
    )


class Rules:
    """Weighs the rules of a store.

    Args:
        connection: The index.
        calibration: The statements as they become.
        vectors: Unit vectors of texts, by text.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        calibration: Calibration,
        vectors: Callable[[Sequence[str]], Mapping[str, Any]],
    ) -> None:
        self._connection = connection
        self._calibration = calibration
        self._vectors = vectors

    def weigh(self, records: Mapping[str, EpisodeRecord], fresh: Collection[str]) -> None:
        """Promote what enough sessions show; close what too much speaks against.

        Args:
            records: Of all consolidated episodes, by id.
            fresh: Those that this run has read.
        """
        settings = self._calibration.settings
        seen = self._seen(records)
        ranked: list[tuple[float, str, Statement]] = []
        for group in groups(seen):
            stated = any(each.observation.is_explicit for each in group)
            if not stated and len({each.session for each in group}) < settings.rule_sessions:
                continue
            rule = self._promoted(group)
            if rule is None or rule.pinned:
                continue
            against = {
                key
                for each in seen
                if each.episode in fresh and _contradicts(rule, each)
                for key in each.observation.turns
            }
            self._calibration.contradict(rule, against)
            told = len({*rule.contradicted_by, *against})
            if not stated:  # what somebody stated as a rule stays until somebody takes it back
                ranked.append((sureness(group, told), rule.id, rule))
        ranked.sort(key=lambda each: each[:2], reverse=True)
        for place, (sure, _, rule) in enumerate(ranked):
            if sure < settings.rule_floor or place >= settings.max_rules:
                row = self._calibration.known.rows[rule.id]
                self._calibration.close(row, self._calibration.now)

    def _seen(self, records: Mapping[str, EpisodeRecord]) -> list[Seen]:
        keys = sorted({k for r in records.values() for o in r.observations for k in o.turns})
        told = evidence_queries.said(self._connection, keys)
        found: list[Seen] = []
        for episode, record in sorted(records.items()):
            for each in record.observations:
                turns = [told[key] for key in each.turns if key in told]
                if any(turn.is_current for turn in turns):
                    trust = lowest_trust([cast("Trust", turn.trust) for turn in turns])
                    found.append(Seen(each, turns[0].session, turns[0].time, trust, episode))
        return found

    def _promoted(self, group: Sequence[Seen]) -> Statement | None:
        """The current statement of a rule, made or given its new sources."""
        first = group[0]
        turns = [key for each in group for key in each.observation.turns]
        trust = lowest_trust([each.trust for each in group])
        claim = claims.of_rule(first.observation, trust, first.time, turns)
        rows = self._calibration.known.rows
        known = [
            row
            for row in rows.values()
            if row.kind == claim.kind and {*row.sources} & {*claim.turns}
        ]
        if not known:
            self._calibration.read(claim, self._vectors([claim.text]).get(claim.text))
            known = [row for row in rows.values() if {*claim.turns} <= {*row.sources}]
        current = min(  # not the first by chance: the one that the first observation made
            (row for row in known if row.is_current),
            key=lambda row: (first.observation.turns[0] not in row.sources, row.id),
            default=None,
        )
        if current is not None:
            self._calibration.reinforce(current, claim)
            return rows[current.id]
        return self._again(known, group, claim.turns)

    def _again(
        self, known: Sequence[Statement], group: Sequence[Seen], turns: Iterable[str]
    ) -> Statement | None:
        """A rule that faded, and that a session shows again on which it did not rest: a new row.

        What was closed otherwise, by a contradiction or a person, does not come back so.
        """
        calibration = self._calibration
        shown = {key for row in known for key in row.sources}
        fresh = [seen for seen in group if not shown.issuperset(seen.observation.turns)]
        ended = [row for row in known if row.superseded_at and not row.withdrawn]
        if not fresh or not ended or any(row.valid_until for row in known):
            return None
        if any(calibration.known.heir_of(row.id) for row in ended):
            return None
        last = max(ended, key=lambda row: (row.superseded_at or "", row.id))
        row = replace(
            last,
            id=calibration.known.birth_id(last.text, fresh[0].observation.turns[0]),
            rev=(0, ""),
            sources=tuple(sorted(turns)),
            trust=lowest_trust([last.trust, *(seen.trust for seen in group)]),
            valid_from=fresh[0].time,
            recorded_at=calibration.now,
            superseded_at=None,
            supersedes=last.id,
            contradicted_by=(),
        )
        calibration.outcome.counts["new"] += 1
        calibration.known.put(row, self._vectors([row.text]).get(row.text))
        return row


def _contradicts(rule: Statement, seen: Seen) -> bool:
    """Whether an observation says the opposite of a rule, later than it was stated."""
    is_later = (seen.time or "") > (rule.valid_from or "")
    if not is_later or {*seen.observation.turns} & {*rule.sources}:
        return False
    mine, theirs = set(stems(rule.text)), set(stems(seen.observation.text))
    shared = len(mine & theirs)
    if shared < 2 or shared < SHARED * min(len(mine), len(theirs)):
        return False
    return sameness.polarity(rule.text) != sameness.polarity(seen.observation.text)
