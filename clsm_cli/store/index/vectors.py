"""Sentence vectors: an append-only file of int8 rows; the database says how many count.

A row is a vector scaled so that its largest component is ±127, and the scale. Rows are found by
the digest of the embedded text, so the file is the embedding cache too: a text that comes back, in
whatever file, is not embedded again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from clsm_cli.store import atomic
from clsm_cli.store.index.passages import with_heading

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

DIMENSIONS = 384
ROW_BYTES = DIMENSIONS + 4
Embed = Callable[[Sequence[str]], "Matrix"]
"""Texts → one unit vector a row, float32 [n, 384]."""


def path_of(derived: Path) -> Path:
    """The vector file."""
    return derived / "index" / "sentences.i8"


def row_type() -> Any:
    """Type of a row for numpy: 384 int8 and a little-endian float32 scale."""
    import numpy as np

    return np.dtype([("vector", "i1", (DIMENSIONS,)), ("scale", "<f4")])


def committed(connection: sqlite3.Connection) -> int:
    """Rows that the database knows; bytes past them do not exist."""
    row = connection.execute("SELECT MAX(row) FROM vectors").fetchone()
    return 0 if row[0] is None else int(row[0]) + 1


def is_whole(connection: sqlite3.Connection, derived: Path, engine: str) -> bool:
    """Whether the vectors are this engine's and the file holds every committed row."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'engine'").fetchone()
    try:
        size = os.path.getsize(path_of(derived))
    except FileNotFoundError:
        size = 0
    return row is not None and row[0] == engine and size >= committed(connection) * ROW_BYTES


def use_engine(connection: sqlite3.Connection, derived: Path, engine: str) -> None:
    """Drop all vectors when another engine made them or their file lost some: they are made anew.

    Engines are never mixed.
    """
    if not is_whole(connection, derived, engine):
        connection.execute("DELETE FROM vectors")
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('engine', ?)", (engine,))


def missing(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Digest and text of every passage without a vector, each text once, by digest.

    Closed blocks too: their episodes are described by them, and history may be asked for.
    """
    rows = connection.execute(
        "SELECT embedded, heading, text FROM passages WHERE id IN"
        " (SELECT MIN(id) FROM passages WHERE embedded NOT IN (SELECT digest FROM vectors)"
        "  GROUP BY embedded) ORDER BY embedded"
    )
    return [(str(digest), with_heading(heading, text)) for digest, heading, text in rows]


def add(
    connection: sqlite3.Connection, derived: Path, items: Sequence[tuple[str, str]], embed: Embed
) -> None:
    """Embed texts and commit their rows; the caller holds the lock.

    Raises:
        DiskError: The operating system refused; the rows before stay good.
    """
    if not items:
        return
    vectors = embed([text for _, text in items])
    rows = quantise(vectors)
    first = committed(connection)
    _write_at(path_of(derived), first * ROW_BYTES, rows.tobytes())
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
        [(digest, first + number) for number, (digest, _) in enumerate(items)],
    )
    connection.execute("COMMIT")


def quantise(vectors: Matrix) -> Any:
    """int8 rows with a scale each: v ≈ scale · q, q in −127 … 127, error ≤ scale / 2."""
    import numpy as np

    rows = np.zeros(len(vectors), dtype=row_type())
    scale = np.abs(vectors).max(axis=1) / np.float32(127)
    scale[scale == 0] = 1
    rows["vector"] = np.rint(vectors / scale[:, None]).astype(np.int8)
    rows["scale"] = scale
    return rows


def unit(row: Any) -> Any:
    """The unit vector of a row, float32 [384]: q / |q|, the scale cancels."""
    import numpy as np

    whole = row["vector"].astype(np.float64)
    length = float(np.sqrt((whole * whole).sum())) or 1.0
    return (whole / length).astype(np.float32)


def load(connection: sqlite3.Connection, derived: Path) -> Any:
    """All committed rows, memory-mapped; None when the file is shorter than that or missing."""
    import numpy as np

    count = committed(connection)
    path = path_of(derived)
    try:
        if count == 0 or os.path.getsize(path) < count * ROW_BYTES:
            return None
        return np.memmap(path, dtype=row_type(), mode="r", shape=(count,))
    except OSError:
        return None


def _write_at(path: Path, offset: int, data: bytes) -> None:
    """Write behind the committed bytes, over what a killed writer may have left there."""
    with atomic.disk_errors(path):
        if offset == 0:  # another engine's rows: who reads them keeps the old file
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, atomic.FILE_MODE)
        try:
            os.fchmod(fd, atomic.FILE_MODE)
            os.ftruncate(fd, offset)
            if os.pwrite(fd, data, offset) != len(data):
                raise OSError(errno.ENOSPC, "the disk is full", str(path))
            os.fsync(fd)
        finally:
            os.close(fd)
