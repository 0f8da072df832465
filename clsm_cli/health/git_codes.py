"""Codes of what is found of git, and of programs that synchronise folders; see ``codes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clsm_cli.health.finding import Severity

GIT: dict[str, tuple[Severity, str, str] | tuple[Severity, str, str, str]] = {
    "conflict-copy": (
        "warning",
        "a second version of a file, made by a program that synchronises folders",
        "",
        "nothing; the next clsm ingest or clsm consolidate joins the two",
    ),
    "git-owner": (
        "warning",
        "the repository belongs to another user, so git does not look into it",
        "",
        "git config --global --add safe.directory DIR",
    ),
    "git-ignored": (
        "note",
        "the repository around the store leaves it out: it is neither versioned nor synchronised",
        "",
        "nothing, if that is meant; else take it out of .gitignore, or run: clsm init --git",
    ),
    "git-lock": (
        "warning",
        "a lock that a stopped git left: no git command can write",
        "",
        "remove .git/index.lock",
    ),
    "git-busy": ("note", "a git command is at work", "", "nothing"),
    "git-begun": (
        "warning",
        "a merge, rebase, cherry-pick or revert is not finished",
        "",
        "end it or abort it",
    ),
    "git-detached": ("note", "no branch is checked out", "", "git switch BRANCH"),
    "git-unmerged": (
        "warning",
        "a file waits for you to end a merge",
        "",
        "mend it, git add it, then commit",
    ),
    "git-tracks-derived": (
        "warning",
        "git tracks .clsm/ or temporary files, which are of one machine alone",
        "",
        "git rm -r --cached .clsm, then commit",
    ),
    "git-markers": (
        "damage",
        "settings or labels that hold git's conflict markers",
        "",
        "mend it by hand, or restore it from git or from a backup",
    ),
    "git-attributes": (
        "warning",
        "merges may stop: git is not told to keep the lines of both sides",
        "the missing lines are added",
    ),
    "git-ignore": (
        "warning",
        "git is not told to leave out what is derived",
        "the missing lines are added",
    ),
    "git-fsync": (
        "warning",
        "a power cut may leave a repository that git cannot read",
        "core.fsync is set to all in this clone",
    ),
    "git-clone": (
        "note",
        "this clone merges by lines alone: nothing is lost, but a record may stand on two lines",
        "the merge driver and pull.rebase are set in this clone",
    ),
}
"""Code → severity, meaning, what ``--fix`` does, next step; as the fields of ``Code``."""
