"""Runs: what a mutating command writes, in order, with what undo needs.

A command decides first and hands over a list of writes. The bytes that will be replaced are saved
under ``.clsm/runs/<id>/<step>/`` and made durable before the first write; then the writes happen in the
given order, so that a crash leaves a prefix of them, which running the command again completes;
last comes one line in ``flow/<device>/runs.jsonl``. A long run applies its writes in steps, a line each
under one id. A run without writes leaves no trace.

Writes that only make sense together (a statement's line in Markdown and its record) are written
down whole in ``.clsm/redo`` before the first of them: whoever writes next ends what was begun.
"""

from __future__ import annotations

import contextlib
import json
import os
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import ClsmError, DamagedStoreError, RefusedError
from clsm_cli.model.streams import STREAMS
from clsm_cli.store import atomic, ledger, lock, logs
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
_HIDDEN = (".gitattributes", ".gitignore", ".clsm/purge")
"""What a run may write to with a hidden name: git's two files, and the mark of ``cleanup``."""
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
    keep: bool = True,
    of: str | None = None,
) -> logs.RunLine | None:
    """Do the writes of a run, or of one step of it; the caller holds the lock.

    Args:
        writes: In the order that makes every prefix completable.
        run_id: Of the run that these writes are a further step of; None begins a run.
        whole: All of the writes happen or none, whenever the process dies (see ``recover``).
        keep: Save what ``undo`` needs. Without it nothing of the old content stays, and the ledger
            does not name the files.
        of: For an undo: the run that it takes back.

    Returns:
        The line of the ledger; None when there was nothing to do.

    Raises:
        RefusedError: A file changed since it was read, or the store was moved or replaced.
    """
    if not writes:
        return None
    lock.require(store.root)
    changes = _changes(store, writes)
    _refuse_stale(writes, changes)
    line = logs.RunLine("", command, now, changes, of)
    line = line._replace(id=run_id or ledger.new_id(store, line), changes=changes if keep else ())
    _remember_device(store)
    try:
        if keep:
            ledger.save(store, line, [_content(write) for write in writes])
        if whole:
            atomic.put(_redo(store), _begun(line, changes, writes))
        _write(store, writes)
    except BaseException:
        with contextlib.suppress(ClsmError, OSError):
            # What was begun whole is ended by whoever writes next.
            if not _redo(store).exists() and _is_untouched(store, changes):
                ledger.discard(store, line)
        raise
    atomic.append(store.flow / ledger.FILE, logs.render(line), durable=whole)
    if whole:
        atomic.remove(_redo(store))
    return line


def _is_untouched(store: Store, changes: Sequence[logs.Change]) -> bool:
    """Whether no write has happened; of a file with several changes the first tells."""
    for change in {each.path: each for each in reversed(changes)}.values():
        path = store.root / change.path
        size = os.path.getsize(path) if path.exists() else 0
        is_append = change.after == ""
        if size != change.size if is_append else atomic.digest_of(path) != change.before:
            return False
    return True


def _write(store: Store, writes: Sequence[Write]) -> None:
    for write in writes:
        lock.require(store.root)
        if isinstance(write, Put):
            atomic.put(write.path, write.data, read_as=write.read_as)
        elif isinstance(write, Append):
            atomic.append(write.path, write.record)
        else:
            _remove(store, write.path)


def recover(store: Store) -> list[str]:
    """End a run that was begun whole and cut short; the caller holds the lock.

    A file that somebody changed in the meantime is left as it is.

    Returns:
        Paths of such files, relative to the store.
    """
    path = _redo(store)
    found = _read_redo(path)
    if found is None:
        if path.exists():
            atomic.remove(path)
        return []
    line, changes, contents = found
    redone = [_redone(store, *each) for each in zip(changes, contents, strict=True)]
    lines = store.flow / ledger.FILE
    written = logs.render(line)
    if json.loads(written) not in [row for _, row in logs.rows(lines)[0]]:
        atomic.append(lines, written)
    atomic.remove(path)
    return [change.path for change, is_done in zip(changes, redone, strict=True) if not is_done]


def begun_run(store: Store) -> logs.RunLine | None:
    """The line of a run that was begun whole and cut short."""
    found = _read_redo(_redo(store))
    return None if found is None else found[0]


