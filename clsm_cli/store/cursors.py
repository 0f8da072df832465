"""Cursors: how far the transcripts of an agent were read (``.clsm/cursors.json``, derived).

Without it everything is read again, and recognised. It is believed only as long as the ledger of runs
goes on from where it stood: in a store that was put back to an earlier state, or whose runs were
undone, what lies behind a cursor may be gone.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import LineError, load
from clsm_cli.store.ledger import FILE

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

VERSION = 1
"""Raised whenever the contents or what they mean change; an older file is not believed."""
_MAX_BYTES = 64 << 20
_MAX_LEDGER = 256 << 20
_LAST = 4 << 10
"""Bytes of the ledger, before where it stood, that must still be there."""
_UNDO = b'"of": "'
"""What only the line of an undo holds."""


class Cursor(NamedTuple):
    """How far a transcript was read."""

    at: int  # bytes of a file; of a database, the number of its last row
    line: int  # lines of a file, or the same number
    mark: str  # digest of what lies there; another one, and it was written anew
    look: str = ""  # size, time and place on the disk of a file: the same, and nothing is new


Places = dict[str, dict[str, Cursor]]
"""File → conversation in it (``""`` where it holds one) → place."""


def path_of(store: Store) -> Path:
    """The file."""
    return store.derived / "cursors.json"


def load_cursors(store: Store) -> Places:
    """All places; none if the file is missing or damaged, or not to be believed any more."""
    try:
        data = atomic.read(path_of(store), _MAX_BYTES)
        found = {} if data is None else load(data.decode(), _MAX_BYTES)
        if found.get("version") != VERSION or not _goes_on(store, *found["ledger"]):
            return {}
        return {
            path: {
                name: Cursor(int(at), int(line), str(mark), str(look))
                for name, (at, line, mark, look) in inside.items()
            }
            for path, inside in found["places"].items()
        }
    except (DamagedStoreError, LineError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def save_cursors(store: Store, places: Places) -> None:
    """Write the file; the caller holds the lock, and what was read is safe."""
    ledger = _ledger(store)
    made: dict[str, Any] = {
        "version": VERSION,
        "ledger": [len(ledger), sha256(ledger[-_LAST:])],
        "places": {
            p: inside for p, inside in places.items() if os.path.exists(os.path.expanduser(p))
        },
    }
    atomic.put(path_of(store), json.dumps(made).encode(), durable=False)


def _goes_on(store: Store, size: int, last: str) -> bool:
    ledger = _ledger(store)
    stood = ledger[:size]
    return len(stood) == size and sha256(stood[-_LAST:]) == last and ledger.find(_UNDO, size) < 0


def _ledger(store: Store) -> bytes:
    return atomic.read(store.flow / FILE, _MAX_LEDGER) or b""
