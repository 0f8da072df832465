"""The prepared briefing on disk, and the turns of conversations that are still open.

The file is derived: it holds what a briefing needs of the whole store, and the signatures of the
files that it was made of. It is used only as long as these are the same; a captured turn does not
make it old, since open conversations are read where they are captured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from clsm_cli.errors import DamagedStoreError, DiskError
from clsm_cli.model.ids import sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.indexed_files import scan
from clsm_cli.store.layout import SIDE_MARK, Store, is_conflict_copy

MAX_BYTES = 16 << 20
_LIVE = ("inbox", "uses", "archived")  # kinds of files that a briefing does not keep anything of


class OpenTurn(NamedTuple):
    """A turn of a conversation that is still open.

    ``path``: the file that it came from as that was given, or the session; ``line`` from 1, 0 for none.
    """

    key: str
    text: str
    speaker: str
    trust: str
    time: str | None
    path: str
    line: int
    file: str  # absolute path of what can be opened (``source_locations``); ``file_line`` in it
    file_line: int
    at: str  # when the store got it (UTC)


def path_of(store: Store) -> Path:
    """The file."""
    return store.derived / "context.json"


def signature(store: Store, version: int) -> str:
    """One digest of how all files look that a briefing is made of: names, sizes and times.

    A file of another version of the contents has another one, and is made anew.
    """
    files = sorted((path, *how) for path, how in scan(store).items() if how[0] not in _LIVE)
    made_with = [version, store.zone_name, store.settings.context.loaded, files]
    return sha256(json.dumps(made_with).encode())


def load(store: Store, wanted: str | None) -> dict[str, Any] | None:
    """The contents of the file; None if it is missing, damaged, or of another signature than ``wanted``.

    With None for that any will do.
    """
    try:
        data = atomic.read(path_of(store), MAX_BYTES)
        found = None if data is None else json.loads(data)
    except (DiskError, DamagedStoreError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or wanted not in (None, found.get("signature")):
        return None
    contents = found.get("contents")
    is_whole = isinstance(contents, dict) and found.get("sha256") == _digest(contents)
    return contents if is_whole else None


def _digest(contents: dict[str, Any]) -> str:
    return sha256(json.dumps(contents).encode())


def save(store: Store, made_of: str, contents: dict[str, Any]) -> None:
    """Write the file, if the lock is free and the disk allows: else the next one makes it again.

    ``made_of`` is the signature from before the contents were read.
    """
    from clsm_cli.store.lock import try_locked

    made = {"signature": made_of, "sha256": _digest(contents), "contents": contents}
    data = json.dumps(made, ensure_ascii=False)
    try:
        with try_locked(store.root) as is_held:
            if is_held:
                atomic.put(path_of(store), data.encode(errors="replace"))
    except DiskError:
        return


def open_turns(store: Store, most: int) -> list[list[OpenTurn]]:
    """The last turns of every conversation that lies in an inbox, at most ``most`` of each.

    What the tools of an agent said is left out, and so is what cannot be read.
    """
    found: list[list[OpenTurn]] = []
    for flow in store.flows():
        folder = flow / "inbox"
        talks: dict[str, dict[str, OpenTurn]] = {}
        for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            if is_conflict_copy(path.name):
                continue
            for turn in reversed(list(_last_turns(path, most))):
                talks.setdefault(path.stem.partition(SIDE_MARK)[0], {}).setdefault(turn.key, turn)
        # What was put aside has no order but that of the times when it came.
        found += [sorted(turns.values(), key=lambda t: t.at)[-most:] for turns in talks.values()]
    return found


def _last_turns(path: Path, most: int) -> Iterator[OpenTurn]:
    """Newest first."""
    try:
        found, _ = logs.rows(path)
    except DiskError:
        return
    turns = (_turn(row, path, number) for number, row in reversed(found))
    yield from islice((turn for turn in turns if turn is not None), most)


def _turn(row: dict[str, Any], box: Path, number: int) -> OpenTurn | None:
    """The turn of a line of an inbox file; None for a mark, and for what a tool said."""
    if row.get("role") == "tool":
        return None
    try:
        path, session = str(row.get("path", "-")), str(row["session"])
        time, first = row.get("time"), int((row.get("lines") or [0])[0])
        named = (path, str(row.get("origin", "")), session)
        source = source_locations.readable_source(*named) if first else None
        return OpenTurn(
            key=str(row["key"]),
            text=str(row["text"]),
            speaker=str(row.get("speaker", "")),
            trust=str(row.get("trust", "user")),
            time=None if time is None else str(time),
            path=session if path == "-" else path,
            line=first,
            file=source or os.path.abspath(box),
            file_line=first if source else number,
            at=str(row["at"]),
        )
    except (LookupError, TypeError, ValueError):
        return None
