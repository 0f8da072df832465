"""Runs: what a mutating command writes, in order, with what undo needs.

A command decides first and hands over a list of writes. The bytes that will be replaced are saved
under ``.clsm/runs/<id>/<step>/`` and made durable before the first write; then the writes happen in the
given order, so that a crash leaves a prefix of them, which running the command again completes;
last comes one line in ``flow/<device>/runs.jsonl``. A long
run applies its writes in steps, a line each under one id. A run without writes leaves no trace.

Writes that only make sense together (a statement's line in Markdown and its record) are written
down whole in ``.clsm/redo`` before the first of them: whoever writes next ends what was begun.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError, RefusedError
from clsm_cli.model.ids import digest
from clsm_cli.store import atomic, logs
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.layout import Store


@dataclass(frozen=True, slots=True)
class Put:
    """Replace a file; ``read_as`` as in ``atomic.put``."""

    path: Path
    data: bytes
    read_as: str | None = ""


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
_MAX_REDO = 1 << 30
"""Bytes of the file that holds a begun run."""


def apply(
    store: Store,
    command: str,
    now: str,
    writes: Sequence[Write],
    *,
    run_id: str | None = None,
    whole: bool = False,
) -> logs.RunLine | None:
    """Do the writes of a run, or of one step of it; the caller holds the lock.

    Args:
        store: Where.
        command: Its name, for ``status`` and ``undo``.
        now: UTC time of the run.
        writes: In the order that makes every prefix completable.
        run_id: Of the run that these writes are a further step of; None begins a run.
        whole: All of the writes happen or none, whenever the process dies (see ``recover``).

    Returns:
        The line of the ledger; None when there was nothing to do.

    Raises:
        DiskError: The operating system refused; run the command again when it is mended.
        RefusedError: A file changed since it was read.
    """
    if not writes:
        return None
    changes = tuple(_change(store, write) for write in writes)
    _refuse_stale(writes, changes)
    parts = [f"{c.path} {c.before} {c.after} {c.size}" for c in changes]
    step = digest(command, now, *parts)
    line = logs.RunLine(run_id or f"run-{step}", command, now, changes)
    _remember_device(store)
    _save_preimages(store, line, step)
    if whole:
        atomic.put(_redo(store), _begun(line, writes))
    for write in writes:
        if isinstance(write, Put):
            atomic.put(write.path, write.data, read_as=write.read_as)
        elif isinstance(write, Append):
            atomic.append(write.path, write.record)
        else:
            atomic.remove(write.path)
    atomic.append(store.flow / "runs.jsonl", logs.render(line), durable=whole)
    if whole:
        atomic.remove(_redo(store))
    return line


def recover(store: Store) -> list[str]:
    """End a run that was begun whole and cut short; the caller holds the lock.

    A file that somebody changed in the meantime is left as it is.

    Returns:
        Paths of such files, relative to the store.
    """
    path, data = _redo(store), None
    try:
        data = atomic.read(path, _MAX_REDO)
        begun = None if data is None else json.loads(data)
    except (DamagedStoreError, ValueError):  # never whole: nothing was begun
        begun = None
    if begun is None:
        if data is not None:
            atomic.remove(path)
        return []
    line = logs.parse_run(begun["line"])
    left = [
        change.path
        for change, text in zip(line.changes, begun["data"], strict=True)
        if not _redone(store, change, text)
    ]
    ledger = store.flow / "runs.jsonl"
    if line not in [logs.parse_run(row) for _, row in logs.rows(ledger)[0] if "changes" in row]:
        atomic.append(ledger, logs.render(line))
    atomic.remove(path)
    return left


def _redo(store: Store) -> Path:
    return store.derived / "redo"


def _begun(line: logs.RunLine, writes: Sequence[Write]) -> bytes:
    """A run as ``recover`` reads it: its line, and the bytes of every write in order."""
    contents = [
        write.data if isinstance(write, Put) else write.record if isinstance(write, Append) else b""
        for write in writes
    ]
    whole: dict[str, Any] = {
        "line": json.loads(logs.render(line)),
        "data": [b64encode(data).decode() for data in contents],
    }
    return dump(whole).encode()


def _redone(store: Store, change: logs.Change, text: str) -> bool:
    """Do one write of a begun run if it has not happened; False where its file is another's now."""
    path, data = store.root / change.path, b64decode(text)
    if change.after == "":  # an append
        grown = atomic.read(path, logs.MAX_LOG) or b""
        if data not in grown[change.size or 0 :]:
            atomic.append(path, data)
        return True
    found = atomic.digest_of(path)
    if found == change.after:
        return True
    if found != change.before:
        return False
    if change.after is None:
        atomic.remove(path)
    else:
        atomic.put(path, data, read_as=found)
    return True


def _refuse_stale(writes: Sequence[Write], changes: Sequence[logs.Change]) -> None:
    """Find out before the first write what ``atomic.put`` would refuse in the middle."""
    content: dict[str, str | None] = {}
    for write, change in zip(writes, changes, strict=True):
        if isinstance(write, Put):
            before = content.get(change.path, change.before)
            if write.read_as not in ("", before):
                raise atomic.changed_meanwhile(write.path)
        content[change.path] = change.after


def _change(store: Store, write: Write) -> logs.Change:
    path = _relative(store, write.path)
    if isinstance(write, Append):
        size = os.path.getsize(write.path) if write.path.exists() else 0
        return logs.Change(path, None, "", size)
    after = atomic.sha256(write.data) if isinstance(write, Put) else None
    return logs.Change(path, atomic.digest_of(write.path), after)


def _relative(store: Store, path: Path) -> str:
    """The path inside the store; refused when it leaves it, also through a linked folder."""
    if not path.is_relative_to(store.root) or ".." in path.parts:
        raise RefusedError(str(path), "lies outside the store", "report this as a bug of clsm")
    inside = path.relative_to(store.root)
    for parent in inside.parents:
        if str(parent) != "." and (store.root / parent).is_symlink():
            raise RefusedError(
                str(store.root / parent), "is a symbolic link", "put the folder itself in its place"
            )
    return inside.as_posix()


def _save_preimages(store: Store, line: logs.RunLine, step: str) -> None:
    """Keep what will be overwritten or removed; a run that only adds needs the ledger line alone."""
    folder = store.derived / "runs" / line.id / step
    replaced = [change for change in line.changes if change.before is not None]
    for number, change in enumerate(replaced):
        with atomic.disk_errors(change.path):
            data = (store.root / change.path).read_bytes()
        atomic.put(folder / f"{number:04d}", data)
    if replaced:
        atomic.put(folder / "run.json", logs.render(line))


def _remember_device(store: Store) -> None:
    """Write down the device name, so that a moved store keeps its folder."""
    path = store.derived / "device"
    if not path.exists():
        atomic.make_folder(store.derived)
        atomic.put(path, f"{store.device}\n".encode())
