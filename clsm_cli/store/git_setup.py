"""Set git up for a store (merge rules, ignored files, settings of the clone), and commit and push it.

Two things every clone has, as they are files of the store: ``.gitattributes`` (every line of both
sides is kept; readers join them) and ``.gitignore``. The rest is of one clone alone, in
``.git/config`` and ``.git/info/attributes``, which git never copies: it syncs what it writes, merges
when it pulls, and lets ``clsm merge-driver`` join files (``store.joining``), so that nothing stands
there twice. ``.git/info/attributes`` goes before ``.gitattributes``; a clone without it merges by
lines, and so does this one where the driver cannot be started or cannot read a file.

``git add`` and ``git commit`` would run filters and hooks, and take along what the user has staged
elsewhere. So the files are put into an index of their own, and the branch is moved, if nobody moved
it in the meantime, by plumbing: git-hash-object(1), git-update-index(1), git-commit-tree(1).
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, git, runs
from clsm_cli.store.git import WorkTree
from clsm_cli.store.layout import GIT_ATTRIBUTES, GIT_IGNORED, TOPIC_STREAMS

SETTINGS = {
    "core.fsync": "all",  # else a power cut can leave a repository that nobody can read
    "pull.rebase": "false",  # a rebase merges commit by commit, also what a later one took back
    "merge.clsm.name": "join of clsm records",
}
"""Settings of a clone; beside them stands the driver's command."""
DRIVER = "merge.clsm.driver"
_JOINED = (
    *(f"{stream}/*.md" for stream in TOPIC_STREAMS),
    *(f"{stream}/graph/*.yaml" for stream in TOPIC_STREAMS),
    "flow/*/graph/*.yaml",
    "archive/**/*.yaml",
    "flow/**/*.jsonl",
    "tombstones/*.jsonl",
)
_HEAD = "# Joined by id, see: clsm init --git"


class MissingSetup(NamedTuple):
    """What of all this is not there: lines of files of the store and of ``info/attributes``, settings."""

    lines: dict[str, tuple[str, ...]]
    settings: tuple[str, ...]
    attributes: tuple[str, ...]

    @property
    def of_clone(self) -> tuple[str, ...]:
        """Names of what the clone alone lacks."""
        return (*self.settings, *(["info/attributes"] if self.attributes else []))


def find_missing(root: Path) -> MissingSetup:
    """Compare a store, and the clone it lies in, with what it needs; without a clone the files alone."""
    wanted = ((".gitattributes", GIT_ATTRIBUTES), (".gitignore", GIT_IGNORED))
    lines = {name: missing for name, text in wanted if (missing := _missing(root / name, text))}
    tree = git.work_tree(root)
    if tree is None:
        return MissingSetup(lines, (), ())
    there = git.settings(tree)
    wrong = [name for name, value in settings_of_clone().items() if there.get(name) != value]
    info = info_file(tree)
    short = () if info is None else _missing(info, _driven(tree.prefix))
    return MissingSetup(lines, tuple(sorted(wrong)), short)


def plan_files(root: Path, lack: MissingSetup) -> list[runs.Write]:
    """Writes that complete the files of the store; what stands there stays."""
    paths = {root / name: lines for name, lines in sorted(lack.lines.items())}
    return [runs.Put(p, _with(p, lines), atomic.digest_of(p)) for p, lines in paths.items()]


def set_up(root: Path) -> MissingSetup:
    """Make a store a repository if it lies in none, and give both what they lack; returns that.

    Done twice, it changes nothing the second time. Nothing that the repository names is run.
    """
    if git.work_tree(root) is None:
        with _failures(root, "init"):
            git.run(root, "init", "--quiet", seconds=git.SECONDS)
    lack = find_missing(root)
    for name, missing in sorted(lack.lines.items()):
        atomic.put(root / name, _with(root / name, missing))
    configure_clone(root, lack)
    return lack


