"""What ``--fix`` does with files and lines: the writes, and a sentence for each.

A line that goes is first copied to ``quarantine/`` as it is, with its number; a file that is none
is moved there whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.health import loglines, moves, references
from clsm_cli.health.held import LIMITS
from clsm_cli.health.places import is_shared
from clsm_cli.store import atomic, logs, runs

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from clsm_cli.health.held import Held
    from clsm_cli.store.layout import Store

Planned = tuple[list[runs.Write], list[str]]
"""Writes, and what is to be told of them."""


def misplaced(held: Held) -> Planned:
    """Files under the name of another one get their own; what has none to go to stays."""
    going = moves.moves(held)
    writes: list[runs.Write] = []
    data = {path: _bytes(held, path) for path in going}
    for path, home in sorted(going.items()):
        there = held.files[home].sha256 if home in held.files else None
        writes.append(runs.Put(held.store.root / home, data[path], read_as=there))
    writes += [runs.Remove(held.store.root / p) for p in sorted(going.keys() - {*going.values()})]
    return writes, [f"{path}: moved to {home}" for path, home in sorted(going.items())]


def aside(held: Held) -> Planned:
    """Files that are no episodes are moved to ``quarantine/`` as they are."""
    writes: list[runs.Write] = []
    told: list[str] = []
    for path, episode in sorted(held.episodes.items()):
        if episode is None:
            data = _bytes(held, path)
            copy = quarantined(held.store, path, data)
            writes += [runs.Put(copy, data), runs.Remove(held.store.root / path)]
            told.append(f"{path}: moved to quarantine/{copy.name}")
    return writes, told


def lines(held: Held) -> Planned:
    """Logs, inboxes and topic files without the lines that are none of theirs."""
    writes: list[runs.Write] = []
    told: list[str] = []
    for path in (*sorted(held.logs), *sorted(held.topics)):
        bad = _bad(held, path)
        is_odd = bad or (path in held.logs and held.files[path].broken is not None)
        if is_odd and not is_shared(path) and not path.endswith("/runs.jsonl"):
            copy, left = _split(held, path, bad)
            target = quarantined(held.store, path, copy)
            root = held.store.root
            writes += [
                runs.Put(target, copy),
                runs.Put(root / path, left, read_as=held.files[path].sha256),
            ]
            told.append(f"{path}: what could not be read is in quarantine/{target.name}")
    return writes, told


def tombstones(held: Held, now: str) -> Planned:
    """Tombstones that the index knows and no file has are written again."""
    lost = references.lost_tombstones(held)
    if not lost:
        return [], []
    path = held.store.root / "tombstones" / f"{held.store.device}.jsonl"
    record = b"\n".join(logs.render(logs.Tombstone(each, now)) for each in lost)
    told = f"tombstones/{path.name}: {len(lost)} tombstones written again"
    return [runs.Append(path, record)], [told]


def ledger(held: Held) -> list[str]:
    """The same for this machine's ledger, beside any run: a run would write to it again."""
    path = (held.store.flow / "runs.jsonl").relative_to(held.store.root).as_posix()
    if path not in held.logs:
        return []
    bad = _bad(held, path)
    if not bad and held.files[path].broken is None:
        return []
    copy, left = _split(held, path, bad)
    name = keep(held.store, path, copy)
    atomic.put(held.store.root / path, left, read_as=held.files[path].sha256)
    return [f"{path}: what could not be read is in quarantine/{name}"]


def _bad(held: Held, path: str) -> set[int]:
    """Numbers of the lines of a file that go."""
    file = held.files[path]
    if path in held.topics:
        return {*file.markers} if len(file.markers) > 1 else set()
    bad: set[int | None] = {*file.markers}
    bad |= {problem.line for problem in held.logs[path].problems}
    if path in held.boxes:
        bad |= {problem.line for problem in held.boxes[path].problems}
    else:
        bad |= {number for number, _ in loglines.bad_rows(held, path)}
    return {number for number in bad if number is not None}


def _split(held: Held, path: str, bad: Collection[int]) -> tuple[bytes, bytes]:
    """The copy of lines as they are, and the file without them.

    A line that says what it must but for bytes that are no UTF-8 is copied too, and stays as readers
    see it.
    """
    kept: list[bytes] = []
    left: list[bytes] = []
    for number, row in enumerate(_bytes(held, path).split(b"\n"), 1):
        shown = row.decode(errors="replace").encode()
        if (number in bad and row) or shown != row:
            kept.append(b"%d: %b\n" % (number, row))
        if number not in bad:
            left.append(shown)
    head = f"# from {path}: line and text of what is none of its lines\n".encode()
    data = b"\n".join(left)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    return head + b"".join(kept), data


def quarantined(store: Store, path: str, data: bytes) -> Path:
    """Where a copy of bytes from a file goes: a name that tells whence, and what."""
    stem, _, ending = path.strip(".").replace("/", "-").rpartition(".")
    return store.quarantine / f"{stem or ending}-{atomic.sha256(data)[:12]}.{ending or 'txt'}"


def keep(store: Store, path: str, data: bytes) -> str:
    """Put a copy into ``quarantine/`` at once; its name there."""
    target = quarantined(store, path, data)
    atomic.put(target, data)
    return target.name


def _bytes(held: Held, path: str) -> bytes:
    return atomic.read(held.store.root / path, LIMITS[held.files[path].kind]) or b""
