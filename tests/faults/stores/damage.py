"""One mutation of a store's files, of a kind, in a place, by a seeded random choice."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clsm_cli.store.shards import shard_name

MARKERS = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs\n")
_BLOCK = 512


@dataclass(frozen=True)
class Mutation:
    """What is done.

    Attributes:
        files: Path → new bytes, None for a file that goes.
    """

    kind: str
    files: dict[str, bytes | None]

    @property
    def what(self) -> str:
        """For a person."""
        return f"{self.kind} in {' and '.join(sorted(self.files))}"


def family(path: str) -> str:
    """The sort of file at a path, as figures are told of it; "" for one that is not damaged."""
    return next((sort for mark, sort in _SORTS if re.search(mark, path)), "")


_SORTS = (
    (r"^\.clsm/runs/", "kept for undo"),
    (r"^\.clsm/index/.*\.(?:sqlite|q4|q2)$", "index"),
    (r"^\.clsm/context\.json$", "briefing"),
    (r"^\.clsm/device$", "device"),
    (r"^tombstones/", "tombstones"),
    (r"^archive/", "archive"),
    (r"^clsm\.yaml$", "settings"),
    (r"/graph/", "shard"),
    (r"/episodes/", "episode"),
    (r"/inbox/", "inbox"),
    (r"\.jsonl$", "log"),
    (r"\.md$", "topic"),
)


def flip(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Change one byte."""
    data = bytearray(files[path])
    place = rng.randrange(len(data))
    data[place] ^= rng.choice([1, 2, 4, 8, 16, 32, 64, 128, rng.randrange(1, 256)])
    return Mutation("flip", {path: bytes(data)})


def truncate(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Cut the end off."""
    return Mutation("truncate", {path: files[path][: rng.randrange(len(files[path]))]})


def empty(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Leave nothing."""
    return Mutation("empty", {path: b""})


def delete(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Remove the file."""
    return Mutation("delete", {path: None})


def zero(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Write zeros over a block, as a disk does that lost a write."""
    data = files[path]
    place = rng.randrange(0, len(data), _BLOCK)
    length = min(_BLOCK, len(data) - place)
    return Mutation("zero", {path: data[:place] + bytes(length) + data[place + length :]})


def swap(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Exchange two files of one sort, or of any."""
    same = [p for p in files if p != path and family(p) == family(path) and files[p] != files[path]]
    others = same or [p for p in files if family(p) and p != path]
    other = rng.choice(sorted(others))
    return Mutation("swap", {path: files[other], other: files[path]})


def conflict(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Leave the lines of a git conflict round one line."""
    rows = files[path].splitlines(keepends=True)
    place = rng.randrange(len(rows))
    row = rows[place] if rows[place].endswith(b"\n") else rows[place] + b"\n"
    rows[place : place + 1] = [MARKERS[0], row, MARKERS[1], row, MARKERS[2]]
    return Mutation("conflict", {path: b"".join(rows)})


def repeat(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Write a line twice."""
    rows = files[path].splitlines(keepends=True)
    place = rng.choice([n for n, row in enumerate(rows) if row.strip()] or [0])
    rows.insert(place, rows[place] if rows[place].endswith(b"\n") else rows[place] + b"\n")
    return Mutation("repeat", {path: b"".join(rows)})


def orphan(files: Mapping[str, bytes], path: str, rng: random.Random) -> Mutation:
    """Add a record, a turn or an episode that leads nowhere."""
    sort = family(path)
    number = f"{rng.randrange(16**12):012x}"
    if sort in ("shard", "archive"):
        return _orphan_record(files, path, number, rng)
    if sort == "inbox":
        line = json.dumps({"end": number, "session": "open", "time": None})
        return Mutation("orphan", {path: files[path] + line.encode() + b"\n"})
    other = path.replace(path[-15:-3], number)
    return Mutation("orphan", {other: files[path]})


def _orphan_record(
    files: Mapping[str, bytes], path: str, number: str, rng: random.Random
) -> Mutation:
    rows = [
        {"id": f"g-{number}", "record": "edge", "rev": [1, "pi"], "source": "gone", "target": "no"},
        {"id": f"f-{number}", "record": "statement", "rev": [1, "pi"], "text": "It is so.",
         "stream": "flow", "superseded_at": "2026-03-01T00:00:00Z", "sources": [number]},
        {"id": f"e-{number}", "record": "episode", "rev": [1, "pi"], "title": "Gone"},
        {"id": f"d-{number}", "record": "document", "rev": [1, "pi"], "origin": "~/gone.md",
         "blocks": [{"key": number, "lines": [1, 1]}]},
    ]  # fmt: skip
    row = rng.choice(rows)
    folder = path.rpartition("/")[0]
    home = f"{folder}/{shard_name(str(row['id']), 1)}"
    data = files.get(home, b"") + f"- {json.dumps(row)}\n".encode()
    return Mutation("orphan", {home: data})


MUTATIONS: dict[str, Callable[[Mapping[str, bytes], str, random.Random], Mutation]] = {
    each.__name__: each
    for each in (flip, truncate, empty, delete, zero, swap, conflict, repeat, orphan)
}
_LINES = frozenset(
    {"topic", "shard", "archive", "episode", "inbox", "log", "tombstones", "settings"}
)
_ONLY = {
    "conflict": _LINES,
    "repeat": _LINES,
    "orphan": frozenset({"shard", "archive", "inbox", "episode"}),
}
"""Kinds of damage that not every sort of file can have."""


def kinds(sort: str) -> list[str]:
    """The kinds of damage that a sort of file can have."""
    return [kind for kind in MUTATIONS if sort in _ONLY.get(kind, {sort})]
