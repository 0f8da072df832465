"""Salience of an episode, from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.model.episodes import EpisodeRecord

MAX_OPEN_QUESTIONS = 3
"""Open questions of an episode that count; more add nothing."""


def salience(record: EpisodeRecord, by_user: float) -> float:
    """Priority of an episode for replay, 0 … 1 (CLS-M §3.2: four reasons, here of equal weight).

    salience = (|valence| + novelty + by_user + min(1, open questions / 3)) / 4

    >>> from clsm_cli.model.episodes import EpisodeRecord
    >>> salience(EpisodeRecord(id="e", rev=(1, "pi"), valence=-0.5, novelty=0.5), by_user=1.0)
    0.5
    """
    open_threads = sum(question.answered_by is None for question in record.open_questions)
    parts = (
        abs(record.valence),
        record.novelty,
        by_user,
        min(1.0, open_threads / MAX_OPEN_QUESTIONS),
    )
    return round(sum(parts) / len(parts), 4)


def most_salient(
    records: Sequence[EpisodeRecord], turns: Iterable[tuple[str, bool]]
) -> list[EpisodeRecord]:
    """Episodes with turns, by descending salience; ties keep their order.

    Args:
        turns: For each turn, its episode and whether the user said or wrote it.
    """
    shares = {episode: sum(by_user) / len(by_user) for episode, by_user in grouped(turns).items()}
    rated = [record for record in records if record.id in shares]
    return sorted(rated, key=lambda record: -salience(record, shares[record.id]))
