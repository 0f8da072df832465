"""The second look at candidates: what the first look found elsewhere speaks for them, or against.

What a question asks for is told in one conversation or in many. A narrow question gains from what
stands around a good passage, in its group and its conversation; a broad one (``text.breadth``) from
the plain meaning of each passage instead. Where the turn before says it already, without asking,
this one is its echo. On LoCoMo that is worth six points of recall@10 of multi-hop questions.

A question that names no speaker is put to talks in which a fact may stand alone among small talk:
there what stands around a passage counts only as far as the passage itself is near in meaning, and
so does its meaning, whatever the breadth. Last, the best passages speak for what they lead to over the
graph (``activation``).
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation
from clsm_cli.retrieval import signals as signal
from clsm_cli.retrieval.signals import Signals
from clsm_cli.scoring.fusion import spread, weighted
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.activation import Way
    from clsm_cli.retrieval.first_look import Surroundings
    from clsm_cli.retrieval.meaning import LateInteraction, Nearest
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.search import Traits

FIRST = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 5.1, 0.4, -0.3, 2.0)
"""Weights of the first look, by which the best of a conversation is found; fitted ones are no better."""
MANY_NAMES = 7
"""Names at which a passage counts as full of them."""


def add(
    index: Index,
    question: Question,
    rows: Sequence[int],
    first: Sequence[Signals],
    around: Surroundings,
    near: Nearest | None,
    late: LateInteraction | None,
    settings: RecallSettings,
) -> tuple[Sequence[Signals], Mapping[int, Way]]:
    """Signals of candidates with those of the second look, and what led to those that activation reached.

    Args:
        index: Fresh.
        question: What is asked.
        rows: Of the candidates.
        first: Their signals of the first look.
        around: What stands around them.
        near: Cosines; None without a model: then nothing is added.
        late: Late interaction.
        settings: Weights, and how far breadth and standing alone count.
    """
    if near is None or not rows:
        return first, {}
    traits = [around.near[row] for row in rows]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    echo = _echo(traits, around, late)
    names = index.names_in(rows)
    session = _session(traits, [weighted(values, FIRST) for values in first])
    meaning = _meaning(traits, first, near)
    alone = 0.0 if question.named else settings.alone
    around_it = [(1 - broad) * (1 - alone * (1 - own)) for own in meaning]
    looked = [
        values._replace(
            episode=around_it[i] * values.episode,
            echo=echo[i],
            names=min(1.0, log1p(len(names.get(row, ()))) / log1p(MANY_NAMES)),
            session=around_it[i] * session[i],
            meaning=max(broad, alone) * meaning[i],
        )
        for i, (row, values) in enumerate(zip(rows, first, strict=True))
    ]
    if late is None or not settings.weight_graph:
        return looked, {}
    ways = activation.spread(index, question, _seeds(rows, looked, traits, settings), late)
    reached = [
        values._replace(graph=ways[row].worth) if row in ways else values
        for row, values in zip(rows, looked, strict=True)
    ]
    return reached, ways


def _meaning(traits: Sequence[Traits], first: Sequence[Signals], near: Nearest) -> list[float]:
    """Cosines to the question, min-max; of what has no vector yet, the words speak for it."""
    found = [values.bm25 for values in first]
    known = {i: near.of(each.vector) for i, each in enumerate(traits)}
    measured = {i: cosine for i, cosine in known.items() if cosine is not None}
    for i, share in zip(measured, spread(list(measured.values())), strict=True):
        found[i] = share
    return found


def _seeds(
    rows: Sequence[int],
    looked: Sequence[Signals],
    traits: Sequence[Traits],
    settings: RecallSettings,
) -> dict[int, float]:
    """The best passages, best first, with their scores as shares of the range of all."""
    weights = signal.weights(settings)
    shares = spread([weighted(values, weights) for values in looked])
    order = sorted(
        range(len(rows)), key=lambda i: (-shares[i], traits[i].key, traits[i].part, rows[i])
    )
    return {rows[i]: shares[i] for i in order[: activation.SEEDS]}


def _echo(
    traits: Sequence[Traits], around: Surroundings, late: LateInteraction | None
) -> list[float]:
    """MaxSim of the turn before, min-max, where it asks nothing: then it says so itself."""
    if late is None:
        return [0.0] * len(traits)
    found = spread([late.over(each.previous) for each in traits])
    return [
        0.0 if each.is_document or _asks(around, each.previous) else value
        for each, value in zip(traits, found, strict=True)
    ]


def _asks(around: Surroundings, row: int | None) -> bool:
    return row is not None and bool(around.near[row].is_question)


def _session(traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first score in the conversation of each, min-max; blocks of notes stand for themselves."""
    best: dict[str, float] = {}
    for each, score in zip(traits, scores, strict=True):
        best[each.session] = max(best.get(each.session, score), score)
    return spread(
        [
            score if each.is_document else best[each.session]
            for each, score in zip(traits, scores, strict=True)
        ]
    )
