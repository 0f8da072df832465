"""Questions to git about the folder that a store lies in.

Nothing is changed, and nothing is run that the repository names. A repository may come from anywhere:
its settings can name programs (hooks, monitors, filters, pagers, signature checks). Only plumbing is
used that runs none of them, with those settings overridden, no network, no prompt and a time limit.
Where git is missing, slow or refuses, there is no repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clsm_cli.startup.records import NamedTuple

SECONDS = 20.0
"""How long git may take to answer one question."""
MAX_BLOB = 256 << 20
"""Bytes of a file that is looked at; as for a log."""
_AT_ONCE = 500
"""Paths, or files, of one question."""
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "log.showSignature=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "LC_ALL": "C",
}


class WorkTree(NamedTuple):
    """The part of a repository's work tree that a store is.

    ``top`` is the tree's folder, ``prefix`` the path of the store in it, "" or ending in "/".
    """

    root: Path
    top: Path
    prefix: str


class Blob(NamedTuple):
    """A file as a ref has it; ``oid`` is git's name of its content."""

    path: str
    ref: str
    oid: str


def work_tree(root: Path) -> WorkTree | None:
    """The work tree that a folder lies in; None when it lies in none, or there is no git.

    A folder that the repository ignores is not in its work tree.
    """
    words = ("rev-parse", "--is-inside-work-tree", "--show-toplevel", "--show-prefix")
    answer = lines(root, *words)
    if len(answer) < 2 or answer[0] != "true":
        return None
    tree = WorkTree(root, Path(answer[1]), answer[2] if len(answer) > 2 else "")
    is_ignored = tree.prefix and _asked(root, "check-ignore", "-q", "--", str(root)) is not None
    return None if is_ignored else tree


def remotes(tree: WorkTree) -> dict[str, str]:
    """The addresses of remotes, by name and sorted; as they are set, which may hold secrets."""
    answer = _asked(tree.root, "config", "-z", "--get-regexp", r"^remote\..*\.url$") or b""
    found: dict[str, str] = {}
    for row in _text(answer).split("\0"):
        key, newline, url = row.partition("\n")
        if newline:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    return dict(sorted(found.items()))


def settings(tree: WorkTree) -> dict[str, str]:
    """The settings of the clone itself, names in lower case; of several values the last."""
    answer = _asked(tree.root, "config", "--local", "-z", "--list") or b""
    rows = (row.partition("\n") for row in _text(answer).split("\0") if row)
    return {name.lower(): value for name, _, value in rows}


def path_of(tree: WorkTree, name: str) -> Path | None:
    """Where a file of the repository lies, also of a linked work tree; None when git cannot say."""
    answer = lines(tree.root, "rev-parse", "--git-path", name)
    return tree.root / answer[0] if answer else None


