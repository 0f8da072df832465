"""The word-piece tokeniser, as sentence-transformers applies it for this model, and static text vectors.

A static vector is the mean of the model's embedding rows of a text's word pieces. It costs a thousandth
of a sentence vector, for the heads of ``clsm_cli.heads``, which weigh every sentence of a memory.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.startup.query_pieces import MAX_PIECES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LONGEST = 1 << 14
"""Characters of a text that are looked at, 3,000 pieces of English: cutting 1 MB takes up to 2.5 s."""


@dataclass(frozen=True, eq=False)
class WordPieces:
    """The uncased BERT tokeniser over the model's vocabulary.

    It is built from ``vocab.txt``, not from the published ``tokenizer.json``: that one carries
    truncation at 128 and padding to 128 pieces, which sentence-transformers overrides and which
    would make every query 128 pieces long.
    """

    _tokenizer: Any

    @classmethod
    def open(cls, vocabulary: Path) -> WordPieces:
        """Load the tokeniser for a ``vocab.txt``."""
        from tokenizers import BertWordPieceTokenizer

        tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        tokenizer.enable_truncation(MAX_PIECES)
        tokenizer.no_padding()
        return cls(tokenizer)

    def ids(self, text: str) -> list[int]:
        """Cut a text into the ids of its pieces, start and end marks included.

        Args:
            text: Any string. Lone surrogates count as U+FFFD, which, like control characters,
                gives no piece. ``[SEP]`` and its like in a text are read as the marks they
                name, as sentence-transformers does.

        Returns:
            Between 2 and :data:`MAX_PIECES` ids.
        """
        found = self._tokenizer.encode(_without_surrogates(text[:_LONGEST])).ids
        if len(found) < MAX_PIECES and len(text) > _LONGEST:  # blanks, or one word of a megabyte
            found = self._tokenizer.encode(_without_surrogates(text)).ids
        return list(found)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """The spelling of each id."""
        return tuple(map(self._tokenizer.id_to_token, ids))


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


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
