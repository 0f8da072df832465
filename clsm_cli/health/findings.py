"""Findings of ``clsm doctor``, and the table of their codes.

The table says how bad each is, what it means, what ``--fix`` does and what a person can do.
docs/doctor.md shows it; a test compares the two.
"""

from __future__ import annotations

from typing import Literal

from clsm_cli.startup.records import NamedTuple

Severity = Literal["damage", "warning", "note"]
"""Damage: something is lost or cannot be read as it stands. Warning: it works, but may not for long
or for others. Note: worth knowing, nothing to do."""
SEVERITIES: tuple[Severity, ...] = ("damage", "warning", "note")


class Finding(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        code: What kind of thing, in kebab case; never changes its meaning.
        severity: How bad it is.
        path: The file or folder, relative to the store where it lies in it; "" for the whole store.
        reason: What is wrong, in plain words, without the path.
        next_step: What to do about it, as a clause: "run: git gc", "nothing; …".
        line: Of the file, from 1; None for all of it.
        mends: Whether ``--fix`` mends it.
    """

    code: str
    severity: Severity
    path: str
    reason: str
    next_step: str
    line: int | None = None
    mends: bool = False


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


class Code(NamedTuple):
    """A kind of finding.

    Attributes:
        fix: What ``--fix`` does about it; "" for nothing.
        next_step: For a person, where ``--fix`` does nothing.
    """

    severity: Severity
    meaning: str
    fix: str
    next_step: str = ""


_RESTORE = "restore it from git or from a backup"
_BY_HAND = "mend it by hand, or " + _RESTORE
_REBUILD = "run: clsm consolidate --rebuild"
_LOST = "put the episode back; if it is gone for good, run: clsm consolidate --rebuild"
_NOTHING = "nothing"

CODES: dict[str, Code] = {
    # What lies in the folder.
    "unknown-file": Code(
        "note", "a file that does not belong to a memory", "", "nothing, or move it"
    ),
    "left-over": Code(
        "note", "a temporary file that a killed command left", "removed: it was never acknowledged"
    ),
    "not-a-file": Code(
        "damage",
        "a link, pipe or device instead of a file; it is not followed or read",
        "",
        "put the file itself in its place",
    ),
    "empty-file": Code("warning", "an empty log: its content is gone", "", _RESTORE),
    "too-large": Code("damage", "too large to be read", "", "split it or move it away"),
    "unreadable-file": Code(
        "damage",
        "the operating system refuses to read it",
        "mode 600, if you own it",
        "give it back to its owner, mode 600",
    ),
    "open-to-others": Code(
        "warning", "others may read or change it, or its owner may not", "mode 600, or 700"
    ),
    "foreign-owner": Code("warning", "belongs to another user", "", "give it back with chown"),
    "quarantine": Code(
        "note",
        "unreadable data that was moved here unchanged",
        "",
        "mend what you need and put it back; delete the rest",
    ),
    # Records, lines, files.
    "bad-bytes": Code(
        "damage",
        "contains NUL bytes or invalid UTF-8",
        "shards, inboxes and logs: copied to quarantine/; what can be read stays",
        _BY_HAND,
    ),
    "conflict-markers": Code(
        "damage",
        "conflict markers of git; both sides are read",
        "the lines go to quarantine/, both sides stay and are joined by id",
        _BY_HAND,
    ),
    "unreadable-line": Code(
        "damage",
        "a line that is not a record, or not one of this file",
        "copied to quarantine/, then removed",
        _BY_HAND,
    ),
    "torn-line": Code(
        "note",
        "an incomplete last line of a killed command; never acknowledged",
        "copied to quarantine/, then removed",
        _NOTHING,
    ),
    "repeated-line": Code("note", "a line that occurs twice; it counts once", "", _NOTHING),
    "unknown-field": Code("note", "fields that this version does not know", "", _NOTHING),
    "wrong-shard": Code(
        "warning",
        "records in the wrong shard: a newer version would not replace them",
        "moved where they belong",
    ),
    "not-normal": Code(
        "note",
        "a shard that is not in clsm's form: unsorted, an id twice, an unknown field",
        "rewritten",
    ),
    "unreadable-episode": Code(
        "damage", "a file that is not an episode", "moved to quarantine/ as it is", _BY_HAND
    ),
    "turn-mismatch": Code("damage", "turns without a text, or texts without a turn", "", _BY_HAND),
    "misplaced": Code("warning", "a file under a wrong name", "moved to its name", _BY_HAND),
    "turn-twice": Code("note", "turns that are in two files; they count once", "", _NOTHING),
    "edited-turn": Code(
        "note",
        "texts that differ from what was ingested: edited by hand, or damaged",
        "",
        "nothing, if it was you; else " + _RESTORE,
    ),
    "unreadable-head": Code(
        "damage", "unreadable front matter; the items can be read", "", _BY_HAND
    ),
    "item-twice": Code("note", "two items with the same id", "", "see: clsm review"),
    "cut-short": Code("damage", "ends in the middle of a line, and items are gone", "", _BY_HAND),
    "hand-edits": Code(
        "note", "statements edited by hand that are not taken over yet", "taken over"
    ),
    "statements-gone": Code(
        "damage",
        "many statements are gone from the Markdown at once; none was withdrawn",
        "",
        "put the file back, or remove fewer at a time",
    ),
    # What refers to something.
    "missing-file": Code(
        "damage",
        "a file that clsm wrote and did not remove",
        "",
        _RESTORE,
    ),
    "missing-episode": Code(
        "damage",
        "records of an episode whose file is gone",
        "",
        _RESTORE,
    ),
    "dangling-edge": Code("warning", "edges to something that does not exist", "", _REBUILD),
    "dangling-source": Code("warning", "records that rest on turns that are gone", "", _LOST),
    "dangling-mention": Code("warning", "mentions in turns that are gone", "", _LOST),
    "dangling-block": Code(
        "warning", "blocks of a document whose texts are gone", "", "take the document in again"
    ),
    "dangling-row": Code("warning", "statements that replaced one that is gone", "", _NOTHING),
    "dangling-link": Code("warning", "episodes that follow one that is gone", "", _NOTHING),
    "wrong-id": Code("warning", "records whose id does not match their content", "", _REBUILD),
    "tombstone-lost": Code(
        "damage",
        "tombstones that only the index has: forgotten things may come back",
        "written again",
    ),
    "forget-lost": Code(
        "damage",
        "a forget without tombstones: forgotten things may come back",
        "",
        _RESTORE + ", or forget it again",
    ),
    # What was written, and what is there.
    "changed-outside": Code(
        "note",
        "not as clsm wrote it: edited by hand, merged, or damaged",
        "",
        "nothing, if it was you or git; else " + _RESTORE,
    ),
    "shorter": Code("damage", "shorter than clsm wrote it: lines are lost", "", _RESTORE),
    "preimage": Code(
        "warning", "the copy for undo is damaged: that run cannot be undone exactly", "", _NOTHING
    ),
    "begun-run": Code("warning", "a command was interrupted", "completed, or taken back"),
    # What is derived.
    "index-missing": Code("note", "there is no index yet", "made"),
    "index-stale": Code("note", "files changed since the index was made", "brought up to date"),
    "index-damaged": Code("damage", "the index is damaged", "made again"),
    "index-differs": Code("damage", "the index differs from the files", "made again"),
    "vectors-damaged": Code("damage", "vectors differ from what was written", "made again"),
    "vectors-missing": Code("note", "passages without a vector, found by words", "made"),
    "briefing-damaged": Code(
        "damage", "the prepared briefing is damaged", "removed: it is derived"
    ),
    # What it needs.
    "settings-unusable": Code("damage", "clsm.yaml cannot be used", "", _BY_HAND),
    "ontology-unusable": Code(
        "warning", "ontology.yaml cannot be used; clsm's own tags are", "", _BY_HAND
    ),
    "labels-unusable": Code("warning", "eval/queries.yaml cannot be used", "", _BY_HAND),
    "environment": Code(
        "warning", "an environment variable has an impossible value", "", "change it"
    ),
    "device-unknown": Code(
        "warning",
        "this machine's name in the store is not known, or has no folder",
        ".clsm/device is written again where the name in use has a folder",
        "name it with CLSM_DEVICE, or write it into .clsm/device",
    ),
    "model-missing": Code(
        "warning", "no model: recall answers by words", "", "run: clsm model install"
    ),
    "model-damaged": Code(
        "damage",
        "a model file is not the one clsm was built for",
        "",
        "run: clsm model install --force",
    ),
    "network-file-system": Code(
        "warning",
        "on a file system where locks or modes may not work",
        "",
        "keep it on a local disk, and synchronise it with git",
    ),
    "read-only": Code(
        "warning",
        "the store cannot be written to",
        "",
        "see whose it is, and whether its disk is still well: Linux mounts a failing one read-only",
    ),
    "lock-held": Code("note", "somebody is writing to it now", "", "nothing; look again later"),
    "consolidated": Code("note", "when it was consolidated last", "", _NOTHING),
    "consolidation-old": Code(
        "warning",
        "the last consolidation is too long ago",
        "",
        "run: clsm consolidate, best every night",
    ),
    "settings-ignored": Code(
        "warning",
        "clsm.yaml sets what reaches outside the store: an address, a variable; never obeyed",
        "",
        "take it out; if it is yours, write it into this machine's own config.toml (docs/format.md)",
    ),
    "machine-settings": Code(
        "warning", "the settings of this machine cannot be used", "", "mend the file that it names"
    ),
    "schedule-broken": Code(
        "warning",
        "the nightly job starts something that is not there",
        "",
        "install it again: clsm schedule install",
    ),
    "self-ingested": Code(
        "note",
        "texts that clsm itself had recalled, or that say again what it holds",
        "",
        "nothing; forget a source with: clsm forget --source PATH",
    ),
    "secret-in-clear": Code(
        "warning",
        "passwords, keys or numbers that an older version stored in clear",
        "",
        "run: clsm forget --secrets",
    ),
    "check-failed": Code("damage", "a check could not be made", "", "mend what it names"),
    # git, and programs that synchronise folders.
    **{name: Code(*row) for name, row in GIT.items()},
}
"""In the order of the page."""
MODEL = frozenset({"model-damaged"})
"""Damage that is none of the store: exit code 15."""


def make_finding(
    code: str,
    path: str,
    reason: str,
    *,
    line: int | None = None,
    mends: bool | None = None,
    severity: Severity | None = None,
    next_step: str = "",
) -> Finding:
    """A finding of a code; what the table says holds unless it is said otherwise.

    >>> make_finding("lock-held", "", "clsm decay (process 7) is writing").severity
    'note'
    """
    kind = CODES[code]
    is_mended = bool(kind.fix) if mends is None else mends
    step = next_step or (
        "run: clsm doctor --fix" if is_mended else kind.next_step or "mend it by hand"
    )
    return Finding(code, severity or kind.severity, path, reason, step, line, is_mended)


def list_names(names: list[str], most: int = 3) -> str:
    """Some names, and how many more there are.

    >>> list_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
