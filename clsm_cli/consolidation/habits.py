"""Rules: what several sessions show becomes a statement; what contradicts one weakens it.

Nothing is counted: the evidence lies in the episodes' records, one observation a session, and a
rule is worked out from all of it. So a run over the same sessions again changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.consolidation.observe import is_same
from clsm_cli.scoring.trust import confidence
from clsm_cli.text import sameness
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.config import ConsolidationSettings
    from clsm_cli.model.episodes import Observation, Trust
    from clsm_cli.model.graph import Statement

_SHARED = 0.6
"""Share of a rule's stems that what contradicts it has in common with it."""


class Seen(NamedTuple):
    """An observation, and the session that shows it."""

    observation: Observation
    session: str
    time: str | None
    trust: Trust


def groups(seen: Iterable[Seen]) -> list[list[Seen]]:
    """Observations of one rule together, the earliest first; each is compared with what it shares
    a stem with."""
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


def is_rule(group: Sequence[Seen], settings: ConsolidationSettings) -> bool:
    """Whether enough sessions show it, or somebody stated it as a rule."""
    sessions = {each.session for each in group}
    stated = any(each.observation.is_explicit for each in group)
    return stated or len(sessions) >= settings.rule_sessions


def sureness(group: Sequence[Seen], contradictions: int) -> float:
    """How sure a rule is, from the days of its sessions; see ``scoring/trust``."""
    days = sorted({(each.session, (each.time or "")[:10]) for each in group})
    return confidence(
        [day for _, day in days if day],
        contradictions=contradictions,
        is_correction=group[0].observation.kind == "correction",
    )


def contradicts(rule: Statement, seen: Seen) -> bool:
    """Whether an observation says the opposite of a rule, later than it was stated."""
    if set(seen.observation.turns) & set(rule.sources) or (seen.time or "") <= (
        rule.valid_from or ""
    ):
        return False
    mine, theirs = set(stems(rule.text)), set(stems(seen.observation.text))
    shared = len(mine & theirs)
    if shared < 2 or shared < _SHARED * min(len(mine), len(theirs)):
        return False
    return sameness.polarity(rule.text) != sameness.polarity(seen.observation.text)
