"""Query git about the folder of a store, without changing anything.

A repository may come from anywhere, and its settings can name programs (hooks, monitors, filters,
pagers, signature checks). None of these is run: only plumbing commands that need none are used, with
those settings overridden, without network or prompt, and with a time limit. If git is missing, slow
or refuses, the store counts as in no repository.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clsm_cli.startup.records import NamedTuple

TIMEOUT = 20.0  # seconds that git may take for a query
_MAX_BLOB = 256 << 20  # bytes of a file that is read, as for a log
_BATCH = 500  # paths or objects per query
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
    """A store in a work tree; ``prefix`` is its path below ``top``, "" or ending in "/"."""

    root: Path
    top: Path
    prefix: str


class Blob(NamedTuple):
    """A file in a ref; ``oid`` is the object id of its content."""

    path: str
    ref: str
    oid: str


def work_tree(root: Path) -> WorkTree | None:
    """The work tree of a folder; None if there is none, it ignores the folder, or git is missing."""
    words = ("rev-parse", "--is-inside-work-tree", "--show-toplevel", "--show-prefix")
    answer = lines(root, *words)
    if len(answer) < 2 or answer[0] != "true":
        return None
    tree = WorkTree(root, Path(answer[1]), answer[2] if len(answer) > 2 else "")
    is_ignored = tree.prefix and _query(root, "check-ignore", "-q", "--", str(root)) is not None
    return None if is_ignored else tree


def remotes(tree: WorkTree) -> dict[str, str]:
    """The URLs of remotes, sorted by name, as configured: they may contain secrets."""
    answer = _query(tree.root, "config", "-z", "--get-regexp", r"^remote\..*\.url$") or b""
    found: dict[str, str] = {}
    for row in _text(answer).split("\0"):
        key, newline, url = row.partition("\n")
        if newline:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    return dict(sorted(found.items()))


def settings(tree: WorkTree) -> dict[str, str]:
    """The local settings of the clone, names in lower case; of several values the last."""
    answer = _query(tree.root, "config", "--local", "--includes", "-z", "--list") or b""
    rows = (row.partition("\n") for row in _text(answer).split("\0") if row)
    return {name.lower(): value for name, _, value in rows}


def path_of(tree: WorkTree, name: str) -> Path | None:
    """The path of a file of the repository, also for a linked work tree; None if git fails."""
    answer = lines(tree.root, "rev-parse", "--git-path", name)
    return tree.root / answer[0] if answer else None


def in_progress(tree: WorkTree) -> str | None:
    """What git is in the middle of, as the name of the file or folder that marks it."""
    names = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
    paths = ((name, path_of(tree, name)) for name in names)
    return next((name for name, path in paths if path is not None and path.exists()), None)


def head(tree: WorkTree) -> str | None:
    """The short name of the branch that is checked out; None if there is none."""
    answer = lines(tree.root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return answer[0] if answer else None


def remote_branches(tree: WorkTree) -> tuple[str, ...]:
    """The full names of remote-tracking refs, ``refs/remotes/…``, sorted, without symbolic ones."""
    rows = lines(tree.root, "for-each-ref", "--format=%(refname) %(symref)", "refs/remotes")
    return tuple(sorted(row.rstrip() for row in rows if row.endswith(" ")))


def commits(tree: WorkTree, paths: Iterable[str]) -> tuple[str, ...]:
    """Commits on any ref, stash included, that change given files or folders; newest first.

    Paths are relative to the store.
    """
    names = list(dict.fromkeys(paths))
    found: list[str] = []
    for start in range(0, len(names), _BATCH):
        words = ("rev-list", "--all", "--reflog", "--full-history", "--topo-order", "--")
        chosen = names[start : start + _BATCH]
        found += lines(tree.root, "--literal-pathspecs", *words, *chosen)
    return tuple(dict.fromkeys(found))


def blobs(tree: WorkTree, paths: Iterable[str], refs: Sequence[str]) -> tuple[Blob, ...]:
    """The blobs of paths, relative to the store, in refs; missing ones are left out."""
    wanted = [(path, ref) for ref in refs for path in dict.fromkeys(paths) if "\n" not in path]
    rows = "".join(f"{ref}:{tree.prefix}{path}\n" for path, ref in wanted)
    answer = _query(tree.root, "cat-file", "--batch-check", data=os.fsencode(rows)) or b""
    found = []
    for (path, ref), row in zip(wanted, _text(answer).split("\n"), strict=False):
        oid, _, rest = row.partition(" ")
        kind, _, size = rest.partition(" ")
        if kind == "blob" and int(size) <= _MAX_BLOB:
            found.append(Blob(path, ref, oid))
    return tuple(found)


def is_committed(root: Path, path: str) -> bool:
    """Whether HEAD or a remote branch, which other clones may have, contains a file of a store."""
    tree = work_tree(root)
    return tree is not None and bool(blobs(tree, [path], ("HEAD", *remote_branches(tree))))


def contents(tree: WorkTree, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of blobs by object id, without repeats; missing ones are left out."""
    names = list(dict.fromkeys(oids))
    for start in range(0, len(names), _BATCH):
        rows = "".join(f"{oid}\n" for oid in names[start : start + _BATCH])
        rest = _query(tree.root, "cat-file", "--batch", data=rows.encode()) or b""
        while rest:
            head, _, rest = rest.partition(b"\n")  # <oid> blob <size>
            words = head.split()
            if len(words) == 3:
                size = int(words[2])
                yield words[0].decode(), rest[:size]
                rest = rest[size + 1 :]


def lines(root: Path, *words: str) -> list[str]:
    """The lines that git prints; none if it fails, is missing or takes too long."""
    return _text(_query(root, *words) or b"").splitlines()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _query(root: Path, *words: str, data: bytes = b"") -> bytes | None:
    """What git prints; None if it fails, is missing or takes too long."""
    try:
        return run(root, *words, data=data, timeout=TIMEOUT)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def run(
    root: Path,
    *words: str,
    data: bytes = b"",
    timeout: float | None = None,
    settings: Sequence[str] = (),
) -> bytes:
    """Run git in a folder with ``data`` as input, without programs that the repository names.

    ``settings`` override those of the repository and of clsm.

    Raises:
        FileNotFoundError: There is no git.
        subprocess.SubprocessError: It failed, or took longer than ``timeout`` seconds.
    """
    program = _program(root)
    if program is None:
        raise FileNotFoundError("git")
    options = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(
        [program, "--no-pager", *options, *words],
        cwd=root,
        env=inherited | _ENVIRONMENT,
        input=data,
        capture_output=True,
        timeout=timeout,
        check=True,
    )
    return done.stdout


def _program(root: Path) -> str | None:
    """The path of git; None if it is in the memory folder, which PATH may contain."""
    found = shutil.which("git")
    path = None if found is None else Path(found).resolve()
    return None if path is None or path.is_relative_to(root.resolve()) else str(path)


def unmerged(tree: WorkTree) -> dict[str, tuple[int, ...]]:
    """Files of the store in conflict: path → versions (1 is the ancestor, 2 ours, 3 theirs)."""
    found: dict[str, tuple[int, ...]] = {}
    for row in sorted(_text(_query(tree.root, "ls-files", "-u", "-z") or b"").split("\0")):
        meta, tab, path = row.partition("\t")
        if tab:
            found[path] = (*found.get(path, ()), int(meta.split()[2]))
    return {path: tuple(sorted(versions)) for path, versions in sorted(found.items())}
