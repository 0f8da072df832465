"""Dry run: run on a copy of the store, and list the files that differ afterwards.

So the plan is exactly what the run would do, including the settling of hand edits and the closing of
conversations.
"""

import contextlib
import difflib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from clsm_cli.consolidation.consolidation_report import FileChange, Report
from clsm_cli.store import atomic
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

PREFIX = "rehearsal-"
"""Prefix of a copy's folder."""
_EXCLUDED = shutil.ignore_patterns(".git", "runs", f"{PREFIX}*", atomic.TEMP_PREFIX + "*")
"""Files that a run does not read: git's, preimages, other copies."""


def dry_run(store: Store, run: Callable[[Store], Report]) -> Report:
    """Run on a temporary copy; the report lists the changed files.

    Hidden files and ``runs.jsonl`` are not listed. A configured language model is really asked.

    Raises:
        DiskError: There is no room for the copy.
    """
    with copy_store(store) as copy:
        before = {name: (copy.root / name).read_bytes() for name in _files(copy.root)}
        report = run(copy)
        report.dry_run = True
        report.run = None
        # Compared with the copy, as others may write to the store meanwhile.
        for name in sorted(before.keys() | _files(copy.root)):
            path, old = copy.root / name, before.get(name)
            new = path.read_bytes() if path.is_file() else None
            if new != old:
                report.files.append(_change(name, old, new))
    return report


@contextlib.contextmanager
def copy_store(store: Store) -> Iterator[Store]:
    """A consistent copy of a store, deleted at the end.

    Raises:
        DiskError: There is no room for it.
    """
    atomic.make_folder(store.derived)
    with (
        atomic.disk_errors(store.derived),
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=store.derived) as folder,
    ):
        copy = Path(folder) / store.root.name
        with locked(store.root, store.settings.store.lock_wait):
            shutil.copytree(store.root, copy, ignore=_EXCLUDED, symlinks=True, copy_function=_copy)
        yield store._replace(root=copy)


def _copy(source: str, target: str) -> None:
    """Copy a file; raise at the first failure, where ``copytree`` would collect a list."""
    with atomic.disk_errors(target):
        shutil.copy2(source, target)


def _files(root: Path) -> set[str]:
    found: set[str] = set()
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), root)
            if not name.startswith(".") and name != "runs.jsonl":
                found.add(path)
    return found


def _change(name: str, old: bytes | None, new: bytes | None) -> FileChange:
    before = (old or b"").decode("utf-8", "replace").splitlines()
    after = (new or b"").decode("utf-8", "replace").splitlines()
    if name.endswith(".yaml"):  # sorted by id: a difference of sets is a diff, and is fast
        added = tuple(sorted(set(after) - set(before)))
        return FileChange(name, added, tuple(sorted(set(before) - set(after))), old is None)
    diff = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    return FileChange(
        name,
        tuple(line[1:] for line in diff if line.startswith("+") and line[1:].strip()),
        tuple(line[1:] for line in diff if line.startswith("-") and line[1:].strip()),
        old is None,
    )