def _read_redo(path: Path) -> tuple[logs.RunLine, tuple[logs.Change, ...], list[bytes]] | None:
    """A begun run: its line, what it changes (which the line may hide), and the bytes of each change.

    None when there is none, or what is there was never whole.
    """
    try:
        data = atomic.read(path, _MAX_REDO)
        if data is None:
            return None
        found = json.loads(data)
        line = logs.parse(logs.RunLine, found["line"])
        told = found.get("changes", found["line"]["changes"])
        changes = logs.parse(logs.RunLine, {**found["line"], "changes": told}).changes
        contents = [b64decode(text) for text in found["data"]]
        paths = [PurePosixPath(change.path) for change in changes]
    except (DamagedStoreError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    is_ours = all(is_inside(path.parent.parent, each) for each in paths)
    return (line, changes, contents) if is_ours and len(changes) == len(contents) else None


def is_inside(root: Path, path: PurePosixPath) -> bool:
    """Whether a run may write to a path, relative to the store: its name may come from a clone.

    Not out of the store, not through a link, and to no hidden name but ``_HIDDEN``: what stands in
    ``.git`` names programs.
    """
    hidden = [part for part in path.parts if part.startswith(".")]
    if path.is_absolute() or not path.parts or (hidden and path.as_posix() not in _HIDDEN):
        return False
    return not any((root / parent).is_symlink() for parent in path.parents[:-1])


def _redo(store: Store) -> Path:
    return store.derived / "redo"


def _begun(line: logs.RunLine, changes: tuple[logs.Change, ...], writes: Sequence[Write]) -> bytes:
    """A run as ``recover`` reads it: its line, and the bytes of every write in order."""
    whole: dict[str, Any] = {
        "line": json.loads(logs.render(line)),
        "data": [b64encode(_content(write)).decode() for write in writes],
    }
    if not line.changes:
        told = line._replace(changes=changes)
        whole["changes"] = json.loads(logs.render(told))["changes"]
    return dump(whole).encode()


def _content(write: Write) -> bytes:
    if isinstance(write, Remove):
        return b""
    return write.data if isinstance(write, Put) else write.record


def _redone(store: Store, change: logs.Change, data: bytes) -> bool:
    """Do one write of a begun run if it has not happened; False where its file is another's now."""
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
    """Delete a file, and folders that this leaves empty; streams and the store itself stay."""
    if path.parent.is_dir():
        atomic.remove(path)
    keep = {store.root, store.flow, *(store.root / stream for stream in STREAMS)}
    for folder in path.parents:
        if folder in keep or (folder.is_dir() and os.listdir(folder)):
            return
        if folder.is_dir():
            atomic.remove_folder(folder)


def _refuse_stale(writes: Sequence[Write], changes: Sequence[logs.Change]) -> None:
    """Find out before the first write what ``atomic.put`` would refuse in the middle."""
    content: dict[str, str | None] = {}
    for write, change in zip(writes, changes, strict=True):
        if isinstance(write, Put):
            before = content.get(change.path, change.before)
            if write.read_as not in ("", before):
                raise atomic.changed_meanwhile(write.path)
        content[change.path] = change.after


def _changes(store: Store, writes: Sequence[Write]) -> tuple[logs.Change, ...]:
    """What the writes do, in order; files as they are before the first of them."""
    changes = []
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
            after = atomic.sha256(write.data) if isinstance(write, Put) else None
            changes.append(logs.Change(path, atomic.digest_of(write.path), after))
            sizes[path] = len(write.data) if isinstance(write, Put) else 0
    return tuple(changes)


def _relative(store: Store, path: Path) -> str:
    """The path inside the store; refused where no run may write."""
    if path.is_relative_to(store.root):
        inside = PurePosixPath(path.relative_to(store.root))
        if is_inside(store.root, inside):
            return inside.as_posix()
    reason = "is no place in a memory: outside it, hidden, or behind a symbolic link"
    raise RefusedError(str(path), reason, "take away the link, or what names that file")


def _remember_device(store: Store) -> None:
    """Write down the device name, so that a moved store keeps its folder."""
    path = store.derived / "device"
    if not path.exists():
        atomic.make_folder(store.derived)
        atomic.put(path, f"{store.device}\n".encode())
