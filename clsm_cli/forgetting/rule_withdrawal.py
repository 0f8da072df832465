"""Which rules nobody shows any more: what sessions taught is believed less for every day without it.

How sure a rule is follows from its evidence and the days since it was last shown or recalled, so 30
runs in a month withdraw what one run at its end does. A rule that somebody stated as one stays until
somebody takes it back, and so does a fact in a known slot, which a newer value replaces.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from clsm_cli.consolidation.rule_induction import Seen, sureness
from clsm_cli.forgetting.fading import after
from clsm_cli.forgetting.turn_history import day
from clsm_cli.model.episodes import EpisodeRecord, ObservationKind
from clsm_cli.scoring import rule_confidence
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from clsm_cli.config import ConsolidationSettings
    from clsm_cli.forgetting.fading import UsedOn
    from clsm_cli.forgetting.turn_history import Heard
    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement

KINDS = frozenset(get_args(ObservationKind))
"""Kinds of statements that several sessions can teach."""


class Withdrawn(NamedTuple):
    """A rule that is not believed any more.

    Attributes:
        row: As it was.
        since: The first day on which it was less sure than the limit.
        shown: The day on which it was last shown or recalled.
        sure: How sure it is now, 0 … 1.
    """

    row: Statement
    since: date
    shown: date
    sure: float

    def closed(self, device: str) -> Statement:
        """The row as it becomes: it stays in history, and leaves the Markdown."""
        at = f"{self.since}T00:00:00Z"
        return replace(self.row, superseded_at=at, rev=(self.row.rev[0] + 1, device))


def rules(statements: Iterable[Statement]) -> list[Statement]:
    """The rules that stand now."""
    return [row for row in statements if row.is_current and row.kind in KINDS]


def faded(
    statements: Iterable[Statement],
    records: Iterable[Record],
    heard: Mapping[str, Heard],
    used: UsedOn,
    today: date,
    settings: ConsolidationSettings,
    behind: Mapping[date, date],
) -> list[Withdrawn]:
    """Rules that have become less sure than ``rule_floor``, by id.

    Args:
        statements: With their texts.
        records: Of all episodes; their observations are the evidence.
        heard: Turns by key.
        used: Days on which an id was recalled.
        today: In UTC; what lies ahead counts as today.
        settings: Their ``rule_floor`` and ``rule_sessions``.
        behind: See ``clock.behind``; ``heard`` has the corrected days.
    """
    evidence: dict[str, list[Seen]] = {}
    for record in records:
        if isinstance(record, EpisodeRecord):
            for seen in _observed(record, heard):
                for key in seen.observation.turns:
                    evidence.setdefault(key, []).append(seen)
    found = []
    for row in sorted(rules(statements), key=lambda row: row.id):
        if row.pinned or row.slot:
            continue
        shown = {
            (seen.episode, seen.observation.turns): seen
            for key in row.sources
            for seen in evidence.get(key, ())
            if seen.observation.kind == row.kind
        }
        group = [shown[place] for place in sorted(shown)]
        if any(seen.observation.is_explicit for seen in group):
            continue
        if len({seen.session for seen in group}) < settings.rule_sessions:
            continue  # a claim, not a rule that sessions taught
        recorded = day(row.recorded_at, behind)
        days = [*used.get(row.id, ()), *([recorded] if recorded else ())]
        withdrawn = _weighed(row, group, heard, days, today, settings)
        if withdrawn is not None:
            found.append(withdrawn)
    return found


def _observed(record: EpisodeRecord, heard: Mapping[str, Heard]) -> Iterable[Seen]:
    for each in record.observations:
        told = [heard[key] for key in each.turns if key in heard]
        if told:
            first = told[0]
            yield Seen(each, first.session, first.turn.time, first.turn.trust, record.id)


def _weighed(
    row: Statement,
    group: list[Seen],
    heard: Mapping[str, Heard],
    others: Iterable[date],
    today: date,
    settings: ConsolidationSettings,
) -> Withdrawn | None:
    """A rule, if it is believed no more; ``others``: days on which it was recorded or recalled."""
    days = [heard[key].recorded for seen in group for key in seen.observation.turns if key in heard]
    shown = min(max([*days, *others]), today)
    sure = sureness(group, len(row.contradicted_by))
    since = after(shown, max(0, rule_confidence.holds_for(sure, settings.rule_floor)) + 1)
    if since > today:
        return None
    return Withdrawn(row, since, shown, rule_confidence.faded(sure, (today - shown).days))
