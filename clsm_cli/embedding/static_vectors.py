"""Static text vectors: the mean of the model's embedding rows of a text's word pieces.

It costs a thousandth of a sentence vector, for the heads of ``clsm_cli.heads``, which weigh every
sentence of a memory.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.embedding.wordpiece import WordPieces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TABLE = "embeddings.word_embeddings.weight"
_FIRST = 999
"""Id of the vocabulary's first piece of a text, "!"; those below are marks and unused."""


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """The model's table of pieces [30522, 384], mapped from its file, and what cuts a text."""

    _table: Any
    _pieces: WordPieces

    @classmethod
    def open(cls, folder: Path) -> StaticVectors:
        """Map the table of a model folder that is installed and checked."""
        import numpy as np

        path = folder / "model.safetensors"
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            entry = json.loads(file.read(size))[_TABLE]
        start = 8 + size + entry["data_offsets"][0]
        table = np.memmap(path, "<f4", "r", start, tuple(entry["shape"]))
        return cls(table, WordPieces.open(folder / "vocab.txt"))

    def mean_vectors(self, texts: Sequence[str]) -> Any:
        """Float64 [n, 384]: the mean of each text's pieces; zeros where it has none."""
        import numpy as np

        found = np.zeros((len(texts), self._table.shape[1]))
        for row, text in zip(found, texts, strict=True):
            ids = [each for each in self._pieces.ids(text) if each >= _FIRST]
            if ids:
                row[:] = self._table[ids].mean(0)
        return found
