"""Dense search: the nearest sentence vectors, then late interaction over token vectors."""

from __future__ import annotations

from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.codes import SENTENCE_STEP, TOKEN_BYTES, TOKEN_STEP, unpacked_tokens
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from _typeshed import ReadableBuffer

    from clsm_cli.embedding.query_vectors import QueryVectors
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Traits

MOST_TOKENS = 32
"""Tokens of a question that late interaction looks at: those of its rarest words."""
BLOCK = 8
"""Tokens of a passage whose largest cosine the engine gives as one number: a fifth more products for
an eighth of the numbers to read, which takes half the time."""


class Engine(Protocol):
    """What retrieval needs of an embedding engine (``commands.engine``)."""

    name: str

    def open(self) -> None:
        """Load the model, or raise ModelMissingError, ModelDigestError or DiskError."""

    def encode(self, text: str) -> QueryVectors:
        """A query as vectors; the engine must be open."""

    def products(
        self,
        rows: ReadableBuffer,
        width: int,
        queries: Sequence[Sequence[float]],
        step: float,
        block: int = 1,
    ) -> list[memoryview[float]]:
        """Dot products of rows of four-bit codes with queries; see ``embedding.similarity``."""


def cosine_at(cosines: Sequence[float], vector: int) -> float | None:
    """The cosine of a vector's row; None for −1, no vector."""
    return cosines[vector] if 0 <= vector < len(cosines) else None


class LateInteraction(NamedTuple):
    """Passage → share of each token of the question in its MaxSim."""

    shares: dict[int, list[float]]

    def window_scores(self, *window: int | None) -> float:
        """MaxSim of the question to a window of passages; None and passages without tokens count nothing."""
        known = self.shares
        return match.maxsim_over([known[row] for row in window if row in known])


class Meaning:
    """A question as the model reads it, beside the vectors of the index; empty without a model.

    Attributes:
        cosines: Of every stored sentence vector to ``Question.dense``, by its row.
        asked: Of the same to the question as it was asked, in which its names stand.
    """

    def __init__(self, index: Index, question: Question, engine: Engine | None) -> None:
        self._index, self._question, self._engine = index, question, engine
        self._vectors = engine.encode(question.dense) if engine is not None else None
        self.cosines: Sequence[float] = ()
        self.asked: Sequence[float] = ()
        if engine is not None and self._vectors is not None:
            self.cosines = self.asked = self._products(engine, self._vectors)
            if question.text != question.dense:
                self.asked = self._products(engine, engine.encode(question.text))

    def _products(self, engine: Engine, vectors: QueryVectors) -> Sequence[float]:
        """The cosine of every stored sentence vector to a text."""
        stored = self._index.vectors.sentence_rows()
        if stored is None:
            return ()
        sentence = vectors.sentence
        (found,) = engine.products(stored, len(sentence), [sentence], SENTENCE_STEP)
        cosines: Sequence[float] = found.tolist()
        return cosines

    def nearest(self, limit: int, allowed: Collection[int] | None = None) -> list[int]:
        """The passages nearest to the question, by an exact scan; ties are all included.

        Args:
            allowed: Passages that may be returned; None for all.
        """
        index, cosines = self._index, self.cosines
        if not cosines:
            return []
        if allowed is not None:
            vectors = {traits.vector for traits in index.traits(sorted(allowed)).values()}
            held = index.rows_of_vectors(sorted(vectors - {-1}))
            held = [each for each in held if each[-1] in allowed]
        else:
            count = 2 * limit  # more than are wanted, as closed passages have rows too
            held = index.rows_of_vectors(_best(cosines, count))
            while len(held) < limit and count < len(cosines) and index.has_archived():
                count *= 2
                held = index.rows_of_vectors(_best(cosines, count))
        held.sort(key=lambda each: (-cosines[each[0]], *each[1:]))
        return [each[-1] for each in held[:limit]]

    def late_interaction(
        self, idf: Mapping[str, float], least: float, passages: Mapping[int, Traits]
    ) -> LateInteraction | None:
        """Compare the question's tokens with those of some passages; None where there are none.

        A token weighs the idf of its word's rarest term, at least ``least``, which words have that
        carry no term ("what", "did"): they say what kind of answer is meant.
        """
        if self._engine is None or self._vectors is None:
            return None
        weights = self._weights(self._vectors, idf, least)
        heaviest = sorted(range(len(weights)), key=lambda i: (-weights[i], i))[:MOST_TOKENS]
        chosen = sorted(heaviest)
        if not chosen or self._index.vectors.token_rows() is None:
            return None
        queries = [self._vectors.tokens[i] for i in chosen]
        spans: dict[int, tuple[int, int]] = {}
        parts: list[bytes | memoryview] = []
        end = 0
        for passage, traits in passages.items():
            own = self._index.vectors.tokens_of(traits.vector_rows)
            if own is not None:
                missing = -traits.tokens % BLOCK  # of the last block: its last token, once more
                parts += [own, bytes(own[-TOKEN_BYTES:]) * missing]
                blocks = (traits.tokens + missing) // BLOCK
                spans[passage] = (end, end + blocks)
                end += blocks
        rows = unpacked_tokens(b"".join(parts))
        found = self._engine.products(rows, len(queries[0]), queries, TOKEN_STEP, BLOCK)
        products = [row.tolist() for row in found]
        return LateInteraction(match.token_shares(products, spans, [weights[i] for i in chosen]))

    def _weights(
        self, vectors: QueryVectors, idf: Mapping[str, float], least: float
    ) -> list[float]:
        known: dict[tuple[int, int], float] = {}
        for piece in vectors.pieces:
            span = (piece.start, piece.end)
            if span not in known:
                terms = tokens.stems(self._question.dense[piece.start : piece.end])
                known[span] = max([least, *(idf.get(term, least) for term in terms)])
        return [known[piece.start, piece.end] for piece in vectors.pieces]

    def unfamiliarity(self) -> dict[str, float]:
        """How unknown the terms of the question are to the model, 0 … 1; 0 for its times and names.

        It was trained on words that it has a piece for, with their endings. A word that it spells in
        n > 2 pieces is strange to it by 1 − 2/n; one that it cannot spell, or with a digit in it that
        it has to cut up, altogether. So are numbers and codes, coined names, and the words of scripts
        of which it has no more than letters.
        """
        dense = self._question.dense
        if self._vectors is None or not self._question.besides:
            return {}
        pieces: dict[tuple[int, int], list[bool]] = {}
        for piece in self._vectors.pieces:
            pieces.setdefault((piece.start, piece.end), []).append(piece.is_spelt)
        spans = list(pieces.items())
        if not dense.isascii():  # an ideograph is a word to the model, two of them are a term
            spans += [
                ((one[0][0], other[0][1]), one[1] + other[1])
                for one, other in pairwise(pieces.items())
                if one[0][1] == other[0][0]
            ]
        found: dict[str, float] = {}
        for (start, end), spelt in spans:
            share = max(0.0, 1 - 2 / len(spelt)) if all(spelt) else 1.0
            for term in tokens.stems(dense[start:end]):
                is_number = len(spelt) > 1 and not term.isalpha()
                found.setdefault(term, 1.0 if is_number else share)
        return found


def _best(cosines: Sequence[float], count: int) -> list[int]:
    """Rows of the highest cosines; ties are all included."""
    threshold = min(nlargest(count, cosines), default=0.0)
    return [row for row, cosine in enumerate(cosines) if cosine >= threshold]
