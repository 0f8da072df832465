"""Set up git for a store (merge rules, ignored files, settings of the clone), and commit and push it.

``.gitattributes`` (a merge keeps all lines of both sides, for readers to join) and ``.gitignore`` are
files of the store, so every clone has them. Settings in ``.git/config`` and ``.git/info/attributes``
belong to one clone: sync what git writes, merge when it pulls, and merge by ``clsm merge-driver``
(``store.joining``), which leaves no repeats. ``.git/info/attributes`` overrides ``.gitattributes``. A
clone without it merges by lines, as does this one if the driver fails.

A commit takes the files of the store alone, whatever the user has staged elsewhere. A repository whose
settings name a program that a commit or a push would run, such as a filter, gets neither; hooks do not
run (``git``).
"""

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
from clsm_cli.store import atomic, git
from clsm_cli.store.git import WorkTree
from clsm_cli.store.layout import GIT_ATTRIBUTES, GIT_IGNORED, TOPIC_STREAMS

_SETTINGS = {
    "core.fsync": "all",  # otherwise a power cut can make the repository unreadable
    "pull.rebase": "false",  # a rebase merges single commits, even those that a later one reverts
    "merge.clsm.name": "join of clsm records",
}
"""Settings of a clone, besides the driver's command."""
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
    """Missing lines of the store's files, settings of the clone, and lines of ``info/attributes``, by its path."""

    lines: dict[str, tuple[str, ...]]
    settings: tuple[str, ...]
    attributes: dict[Path, tuple[str, ...]]


def find_missing(root: Path) -> MissingSetup:
    """Find what is missing in a store, and in its clone if it has one."""
    wanted = ((".gitattributes", GIT_ATTRIBUTES), (".gitignore", GIT_IGNORED))
    lines = {n: missing for n, text in wanted if (missing := _missing_lines(root / n, text))}
    tree = git.work_tree(root)
    if tree is None:
        return MissingSetup(lines, (), {})
    current = git.settings(tree)
    wrong = [name for name, value in settings_of_clone().items() if current.get(name) != value]
    info = _info_file(tree)
    driven = "\n".join([_HEAD, *(f"{_pattern(tree.prefix, each)} merge=clsm" for each in _JOINED)])
    lacking = () if info is None else _missing_lines(info, driven)
    return MissingSetup(lines, tuple(sorted(wrong)), {info: lacking} if info and lacking else {})


def set_up(root: Path) -> MissingSetup:
    """Make a store a repository if it is in none, and complete both; returns what was missing.

    Idempotent. Runs nothing that the repository names.
    """
    if git.work_tree(root) is None:
        with _git_errors(root, "init"):
            git.run(root, "init", "--quiet", timeout=git.TIMEOUT)
    lack = find_missing(root)
    for name, missing in sorted(lack.lines.items()):
        atomic.put(root / name, _appended(root / name, missing))
    wanted = settings_of_clone()
    with _git_errors(root, "config"):
        for name in lack.settings:
            words = ("config", "--local", "--replace-all", name, wanted[name])
            git.run(root, *words, timeout=git.TIMEOUT)
    for info, missing in lack.attributes.items():
        atomic.put(info, _appended(info, missing))
    return lack


def settings_of_clone() -> dict[str, str]:
    """The settings of a clone; its merge driver uses this Python, and merges by lines if that fails.

    ``-P`` keeps Python from importing modules from the memory folder, where git starts it.
    """
    program = shlex.join([sys.executable, "-P", "-m", "clsm_cli", "merge-driver"])
    lines = "git merge-file -q --union %A %O %B"
    return {**_SETTINGS, DRIVER: f"{program} %O %A %B %P 2>/dev/null || {lines}"}


def _info_file(tree: git.WorkTree) -> Path | None:
    """``info/attributes`` of the repository; None if git fails or it is not a regular file."""
    path = git.path_of(tree, "info/attributes")
    try:
        return path if path is None or stat.S_ISREG(os.lstat(path).st_mode) else None
    except FileNotFoundError:
        return path
    except OSError:
        return None


def _pattern(prefix: str, pattern: str) -> str:
    r"""A pattern of gitattributes(5) below a folder, quoted if the folder's name requires it.

    >>> _pattern("my memory/", "tasks/*.md"), _pattern("", "tasks/*.md")
    ('"/my memory/tasks/*.md"', '/tasks/*.md')
    """
    literal = "".join(f"\\{char}" if char in "\\*?[" else char for char in prefix)
    if all(char.isalnum() or char in "/._-" for char in prefix):
        return f"/{prefix}{pattern}"
    quoted = literal.replace("\\", "\\\\").replace('"', '\\"')
    return f'"/{quoted}{pattern}"'


