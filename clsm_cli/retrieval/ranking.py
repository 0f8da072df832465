"""Passages by words and meaning: BM25 and the cosine of MiniLM, fused.

Each signal is brought to 0 … 1 over the store by its minimum and maximum for this query, then

    score = w · bm25 + (1 − w) · cosine,   w = ``recall.bm25_weight``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.scoring import bm25
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from typing import Any

    from clsm_cli.config import RecallSettings
    from clsm_cli.store.index.reader import Index

MIN_COSINE = 0.30
"""A passage that shares no word with the query counts from this cosine on; MiniLM's unrelated texts lie below it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may answer.

    Attributes:
        row: Row of the index.
        score: Fused, 0 … 1.
        bm25: Share of the best BM25 of this query, 0 … 1.
        cosine: Of the embedded text to the query, −1 … 1; None without a vector.
        coverage: Share of the query's idf that the passage's words hold, 0 … 1.
    """

    row: int
    score: float
    bm25: float
    cosine: float | None
    coverage: float

    @property
    def confidence(self) -> float:
        """The stronger of the two kinds of evidence that do not depend on the rest of the store."""
        return max(0.0, min(1.0, max(self.cosine or 0.0, self.coverage)))


def rank(index: Index, query: str, vector: Any | None, settings: RecallSettings) -> list[Candidate]:
    """Every passage with evidence for the query, best first.

    Args:
        index: Fresh.
        query: The user's words.
        vector: Its unit vector, float32 [384]; None: words only.
        settings: Weights.
    """
    words, coverage = by_words(index, query, settings)
    cosines = {} if vector is None else by_meaning(index, vector)
    weight = settings.bm25_weight if cosines else 1.0
    best_words = max(words.values(), default=0.0) or 1.0
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    spread = high - low
    found = []
    for row in words.keys() | cosines.keys():
        cosine = cosines.get(row)
        if row not in words and (cosine is None or cosine < MIN_COSINE):
            continue
        lexical = words.get(row, 0.0) / best_words
        dense = lexical  # of what is not embedded yet, the words speak for it
        if cosine is not None:
            dense = (cosine - low) / spread if spread else 1.0
        score = round(weight * lexical + (1 - weight) * dense, 6)
        found.append(Candidate(row, score, lexical, cosine, coverage.get(row, 0.0)))
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.row))


def by_words(
    index: Index, query: str, settings: RecallSettings
) -> tuple[dict[int, float], dict[int, float]]:
    """BM25 of every passage that shares a term with the query, and the idf share it covers."""
    count, total_length = index.size()
    average = total_length / count if count else 1.0
    scores: dict[int, float] = {}
    covered: dict[int, float] = {}
    mass = 0.0
    for term in dict.fromkeys(tokens.stems(query)):
        postings = index.postings(term)
        idf = bm25.idf(count, len(postings))
        mass += idf
        for posting in postings:
            weight = bm25.weight(
                posting.tf, posting.length, average, k1=settings.bm25_k1, b=settings.bm25_b
            )
            scores[posting.passage] = scores.get(posting.passage, 0.0) + idf * weight
            covered[posting.passage] = covered.get(posting.passage, 0.0) + idf
    return scores, {row: share / mass for row, share in covered.items()}


def by_meaning(index: Index, vector: Any) -> dict[int, float]:
    """Cosine of every passage that has a vector."""
    import numpy as np

    from clsm_cli.scoring.cosine import cosines

    passages, rows = index.vector_rows()
    matrix = index.matrix()
    if matrix is None or not rows:
        return {}
    found: dict[int, float] = {}
    step = 8192  # rows that are widened to float32 at once: 12 MB
    for start in range(0, len(rows), step):
        picked = matrix[np.asarray(rows[start : start + step], dtype=np.int64)]
        values = cosines(picked["vector"], picked["scale"], vector)
        found.update(zip(passages[start : start + step], values.tolist(), strict=True))
    return found
