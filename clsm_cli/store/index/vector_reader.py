"""The vectors beside a database, as one recall reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES
from clsm_cli.store.index.vector_files import rows_of, sentences_path, tokens_path
from clsm_cli.store.index.vector_rows import Row, committed
from clsm_cli.store.index.vector_state import is_right

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from clsm_cli.store.index.search import Traits


class VectorReader:
    """What the database has committed, mapped when it is first asked for.

    Attributes:
        damaged: Rows of ``sentences.q4`` of texts whose vectors are not as they were written.
    """

    def __init__(self, connection: sqlite3.Connection, derived: Path) -> None:
        """Read the vectors in ``derived`` that ``connection`` knows."""
        self._connection = connection
        self._derived = derived
        self._mapped: tuple[memoryview | None, memoryview | None] | None = None
        self.damaged: set[int] = set()

    def sentence_rows(self) -> memoryview | None:
        """The sentence vectors, see ``codes``; None when there are none."""
        size = committed(self._connection).sentences * SENTENCE_BYTES
        return rows_of(sentences_path(self._derived), size)

    def token_rows(self) -> memoryview | None:
        """The token vectors, see ``codes``; None when there are none."""
        size = committed(self._connection).tokens * TOKEN_BYTES
        return rows_of(tokens_path(self._derived), size)

    def tokens_of(self, traits: Traits) -> memoryview | None:
        """The token vectors of a passage; None where it has none, or they are damaged."""
        if not traits.tokens:
            return None
        if self._mapped is None:
            self._mapped = self.sentence_rows(), self.token_rows()
        sentences, tokens = self._mapped
        if tokens is None:
            return None
        row = Row(0, traits.vector, traits.token, traits.tokens, traits.checksum)
        if not is_right(row, sentences, tokens):
            self.damaged.add(traits.vector)
            return None
        return tokens[traits.token * TOKEN_BYTES : (traits.token + traits.tokens) * TOKEN_BYTES]
