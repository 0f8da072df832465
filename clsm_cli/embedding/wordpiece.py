"""The word-piece tokeniser, as sentence-transformers applies it for this model, and static text vectors.

A static vector is the mean of the model's embedding rows of a text's word pieces. It costs a thousandth
of a sentence vector, for the heads of ``clsm_cli.heads``, which weigh every sentence of a memory.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.startup.query_pieces import MOST_PIECES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PREFIX = 8192
"""Characters of a long text that are tried first; about 1,700 pieces of English."""


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
        tokenizer.enable_truncation(MOST_PIECES)
        tokenizer.no_padding()
        return cls(tokenizer)

    def ids(self, text: str) -> list[int]:
        """Cut a text into the ids of its pieces, start and end marks included.

        Args:
            text: Any string. Lone surrogates count as U+FFFD, which, like control characters,
                gives no piece. ``[SEP]`` and its like in a text are read as the marks they
                name, as sentence-transformers does.

        Returns:
            Between 2 and :data:`MOST_PIECES` ids.
        """
        text = _without_surrogates(text)
        if len(text) > _PREFIX:
            # Cutting 1 MB into pieces to keep 256 costs up to 2.5 s.
            found = self._cut(text[: _word_start(text, _PREFIX)])
            if len(found) == MOST_PIECES:
                return found
        return self._cut(text)

    def _cut(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """The spelling of each id."""
        return tuple(map(self._tokenizer.id_to_token, ids))


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _word_start(text: str, limit: int) -> int:
    """Give the last place up to ``limit`` where the tokeniser starts a new word for certain.

    The tokeniser splits at white space and around ideographs whatever stands beside them, so what
    comes after such a place cannot change the pieces before it. 0 if there is none.
    """
    places = range(limit, 0, -1)
    return next((at for at in places if text[at] in " \n\t" or "\u4e00" <= text[at] <= "\u9fff"), 0)


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
