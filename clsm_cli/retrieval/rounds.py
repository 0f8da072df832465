"""Questions that ask for several things: a round for each part, until a round brings nothing.

After Smriti's multi-round retrieval: sub-queries with falling weights, a boost for what several
find, then the words that nothing found tells of. Each part speaks for its best passages alone; what
it finds besides would only drown the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.scoring import rank_fusion
from clsm_cli.text import compound, tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.reader import Index

BEST = 10
"""Passages for which a part of a question speaks."""


def widen(
    index: Index,
    text: str,
    whole: Ranked,
    ask: Callable[[str], Ranked],
    settings: RecallSettings,
) -> Ranked:
    """Add what the parts of a question find to what it finds as a whole.

    Args:
        index: For the words of what was found.
        text: The question.
        whole: What it finds as a whole.
        ask: Ranks for one part.
        settings: How many rounds at most.
    """
    parts = compound.parts(text)[1:]
    if not parts:
        return whole
    known = {candidate.row: candidate for candidate in whole.candidates}
    lists = [(1.0, {row: candidate.score for row, candidate in known.items()})]
    confidence = whole.confidence
    for number in range(settings.rounds):
        before = rank_fusion.fuse_rounds(lists)
        for part in parts:
            found = ask(part.text)
            confidence = max(confidence, found.confidence)
            best = found.candidates[:BEST]
            known |= {each.row: each for each in best if each.row not in known}
            lists.append((part.weight, {each.row: each.score for each in best}))
        after = rank_fusion.fuse_rounds(lists)
        if number + 1 == settings.rounds or rank_fusion.is_settled(before, after):
            break
        follow = compound.follow_up(text, _told(index, [*after][:BEST]))
        if follow is None:
            break
        parts = [follow]
    fused = rank_fusion.fuse_rounds(lists)
    # On the scale of the whole question, on which every answer is judged.
    scale = max(lists[0][1].values(), default=0.0) / (max(fused.values(), default=0.0) or 1.0)
    ranked = [_scored(known[row], scale * score) for row, score in fused.items()]
    ranked.sort(key=lambda each: (-each.score, each.traits.key, each.traits.part, each.row))
    return whole._replace(candidates=ranked, confidence=confidence)


def _scored(candidate: Candidate, score: float) -> Candidate:
    return candidate._replace(score=round(score, 6))


def _told(index: Index, rows: list[int]) -> set[str]:
    """The search terms of some passages."""
    return {
        term
        for passage in index.passages(rows).values()
        for term in tokens.stems(f"{passage.speaker} {passage.text}")
    }
