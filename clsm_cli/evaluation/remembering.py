"""An engine that embeds every query once, though a run puts it to forty systems."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import ReadableBuffer

    from clsm_cli.embedding.query import QueryVectors
    from clsm_cli.retrieval.meaning import Engine


class Remembering:
    """Another engine, and the vectors it made; see ``retrieval.meaning.Engine``.

    What a remembered vector took when it was made is added to its clock, so that no system looks
    faster for having been asked later.
    """

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self._engine = engine
        self._made: dict[str, tuple[QueryVectors, float]] = {}
        self._spared = 0.0

    def clock(self) -> float:
        """Processor seconds, those that were spared included."""
        return process_time() + self._spared

    def open(self) -> None:
        """Load the model; see the engine."""
        self._engine.open()

    def encode(self, text: str) -> QueryVectors:
        """The vectors of a query."""
        known = self._made.get(text)
        if known is not None:
            vectors, took = known
            self._spared += took
            return vectors
        began = process_time()
        vectors = self._engine.encode(text)
        self._made[text] = vectors, process_time() - began
        return vectors

    def products(
        self,
        rows: ReadableBuffer,
        width: int,
        queries: Sequence[Sequence[float]],
        step: float,
        block: int = 1,
    ) -> list[memoryview[float]]:
        """Dot products; see the engine."""
        return self._engine.products(rows, width, queries, step, block)
