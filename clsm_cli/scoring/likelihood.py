"""How much a passage says about a question: the gain in query likelihood.

Document information gain asks by how much a passage raises the probability of the right answer
(InfoGain-RAG, after CMA §3.3); without the answer, the question's own words stand for it.
"""

from __future__ import annotations

from math import fsum, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MU = 200.0
"""Words that the collection adds to each passage (Dirichlet smoothing)."""


def gain(terms: Iterable[tuple[int, float]], length: int, mu: float = MU) -> float:
    """Mean over the terms of log P(t | passage) − log P(t | collection), in nats.

        P(t | passage) = (tf + µ · P(t | collection)) / (length + µ)

    Above 0 the passage says more about the question than any text of the collection would, 0 is
    the average, below 0 it distracts. Smoothing keeps the logarithm finite. A term that the
    collection does not have says nothing and is left out; without terms the gain is 0.
    Source: Zhai and Lafferty 2001.

    Args:
        terms: For each distinct term of the question how often the passage has it, and its share
            of all words of the collection.
        length: Words of the passage.
        mu: Weight of the collection, in words.

    Raises:
        ValueError: A count or the length is negative, a share above 1, or ``mu`` not above 0.

    One term of probability 0.01: once in 20 words (1 + 2) / 220 against 0.01, and not at all:

    >>> round(gain([(1, 0.01)], 20), 3), round(gain([(0, 0.01)], 20), 3), gain([(0, 0.0)], 20)
    (0.31, -0.095, 0.0)
    """
    if length < 0 or mu <= 0:
        raise ValueError("a passage has no negative length, and mu is above 0")
    gains = []
    for count, share in terms:
        if count < 0 or not 0 <= share <= 1:
            raise ValueError("a count is not negative, and a share from 0 to 1")
        if share > 0:
            gains.append(log((count + mu * share) / ((length + mu) * share)))
    return fsum(gains) / len(gains) if gains else 0.0
