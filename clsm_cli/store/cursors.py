"""Cursors: how far an agent's transcripts have been read (``.clsm/cursors.json``, derived).

Without the file, everything is read again, and known turns are recognised. It is used only while the
ledger of runs continues from its recorded position: if the store was restored to an earlier state or
runs were undone, turns before a cursor may be missing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import LineError, load
from clsm_cli.store.layout import Store
from clsm_cli.store.ledger import FILE
from clsm_cli.store.logs import MAX_LOG

_VERSION = 1  # raised whenever the format or its meaning changes; older files are ignored
_MAX_BYTES = 64 << 20
_TAIL = 4 << 10  # bytes of the ledger, before the recorded position, that must be unchanged
_UNDO = b'"of": "'  # occurs only in the ledger line of an undo


class Cursor(NamedTuple):
    """How far a transcript was read."""

    offset: int  # bytes of a file; in a database, the number of the last row
    line: int  # lines of a file, or the same number
    digest: str  # of the content there; if it differs, the transcript was rewritten
    fingerprint: str = ""  # size, time and inode of a file; if equal, nothing is new


Places = dict[str, dict[str, Cursor]]
"""File → conversation (``""`` if the file has only one) → cursor."""


def path_of(store: Store) -> Path:
    """The path of the file."""
    return store.derived / "cursors.json"


def load_cursors(store: Store) -> Places:
    """All cursors; none if the file is missing, damaged or no longer valid."""
    try:
        data = atomic.read(path_of(store), _MAX_BYTES)
        found = {} if data is None else load(data.decode(), _MAX_BYTES)
        if found.get("version") != _VERSION or not _ledger_continues(store, *found["ledger"]):
            return {}
        return {
            path: {
                name: Cursor(int(offset), int(line), str(digest), str(fingerprint))
                for name, (offset, line, digest, fingerprint) in inside.items()
            }
            for path, inside in found["places"].items()
        }
    except (DamagedStoreError, LineError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def save_cursors(store: Store, places: Places) -> None:
    """Write the file. The caller holds the lock, and everything up to the cursors is on disk."""
    ledger = _ledger(store)
    made: dict[str, Any] = {
        "version": _VERSION,
        "ledger": [len(ledger), sha256(ledger[-_TAIL:])],
        "places": {
            p: inside for p, inside in places.items() if os.path.exists(os.path.expanduser(p))
        },
    }
    atomic.put(path_of(store), json.dumps(made).encode(), durable=False)


def _ledger_continues(store: Store, size: int, tail: str) -> bool:
    ledger = _ledger(store)
    before = ledger[:size]
    return len(before) == size and sha256(before[-_TAIL:]) == tail and ledger.find(_UNDO, size) < 0


def _ledger(store: Store) -> bytes:
    return atomic.read(store.flow / FILE, MAX_LOG) or b""
