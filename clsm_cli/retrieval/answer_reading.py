"""Reading what is found, where the signs leave open whether it answers.

The confidence of a candidate (``scoring.confidence``) comes from signs: cosines, shared words. Where
none of the first is sure, the best few are read with the question (``heads/answer_head``), and both
say together how likely each answers. One question with an answer in five is that unsure, and most of
those without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import answer_head
from clsm_cli.retrieval.ranking import FIRST
from clsm_cli.scoring import confidence

if TYPE_CHECKING:
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index

HOPELESS, UNSURE = 0.06, 0.6
"""Confidences between which what is found is read."""
MOST = 4
"""Candidates that are read: the first."""


def read(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """The candidates with the confidence that reading leaves them.

    What is not read counts as what answers least of that, and is at most as sure as the surest of it.
    The order stays. Where the model is gone in the meantime, the signs decide.

    Args:
        ranked: Found with the model.
    """
    if not question.terms or not HOPELESS <= ranked.confidence < UNSURE:
        return ranked
    best = ranked.candidates[:MOST]
    told = index.passages([each.row for each in best])
    texts = [
        answer_head.shown(question.text, passage.text, passage.speaker, passage.heading)
        for passage in (told[each.row] for each in best)
    ]
    try:
        chances = answer_head.answers(question.text, texts)
    except (ModelMissingError, ModelDigestError):
        return ranked
    sure = [
        confidence.read_probability(each.confidence, chance)
        for each, chance in zip(best, chances, strict=True)
    ]
    top = max(sure)
    rest = [
        min(top, confidence.read_probability(each.confidence, min(chances)))
        for each in ranked.candidates[MOST:]
    ]
    candidates: list[Candidate] = [
        each._replace(confidence=round(value, 6))
        for each, value in zip(ranked.candidates, [*sure, *rest], strict=True)
    ]
    first = candidates[:FIRST]
    return ranked._replace(candidates=candidates, confidence=max(each.confidence for each in first))
