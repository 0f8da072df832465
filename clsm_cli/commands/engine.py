"""The embedding engine for commands, loaded on first use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.embedding import weights
from clsm_cli.embedding.weights import ENGINE
from clsm_cli.errors import ClsmError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.commands.output import Printer
    from clsm_cli.embedding.query_vectors import QueryVectors
    from clsm_cli.embedding.wordpiece import StaticVectors
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.vectors import Embed


def embedder() -> Embedder:
    """An embedder of passages that uses the installed model."""
    from clsm_cli.store.index.opening import Embedder

    return Embedder(ENGINE, _documents, lambda texts: _table().mean_vectors(texts))


@cache
def _documents() -> Embed:
    from clsm_cli.embedding.encoder import Encoder

    return Encoder.open(weights.default_folder()).encode


@cache
def _table() -> StaticVectors:
    from clsm_cli.embedding.wordpiece import StaticVectors

    return StaticVectors.open(weights.default_folder())


class QueryEngine:
    """Embeds queries and compares them with stored vectors; see ``retrieval.dense_search.Engine``."""

    name = ENGINE
    encode: Callable[[str], QueryVectors]
    products: Callable[..., list[memoryview[float]]]

    def open(self) -> None:
        """Load the model and the graph of dot products."""
        from clsm_cli.embedding.query_vectors import QueryEncoder
        from clsm_cli.embedding.similarity import Similarity

        self.encode = QueryEncoder.open(weights.default_folder()).encode
        self.products = Similarity.open().products


def offer_install(printer: Printer) -> None:
    """Install a missing model if a person is at the terminal.

    If that fails, the command warns and continues without it.
    """
    from clsm_cli.commands.output import has_person

    if printer.quiet or not has_person():
        return
    folder = weights.default_folder()
    if weights.status(folder).installed:
        return
    from clsm_cli.embedding import download  # HTTP takes 30 ms to load

    printer.warn(f"getting the embedding model into {folder} (91 MB, once; Ctrl-C to stop)")
    try:
        download.install(folder, progress=printer.progress)
    except ClsmError as error:
        printer.warn(str(error))
