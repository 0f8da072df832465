"""What came before or after something: the episodes next to the passage that tells of it, by time alone.

"What came after the move?" asks for nothing in particular. The passage is the one that "the move" as a
question of its own finds first, of those that say when they were told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.store.index import session_queries

if TYPE_CHECKING:
    from clsm_cli.retrieval.question import TimeScope
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.session_queries import PlacedTurn

EPISODES = 3
"""Episodes that are told, the nearest."""
FIRST = 10
"""Passages that are looked at for one with a day."""
_STEP = 1e-3
"""Of a score, by which what is nearer stands higher."""


def resolve(index: Index, scope: TimeScope, now: str, ranked: Ranked, floor: float) -> TimeScope:
    """The scope of a question that asks what came before or after an event.

    Args:
        ranked: What the event itself finds.
        floor: Confidence below which it finds nothing.
    """
    best = _best(ranked, floor)
    if best is None:
        return scope._replace(warning=f'nothing that says when was found about "{scope.event}"')
    anchor = index.passages([best.row])[best.row]
    turns = _beside(index, anchor, scope.side, now)
    if not turns:
        return scope._replace(warning=f"nothing was told {scope.side} that", hard=True)
    return scope._replace(
        periods=tuple(clocks.united((each.day, each.day + 1) for each in turns)),
        rows=tuple(each.row for each in turns),
        hard=True,
        sure=best.confidence,
    )


def _best(ranked: Ranked, floor: float) -> Candidate | None:
    told = (
        each
        for each in ranked.candidates[:FIRST]
        if each.traits.kind == "passage" and each.traits.day and each.confidence >= floor
    )
    return next(told, None)


def _beside(index: Index, anchor: Passage, side: str, now: str) -> list[PlacedTurn]:
    """The turns of the nearest episodes on one side, these nearest first and each from its beginning."""
    begin, end = clocks.instants(anchor.time or "", now), clocks.instants(now)
    if begin is None or end is None:
        return []
    hidden, own = index.hidden(), anchor.episode or anchor.session
    found: dict[str, list[PlacedTurn]] = {}
    for turn in session_queries.told_beside(index.connection, begin[0].toordinal(), side):
        told = clocks.instants(turn.time, now)
        is_own = turn.episode == own or (turn.is_note and turn.session == anchor.session)
        if told is None or told[0] > end[1] or is_own or turn.row in hidden:
            continue
        if told[0] <= begin[0] if side == "after" else told[0] >= begin[0]:
            continue
        if turn.episode not in found and len(found) == EPISODES:
            break
        found.setdefault(turn.episode, []).append(turn)
    step = 1 if side == "after" else -1
    return [turn for turns in found.values() for turn in turns[::step]]


def in_order(scope: TimeScope, ranked: Ranked) -> Ranked:
    """What was found, in the order of the scope, and as sure as it is that the event was found."""
    place = {row: n for n, row in enumerate(scope.rows)}
    told = sorted(ranked.candidates, key=lambda each: place[each.row])
    top = max((each.score for each in told), default=0.0)
    candidates = [
        each._replace(
            score=round(top - _STEP * n, 6), confidence=round(scope.sure * each.confidence, 6)
        )
        for n, each in enumerate(told)
    ]
    sure = round(scope.sure * ranked.confidence, 6)
    return ranked._replace(candidates=candidates, confidence=sure, unread=sure)
