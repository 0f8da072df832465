"""What a clone is in the middle of, and which files of the store git knows; asked as ``git`` asks."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from clsm_cli.store import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.store.git import WorkTree


def refusal(root: Path) -> str | None:
    """Why git will not look at the repository that a folder lies in; None where it does, or is none.

    One of another user is not trusted (safe.directory in git-config(1)).
    """
    try:
        git.run(root, "rev-parse", "--git-dir", seconds=git.SECONDS)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").splitlines()
        return next((line for line in said if "dubious ownership" in line), None)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return None


def is_ignored(root: Path) -> bool:
    """Whether the repository around a folder leaves the folder out."""
    return (
        bool((_answer(root, "rev-parse", "--show-prefix") or b"").strip())
        and _answer(root, "check-ignore", "-q", "--", str(root)) is not None
    )


def is_detached(tree: WorkTree) -> bool:
    """Whether a commit is checked out, and no branch."""
    has_commit = _answer(tree.root, "rev-parse", "--quiet", "--verify", "HEAD") is not None
    return has_commit and git.head(tree) is None


def tracked(tree: WorkTree) -> tuple[str, ...]:
    """The files of the store that git knows, relative to it, sorted."""
    return tuple(sorted({path for path, _ in _staged(tree, "ls-files", "-s", "-z")}))


def unmerged(tree: WorkTree) -> dict[str, tuple[int, ...]]:
    """Files of the store that wait for a person: path → versions that there are.

    1 is what both sides began with, 2 ours, 3 theirs.
    """
    found: dict[str, list[int]] = {}
    for path, stage in _staged(tree, "ls-files", "-u", "-z"):
        found.setdefault(path, []).append(stage)
    return {path: tuple(sorted(found[path])) for path in sorted(found)}


def _staged(tree: WorkTree, *words: str) -> Iterator[tuple[str, int]]:
    answer = _answer(tree.root, *words) or b""
    for row in answer.decode("utf-8", "surrogateescape").split("\0"):
        meta, tab, path = row.partition("\t")
        if tab:
            yield path, int(meta.split()[2])


def _answer(root: Path, *words: str) -> bytes | None:
    try:
        return git.run(root, *words, seconds=git.SECONDS)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
