"""The best passages, read with the question until one answers it.

Signs of nearness cannot tell what answers from what is only about the same: asked by people who live with
their notes, questions near the topic look as sure as others (an AUROC of about a half). So the first
passages are read (``heads/answer_head``), and signs and reading say together how likely each answers. A
passage is read in 13 ms on a desktop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import answer_head
from clsm_cli.retrieval.ranking import FIRST
from clsm_cli.scoring import confidence
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index

WORDS = 4
"""Words of a question that is read, at least: fewer are cues, which ask for all that is about them."""
HOPELESS = 0.06
"""Confidence by signs below which nothing is read."""
READ, ENOUGH = 4, 0.3
"""Candidates that are read, the first, and how likely one must answer that no more are."""
ORDER = 0.2
"""What a unit of the log odds that a candidate answers is worth beside its score, among those read."""


def read(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """The candidates with the confidence that reading leaves them, those read in the order that it gives them.

    What is not read is at most as sure as the surest of what is; where none of that answers, it counts as
    what answers least. Where the model is gone in the meantime, the signs decide.

    Args:
        ranked: Found with the model.
    """
    if not _can_be_read(question) or ranked.confidence < HOPELESS:
        return ranked
    best = ranked.candidates[:READ]
    told = index.passages([each.row for each in best])
    chances: list[float] = []
    try:
        for each in best:
            passage = told[each.row]
            text = answer_head.shown(question.text, passage.text, passage.speaker, passage.heading)
            chances.append(answer_head.answers(question.text, text))
            if chances[-1] >= ENOUGH:
                break
    except (ModelMissingError, ModelDigestError):
        return ranked
    sure = [
        confidence.read_probability(each.confidence, chance)
        for each, chance in zip(best, chances, strict=False)
    ]
    top, unread = max(sure), [each.confidence for each in ranked.candidates[len(sure) :]]
    if chances[-1] < ENOUGH:
        unread = [confidence.read_probability(each, min(chances)) for each in unread]
    rest = [min(top, each) for each in unread]
    candidates: list[Candidate] = [
        each._replace(confidence=round(value, 6))
        for each, value in zip(ranked.candidates, [*sure, *rest], strict=True)
    ]
    candidates[: len(sure)] = _reordered(candidates[: len(sure)], chances)
    first = candidates[:FIRST]
    return ranked._replace(candidates=candidates, confidence=max(each.confidence for each in first))


def _reordered(read: Sequence[Candidate], chances: Sequence[float]) -> list[Candidate]:
    """The candidates that were read by score + ORDER · logit(chance); the best gets the best score."""
    worth = [
        each.score + ORDER * confidence.logit(chance)
        for each, chance in zip(read, chances, strict=True)
    ]
    order = sorted(range(len(read)), key=lambda row: -worth[row])
    scores = sorted((each.score for each in read), reverse=True)
    return [read[row]._replace(score=score) for row, score in zip(order, scores, strict=True)]


def _can_be_read(question: Question) -> bool:
    """Whether it is a question in the language of the reader, English, which does not see when something was."""
    words = question.text.casefold().split()
    return (
        bool(question.terms)
        and not question.periods
        and len(words) >= WORDS
        and not tokens.STOP_WORDS.isdisjoint(words)
    )
