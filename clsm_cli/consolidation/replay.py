"""Choose the episodes of a run, most salient first, when it may not take all.

The order only decides what a limited run begins with. What episodes say is always taken in the
order of its own time (``claims.sort_claims``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.consolidation.consolidation_report import Request
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.model.episodes import EpisodeRecord

OPEN = 3
"""Open questions of an episode that count as many."""


def salience(record: EpisodeRecord, by_user: float) -> float:
    """How much an episode asks to be replayed, 0 … 1 (CLS-M §3.2: four reasons, here of equal weight).

    salience = (|valence| + novelty + by_user + min(1, open questions / 3)) / 4

    >>> from clsm_cli.model.episodes import EpisodeRecord
    >>> salience(EpisodeRecord(id="e", rev=(1, "pi"), valence=-0.5, novelty=0.5), by_user=1.0)
    0.5
    """
    open_threads = sum(question.answered_by is None for question in record.open_questions)
    parts = (abs(record.valence), record.novelty, by_user, min(1.0, open_threads / OPEN))
    return round(sum(parts) / len(parts), 4)


def choose_episodes(state: StoreState, by_user: Mapping[str, float], request: Request) -> list[str]:
    """The episodes to consolidate, the most salient first.

    Args:
        by_user: Episode → share of its turns that the user said (0 … 1).
    """
    if request.answer is not None:
        return sorted(request.answer.episodes & state.episodes.keys())
    pending = [
        record
        for record in state.episodes.values()
        if state.is_pending(record) and _is_wanted(state, record.id, request)
    ]
    pending.sort(key=lambda r: (-salience(r, by_user.get(r.id, 0.0)), r.id))
    return [record.id for record in pending[: request.limit]]


def _is_wanted(state: StoreState, episode: str, request: Request) -> bool:
    if request.only is not None and episode not in request.only:
        return False
    if request.since is None:
        return True
    start = state.files[episode].start
    return start is not None and start[:10] >= request.since.date().isoformat()
