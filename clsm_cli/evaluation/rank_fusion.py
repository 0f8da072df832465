"""Several ranked lists made into one: reciprocal ranks, and the rounds of a compound question."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

K = 60
"""Dampens the top ranks (Cormack, Clarke and Büttcher, SIGIR 2009)."""
BOOST = 1.3
"""Factor for each further sub-query that finds a document (Smriti)."""
LEAST_GAIN = 0.05
"""Share of the top score by which a round must raise it to count as progress."""

Id = TypeVar("Id", str, int)


def reciprocal_ranks(
    rankings: Sequence[Sequence[Id]], weights: Sequence[float] | None = None, k: int = K
) -> dict[Id, float]:
    """Reciprocal rank fusion, best first; ties by id.

        score(d) = Σ over lists that hold d of w / (k + rank of d),  ranks from 1

    Args:
        rankings: Ids, best first; of an id that a list repeats the best rank counts.
        weights: One a list; None: 1 each.
        k: Ranks by which the votes of a list are flattened.

    Raises:
        ValueError: There are not as many weights as lists.

    >>> fused = reciprocal_ranks([["a", "b"], ["b", "c"]])
    >>> [(name, round(score * 61 * 62, 6)) for name, score in fused.items()]
    [('b', 123.0), ('a', 62.0), ('c', 61.0)]
    """
    votes: dict[Id, list[float]] = {}
    pairs = zip(rankings, weights or [1.0] * len(rankings), strict=True)
    for ranking, weight in pairs:
        for rank, name in enumerate(dict.fromkeys(ranking), 1):
            votes.setdefault(name, []).append(weight / (k + rank))
    return _best_first((name, fsum(found)) for name, found in votes.items())


def fuse_rounds(found: Sequence[tuple[float, Mapping[Id, float]]]) -> dict[Id, float]:
    """What several sub-queries found as one list, best first; ties by id.

        score(d) = Σ weight · score of d  ×  1.3^(n − 1),  n sub-queries that found d

    Args:
        found: For each sub-query its weight and the scores of its documents, on one scale.

    >>> fuse_rounds([(1.0, {"a": 0.5, "b": 0.4}), (0.5, {"b": 0.8})])
    {'b': 1.04, 'a': 0.5}
    """
    parts: dict[Id, list[float]] = {}
    for weight, scores in found:
        for name, score in scores.items():
            parts.setdefault(name, []).append(weight * score)
    return _best_first(
        (name, fsum(each) * BOOST ** (len(each) - 1)) for name, each in parts.items()
    )


def is_settled(before: Mapping[Id, float], after: Mapping[Id, float]) -> bool:
    """Whether a further round brought nothing: no new document, and a top score hardly higher.

    "Hardly" is relative, less than 5 % of the top score before: scores of fused ranks are about
    0.016, so any fixed amount would stop always or never.

    >>> is_settled({"a": 0.0160}, {"a": 0.0167}), is_settled({"a": 0.0160}, {"a": 0.0169})
    (True, False)
    >>> is_settled({"a": 0.5}, {"a": 0.5, "b": 0.1}), is_settled({}, {})
    (False, True)
    """
    if after.keys() - before.keys():
        return False
    top = max(before.values(), default=0.0)
    gain = max(after.values(), default=0.0) - top
    return gain <= 0 or gain < LEAST_GAIN * top


def _best_first(scored: Iterable[tuple[Id, float]]) -> dict[Id, float]:
    return dict(sorted(scored, key=lambda pair: (-pair[1], pair[0])))
