"""Late interaction: a question finds the passage whose words come nearest to each of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def best_of_each(
    products: Sequence[Sequence[float]], spans: Mapping[int, tuple[int, int]]
) -> dict[int, list[float]]:
    """The nearest token of every passage to every token of the query.

    Args:
        products: Cosines of query token i (row) to the tokens of all passages (columns).
        spans: Passage → its first column and the one after its last.

    Returns:
        Passage → for each query token i the largest cosine; a passage without tokens has none.

    >>> best_of_each([[0.1, 0.9, 0.3]], {7: (0, 2), 8: (2, 3), 9: (3, 3)})
    {7: [0.9], 8: [0.3]}
    """
    return {
        passage: [max(row[start:end]) for row in products]
        for passage, (start, end) in spans.items()
        if end > start
    }


def over_window(
    best: Mapping[int, Sequence[float]], window: Iterable[int], weights: Sequence[float]
) -> float:
    """MaxSim of a query to several passages taken as one text.

        Σᵢ wᵢ · max(0, max over window of bestᵢ) / Σᵢ wᵢ

    after Khattab and Zaharia 2020 (ColBERT), with the inverse document frequency of the query's
    words as weights w, and tokens of MiniLM's last layer as they are, without any training.

    Args:
        best: Of every passage, see ``best_of_each``.
        window: Its passages; those that have no tokens do not count.
        weights: w, one a query token, not negative, not all 0.

    Returns:
        0 … 1.

    >>> over_window({1: [0.8, 0.1], 2: [0.2, 0.5]}, [1, 2, 3], [1.0, 3.0])
    0.575
    """
    rows = [best[passage] for passage in window if passage in best]
    if not rows:
        return 0.0
    largest = map(max, zip(*rows, strict=True)) if len(rows) > 1 else rows[0]
    found: list[float] = [w * value for w, value in zip(weights, largest, strict=True) if value > 0]
    return sum(found) / sum(weights)
