"""What git asks when both sides changed a file: one version that holds what both hold.

Git calls ``clsm merge-driver`` with three files: what both began with, ours (where the result must
stand) and theirs. ``store/git_setup`` says how it is set up, and that git keeps every line of both
sides where this cannot help: nothing is written then.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.store import atomic, git, joining
from clsm_cli.store.logs import MAX_LOG

if TYPE_CHECKING:
    from pathlib import Path


def merge(base: Path, ours: Path, theirs: Path, path: Path) -> bool:
    """Write the join of two versions to ``ours``; False where they cannot be read.

    Args:
        base: What both began with; empty when there was nothing.
        ours: The version of the branch that is checked out.
        theirs: The other one.
        path: Of the file in the repository.

    Raises:
        DiskError: The operating system refused.
    """
    kind = joining.kind_of(path.as_posix())
    limit = MAX_LOG if kind == "log" else MAX_FILE
    try:
        given = [atomic.read(each, limit) for each in (base, ours, theirs)]
    except DamagedStoreError:
        return False
    old, one, two = (data or b"" for data in given)
    joined = joining.merged_shards(old, one, two, path) if kind == "shard" else None
    if kind in ("log", "topic"):
        union = _union(base, ours, theirs)
        if union is not None and kind == "log":
            joined = joining.merged_lines(old, one, two, union)
        elif union is not None:
            joined = joining.merged_topics(old, one, two, union, path)
    if joined is None:
        return False
    atomic.put(ours, joined, durable=False)  # git takes it from there
    return True


def _union(base: Path, ours: Path, theirs: Path) -> bytes | None:
    """All lines of both sides, but for what one of them alone took out; None when git fails."""
    files = (str(each.absolute()) for each in (ours, base, theirs))
    try:
        return git.run(
            ours.absolute().parent, "merge-file", "-p", "-q", "--union", *files, seconds=git.SECONDS
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
