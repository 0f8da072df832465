"""The ledger: the runs of a machine, which of them are undone, and their preimages.

``flow/<device>/runs.jsonl`` has a line for each step of a run. On this machine alone,
``.clsm/runs/<id>/<step>/`` has the preimages, the content that the step replaced (``0000``, ``0001`` …
by the index of the change, compressed by zlib), and ``run.json``: the ledger line, with marks of added and removed lines.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import digest, is_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store

FILE = "runs.jsonl"
_RECORD = b'- {"id": "'


class LedgerRun(NamedTuple):
    """A run of the ledger."""

    id: str
    command: str
    at: str
    steps: tuple[logs.RunLine, ...]
    undoes: str | None  # for an undo: the run that it reverts
    undone_by: str | None  # the undo that reverted this run and was not undone itself

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the run wrote, sorted."""
        return tuple(sorted({change.path for step in self.steps for change in step.changes}))

    @property
    def is_final(self) -> bool:
        """Whether the run saved no preimages on purpose, as a forget does."""
        return not self.paths


class SavedStep(NamedTuple):
    """What was saved to undo a step; by path, the marks (``line_mark``) of added and removed lines."""

    line: logs.RunLine
    folder: Path
    added: dict[str, tuple[str, ...]]
    removed: dict[str, tuple[str, ...]]

    def preimage(self, index: int) -> bytes | None:
        """The content of a file before a change, by the index of the change; None for a new file."""
        if self.line.changes[index].before is None:
            return None
        path = self.folder / f"{index:04d}"
        data = atomic.read(path, logs.MAX_LOG) or b""
        with contextlib.suppress(zlib.error):
            data = zlib.decompress(data)
        if atomic.sha256(data) != self.line.changes[index].before:
            raise DamagedStoreError(path, None, "is not what the run replaced")
        return data


def run_lines(rows: logs.Rows) -> Iterator[logs.RunLine]:
    """The valid lines among the rows of a ledger."""
    for row in rows.mappings:
        with contextlib.suppress(KeyError, TypeError, AttributeError):
            yield logs.parse(logs.RunLine, row)


def entries(flow: Path) -> list[LedgerRun]:
    """The runs of a machine, given its flow, oldest first; invalid lines are skipped."""
    lines = grouped((str(line.id), line) for line in run_lines(logs.rows(flow / FILE)))
    undone: dict[str, str] = {}  # run → its last undo
    found: list[LedgerRun] = []
    for run_id, steps in reversed(lines.items()):  # an undo comes after what it reverts
        by = undone.get(run_id)
        first = steps[0]
        found.append(LedgerRun(run_id, first.command, first.at, tuple(steps), first.of, by))
        if first.of is not None and by is None:
            undone.setdefault(first.of, run_id)
    return found[::-1]


def load_step(store: Store, line: logs.RunLine) -> SavedStep | None:
    """Load what was saved for a step; None if it is missing, incomplete or of another step."""
    folder = step_folder(store, line)
    try:
        row = json.loads(atomic.read(folder / "run.json", logs.MAX_LOG) or b"")
        added, removed = ({p: tuple(m) for p, m in row[n].items()} for n in ("added", "removed"))
        is_whole = added.keys() == removed.keys() == {change.path for change in line.changes}
        if not is_whole or logs.parse(logs.RunLine, row)._replace(id=line.id) != line:
            return None
    except (DamagedStoreError, ValueError, LookupError, TypeError, AttributeError):
        return None
    replaced = (n for n, change in enumerate(line.changes) if change.before is not None)
    has_all = all((folder / f"{n:04d}").is_file() for n in replaced)
    return SavedStep(line, folder, added, removed) if has_all else None


def is_saved(store: Store, entry: LedgerRun) -> bool:
    """Whether each step of a run was saved; checks that the files exist, without reading them."""
    return all((step_folder(store, line) / "run.json").is_file() for line in entry.steps)


def save(store: Store, line: logs.RunLine, contents: Sequence[bytes]) -> None:
    """Save the files that a step will replace or remove, and the lines that its ``contents`` change."""
    folder = step_folder(store, line)
    added: dict[str, list[str]] = {}
    removed: dict[str, list[str]] = {}
    replaced: dict[Path, bytes] = {}
    for index, (change, new) in enumerate(zip(line.changes, contents, strict=True)):
        old = b""
        if change.before is not None:
            with atomic.disk_errors(change.path):
                old = (store.root / change.path).read_bytes()
            replaced[folder / f"{index:04d}"] = zlib.compress(old)
        # An undo deletes a new Markdown file whole, or not at all: its lines need no marks.
        is_new_text = change.before is None and change.path.endswith(".md")
        marks = [] if is_new_text else _added_line_marks(old, new)
        added.setdefault(change.path, []).extend(marks)
        removed.setdefault(change.path, []).extend(_added_line_marks(new, old))
    atomic.put_all(replaced)
    mapping: dict[str, Any] = json.loads(logs.render(line))
    mapping |= {"added": added, "removed": removed}
    # A hook that only appends must be fast; a power cut may then make its run impossible to undo.
    atomic.put(folder / "run.json", dump(mapping).encode(), durable=bool(replaced))


def discard(store: Store, line: logs.RunLine) -> None:
    """Remove what was saved for a step that failed before its first write."""
    folder = step_folder(store, line)
    for path in (folder, folder.parent):
        if path.is_dir() and (path == folder or not any(path.iterdir())):
            atomic.remove_folder(path)


def step_folder(store: Store, line: logs.RunLine) -> Path:
    """The folder of what was saved for a step."""
    return store.derived / "runs" / line.id / _step_name(line)


def _step_name(line: logs.RunLine) -> str:
    """The name of a step's folder, and of a run after its first step."""
    parts = [f"{c.path} {c.before} {c.after} {c.size}" for c in line.changes]
    return digest(line.command, line.at, *parts)


def new_id(store: Store, line: logs.RunLine) -> str:
    """A unique run id: the same change may be made, or undone, several times at the same time."""
    step = _step_name(line)
    run_id, again = f"run-{step}", 0
    is_used = (store.derived / "runs" / run_id).exists()
    rows = logs.rows(store.flow / FILE).mappings if is_used else []
    known = {str(row.get("id")) for row in rows}
    while run_id in known:
        again += 1
        run_id = f"run-{digest(step, str(again))}"
    return run_id


def _added_line_marks(old: bytes, new: bytes) -> list[str]:
    """Marks of the non-empty lines that ``new`` adds to ``old``, in order."""
    known = Counter(old.split(b"\n"))
    marks = []
    for line in new.split(b"\n"):
        if known[line] > 0:
            known[line] -= 1
        elif line.strip():
            marks.append(line_mark(line))
    return marks


def line_mark(line: bytes) -> str:
    """A mark by which a line is recognised: 12 hex digits, and the id of its record or item.

    Ignores a record's revision number (not its device), as an undo increases it.

    >>> line_mark(b"- Mara left.  ^f-1")[12:], line_mark(b'- {"id": "mara", "rev": [1, "pi"]}')[12:]
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
