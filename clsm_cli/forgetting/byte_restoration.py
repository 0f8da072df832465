"""Undo byte for byte: restore the files of a run if they still are as the run left them.

The steps are taken back from the last to the first, on the files as they are now. A log that only
grew since is not changed by anybody: what came later stays, and what the run added is cut out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clsm_cli.store.layout import Store


class RestoredFiles(NamedTuple):
    """The files of a run, taken back.

    Attributes:
        now: Path → bytes that it has; None: it is missing.
        before: Path → bytes that it had before the run; None: there was none.
        changed: Paths that somebody changed since, sorted; the other two do not hold them.
    """

    now: dict[str, bytes | None]
    before: dict[str, bytes | None]
    changed: tuple[str, ...]


def restore_files(
    store: Store, steps: Sequence[ledger.KeptStep], wanted: Callable[[str], bool] = lambda _: True
) -> RestoredFiles:
    """Take the steps of a run back, in memory."""
    now: dict[str, bytes | None] = {}
    before: dict[str, bytes | None] = {}
    changed: set[str] = set()
    for kept in reversed(steps):
        for place, change in reversed(list(enumerate(kept.line.changes))):
            path = change.path
            if path in changed or not wanted(path):
                continue
            if path not in now:
                now[path] = before[path] = atomic.read(store.root / path, logs.MAX_LOG)
            try:
                before[path] = _taken_back(before[path], kept, place)
            except _ChangedError:
                changed.add(path)
                del now[path], before[path]
    return RestoredFiles(now, before, tuple(sorted(changed)))


class _ChangedError(Exception):
    """A file is not as the run left it."""


def _taken_back(data: bytes | None, kept: ledger.KeptStep, place: int) -> bytes | None:
    """A file without one change."""
    change = kept.line.changes[place]
    if change.after == "":
        return _cut(data or b"", change, frozenset(kept.added.get(change.path, ())))
    sha = None if data is None else atomic.sha256(data)
    if sha == change.before:
        return data
    old = kept.preimage(place)
    if sha == change.after:
        return old
    if change.path.endswith(".jsonl") and data is not None:
        return (old or b"") + _grown(data, change.after)
    raise _ChangedError


def _cut(data: bytes, change: logs.Change, marks: frozenset[str]) -> bytes | None:
    """A log without the lines that a run added, where they are now."""
    size, added = change.size or 0, change.added or 0
    starts = [size] if _is_block(data, size, added, marks) else []
    at = data.rfind(b"\n")
    while not starts and at >= 0:  # something before them went: from the end, as the last came last
        if _is_block(data, at, added, marks):
            starts = [at]
        at = data.rfind(b"\n", 0, at)
    if not starts:
        raise _ChangedError
    rest = data[: starts[0]] + data[starts[0] + added :]
    return rest if rest or size else None


def _is_block(data: bytes, start: int, length: int, marks: frozenset[str]) -> bool:
    """Whether whole lines lie there, and all of them are the run's."""
    block = data[start : start + length]
    if len(block) != length or length < 3 or block[:1] != b"\n" or block[-1:] != b"\n":
        return False
    return all(ledger.mark_of(line) in marks for line in block.split(b"\n") if line.strip())


def _grown(data: bytes, after: str | None) -> bytes:
    """What was added to a log since it had the digest ``after`` (None: since it was missing)."""
    if after is None:
        return data
    seen, size = hashlib.sha256(), 0
    for line in data.splitlines(keepends=True):
        seen.update(line)
        size += len(line)
        if seen.hexdigest() == after:
            return data[size:]
    raise _ChangedError


def restore_log(store: Store, steps: Sequence[ledger.KeptStep], path: str) -> RestoredFiles:
    """Take the steps of a run back in one log, line by line, whatever was written around its lines.

    What it added goes, what it removed comes back before the rest.
    """
    now = data = atomic.read(store.root / path, logs.MAX_LOG)
    try:
        for kept in reversed(steps):
            data = _without_lines(data, kept, path)
    except _ChangedError:
        return RestoredFiles({}, {}, (path,))
    return RestoredFiles({path: now}, {path: data}, ())


def _without_lines(data: bytes | None, kept: ledger.KeptStep, path: str) -> bytes | None:
    added = Counter(kept.added.get(path, ()))
    left: list[bytes] = []
    for line in reversed((data or b"").split(b"\n")):
        mark = ledger.mark_of(line)
        if added[mark] > 0:
            added[mark] -= 1
        else:
            left.append(line)
    if added.total() > 0:
        raise _ChangedError
    changes = [(n, c) for n, c in enumerate(kept.line.changes) if c.path == path]
    old = next((kept.preimage(n) for n, c in changes if c.before is not None), None) or b""
    gone = set(kept.removed.get(path, ()))
    back = [line for line in old.split(b"\n") if ledger.mark_of(line) in gone]
    is_new = any(not (c.before or c.size) for _, c in changes)
    rest = b"\n".join([*([b"", *back] if back else []), *reversed(left)])
    return None if is_new and not rest.strip() else rest


def plan_writes(
    store: Store, now: Mapping[str, bytes | None], wanted: Mapping[str, bytes | None]
) -> list[runs.Write]:
    """Writes that make files what they should be.

    What comes back is there before anything goes: the turns of an episode are in the inbox again
    when its file is removed, so that a reader finds them at every moment.
    """
    found: list[runs.Write] = []
    for path, data in sorted(wanted.items(), key=lambda item: (item[1] is None, item[0])):
        if data == now[path]:
            continue
        if data is None:
            found.append(runs.Remove(store.root / path))
        else:
            old = now[path]
            sha = None if old is None else atomic.sha256(old)
            found.append(runs.Put(store.root / path, data, read_as=sha))
    return found


def added_lines(now: bytes | None, before: bytes | None) -> Iterable[bytes]:
    """Lines that only the newer of two versions has; empty ones left out."""
    known = set((before or b"").split(b"\n"))
    return [line for line in (now or b"").split(b"\n") if line.strip() and line not in known]
