"""Checks of the git repository around a store, and of copies left by programs that synchronise folders.

Nothing is said where there is no git. What ``--fix`` does about the store's own files are writes that
can be undone (``mend``); what it does about the clone is no part of the store (``mend_clone``).
"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import kind_of
from clsm_cli.store import atomic, git, git_setup, joining

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.store import runs
    from clsm_cli.store.layout import Store

STALE_MINUTES = 10
"""Minutes after which a lock was left behind: git holds one for seconds."""
_BY_HAND = ("ontology", "git", "labels")
"""Files that are looked through here; in all others the markers are a finding of their contents."""
_MOST_MARKED = 1 << 20


def findings(store: Store, now: datetime) -> list[Finding]:
    """What is to be said of the repository, and of copies that wait to be joined."""
    told = list(_copies(store))
    refused = git.refusal(store.root)
    if refused is not None:
        step = f"trust it, if it is yours: git config --global --add safe.directory {quote(str(store.root))}"
        return [
            *told,
            make_finding(
                "git-owner",
                "",
                "git does not look into a repository of another user",
                next_step=step,
            ),
        ]
    tree = git.work_tree(store.root)
    if tree is None:
        return told
    told += _lock(tree, now)
    told += _unmerged(tree)
    told += _tracked(tree)
    return [*told, *_setup(store)]


def mend(store: Store) -> list[runs.Write]:
    """Writes that complete ``.gitattributes`` and ``.gitignore``; none where there is no repository."""
    if git.work_tree(store.root) is None:
        return []
    return git_setup.plan_files(store.root, git_setup.find_missing(store.root))


def mend_clone(store: Store) -> tuple[str, ...]:
    """Give the clone the settings that it lacks; their names."""
    if git.work_tree(store.root) is None:
        return ()
    lack = git_setup.find_missing(store.root)
    git_setup.configure_clone(store.root, lack)
    return (*lack.settings, *(["info/attributes"] if lack.attributes else []))


def _copies(store: Store) -> Iterator[Finding]:
    for copy in joining.find_copies(store):
        path = copy.path.relative_to(store.root).as_posix()
        reason = f"is another version of {copy.original.name}, left by a program that synchronises"
        if not copy.kind:
            step = "take from it what is wanted, and delete it"
        elif copy.writer in ("", store.device):
            step = "nothing; the next clsm ingest or clsm consolidate joins the two"
        else:
            step = f"nothing; {copy.writer} joins the two at its next clsm ingest"
        yield make_finding("conflict-copy", path, reason, next_step=step)


def _lock(tree: git.WorkTree, now: datetime) -> Iterator[Finding]:
    path = git.path_of(tree, "index.lock")
    try:
        age = None if path is None else now.timestamp() - os.lstat(path).st_mtime
    except OSError:
        return
    if path is None or age is None:
        return
    if age >= 60 * STALE_MINUTES:
        reason = f"a git that was stopped left its lock {age / 60:.0f} minutes ago"
        yield make_finding("git-lock", "", reason, next_step=f"no git runs: rm {quote(str(path))}")


def _unmerged(tree: git.WorkTree) -> Iterator[Finding]:
    for path, versions in git.unmerged(tree).items():
        name = quote(path)
        reason, step = "was changed on both sides", f"edit it, then: git add {name}"
        if versions in ((1, 2), (1, 3)):
            reason = "was changed on one side and deleted on the other"
            step = (
                f"keep it: git add {name} (what was forgotten or moved to an episode stays out of sight),"
                f" or: git rm {name}"
            )
        elif len(versions) == 1:
            reason = "got two names: each side renamed it"
            step = f"keep what is there: git add -A {name}"
        yield make_finding("git-unmerged", path, reason, next_step=f"{step}, then: git commit")


def _tracked(tree: git.WorkTree) -> Iterator[Finding]:
    names = git.tracked(tree)
    derived = [
        n for n in names if n.startswith(".clsm/") or n.rpartition("/")[2].startswith(".tmp-")
    ]
    if derived:
        only = (
            "-r .clsm"
            if all(n.startswith(".clsm/") for n in derived)
            else "-r .clsm, and the rest by name"
        )
        reason = f"git tracks what is of this machine alone: {list_names(derived)}"
        step = f"git rm --cached --ignore-unmatch {only}; then commit"
        yield make_finding("git-tracks-derived", "", reason, next_step=step)
    for name in names:
        line = _marker(tree.root / name) if kind_of(name) in _BY_HAND else None
        if line is not None:
            yield make_finding("git-markers", name, "holds git's conflict markers", line=line)


def _marker(path: Path) -> int | None:
    try:
        data = atomic.read(path, _MOST_MARKED) or b""
    except DamagedStoreError:
        return None
    lines = data.split(b"\n")
    return next(
        (n for n, line in enumerate(lines, 1) if line.startswith((b"<<<<<<< ", b">>>>>>> "))), None
    )


def _setup(store: Store) -> Iterator[Finding]:
    lack = git_setup.find_missing(store.root)
    for name, lines in sorted(lack.lines.items()):
        shown = list_names([line for line in lines if not line.startswith("#")])
        code = "git-attributes" if name == ".gitattributes" else "git-ignore"
        yield make_finding(code, name, f"lacks {shown}")
    if "core.fsync" in lack.settings:
        yield make_finding(
            "git-fsync", "", "git does not wait until what it writes survives a power cut"
        )
    others = [name for name in lack.settings if name != "core.fsync"]
    if others or lack.attributes:
        what = list_names([*others, *(["info/attributes"] if lack.attributes else [])])
        yield make_finding("git-clone", "", f"this clone merges by lines alone; not set up: {what}")