def head(tree: WorkTree) -> str | None:
    """Short name of the branch that is checked out; None when none is."""
    answer = lines(tree.root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return answer[0] if answer else None


def remote_branches(tree: WorkTree) -> tuple[str, ...]:
    """Full names of the remote-tracking refs, ``refs/remotes/…``, sorted; no symbolic ones."""
    rows = lines(tree.root, "for-each-ref", "--format=%(refname) %(symref)", "refs/remotes")
    return tuple(sorted(row.rstrip() for row in rows if row.endswith(" ")))


def commits(tree: WorkTree, paths: Iterable[str]) -> tuple[str, ...]:
    """Commits on any ref, stash included, that change one of some files or folders; newest first.

    Paths are relative to the store.
    """
    names = list(dict.fromkeys(paths))
    found: list[str] = []
    for start in range(0, len(names), _AT_ONCE):
        words = ("rev-list", "--all", "--reflog", "--full-history", "--topo-order", "--")
        chosen = names[start : start + _AT_ONCE]
        found += lines(tree.root, "--literal-pathspecs", *words, *chosen)
    return tuple(dict.fromkeys(found))


def blobs(tree: WorkTree, paths: Iterable[str], refs: Sequence[str]) -> tuple[Blob, ...]:
    """The files among some paths, relative to the store, that refs have; missing ones left out."""
    asked = [(path, ref) for ref in refs for path in dict.fromkeys(paths) if "\n" not in path]
    rows = "".join(f"{ref}:{tree.prefix}{path}\n" for path, ref in asked)
    answer = _asked(tree.root, "cat-file", "--batch-check", data=os.fsencode(rows)) or b""
    found = []
    for (path, ref), row in zip(asked, _text(answer).split("\n"), strict=False):
        oid, _, rest = row.partition(" ")
        kind, _, size = rest.partition(" ")
        if kind == "blob" and int(size) <= MAX_BLOB:
            found.append(Blob(path, ref, oid))
    return tuple(found)


def has(root: Path, path: str) -> bool:
    """Whether a commit that others may have, HEAD or a remote branch, holds a file of a store."""
    tree = work_tree(root)
    return tree is not None and bool(blobs(tree, [path], ("HEAD", *remote_branches(tree))))


def contents(tree: WorkTree, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of blobs as git keeps them, each once; those that cannot be had are left out."""
    names = list(dict.fromkeys(oids))
    for start in range(0, len(names), _AT_ONCE):
        rows = "".join(f"{oid}\n" for oid in names[start : start + _AT_ONCE])
        rest = _asked(tree.root, "cat-file", "--batch", data=rows.encode()) or b""
        while rest:
            head, _, rest = rest.partition(b"\n")  # <oid> blob <size>
            words = head.split()
            if len(words) == 3:
                size = int(words[2])
                yield words[0].decode(), rest[:size]
                rest = rest[size + 1 :]


def lines(root: Path, *words: str) -> list[str]:
    """The lines that git answers; none when it fails, is not there, or takes too long."""
    return _text(_asked(root, *words) or b"").splitlines()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _asked(root: Path, *words: str, data: bytes = b"") -> bytes | None:
    """What git answers; None when it fails, is not there, or takes too long."""
    try:
        return run(root, *words, data=data, seconds=SECONDS)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def run(
    root: Path,
    *words: str,
    data: bytes = b"",
    seconds: float | None = None,
    index: Path | None = None,
    more: Sequence[str] = (),
) -> bytes:
    """What git prints when it gets ``data`` in a folder; nothing that the repository names is run.

    ``index`` is used instead of the repository's own, and settings in ``more`` go before its and ours.

    Raises:
        FileNotFoundError: There is no git.
        subprocess.SubprocessError: It failed, or took longer than ``seconds``.
    """
    program = _program(root)
    if program is None:
        raise FileNotFoundError("git")
    settings = [word for setting in (*_SETTINGS, *more) for word in ("-c", setting)]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    own = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    done = subprocess.run(
        [program, "--no-pager", *settings, *words],
        cwd=root,
        env=inherited | _ENVIRONMENT | own,
        input=data,
        capture_output=True,
        timeout=seconds,
        check=True,
    )
    return done.stdout


def _program(root: Path) -> str | None:
    """Where git is; never in the memory folder, which a careless PATH may name."""
    found = shutil.which("git")
    path = None if found is None else Path(found).resolve()
    return None if path is None or path.is_relative_to(root.resolve()) else str(path)


def refusal(root: Path) -> str | None:
    """Why git will not look at the repository that a folder lies in; None where it does, or is none.

    One of another user is not trusted (safe.directory in git-config(1)).
    """
    try:
        run(root, "rev-parse", "--git-dir", seconds=SECONDS)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").splitlines()
        return next((line for line in said if "dubious ownership" in line), None)
    return None


def unmerged(tree: WorkTree) -> dict[str, tuple[int, ...]]:
    """Files of the store that wait for a person: path → versions that there are.

    1 is what both sides began with, 2 ours, 3 theirs.
    """
    found: dict[str, tuple[int, ...]] = {}
    for row in sorted(_text(_asked(tree.root, "ls-files", "-u", "-z") or b"").split("\0")):
        meta, tab, path = row.partition("\t")
        if tab:
            found[path] = (*found.get(path, ()), int(meta.split()[2]))
    return {path: tuple(sorted(versions)) for path, versions in sorted(found.items())}
