"""The word-piece tokeniser, as sentence-transformers applies it for this model, and static text vectors.

A static vector is the mean of the model's embedding rows of a text's word pieces. It takes a thousandth
of the time of a sentence vector; the classifiers in ``clsm_cli.heads`` need one for every sentence.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clsm_cli.startup.query_pieces import MAX_PIECES

_MAX_CHARACTERS = 1 << 14
"""Characters of a text that are tokenised, 3,000 pieces of English: 1 MB would take up to 2.5 s."""


@dataclass(frozen=True, eq=False)
class WordPieces:
    """The uncased BERT tokeniser over the model's vocabulary.

    It is built from ``vocab.txt``, not from the published ``tokenizer.json``: that one truncates at 128
    pieces and pads to 128, so every query would have 128 pieces. sentence-transformers overrides it.
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
        """Cut a text into the 2 to :data:`MAX_PIECES` ids of its pieces, ``[CLS]`` and ``[SEP]`` included.

        Lone surrogates count as U+FFFD, which, like control characters, gives no piece. Special tokens
        in the text (``[SEP]``) are read as such, as in sentence-transformers.
        """
        found = self._tokenizer.encode(_without_surrogates(text[:_MAX_CHARACTERS])).ids
        if len(found) < MAX_PIECES and len(text) > _MAX_CHARACTERS:  # blanks, or one endless word
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
_FIRST_TEXT_ID = 999  # first piece that text may have, "!"; lower ids are special or unused


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """The model's embedding table [30522, 384], mapped from its file, and its tokeniser."""

    _table: Any
    _pieces: WordPieces

    @classmethod
    def open(cls, folder: Path) -> StaticVectors:
        """Map the table of an installed and checked model folder."""
        import numpy as np

        path = folder / "model.safetensors"
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            entry = json.loads(file.read(size))[_TABLE]
        start = 8 + size + entry["data_offsets"][0]
        table = np.memmap(path, "<f4", "r", start, tuple(entry["shape"]))
        return cls(table, WordPieces.open(folder / "vocab.txt"))

    def mean_vectors(self, texts: Sequence[str]) -> Any:
        """The mean embedding of each text's pieces, float64 [n, 384]; zeros for a text without pieces."""
        import numpy as np

        found = np.zeros((len(texts), self._table.shape[1]))
        for row, text in zip(found, texts, strict=True):
            ids = [each for each in self._pieces.ids(text) if each >= _FIRST_TEXT_ID]
            if ids:
                row[:] = self._table[ids].mean(0)
        return found
