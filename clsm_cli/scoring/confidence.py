"""Confidence of an item: the probability that it answers the question, comparable between stores.

An answer is as confident as its best item. A rank score compares items of one query; the confidence
also compares queries.
"""

from __future__ import annotations

from math import exp, log, log1p

from clsm_cli.startup.records import NamedTuple

SMALL_STORE = 30
"""Passages up to which a store is small: statistics of all its passages mean little yet."""


class Evidence(NamedTuple):
    """The evidence that a passage answers the question.

    Attributes:
        coverage: Share of the question's idf in the words of the passage, 0 … 1.
        cosine: Of its sentence vector to the question in the first person (``Question.embedding_text``),
            −1 … 1; None without a vector. Not a feature of the probability.
        date: How well it fits the time asked about, 0 … 1; 0 if there is none.
        maxsim: Late interaction with it and its neighbours, −1 … 1; None without token vectors.
        asked_cosine: Cosine of its sentence vector to the question as asked; None without a vector.
        unseen: Share of the question's idf in words that the store does not contain, 0 … 1, less in a
            small store (``retrieval.lexical_search``).
        length: Terms of the passage: a long passage is rarely near by chance.
        passages: Passages of the store: the more there are, the nearer the nearest is by chance.
    """

    coverage: float
    cosine: float | None
    date: float = 0.0
    asked_cosine: float | None = None
    maxsim: float | None = None
    unseen: float = 0.0
    length: int = 0
    passages: int = 1


class Weights(NamedTuple):
    """Log odds per unit of each feature."""

    cosine: float
    coverage: float
    maxsim: float
    unseen: float
    date: float
    length: float
    passages: float
    bias: float


WEIGHTS = Weights(
    cosine=5.857,
    coverage=1.306,
    maxsim=6.612,
    unseen=-2.604,
    date=3.462,
    length=0.862,
    passages=-0.562,
    bias=-4.365,
)
"""From ``scripts/fit_verdict.py``; docs/experiments.md has their figures on held-out memories."""


class ReadWeights(NamedTuple):
    """Weights of the two log odds that ``read_probability`` combines.

    Attributes:
        sure: Of the probability by signs.
        chance: Of the answer head's probability.
    """

    sure: float
    chance: float
    bias: float


READ_WEIGHTS = ReadWeights(sure=0.353, chance=0.456, bias=0.732)
"""From ``scripts/fit_answers.py``."""
MIN_LOGIT_P = 1e-6
"""Probabilities are clipped to this distance from 0 and 1 before their log odds are taken."""


def features(evidence: Evidence) -> Weights:
    """The features of the logistic regression, in the order of the weights; the bias is 1.

    Without a vector, the coverage replaces the cosine and the late interaction. The length n enters
    as log(1 + n), the number of passages N as log(N + ``SMALL_STORE``).

    >>> features(Evidence(0.5, None))[:3]
    (0.5, 0.5, 0.5)
    """
    coverage = evidence.coverage
    return Weights(
        cosine=coverage if evidence.asked_cosine is None else evidence.asked_cosine,
        coverage=coverage,
        maxsim=coverage if evidence.maxsim is None else evidence.maxsim,
        unseen=evidence.unseen,
        date=evidence.date,
        length=log1p(evidence.length),
        passages=log(evidence.passages + SMALL_STORE),
        bias=1.0,
    )


MAX_CONFIDENCE = 0.99
"""Highest confidence: no evidence makes an answer certain."""


def cap(sure: float) -> float:
    """Clip a confidence to 0 … ``MAX_CONFIDENCE``, the same in every form of an answer.

    >>> cap(1.0), cap(0.5), cap(-0.2)
    (0.99, 0.5, 0.0)
    """
    return max(0.0, min(MAX_CONFIDENCE, sure))


def read_probability(sure: float, chance: float) -> float:
    """Probability that a passage answers, once the answer head has read it.

        p = 1 / (1 + exp(−(a · logit(sure) + b · logit(chance) + c)))

    Args:
        sure: Its ``signs_probability`` by signs.
        chance: The probability of ``heads/answer_head``.

    >>> read_probability(0.1, 0.001) < 0.15 < read_probability(0.1, 0.9)
    True
    """
    odds = (
        READ_WEIGHTS.sure * log_odds(sure)
        + READ_WEIGHTS.chance * log_odds(chance)
        + READ_WEIGHTS.bias
    )
    return cap(1 / (1 + exp(-odds)))


MAX_LOGIT = 5.0
"""Log odds of the answer head that count most for the rank: more certainty only reflects its training."""


def reading_signal(chance: float) -> float:
    """The signal of a passage that was read, 0 … 1: its log odds l, from −``MAX_LOGIT`` to ``MAX_LOGIT``.

        reading = (1 + l / MAX_LOGIT) / 2

    >>> reading_signal(0.5), reading_signal(0.0), round(reading_signal(0.9), 2)
    (0.5, 0.0, 0.72)
    """
    return (1 + max(-1.0, min(1.0, log_odds(chance) / MAX_LOGIT))) / 2


def log_odds(chance: float) -> float:
    """The log odds of a probability, clipped to ``MIN_LOGIT_P`` from 0 and 1."""
    kept = max(MIN_LOGIT_P, min(1 - MIN_LOGIT_P, chance))
    return log(kept / (1 - kept))


def signs_probability(evidence: Evidence) -> float:
    """Probability that a passage with this evidence answers: p = 1 / (1 + exp(−w · x)), capped.

    >>> sure = Evidence(1.0, 0.7, asked_cosine=0.7, maxsim=0.7, length=9)
    >>> unsure = Evidence(0.0, 0.2, asked_cosine=0.2, maxsim=0.3, unseen=1.0, length=9)
    >>> signs_probability(sure) > 0.9, signs_probability(unsure) < 0.18
    (True, True)
    """
    odds = sum(w * x for w, x in zip(WEIGHTS, features(evidence), strict=True))
    return cap(1 / (1 + exp(-odds)))
