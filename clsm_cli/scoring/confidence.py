"""Confidence of an item: one probability, from evidence that means the same in every store.

It is the probability that something with this evidence answers the question, and an answer is as sure
as its best item. It is no rank score: that compares items of one query, this compares queries.
"""

from __future__ import annotations

from math import exp, log, log1p

from clsm_cli.startup.records import NamedTuple

FEW = 30
"""Passages up to which a store is a handful: what is said of all that it holds tells little yet."""


class Evidence(NamedTuple):
    """What speaks for a passage.

    Attributes:
        coverage: Share of the question's idf that its words hold, 0 … 1.
        cosine: Of its sentence vector to the question as the person who is asked about would put it,
            −1 … 1; None without one. The probability does not look at it (``shares`` does).
        date: How well it fits the time that is asked about, 0 … 1; 0 where none is.
        maxsim: Late interaction with it and its neighbours, −1 … 1; None without token vectors.
        asked: Cosine of its sentence vector to the question as it was asked; None without one.
        unseen: Share of the question's idf in words that the store has never seen, 0 … 1, less in a
            small one (``retrieval.lexical_search``).
        length: Terms of the passage: what is long and near is rarely so by chance.
        passages: Of the store: among more of them the nearest is nearer by chance.
    """

    coverage: float
    cosine: float | None
    date: float = 0.0
    asked: float | None = None
    maxsim: float | None = None
    unseen: float = 0.0
    length: int = 0
    passages: int = 1


class Weights(NamedTuple):
    """Log odds for one unit of each piece of evidence."""

    cosine: float
    coverage: float
    maxsim: float
    unseen: float
    date: float
    length: float
    passages: float
    bias: float


FITTED = Weights(
    cosine=5.857,
    coverage=1.306,
    maxsim=6.612,
    unseen=-2.604,
    date=3.462,
    length=0.862,
    passages=-0.562,
    bias=-4.365,
)
"""By ``scripts/fit_verdict.py``; what they are worth on memories left out: docs/experiments.md."""


class ReadWeights(NamedTuple):
    """Log odds for one unit of the log odds by signs, and of those by reading."""

    sure: float
    chance: float
    bias: float


READ = ReadWeights(sure=0.665, chance=0.441, bias=0.418)
"""By ``scripts/fit_answers.py``."""
LEAST = 1e-4
"""Chances are kept this far from 0 and 1."""


def features(evidence: Evidence) -> Weights:
    """The evidence as numbers, in the order of the weights; the bias is 1.

    Without a vector the coverage stands for the cosine and for late interaction. The length n counts
    as log(1 + n), the number of passages N as log(N + ``FEW``).

    >>> features(Evidence(0.5, None))[:3]
    (0.5, 0.5, 0.5)
    """
    held = evidence.coverage
    return Weights(
        cosine=held if evidence.asked is None else evidence.asked,
        coverage=held,
        maxsim=held if evidence.maxsim is None else evidence.maxsim,
        unseen=evidence.unseen,
        date=evidence.date,
        length=log1p(evidence.length),
        passages=log(evidence.passages + FEW),
        bias=1.0,
    )


MOST = 0.99
"""What anything is sure at most: no evidence makes an answer certain."""


def cap(sure: float) -> float:
    """How sure something may be called, in every form of an answer the same: 0 … ``MOST``.

    >>> cap(1.0), cap(0.5), cap(-0.2)
    (0.99, 0.5, 0.0)
    """
    return max(0.0, min(MOST, sure))


def read_probability(sure: float, chance: float) -> float:
    """Probability that a passage which was read answers: p = 1 / (1 + exp(−(a · logit(sure) + b · logit(chance) + c))).

    Args:
        sure: Its ``probability`` by signs.
        chance: What ``heads/answer_head`` says of it.

    >>> read_probability(0.1, 0.001) < 0.15 < read_probability(0.1, 0.9)
    True
    """
    odds = READ.sure * _logit(sure) + READ.chance * _logit(chance) + READ.bias
    return cap(1 / (1 + exp(-odds)))


def _logit(chance: float) -> float:
    kept = max(LEAST, min(1 - LEAST, chance))
    return log(kept / (1 - kept))


def probability(evidence: Evidence) -> float:
    """Probability that something with this evidence answers: p = 1 / (1 + exp(−w · x)), capped.

    >>> sure = Evidence(1.0, 0.7, asked=0.7, maxsim=0.7, length=9)
    >>> unsure = Evidence(0.0, 0.2, asked=0.2, maxsim=0.3, unseen=1.0, length=9)
    >>> probability(sure) > 0.9, probability(unsure) < 0.18
    (True, True)
    """
    odds = sum(w * x for w, x in zip(FITTED, features(evidence), strict=True))
    return cap(1 / (1 + exp(-odds)))
