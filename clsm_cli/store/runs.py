"""Runs: the ordered writes of a command that changes the store, with what undo needs.

A command plans first and passes a list of writes. The bytes to be replaced are saved durably in
``.clsm/runs/<id>/<step>/`` before the first write. The writes then happen in the given order: a crash
leaves a prefix of them, which the same command completes when run again. At the end, one line is
appended to ``flow/<device>/runs.jsonl``. A long run applies its writes in steps, with a line each
under one id. A run without writes leaves no trace.

Writes that belong together (a statement's line in Markdown and its record) are first written to
``.clsm/redo``. After a crash, the next writer completes them.
"""

from __future__ import annotations

import contextlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from clsm_cli.errors import ClsmError, DamagedStoreError, RefusedError
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.streams import STREAMS
from clsm_cli.store import atomic, ledger, lock, logs
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store


@dataclass(frozen=True, slots=True)
class Put:
    """Create or replace a file; ``read_as`` as in ``atomic.put``.

    Attributes:
        in_order: Whether what is written before must be on the disk first. Parts of a conversation are cut
            after those before them, so without this a run after a power cut could cut it otherwise.
    """

    path: Path
    data: bytes
    read_as: str | None = ""
    in_order: bool = True


@dataclass(frozen=True, slots=True)
class Append:
    """Add a record to a log."""

    path: Path
    record: bytes


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a file."""

    path: Path


Write = Put | Append | Remove


def put_changed(path: Path, data: bytes, digest: str | None) -> list[Write]:
    """The write that replaces a file of a known digest; none if its content stays the same."""
    return [] if atomic.sha256(data) == digest else [Put(path, data, read_as=digest)]


_HIDDEN = (".clsm/purge",)
"""Hidden files that a run may write: the marker of ``cleanup``."""
_MAX_REDO = 1 << 30  # bytes of ``.clsm/redo``


def apply(
    store: Store,
    command: str,
    now: str,
    writes: Sequence[Write],
    *,
    run_id: str | None = None,
    whole: bool = False,
    undoable: bool = True,
    undoes: str | None = None,
) -> logs.RunLine | None:
    """Apply the writes of a run, or of one step of it; the caller holds the lock.

    Returns the line of the ledger, None if there are no writes.

    Args:
        writes: In an order in which every prefix can be completed.
        run_id: The run of which this is a further step; None begins a run.
        whole: Apply all writes or none, even if the process dies (see ``recover``).
        undoable: Save what ``undo`` needs. Otherwise nothing is kept, and the ledger names no files.
        undoes: For an undo: the run that it reverts.

    Raises:
        RefusedError: A file changed since it was read, or the store was moved or replaced.
    """
    if not writes:
        return None
    lock.require(store.root)
    changes = _changes(store, writes)
    line = logs.RunLine("", command, now, changes, undoes)
    run_id = run_id or ledger.new_id(store, line)
    line = line._replace(id=run_id, changes=changes if undoable else ())
    _save_device_name(store)
    try:
        if undoable:
            ledger.save(store, line, [_content(write) for write in writes])
        if whole:
            atomic.put(_redo_path(store), _render_redo(line, changes, writes))
        _write(store, writes, changes)
    except BaseException:
        with contextlib.suppress(ClsmError, OSError):
            # If the run has a redo file, the next writer completes it.
            if not (whole and _redo_path(store).exists()) and _is_untouched(store, changes):
                ledger.discard(store, line)
        raise
    atomic.append(store.flow / ledger.FILE, logs.render(line), durable=whole)
    if whole:
        atomic.remove(_redo_path(store))
    return line


class Run:
    """The steps of one run in the ledger."""

    def __init__(self, store: Store, command: str, now: datetime) -> None:
        self.store = store
        self.command = command
        self.now = utc_text(now)
        self._id: str | None = None

    def apply(self, writes: Sequence[Write], *, whole: bool = False) -> str | None:
        """Apply the writes of a step (``whole``: all or none); return the id of the run, if it has begun."""
        line = apply(self.store, self.command, self.now, writes, run_id=self._id, whole=whole)
        if line is not None:
            self._id = line.id
        return self._id


def _is_untouched(store: Store, changes: Sequence[logs.Change]) -> bool:
    """Whether no write has happened, by the first change of each file."""
    for change in {each.path: each for each in reversed(changes)}.values():
        path = store.root / change.path
        size = os.path.getsize(path) if path.exists() else 0
        is_append = change.after == ""
        if size != change.size if is_append else atomic.digest_of(path) != change.before:
            return False
    return True


def _write(store: Store, writes: Sequence[Write], changes: Sequence[logs.Change]) -> None:
    """Apply writes in their order; new files of one folder that need none, together."""
    numbered = zip(writes, changes, range(len(writes)), strict=True)
    for place, found in groupby(numbered, _place):
        group = [write for write, *_ in found]
        lock.require(store.root)
        if isinstance(place, Path):
            atomic.put_all({each.path: each.data for each in group if isinstance(each, Put)})
            continue
        write = group[0]
        if isinstance(write, Put):
            atomic.put(write.path, write.data, read_as=write.read_as)
        elif isinstance(write, Append):
            atomic.append(write.path, write.record)
        else:
            _remove(store, write.path)


def _place(numbered: tuple[Write, logs.Change, int]) -> Path | int:
    """The folder of a new file, equal for those that are written together; else the number."""
    write, change, number = numbered
    is_free = isinstance(write, Put) and not write.in_order and change.before is None
    return write.path.parent if is_free else number


def recover(store: Store) -> list[str]:
    """Complete the run in ``.clsm/redo`` after a crash; the caller holds the lock.

    Returns the paths of files that somebody changed meanwhile, relative to the store: they stay.
    """
    path = _redo_path(store)
    found = _read_redo(path)
    if found is None:
        if path.exists():
            atomic.remove(path)
        return []
    line, changes, contents = found
    redone = [_redo_write(store, *each) for each in zip(changes, contents, strict=True)]
    lines = store.flow / ledger.FILE
    written = logs.render(line)
    if json.loads(written) not in logs.rows(lines).mappings:
        atomic.append(lines, written)
    atomic.remove(path)
    return [change.path for change, is_done in zip(changes, redone, strict=True) if not is_done]


def interrupted_run(store: Store) -> logs.RunLine | None:
    """The ledger line of the run in ``.clsm/redo``."""
    found = _read_redo(_redo_path(store))
    return None if found is None else found[0]


def _read_redo(path: Path) -> tuple[logs.RunLine, tuple[logs.Change, ...], list[bytes]] | None:
    """A run's ledger line, its changes (the line may omit them), and the bytes of each change.

    None if the file is missing or damaged.
    """
    try:
        data = atomic.read(path, _MAX_REDO)
        if data is None:
            return None
        found = json.loads(data)
        line = logs.parse(logs.RunLine, found["line"])
        rows = found.get("changes", found["line"]["changes"])
        changes = logs.parse(logs.RunLine, {**found["line"], "changes": rows}).changes
        contents = [b64decode(text) for text in found["data"]]
        paths = [PurePosixPath(change.path) for change in changes]
    except (DamagedStoreError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    is_ours = all(_is_writable(path.parent.parent, each) for each in paths)
    return (line, changes, contents) if is_ours and len(changes) == len(contents) else None


def _is_writable(root: Path, path: PurePosixPath) -> bool:
    """Whether a run may write to a path, relative to the store; the path may come from a clone.

    Refuses paths outside the store, through symlinks, and hidden names except ``_HIDDEN``: files in
    ``.git`` can name programs.
    """
    hidden = [part for part in path.parts if part.startswith(".")]
    if path.is_absolute() or not path.parts or (hidden and path.as_posix() not in _HIDDEN):
        return False
    return not any((root / parent).is_symlink() for parent in path.parents[:-1])


def _redo_path(store: Store) -> Path:
    return store.derived / "redo"


def _render_redo(
    line: logs.RunLine, changes: tuple[logs.Change, ...], writes: Sequence[Write]
) -> bytes:
    """A run for ``recover``: its ledger line, and the bytes of every write in order."""
    mapping: dict[str, Any] = {
        "line": json.loads(logs.render(line)),
        "data": [b64encode(_content(write)).decode() for write in writes],
    }
    if not line.changes:
        full = line._replace(changes=changes)
        mapping["changes"] = json.loads(logs.render(full))["changes"]
    return dump(mapping).encode()


def _content(write: Write) -> bytes:
    if isinstance(write, Remove):
        return b""
    return write.data if isinstance(write, Put) else write.record


def _redo_write(store: Store, change: logs.Change, data: bytes) -> bool:
    """Complete one write of an interrupted run; False if somebody changed the file since."""
    path = store.root / change.path
    if change.after == "":  # an append
        grown = atomic.read(path, logs.MAX_LOG) or b""
        if data not in grown[change.size or 0 :]:
            atomic.append(path, data)
        return True
    found = atomic.digest_of(path)
    if found == change.after is not None:
        return True
    if found not in (change.before, change.after):
        return False
    if change.after is None:
        _remove(store, path)
    else:
        atomic.put(path, data, read_as=found)
    return True


def _remove(store: Store, path: Path) -> None:
    """Delete a file, and then empty parent folders, except the store and its streams."""
    if path.parent.is_dir():
        atomic.remove(path)
    keep = {store.root, store.flow, *(store.root / stream for stream in STREAMS)}
    for folder in path.parents:
        if folder in keep or (folder.is_dir() and os.listdir(folder)):
            return
        if folder.is_dir():
            atomic.remove_folder(folder)


def _changes(store: Store, writes: Sequence[Write]) -> tuple[logs.Change, ...]:
    """The changes of the writes, in order; ``before`` and ``size`` are of now, before the first.

    Refuses what ``atomic.put`` would refuse in the middle of the run.
    """
    changes: list[logs.Change] = []
    left: dict[str, str | None] = {}  # path → digest after the writes so far
    sizes: dict[str, int] = {}
    for write in writes:
        path = _relative(store, write.path)
        if isinstance(write, Append):
            if path not in sizes:
                sizes[path] = os.path.getsize(write.path) if write.path.exists() else 0
            added = len(write.record) + 2
            changes.append(logs.Change(path, None, "", sizes[path], added))
            sizes[path] += added
        else:
            before, after = atomic.digest_of(write.path), None
            if isinstance(write, Put):
                if write.read_as not in ("", left.get(path, before)):
                    raise atomic.changed_meanwhile(write.path)
                after = atomic.sha256(write.data)
            changes.append(logs.Change(path, before, after))
            sizes[path] = len(_content(write))
        left[path] = changes[-1].after
    return tuple(changes)


def _relative(store: Store, path: Path) -> str:
    """The path relative to the store; RefusedError if a run may not write there."""
    if path.is_relative_to(store.root):
        inside = PurePosixPath(path.relative_to(store.root))
        if _is_writable(store.root, inside):
            return inside.as_posix()
    reason = "is no place in a memory: outside it, hidden, or behind a symbolic link"
    raise RefusedError(str(path), reason, "take away the link, or what names that file")


def _save_device_name(store: Store) -> None:
    """Save the device name, so that a moved store keeps its folder."""
    path = store.derived / "device"
    if not path.exists():
        atomic.make_folder(store.derived)
        atomic.put(path, f"{store.device}\n".encode())
