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

MAX_QUESTION_TOKENS = 32
"""Question tokens in late interaction, at most: those of the rarest words."""
BLOCK_TOKENS = 8
"""Passage tokens for which the engine returns only the largest cosine: a fifth more products, but
an eighth of the numbers to read, which takes half the time.
"""


class Engine(Protocol):
    """The interface of an embedding engine (``commands.engine``)."""

    name: str

    def open(self) -> None:
        """Load the model, or raise ModelMissingError, ModelDigestError or DiskError."""

    def encode(self, text: str) -> QueryVectors:
        """The vectors of a query; the engine must be open."""

    def products(
        self,
        rows: ReadableBuffer,
        width: int,
        queries: Sequence[Sequence[float]],
        step: float,
        block: int = 1,
    ) -> list[memoryview[float]]:
        """Dot products of rows of four-bit codes with queries; see ``embedding.similarity``."""


class LateInteraction(NamedTuple):
    """MaxSim of passages, by question token: passage → each token's share."""

    shares: dict[int, list[float]]

    def window_scores(self, *window: int | None) -> float:
        """MaxSim of a window of passages; None and passages without tokens are ignored."""
        shares = self.shares
        return match.maxsim_over([shares[row] for row in window if row in shares])


class Meaning:
    """The vectors of a question, compared with those of the index; empty without a model.

    Attributes:
        cosines: Of every stored sentence vector to ``Question.embedding_text``, by row.
        asked_cosines: The same to the question as asked, with its names.
    """

    def __init__(self, index: Index, question: Question, engine: Engine | None) -> None:
        self._index, self._question, self._engine = index, question, engine
        self._vectors = engine.encode(question.embedding_text) if engine is not None else None
        self.cosines: Sequence[float] = ()
        self.asked_cosines: Sequence[float] = ()
        if engine is not None and self._vectors is not None:
            self.cosines = self.asked_cosines = self._products(engine, self._vectors)
            if question.text != question.embedding_text:
                self.asked_cosines = self._products(engine, engine.encode(question.text))

    def _products(self, engine: Engine, vectors: QueryVectors) -> Sequence[float]:
        """The cosine of every stored sentence vector to a text."""
        stored = self._index.vectors.sentence_rows()
        if stored is None:
            return ()
        sentence = vectors.sentence
        (products,) = engine.products(stored, len(sentence), [sentence], SENTENCE_STEP)
        cosines: Sequence[float] = products.tolist()
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
            rows = index.rows_of_vectors(sorted(vectors - {-1}))
            rows = [entry for entry in rows if entry[-1] in allowed]
        else:
            count = 2 * limit  # what is closed, nodes and names have vectors too
            rows = index.rows_of_vectors(_nearest_rows(cosines, count))
            while len(rows) < limit and count < len(cosines):
                count *= 2
                rows = index.rows_of_vectors(_nearest_rows(cosines, count))
        rows.sort(key=lambda entry: (-cosines[entry[0]], *entry[1:]))
        return [entry[-1] for entry in rows[:limit]]

    def late_interaction(
        self, idf: Mapping[str, float], min_weight: float, passages: Mapping[int, Traits]
    ) -> LateInteraction | None:
        """Late interaction of the question with some passages; None without token vectors.

        The weight of a token is the idf of its word's rarest term, at least ``min_weight``, which
        words without a term have ("what", "did"): they show which kind of answer is expected.
        """
        if self._engine is None or self._vectors is None:
            return None
        weights = self._weights(self._vectors, idf, min_weight)
        heaviest = sorted(range(len(weights)), key=lambda i: (-weights[i], i))[:MAX_QUESTION_TOKENS]
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
                missing = -traits.tokens % BLOCK_TOKENS  # pad the last block with its last token
                parts += [own, bytes(own[-TOKEN_BYTES:]) * missing]
                blocks = (traits.tokens + missing) // BLOCK_TOKENS
                spans[passage] = (end, end + blocks)
                end += blocks
        rows = unpacked_tokens(b"".join(parts))
        product_rows = self._engine.products(
            rows, len(queries[0]), queries, TOKEN_STEP, BLOCK_TOKENS
        )
        products = [row.tolist() for row in product_rows]
        return LateInteraction(match.token_shares(products, spans, [weights[i] for i in chosen]))

    def _weights(
        self, vectors: QueryVectors, idf: Mapping[str, float], min_weight: float
    ) -> list[float]:
        weights: dict[tuple[int, int], float] = {}
        for piece in vectors.pieces:
            span = (piece.start, piece.end)
            if span not in weights:
                terms = tokens.stems(self._question.embedding_text[piece.start : piece.end])
                weights[span] = max([min_weight, *(idf.get(term, min_weight) for term in terms)])
        return [weights[piece.start, piece.end] for piece in vectors.pieces]

    def out_of_vocabulary(self) -> dict[str, float]:
        """How far each term of the question is out of the model's vocabulary, 0 … 1.

        The model was trained on words that are one piece, with their endings. A word of n > 2
        pieces gets 1 − 2/n; a word with an unknown piece, or with a digit and several pieces, gets
        1. This covers numbers, codes, coined names, and scripts of which the vocabulary has only
        letters. Empty for a question that consists of times and names.
        """
        embedding_text = self._question.embedding_text
        if self._vectors is None or not self._question.n_content_terms:
            return {}
        pieces: dict[tuple[int, int], list[bool]] = {}
        for piece in self._vectors.pieces:
            pieces.setdefault((piece.start, piece.end), []).append(piece.is_spelt)
        spans = list(pieces.items())
        if (
            not embedding_text.isascii()
        ):  # an ideograph is a word to the model, two of them are a term
            spans += [
                ((one[0][0], other[0][1]), one[1] + other[1])
                for one, other in pairwise(pieces.items())
                if one[0][1] == other[0][0]
            ]
        out_of_vocabulary: dict[str, float] = {}
        for (start, end), spelt in spans:
            share = max(0.0, 1 - 2 / len(spelt)) if all(spelt) else 1.0
            for term in tokens.stems(embedding_text[start:end]):
                is_number = len(spelt) > 1 and not term.isalpha()
                out_of_vocabulary.setdefault(term, 1.0 if is_number else share)
        return out_of_vocabulary


def _nearest_rows(cosines: Sequence[float], count: int) -> list[int]:
    """Rows of the highest cosines; ties are all included."""
    threshold = min(nlargest(count, cosines), default=0.0)
    return [row for row, cosine in enumerate(cosines) if cosine >= threshold]
