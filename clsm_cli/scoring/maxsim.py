"""Late interaction: a question finds the passage whose words come nearest to each of its own.

    maxsim(q, d) = Σᵢ wᵢ · max over tokens t of d of cos(qᵢ, t)  /  Σᵢ wᵢ

after Khattab and Zaharia 2020 (ColBERT), with the inverse document frequency of the question's
words as weights w, and tokens of MiniLM's last layer as they are, without any training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def nearest(
    products: Sequence[Sequence[float]],
    spans: Mapping[int, tuple[int, int]],
    weights: Sequence[float],
) -> dict[int, list[float]]:
    """Share of each token of a question in ``maxsim``, for every passage.

    Args:
        products: cos of question token i (row) to the tokens of all passages (columns), or to the
            nearest of each few of them.
        spans: Passage → its first column, and the one after its last.
        weights: wᵢ, not negative, not all 0.

    Returns:
        Passage → for each i, wᵢ · max cos / Σ w; a passage without tokens is left out.

    >>> nearest([[0.1, 0.9, 0.3]], {7: (0, 2), 8: (2, 3), 9: (3, 3)}, [2.0])
    {7: [0.9], 8: [0.3]}
    """
    whole = sum(weights)
    rows = list(zip((weight / whole for weight in weights), products, strict=True))
    return {
        passage: [weight * max(row[start:end]) for weight, row in rows]
        for passage, (start, end) in spans.items()
        if end > start
    }


def over(rows: Sequence[Sequence[float]]) -> float:
    """``maxsim`` of several passages taken as one text, from their shares.

    >>> over([[0.8, 0.1], [0.2, 0.5]]), over([[0.25, 0.5]]), over([])
    (1.3, 0.75, 0.0)
    """
    if not rows:
        return 0.0
    best: Iterable[float] = map(max, *rows) if len(rows) > 1 else rows[0]
    return sum(best)
