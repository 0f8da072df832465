"""Rewrite git history without what was forgotten: ``clsm forget --purge-history``.

Every commit is written anew without the lines that tell of it, by git-filter-repo, into a
repository of its own; only when that has succeeded are the branches and tags moved there, all at
once, and what nothing names any more is thrown away. The working tree is not touched. What was
pushed before is out of reach: the receipt names the remotes.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError, DiskError, RefusedError
from clsm_cli.extras import how_to_get
from clsm_cli.forgetting.clean_writing import CleanWrites, has_trace
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import git, logs

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store

_OPTION = "--purge-history"
_MADE = re.compile(rb"(?<![a-z0-9-])(?:[a-z]+-)?[0-9a-f]{12}(?![0-9a-f])")
"""Ids that clsm makes: no word of prose is one."""
_QUOTED = re.compile(rb'"([a-z0-9][a-z0-9_-]{0,79})"')
_RECORD = (b"- {", b"{")
_KEPT = "refs/clsm/"
"""Where the new commits lie until the branches are moved."""
_IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply")


class RewrittenHistory(NamedTuple):
    """How many commits the past has now, and how many of them were written anew."""

    commits: int
    rewritten: int


def check_repository(store: Store) -> git.WorkTree:
    """The repository whose past can be rewritten.

    Raises:
        BadInputError: There is none, or git-filter-repo is missing.
        RefusedError: Something is going on in it that would be lost.
    """
    try:
        import git_filter_repo  # noqa: F401
    except ImportError:
        raise BadInputError(
            _OPTION, "needs git-filter-repo", f"install it with: {how_to_get('history')}"
        ) from None
    tree = git.work_tree(store.root)
    if tree is None:
        raise BadInputError(_OPTION, f"{store.root} is in no git repository", "leave it out")
    folder = _folder(tree)
    busy = [name for name in _IN_PROGRESS if (folder / name).exists()]
    stashes = _lines(tree, "rev-list", "--walk-reflogs", "--count", "refs/stash", "--")
    count = int(stashes[0]) if stashes else 0
    trees = _lines(tree, "worktree", "list", "--porcelain", "-z")[0].split("\0\0")
    for is_so, reason, next_step in (
        (busy, f"has a {''.join(busy[:1])}", "end or abort that first"),
        ((folder / "shallow").exists(), "is a shallow clone", "fetch its whole past first"),
        (count > 1, f"holds {count} stashes, and only the last can be kept", "pop or drop them"),
        (len(trees) > 2, "has several work trees", "remove the others first"),
    ):
        if is_so:
            raise RefusedError(str(folder), reason, next_step)
    return tree


def purge(store: Store, tree: git.WorkTree, writes: CleanWrites | None = None) -> RewrittenHistory:
    """Write every commit anew without what tells of all that was ever forgotten.

    What is taken out now, by its ``writes``, is known by its texts too.

    Raises:
        DiskError: git failed; the past is as it was, or as it is to be with some of the old
            commits still lying about.
    """
    before = set(_lines(tree, "rev-list", "--all"))
    if not before:
        return RewrittenHistory(0, 0)
    try:
        with tempfile.TemporaryDirectory(prefix="clsm-past-", ignore_cleanup_errors=True) as made:
            git.run(store.root, "init", "--quiet", "--bare", made)
            cleaner = _Cleaner(logs.load_tombstones(store), writes or CleanWrites())
            _filter(tree, Path(made), cleaner)
            _take_over(tree, made)
        after = set(_lines(tree, "rev-list", "--all"))
        _sweep(tree)
    except (OSError, subprocess.SubprocessError, SystemExit) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        reason = " ".join(said.decode("utf-8", "replace").split())
        raise DiskError(_folder(tree), f"git could not rewrite the past ({reason})") from error
    return RewrittenHistory(len(after), len(after - before))


class _Cleaner:
    """Takes what tells out of files."""

    def __init__(self, tombstones: frozenset[str], writes: CleanWrites) -> None:
        self._tombstones = tombstones
        self._writes = writes
        self._ids = {each.encode() for each in writes.gone}
        self._files = {each.encode() for each in (*writes.removes, *writes.names)}
        self._known: dict[bytes, bool] = {}

    def is_gone(self, name: bytes) -> bool:
        """Whether something is the id of what was forgotten."""
        if name not in self._known:
            hashed = tombstone_hash(name.decode()) in self._tombstones
            self._known[name] = hashed or name in self._ids
        return self._known[name]

    def names(self, line: bytes) -> bool:
        """Whether a line names it: as an id that clsm makes, or as a value or file of a record."""
        if any(map(self.is_gone, _MADE.findall(line))):
            return True
        if not line.startswith(_RECORD):
            return False
        quoted = any(map(self.is_gone, _QUOTED.findall(line)))
        return quoted or any(name in line for name in self._files)

    def without(self, data: bytes) -> bytes:
        r"""A file without its lines that name or quote it.

        >>> writes = CleanWrites(gone=frozenset({"f-0123456789ab"}), texts=("The gate code is 4711.",))
        >>> _Cleaner(frozenset(), writes).without(b"a\n- Old.  ^f-0123456789ab\nThe gate code is 4711.\nb\n")
        b'a\nb\n'
        """
        lines = data.split(b"\n")
        kept = [
            line
            for line in lines
            if not (self.names(line) or has_trace(line, frozenset(), self._writes.texts))
        ]
        return data if len(kept) == len(lines) else b"\n".join(kept)

    def is_whole(self, path: str, data: bytes) -> bool:
        """Whether a file goes whole: it went, or it is the episode of what went."""
        name = path.rpartition("/")[2]
        if path in self._writes.removes or name in self._writes.names:
            return True
        return "/episodes/" in path and any(map(self.is_gone, _MADE.findall(data)))


def _filter(tree: git.WorkTree, made: Path, cleaner: _Cleaner) -> None:
    """git-filter-repo from the repository into an empty one."""
    import git_filter_repo as filter_repo

    prefix = tree.prefix.encode()
    cleaned: dict[int, int] = {}  # blob → the one to take its place
    episodes: set[int] = set()

    def on_blob(blob: Any, _: Any) -> None:
        left = cleaner.without(blob.data)
        if cleaner.is_whole("/episodes/", blob.data):
            episodes.add(blob.id)
        if left != blob.data:
            other = filter_repo.Blob(left)
            running.insert(other)
            cleaned[blob.id] = other.id

    def on_commit(commit: Any, _: Any) -> None:
        commit.file_changes = [each for each in commit.file_changes if stays(each)]
        for change in commit.file_changes:
            if change.filename.startswith(prefix):
                change.blob_id = cleaned.get(change.blob_id, change.blob_id)

    def stays(change: Any) -> bool:
        if change.type != b"M" or not change.filename.startswith(prefix):
            return True
        path = os.fsdecode(change.filename[len(prefix) :])
        is_episode = "/episodes/" in path and change.blob_id in episodes
        return not (is_episode or cleaner.is_whole(path, b""))

    words = ["--source", str(tree.top), "--target", str(made), "--force", "--quiet"]
    words += ["--prune-empty", "never", "--prune-degenerate", "never", "--no-gc"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        options = filter_repo.FilteringOptions.parse_args(words)
        running = filter_repo.RepoFilter(
            options,
            blob_callback=on_blob,
            commit_callback=on_commit,
            message_callback=lambda text: cleaner.without(text) or b"Memory\n",
        )
        running.run()


def _take_over(tree: git.WorkTree, made: str) -> None:
    """Move branches, tags and the stash to the new commits, all at once; the index follows HEAD."""
    refs = ("heads", "tags", "stash")
    git.run(
        tree.top,
        *("-c", "protocol.file.allow=always"),
        *("fetch", "--quiet", "--no-write-fetch-head", made, f"+refs/*:{_KEPT}*"),
    )
    rows = []
    for kept in _lines(tree, "for-each-ref", "--format=%(refname)", _KEPT):
        name = kept.removeprefix(_KEPT)
        if name.split("/")[0] in refs:
            rows.append(f"update refs/{name} {kept}")
        rows.append(f"delete {kept}")
    rows += [f"delete {each}" for each in git.remote_branches(tree)]
    git.run(tree.top, "update-ref", "--stdin", "--no-deref", data="\n".join([*rows, ""]).encode())
    git.run(tree.top, "read-tree", "HEAD")


def _sweep(tree: git.WorkTree) -> None:
    """Throw away what no branch or tag names any more."""
    for name in ("ORIG_HEAD", "FETCH_HEAD"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_folder(tree) / name)
    git.run(tree.top, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    git.run(tree.top, "gc", "--quiet", "--prune=now")


def _folder(tree: git.WorkTree) -> Path:
    return Path(_lines(tree, "rev-parse", "--absolute-git-dir")[0])


def _lines(tree: git.WorkTree, *words: str) -> list[str]:
    try:
        return git.run(tree.top, *words).decode("utf-8", "surrogateescape").splitlines()
    except subprocess.CalledProcessError:
        return []
