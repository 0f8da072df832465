"""The second look at candidates: what the first look found elsewhere speaks for them too.

What a question asks for is told in one conversation or in many, and the best passages of the first
look say which: a passage gains from a good one in its own conversation, and, where the question is
broad (``text.breadth``), from being like good ones of *other* conversations. Crossed so with
breadth they raise recall@10 of LoCoMo's multi-hop questions by five points; uncrossed they do nothing.
"""

from __future__ import annotations

from math import fsum, log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval.signals import Signals
from clsm_cli.scoring.fusion import spread, weighted
from clsm_cli.store.index.codes import SENTENCE_BYTES, SENTENCE_STEP, floats
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.first_look import Surroundings
    from clsm_cli.retrieval.meaning import Engine, LateInteraction, Nearest
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.search import Traits

FIRST = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 1.8, 0.4, -0.3, 2.0)
"""Weights of the first look: as good as fitted ones for choosing what others are compared with."""
BEST = 5
"""Passages of the first look that others are compared with (3 … 12 are as good)."""
BROAD = 0.25
"""Breadth from which other conversations are looked at: a quarter of LoCoMo's questions."""
MANY_NAMES = 7
"""Names at which a passage counts as full of them."""


def add(
    index: Index,
    engine: Engine,
    question: Question,
    rows: Sequence[int],
    first: Sequence[Signals],
    around: Surroundings,
    near: Nearest | None,
    late: LateInteraction | None,
) -> Sequence[Signals]:
    """Signals of candidates with those of the second look.

    Args:
        index: Fresh.
        engine: Made the vectors.
        question: What is asked.
        rows: Of the candidates.
        first: Their signals of the first look.
        around: What stands around them.
        near: Cosines; None without a model: then nothing is added.
        late: Late interaction.
    """
    if near is None or not rows:
        return first
    traits = [around.near[row] for row in rows]
    scores = [weighted(values, FIRST) for values in first]
    wide = breadth(
        question.text, len({*question.terms} - question.name_terms), asks_when=question.asks_when
    )
    echo = _echo(traits, around, late)
    names = index.names_in(rows)
    session = _session(traits, scores)
    others = (
        _others(index, engine, traits, scores) if wide >= BROAD else [0.0] * len(traits)
    )  # a vector product that a narrow question does not pay for
    meaning = spread([near.of(each.vector) or 0.0 for each in traits])
    return [
        values._replace(
            echo=echo[i],
            names=min(1.0, log1p(names.get(row, 0)) / log1p(MANY_NAMES)),
            session=session[i],
            broad_episode=wide * values.episode,
            broad_session=wide * session[i],
            broad_others=wide * others[i],
            broad_meaning=wide * meaning[i],
        )
        for i, (row, values) in enumerate(zip(rows, first, strict=True))
    ]


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


def _others(
    index: Index, engine: Engine, traits: Sequence[Traits], scores: Sequence[float]
) -> list[float]:
    """How like the best of other conversations each is, min-max: Σ cos / n over the n best."""
    order = sorted(range(len(traits)), key=lambda i: (-scores[i], traits[i].key, traits[i].part))
    top = [traits[i] for i in order if traits[i].vector >= 0][:BEST]
    cosines = _cosines(index, engine, traits, top)
    found = [
        fsum(
            row[i]
            for best, row in zip(top, cosines, strict=True)
            if best.session != each.session and not each.is_document
        )
        for i, each in enumerate(traits)
    ]
    return spread([value / BEST for value in found])


def _cosines(
    index: Index, engine: Engine, traits: Sequence[Traits], top: Sequence[Traits]
) -> list[Sequence[float]]:
    """The cosine of each candidate to each of the best; 0 for one without a vector."""
    stored = index.sentence_rows()
    if stored is None or not top:
        return []

    def packed(each: Traits) -> memoryview:
        return stored[each.vector * SENTENCE_BYTES : (each.vector + 1) * SENTENCE_BYTES]

    known = [i for i, each in enumerate(traits) if each.vector >= 0]
    queries = [floats(packed(best)) for best in top]
    rows: list[Sequence[float]] = []
    for products in engine.products(
        b"".join(packed(traits[i]) for i in known), len(queries[0]), queries, SENTENCE_STEP
    ):
        row = [0.0] * len(traits)
        for i, product in zip(known, products, strict=True):
            row[i] = product
        rows.append(row)
    return rows