def configure_clone(root: Path, lack: MissingSetup) -> None:
    """Write down in the clone what was found missing there."""
    wanted = settings_of_clone()
    with _failures(root, "config"):
        for name in lack.settings:
            words = ("config", "--local", "--replace-all", name, wanted[name])
            git.run(root, *words, seconds=git.SECONDS)
    tree = git.work_tree(root)
    info = None if tree is None else info_file(tree)
    if lack.attributes and info is not None:
        atomic.put(info, _with(info, lack.attributes))


def settings_of_clone() -> dict[str, str]:
    """The settings of a clone with the driver's command: this very Python, and lines where it fails.

    ``-P`` keeps Python from looking for modules in the memory folder, where git starts it.
    """
    program = shlex.join([sys.executable, "-P", "-m", "clsm_cli", "merge-driver"])
    lines = "git merge-file -q --union %A %O %B"
    return {**SETTINGS, DRIVER: f"{program} %O %A %B %P 2>/dev/null || {lines}"}


def info_file(tree: git.WorkTree) -> Path | None:
    """``info/attributes`` of the repository; None where git cannot say, or it is no plain file."""
    path = git.path_of(tree, "info/attributes")
    try:
        return path if path is None or stat.S_ISREG(os.lstat(path).st_mode) else None
    except FileNotFoundError:
        return path
    except OSError:
        return None


def _driven(prefix: str) -> str:
    """The lines of ``info/attributes`` for a store in a folder of the work tree."""
    lines = [f"{_pattern(prefix, each)} merge=clsm" for each in _JOINED]
    return "\n".join([_HEAD, *lines]) + "\n"


def _pattern(prefix: str, pattern: str) -> str:
    r"""A pattern of gitattributes(5) below a folder, quoted where the folder's name needs it.

    >>> _pattern("my memory/", "tasks/*.md"), _pattern("", "tasks/*.md")
    ('"/my memory/tasks/*.md"', '/tasks/*.md')
    """
    literal = "".join(f"\\{char}" if char in "\\*?[" else char for char in prefix)
    if all(char.isalnum() or char in "/._-" for char in prefix):
        return f"/{prefix}{pattern}"
    quoted = literal.replace("\\", "\\\\").replace('"', '\\"')
    return f'"/{quoted}{pattern}"'


def _missing(path: Path, wanted: str) -> tuple[str, ...]:
    """Lines that a file lacks; a comment goes with what it is of."""
    known = {line.strip() for line in _text(path).splitlines()}
    lines = [line for line in wanted.splitlines() if line not in known]
    return tuple(lines) if any(not line.startswith("#") for line in lines) else ()


def _with(path: Path, lines: Iterable[str]) -> bytes:
    text = _text(path).rstrip("\n")
    body = "".join(f"{line}\n" for line in lines)
    return (f"{text}\n{body}" if text else body).encode("utf-8", "surrogateescape")


def _text(path: Path) -> str:
    return (atomic.read(path, MAX_FILE) or b"").decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _failures(root: Path, what: str) -> Iterator[None]:
    """Say why git does not do something."""
    try:
        yield
    except FileNotFoundError:
        raise BadInputError("git", "is not installed", "install it or leave out --git") from None
    except (OSError, subprocess.SubprocessError) as error:
        told = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip()
        first = told.partition("\n")[0].strip()
        reason = f"git {what} failed: {first or error}"
        raise BadInputError(str(root), reason, f"try it by hand: git {what}") from None


_SECONDS = 300.0
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_NOBODY = ("user.name=clsm", "user.email=clsm@localhost")
_GONE = b"0 0000000000000000000000000000000000000000\t"
# Settings by which a repository, which may come from anywhere, could name a program.
_NAMES_PROGRAM = re.compile(
    r"core\.(?:sshcommand|gitproxy)|credential\..*|remote\..*\.(?:receivepack|uploadpack|vcs)"
)
_PROTOCOLS = tuple(f"protocol.{name}.allow=always" for name in ("file", "https", "ssh"))