def _missing_lines(path: Path, wanted: str) -> tuple[str, ...]:
    """Lines that a file lacks; none if only comments are missing."""
    known = {line.strip() for line in _text(path).splitlines()}
    lines = [line for line in wanted.splitlines() if line not in known]
    return tuple(lines) if any(not line.startswith("#") for line in lines) else ()


def _appended(path: Path, lines: Iterable[str]) -> bytes:
    text = _text(path).rstrip("\n")
    body = "".join(f"{line}\n" for line in lines)
    return (f"{text}\n{body}" if text else body).encode("utf-8", "surrogateescape")


def _text(path: Path) -> str:
    return (atomic.read(path, MAX_FILE) or b"").decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _git_errors(root: Path, command: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise BadInputError("git", "is not installed", "install it or leave out --git") from None
    except (OSError, subprocess.SubprocessError) as error:
        output = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip()
        first = output.partition("\n")[0].strip()
        reason = f"git {command} failed: {first or error}"
        raise BadInputError(str(root), reason, f"try it by hand: git {command}") from None


_PUSH_TIMEOUT = 300.0
_FALLBACK_AUTHOR = ("user.name=clsm", "user.email=clsm@localhost")
# Settings by which a repository could name a program.
_NAMES_PROGRAM = re.compile(
    r"core\.(?:sshcommand|gitproxy)|credential\..*|remote\..*\.(?:receivepack|uploadpack|vcs)"
    r"|filter\..*\.(?:clean|smudge|process)"
)
_PROTOCOLS = tuple(f"protocol.{name}.allow=always" for name in ("file", "https", "ssh"))


def commit(root: Path, message: str) -> bool:
    """Commit all files of a store to its branch; whether anything had changed. Needs the lock.

    Raises:
        BadInputError: The store is in no repository, a merge is in progress, the repository names
            programs, or git failed.
    """
    tree = _checked_tree(root)
    if git.head(tree) is None:
        raise BadInputError(str(root), "no branch is checked out", "check one out: git switch NAME")
    if busy := git.in_progress(tree):
        raise BadInputError(str(root), f"git is in the middle of something ({busy})", "end that")
    author = () if git.lines(root, "config", "user.email") else _FALLBACK_AUTHOR
    words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message, "--", ".")
    with _git_errors(root, "commit"):
        git.run(root, "add", "--all", "--", ".")
        if not git.run(root, "diff", "--cached", "--name-only", "--no-ext-diff", "--", "."):
            return False
        git.run(root, *words, settings=author)
    return True


def push(root: Path) -> str:
    """Push the branch to its remote; returns the remote's name.

    Raises:
        BadInputError: There is no remote, the repository names programs, or git failed.
    """
    tree = _checked_tree(root)
    settings = git.settings(tree)
    branch = git.head(tree) or ""
    remotes = [*git.remotes(tree)]
    remote = settings.get(f"branch.{branch.lower()}.remote") or (remotes[0] if remotes else None)
    if not branch or remote not in remotes:
        next_step = "add one: git remote add NAME URL"
        raise BadInputError(str(root), "has no remote to push to", next_step)
    words = ("push", "--quiet", "--no-verify", "--no-signed", remote, f"HEAD:refs/heads/{branch}")
    allowed = [*_PROTOCOLS, *_credential_settings(root)]
    with _git_errors(root, "push"):
        git.run(root, *words, timeout=_PUSH_TIMEOUT, settings=allowed)
    return remote


def _checked_tree(root: Path) -> WorkTree:
    """The work tree of a store, if its repository names no program."""
    tree = git.work_tree(root)
    if tree is None:
        raise BadInputError(str(root), "lies in no git repository", "make it one: clsm init --git")
    programs = [name for name in git.settings(tree) if _NAMES_PROGRAM.fullmatch(name)]
    if programs:
        reason = f"the repository sets {programs[0]}, which could run anything"
        raise BadInputError(str(root), reason, "set that for yourself: git config --global")
    return tree


def _credential_settings(root: Path) -> Iterator[str]:
    """The user's global settings for authentication."""
    for name in ("credential.helper", "core.sshcommand"):
        rows = git.lines(root, "config", "--global", "--get-all", name)
        rows = rows or (["ssh"] if name == "core.sshcommand" else [])
        yield from (f"{name}={row}" for row in rows)
