"""Checks of the git repository around a store, and of copies left by programs that synchronise folders.

Nothing is said where there is no git. What ``--fix`` does about the store's own files are writes that
can be undone (``mend``); what it does about the clone is no part of the store (``mend_clone``).
"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.store import git, git_setup, joining

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.health.findings import Finding
    from clsm_cli.store import runs
    from clsm_cli.store.layout import Store

STALE_MINUTES = 10
"""Minutes after which a lock was left behind: git holds one for seconds."""


def findings(store: Store, now: datetime) -> Iterator[Finding]:
    """What is to be said of the repository, and of copies that wait to be joined."""
    yield from _copies(store)
    if git.refusal(store.root) is not None:
        reason = "git does not look into a repository of another user"
        trust = f"git config --global --add safe.directory {quote(str(store.root))}"
        step = f"trust it, if it is yours: {trust}"
        yield make_finding("git-owner", "", reason, next_step=step)
    elif (tree := git.work_tree(store.root)) is not None:
        yield from (*_lock(tree, now), *_unmerged(tree), *_setup(store))


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
        elif copy.writer in (None, store.device):
            step = "nothing; the next clsm ingest or clsm consolidate joins the two"
        else:
            step = f"nothing; {copy.writer} joins the two at its next clsm ingest"
        yield make_finding("conflict-copy", path, reason, next_step=step)


def _lock(tree: git.WorkTree, now: datetime) -> Iterator[Finding]:
    path = git.path_of(tree, "index.lock")
    if path is None:
        return
    try:
        age = now.timestamp() - os.lstat(path).st_mtime
    except OSError:
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


def _setup(store: Store) -> Iterator[Finding]:
    lack = git_setup.find_missing(store.root)
    lines = [line for each in lack.lines.values() for line in each if not line.startswith("#")]
    what = [*lines, *lack.settings, *(["info/attributes"] if lack.attributes else [])]
    if what:
        yield make_finding("git-setup", "", f"is not set up for a memory: lacks {list_names(what)}")