def commit(root: Path, message: str) -> bool:
    """Commit all files of a store on its branch, under the lock; whether there was something.

    Raises:
        BadInputError: It lies in no repository, a merge is under way, or git failed.
    """
    tree = _tree(root)
    branch = git.head(tree)
    if branch is None:
        raise BadInputError(str(root), "no branch is checked out", "check one out: git switch NAME")
    for name in _UNDER_WAY:
        path = git.path_of(tree, name)
        if path is not None and path.exists():
            raise BadInputError(
                str(root), f"git is in the middle of something ({name})", "end that"
            )
    with _failures(root, "commit"):
        return _commit(tree, branch, message)


def push(root: Path) -> str:
    """Push the branch to its remote; the name of the remote.

    Raises:
        BadInputError: There is no remote, the repository names programs, or git failed.
    """
    tree = _tree(root)
    settings = git.settings(tree)
    branch = git.head(tree) or ""
    remotes = [*git.remotes(tree)]
    remote = settings.get(f"branch.{branch.lower()}.remote") or (remotes[0] if remotes else None)
    if not branch or remote not in remotes:
        raise BadInputError(
            str(root), "has no remote to push to", "add one: git remote add NAME URL"
        )
    named = [name for name in settings if _NAMES_PROGRAM.fullmatch(name)]
    if named:
        reason = f"the repository sets {named[0]}, which could run anything"
        raise BadInputError(str(root), reason, "set that for yourself: git config --global")
    words = ("push", "--quiet", "--no-verify", "--no-signed", remote, f"HEAD:refs/heads/{branch}")
    with _failures(root, "push"):
        git.run(root, *words, seconds=_SECONDS, more=[*_PROTOCOLS, *_users_own(root)])
    return remote


def _tree(root: Path) -> WorkTree:
    tree = git.work_tree(root)
    if tree is None:
        raise BadInputError(str(root), "lies in no git repository", "make it one: clsm init --git")
    return tree


def _commit(tree: WorkTree, branch: str, message: str) -> bool:
    root, ref = tree.root, f"refs/heads/{branch}"
    own = git.path_of(tree, "clsm-index")
    if own is None:
        raise FileNotFoundError("git")
    parent = "".join(git.lines(root, "rev-parse", "--verify", "--quiet", ref))
    rows = b"".join(_rows(tree))
    try:
        git.run(root, "read-tree", *([parent] if parent else ["--empty"]), index=own)
        git.run(root, "update-index", "-z", "--index-info", data=rows, index=own)
        written = git.run(root, "write-tree", index=own).decode().strip()
    finally:
        own.unlink(missing_ok=True)
    if parent and git.lines(root, "rev-parse", f"{parent}^{{tree}}") == [written]:
        return False
    known = git.lines(root, "config", "user.email")
    done = git.run(
        *(root, "commit-tree", "--no-gpg-sign", "-m", message),
        *(["-p", parent] if parent else []),
        written,
        more=() if known else _NOBODY,
    )
    git.run(root, "update-ref", "-m", message, ref, done.decode().strip(), parent or "0" * 40)
    git.run(root, "update-index", "-z", "--index-info", data=rows)  # the user's own follows
    return True


def _rows(tree: WorkTree) -> Iterator[bytes]:
    """What the index is to hold of the store: mode, name of the content, path in the work tree."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    names = git.run(tree.root, *words).split(b"\0")
    paths = {name: tree.root / os.fsdecode(name) for name in names if name}
    there = [n for n, p in paths.items() if b"\n" not in n and p.is_file() and not p.is_symlink()]
    prefix = os.fsencode(tree.prefix)
    asked = b"".join(prefix + name + b"\n" for name in there)  # from the top of the work tree
    hashing = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    oids = git.run(tree.root, *hashing, data=asked).split()
    for name, oid in zip(there, oids, strict=True):
        yield b"100644 " + oid + b"\t" + prefix + name + b"\0"
    for name, path in paths.items():
        if not os.path.lexists(path):
            yield _GONE + prefix + name + b"\0"


def _users_own(root: Path) -> Iterator[str]:
    """What the user has set for all repositories: how to be let in."""
    for name in ("credential.helper", "core.sshcommand"):
        rows = git.lines(root, "config", "--global", "--get-all", name)
        rows = rows or (["ssh"] if name == "core.sshcommand" else [])
        yield from (f"{name}={row}" for row in rows)
