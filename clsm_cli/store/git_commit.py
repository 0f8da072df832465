"""A commit of the store as it is, and its way to a remote; nothing that the repository names is run.

``git add`` and ``git commit`` would run filters and hooks, and take along what the user has staged
elsewhere. So the files are put into an index of their own, and the branch is moved, if nobody moved
it in the meantime, by plumbing: git-hash-object(1), git-update-index(1), git-commit-tree(1).
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.store import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.store.git import WorkTree

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
    """Commit all files of a store on the branch that is checked out; whether there was something.

    The caller holds the lock.

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
    try:
        return _commit(tree, branch, message)
    except (OSError, subprocess.SubprocessError) as error:
        raise _failed(root, "commit", error) from None


def push(root: Path) -> str:
    """Push the branch to its remote; the name of the remote.

    Raises:
        BadInputError: There is no remote, the repository names programs, or git failed.
    """
    tree = _tree(root)
    settings = git.settings(tree)
    branch = git.head(tree) or ""
    remotes = [remote.name for remote in git.remotes(tree)]
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
    try:
        git.run(root, *words, seconds=_SECONDS, more=[*_PROTOCOLS, *_users_own(root)])
    except (OSError, subprocess.SubprocessError) as error:
        raise _failed(root, "push", error) from None
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
    parent = _word(root, "rev-parse", "--verify", "--quiet", ref, may_fail=True)
    rows = b"".join(_rows(tree))
    try:
        git.run(root, "read-tree", *([parent] if parent else ["--empty"]), index=own)
        git.run(root, "update-index", "-z", "--index-info", data=rows, index=own)
        written = git.run(root, "write-tree", index=own).decode().strip()
    finally:
        own.unlink(missing_ok=True)
    if parent and written == _word(root, "rev-parse", f"{parent}^{{tree}}"):
        return False
    known = _word(root, "config", "user.email", may_fail=True)
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
    names = list(dict.fromkeys(git.run(tree.root, *words).split(b"\0")))
    there = [n for n in names if n and b"\n" not in n and _is_file(tree.root / os.fsdecode(n))]
    prefix = os.fsencode(tree.prefix)
    asked = b"".join(prefix + name + b"\n" for name in there)  # from the top of the work tree
    hashing = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    oids = git.run(tree.root, *hashing, data=asked).split()
    for name, oid in zip(there, oids, strict=True):
        yield b"100644 " + oid + b"\t" + prefix + name + b"\0"
    for name in set(names) - set(there) - {b""}:
        if not os.path.lexists(tree.root / os.fsdecode(name)):
            yield _GONE + prefix + name + b"\0"


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _users_own(root: Path) -> Iterator[str]:
    """What the user has set for all repositories: how to be let in."""
    for name in ("credential.helper", "core.sshcommand"):
        rows = _word(root, "config", "--global", "--get-all", name, may_fail=True).splitlines()
        rows = rows or (["ssh"] if name == "core.sshcommand" else [])
        yield from (f"{name}={row}" for row in rows)


def _word(root: Path, *words: str, may_fail: bool = False) -> str:
    try:
        return git.run(root, *words).decode().strip()
    except subprocess.CalledProcessError:
        if may_fail:
            return ""
        raise


def _failed(root: Path, what: str, error: OSError | subprocess.SubprocessError) -> BadInputError:
    told = getattr(error, "stderr", b"") or b""
    lines = [line.strip() for line in told.decode(errors="replace").splitlines() if line.strip()]
    reason = lines[0] if lines else str(error)
    return BadInputError(str(root), f"git {what} failed: {reason}", f"try it by hand: git {what}")
