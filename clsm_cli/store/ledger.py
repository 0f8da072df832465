"""The ledger: the runs of this machine, which of them are undone, and what is kept of each.

``flow/<device>/runs.jsonl`` has a line for each step of a run. Beside it, for this machine alone,
``.clsm/runs/<id>/<step>/`` keeps the bytes that the step replaced (``0000``, ``0001`` …, each by the place
of its change) and in ``run.json`` the line once more, with marks of the lines that came and went.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import digest, is_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.layout import Store

FILE = "runs.jsonl"
_RECORD = b'- {"id": "'


class Entry(NamedTuple):
    """A run of the ledger."""

    id: str
    command: str
    at: str
    steps: tuple[logs.RunLine, ...]
    undoes: str | None  # for an undo: the run that it took back
    undone_by: str | None  # the undo that took this run back, and was not taken back itself

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it wrote, each once, sorted."""
        return tuple(sorted({change.path for step in self.steps for change in step.changes}))

    @property
    def is_final(self) -> bool:
        """Whether it kept nothing on purpose, as a forget does."""
        return not self.paths


class KeptStep(NamedTuple):
    """What is kept of a step, to take it back; of each path the marks (``mark_of``) of its lines."""

    line: logs.RunLine
    folder: Path
    added: dict[str, tuple[str, ...]]
    removed: dict[str, tuple[str, ...]]

    def preimage(self, place: int) -> bytes | None:
        """The bytes that a file had before the change at a place of the line; None: it was new."""
        if self.line.changes[place].before is None:
            return None
        path = self.folder / f"{place:04d}"
        data = atomic.read(path, logs.MAX_LOG)
        if data is None or atomic.sha256(data) != self.line.changes[place].before:
            raise DamagedStoreError(path, None, "is not what the run replaced")
        return data


def entries(flow: Path) -> list[Entry]:
    """The runs of a machine, given by its flow, oldest first; lines that are none are left out."""
    lines: dict[str, list[logs.RunLine]] = {}
    for _, row in logs.rows(flow / FILE)[0]:
        try:
            line = logs.parse(logs.RunLine, row)
        except (KeyError, TypeError, AttributeError):
            continue
        lines.setdefault(str(line.id), []).append(line)
    undone: dict[str, str] = {}  # run → its last undo
    found: list[Entry] = []
    for run_id, steps in reversed(lines.items()):  # an undo comes after what it takes back
        by = undone.get(run_id)
        first = steps[0]
        found.append(Entry(run_id, first.command, first.at, tuple(steps), first.of, by))
        if first.of is not None and by is None:
            undone.setdefault(first.of, run_id)
    return found[::-1]


def load_kept(store: Store, line: logs.RunLine) -> KeptStep | None:
    """What is kept of a step; None when it is gone, or is of another."""
    folder = folder_of(store, line.id) / step_of(line)
    try:
        told = json.loads(atomic.read(folder / "run.json", logs.MAX_LOG) or b"")
        added, removed = ({p: tuple(m) for p, m in told[n].items()} for n in ("added", "removed"))
        is_whole = added.keys() == removed.keys() == {change.path for change in line.changes}
        if not is_whole or logs.parse(logs.RunLine, told)._replace(id=line.id) != line:
            return None
    except (DamagedStoreError, ValueError, LookupError, TypeError, AttributeError):
        return None
    replaced = (n for n, change in enumerate(line.changes) if change.before is not None)
    is_there = all((folder / f"{n:04d}").is_file() for n in replaced)
    return KeptStep(line, folder, added, removed) if is_there else None


def is_kept(store: Store, entry: Entry) -> bool:
    """Whether something is kept of each step of a run, by a look at the folders alone."""
    folder = folder_of(store, entry.id)
    return all((folder / step_of(line) / "run.json").is_file() for line in entry.steps)


def save(store: Store, line: logs.RunLine, contents: Sequence[bytes]) -> None:
    """Keep what a step will overwrite or remove, and which lines come and go with its new ``contents``."""
    folder = folder_of(store, line.id) / step_of(line)
    added: dict[str, list[str]] = {}
    removed: dict[str, list[str]] = {}
    for place, (change, new) in enumerate(zip(line.changes, contents, strict=True)):
        old = b""
        if change.before is not None:
            with atomic.disk_errors(change.path):
                old = (store.root / change.path).read_bytes()
            atomic.put(folder / f"{place:04d}", old)
        added.setdefault(change.path, []).extend(marks_of_new(old, new))
        removed.setdefault(change.path, []).extend(marks_of_new(new, old))
    mapping: dict[str, Any] = json.loads(logs.render(line))
    mapping |= {"added": added, "removed": removed}
    # A hook that appends a line must be fast; a power cut may cost the way to undo it, no more.
    is_needed = any(change.before is not None for change in line.changes)
    atomic.put(folder / "run.json", dump(mapping).encode(), durable=is_needed)


def discard(store: Store, line: logs.RunLine) -> None:
    """Remove what was kept of a step that failed before its first write."""
    folder = folder_of(store, line.id)
    for path in (folder / step_of(line), folder):
        if path.is_dir() and (path != folder or not any(folder.iterdir())):
            atomic.remove_folder(path)


def folder_of(store: Store, run_id: str) -> Path:
    """Where the preimages of a run are."""
    return store.derived / "runs" / run_id


def step_of(line: logs.RunLine) -> str:
    """The name of a step's folder, and of a run after its first step."""
    parts = [f"{c.path} {c.before} {c.after} {c.size}" for c in line.changes]
    return digest(line.command, line.at, *parts)


def new_id(store: Store, line: logs.RunLine) -> str:
    """An id that no run has: the same change may be made again, and undone again, at one time."""
    step = step_of(line)
    run_id, again = f"run-{step}", 0
    rows = logs.rows(store.flow / FILE)[0] if folder_of(store, run_id).exists() else []
    known = {str(row.get("id")) for _, row in rows}
    while run_id in known:
        again += 1
        run_id = f"run-{digest(step, str(again))}"
    return run_id


def marks_of_new(old: bytes, new: bytes) -> list[str]:
    """Marks of the lines of ``new`` that ``old`` does not hold, in order; empty ones left out."""
    known = Counter(old.split(b"\n"))
    marks = []
    for line in new.split(b"\n"):
        if known[line] > 0:
            known[line] -= 1
        elif line.strip():
            marks.append(mark_of(line))
    return marks


def mark_of(line: bytes) -> str:
    """What is kept of a line to know it again: 12 hex digits, and the id of its record or item.

    The number of a record's revision does not count, only the device: what an undo put back is what
    was there before.

    >>> mark_of(b"- Mara left.  ^f-1")[12:], mark_of(b'- {"id": "mara", "rev": [1, "pi"]}')[12:]
    (' f-1', ' mara')
    """
    if line.startswith(_RECORD):
        record_id = line[len(_RECORD) :].partition(b'"')[0]
        head, rev, rest = line.partition(b', "rev": [')
        line = head + rest.partition(b",")[2] if rev else line
    else:
        record_id = line.rstrip().rpartition(b" ^")[2] if b" ^" in line else b""
    name = record_id.decode("utf-8", "replace")
    return f"{atomic.sha256(line)[:12]} {name}" if is_id(name) else atomic.sha256(line)[:12]
