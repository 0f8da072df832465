"""The embedding engine as commands hand it down: opened late, so that it costs only who uses it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.pins import ENGINE
from clsm_cli.store.index.opening import Embedder

if TYPE_CHECKING:
    from clsm_cli.store.index.vectors import Embed


def embedder() -> Embedder:
    """Embeds passages with the installed model."""
    return Embedder(ENGINE, _documents)


@cache
def _documents() -> Embed:
    return Encoder.open(weights.default_folder()).encode_sentences


def encode_query(text: str) -> Any:
    """The unit vector of a query, float32 [384].

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    encoder = Encoder.open(weights.default_folder(), for_queries=True)
    return encoder.encode_sentences([text])[0]
