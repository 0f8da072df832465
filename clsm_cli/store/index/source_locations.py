"""Where to open a passage: in its source if that exists, else in the store.

Source paths are as given, often relative to an unknown folder; a source may be deleted, on another
machine, or have come through a pipe. The turn's episode always exists.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

_MAX_BYTES = 64 << 20
"""Maximum bytes of a file to search for a line, as in ``episode_files.MAX_EPISODE``."""
_STORE_FILES = (
    "SELECT f.path FROM placed_passages p JOIN files f ON f.id = p.file"
    " WHERE p.key = ? UNION SELECT f.path FROM records r JOIN files f ON f.id = r.file"
    " WHERE r.id = ? ORDER BY 1"
)


class Location(NamedTuple):
    """Absolute path of an existing file, and a line from 1; "" and 0 for none."""

    file: str
    line: int


def locate(index: Index, passage: Passage) -> Location:
    """Where to open a passage; nowhere if only the index still has it."""
    found = _source(index, passage)
    return Location(found, passage.line_start) if found else store_location(index, passage.key)


def relocate(place: Location, text: str) -> Location:
    """Update the line of a place in an edited file: the nearest with the first line of the text."""
    begins = text.strip().partition("\n")[0].strip()
    try:
        data = atomic.read(Path(place.file), _MAX_BYTES) or b""
    except ClsmError:
        return place
    lines = data.decode("utf-8", "replace").split("\n")
    there = (number for number, line in enumerate(lines, 1) if begins and begins in line)
    line = min(there, key=lambda number: abs(number - place.line), default=place.line)
    return place._replace(line=min(line, len(lines)))


def store_location(index: Index, record_id: str) -> Location:
    """Where the store has a turn or a record."""
    root = os.path.abspath(index.store.root)
    for (path,) in index.connection.execute(_STORE_FILES, (record_id, record_id)).fetchall():
        file = os.path.join(root, path)
        line = _line_of(file, record_id)
        if line:
            return Location(file, line)
    return Location("", 0)


def _source(index: Index, passage: Passage) -> str | None:
    if not passage.line_start:
        return None
    if passage.kind != "passage":
        return readable_source(os.path.join(os.path.abspath(index.store.root), passage.path))
    if passage.document is not None:  # a closed block is no longer in it
        return readable_source(passage.session) if passage.current else None
    return readable_source(passage.path, passage.origin, passage.session)


def readable_source(*named: str) -> str | None:
    """The first absolute path of those given, if it is an existing file with lines."""
    paths = (os.path.expanduser(each) for each in named)
    found = next((path for path in paths if os.path.isabs(path)), "")
    # Positions in a JSON document count messages, not lines.
    return found if is_file(found) and not found.endswith(".json") else None


def is_file(path: str) -> bool:
    """Whether a regular file exists."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _line_of(file: str, record_id: str) -> int:
    """The line of a turn's text or of a record; 0 if not in the file."""
    try:
        data = atomic.read(Path(file), _MAX_BYTES) or b""
    except ClsmError:
        return 0
    name = re.escape(record_id).encode()
    is_episode = file.endswith(".md")
    marks = rb"^### .*\^%b\r?$\n?" % name if is_episode else rb'"%b"' % name
    found = re.search(marks, data, re.MULTILINE)
    if found is None:
        return 0
    return data.count(b"\n", 0, found.end() if is_episode else found.start()) + 1
