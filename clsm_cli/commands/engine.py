"""The embedding engine as commands hand it down: opened late, so that it costs only who uses it."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import is_terminal
from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.pins import ENGINE
from clsm_cli.errors import ClsmError
from clsm_cli.store.index.opening import Embedder

if TYPE_CHECKING:
    from clsm_cli.commands.output import Printer
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


def offer(printer: Printer) -> None:
    """Install a missing model for a person at a terminal; a script is only told that it is missing.

    Nothing depends on it: if it cannot be had, the command goes on without and says so.
    """
    is_person = is_terminal(sys.stdin) and is_terminal(sys.stderr) and not printer.quiet
    folder = weights.default_folder()
    if not is_person or weights.status(folder).installed:
        return
    printer.warn(f"getting the embedding model into {folder} (91 MB, once; Ctrl-C to stop)")
    try:
        weights.install(folder, progress=printer.progress)
    except ClsmError as error:
        printer.end_progress()
        printer.warn(str(error))
    finally:
        printer.end_progress()
