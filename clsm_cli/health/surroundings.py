"""Check everything but the records: settings, plaintext secrets, index, model, disk, git.

A small index is compared with one built in memory from words. For a large one, only its integrity and
the digests of its files are checked; ``--rebuild`` rebuilds it. Git is checked only in a repository.
"""

import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from clsm_cli.config import MAX_FILE, MachineSettings, defaults, variable_of
from clsm_cli.embedding import weights
from clsm_cli.errors import (
    ClsmError,
    ModelDigestError,
    ModelMissingError,
    list_names,
)
from clsm_cli.health.findings import Finding, make_finding
from clsm_cli.health.store_snapshot import Snapshot
from clsm_cli.ingestion.turns import Masker, masked_turn, own_texts
from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.store import atomic, git, git_setup, joining
from clsm_cli.store.index import database
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.maintenance import differences
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.jsonlines import strings
from clsm_cli.store.layout import CONFIG_NAME, Store
from clsm_cli.text import secrets

_VARIABLES = frozenset({"CLSM_STORE", "CLSM_DEVICE", "CLSM_MODEL_DIR"})
"""Variables that clsm reads besides the machine's settings."""
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "ncpfs"}
    | {"coda", "davfs", "beegfs", "gfs2", "ocfs2"}
)


def check_settings(snapshot: Snapshot) -> Iterator[Finding]:
    """``clsm.yaml``."""
    store = snapshot.store
    for code, verb, names in (
        ("settings-ignored", "sets", store.misplaced),
        ("settings-unknown", "has", store.unknown),
    ):
        if names:
            yield make_finding(code, CONFIG_NAME, f"{verb} {', '.join(names)}")


def check_environment(snapshot: Snapshot) -> Iterator[Finding]:
    """Environment variables with unusable or unknown values."""
    variables = snapshot.around.variables
    known = _VARIABLES | {variable_of(name) for name in defaults(MachineSettings())}
    model = variables.get("CLSM_MODEL_DIR")
    if model and not os.path.isdir(os.path.expanduser(model)):
        yield make_finding("environment", "", f"CLSM_MODEL_DIR names no folder: {model}")
    for name in sorted(variables):
        if name.startswith("CLSM_") and name not in known:
            yield make_finding("environment", "", f"{name} is none that clsm reads")


def check_machine(snapshot: Snapshot) -> Iterator[Finding]:
    """The machine's settings."""
    if snapshot.around.fault:
        yield make_finding("machine-settings", "", snapshot.around.fault)


def check_model(snapshot: Snapshot) -> Iterator[Finding]:
    """The model's files, byte for byte."""
    folder = weights.default_folder()
    try:
        if snapshot.around.has_model:
            weights.verify(folder)
    except ModelMissingError:
        yield make_finding("model-missing", str(folder), "holds no model")
    except ModelDigestError as error:
        path = str(error).partition(": sha256")[0]
        yield make_finding("model-damaged", path, "is not the file that clsm was built for")
    except ClsmError as error:
        reason = str(error).removeprefix(str(folder)).lstrip(":, ").partition(";")[0]
        yield make_finding("model-damaged", str(folder), reason)


def check_disk(snapshot: Snapshot) -> Iterator[Finding]:
    """The store's file system, and whether it is writable."""
    root = snapshot.store.root
    if not os.access(root, os.W_OK):
        yield make_finding("read-only", "", "cannot be written to: nothing new is remembered")
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as table:
            kind = file_system_type(root.as_posix(), table.read())
    except OSError:
        return  # not Linux
    if kind in _NETWORK or (kind.startswith("fuse") and kind != "fuseblk"):
        reason = f"lies on a network or FUSE disk ({kind})"
        yield make_finding("network-file-system", "", reason)


def file_system_type(path: str, mounts: str) -> str:
    r"""The type of the file system that a path is on.

    ``mounts``: /proc/self/mounts (device, mount point, type); the longest mount point that contains
    the path counts, of equal ones the last.

    >>> file_system_type("/srv/memory", "/dev/a / ext4 rw 0 0\nbox:/x /srv nfs4 rw 0 0\n")
    'nfs4'
    """
    best, kind = -1, "unknown"
    for words in (line.split(" ") for line in mounts.splitlines()):
        if len(words) < 3:
            continue
        place = words[1].replace("\\040", " ").rstrip("/")
        if (path == place or path.startswith(f"{place}/")) and len(place) >= best:
            best, kind = len(place), words[2]
    return kind


def check_schedule(snapshot: Snapshot) -> Iterator[Finding]:
    """Nightly jobs whose program is missing, as after a Python upgrade."""
    for name, words in snapshot.around.jobs.items():
        for path in words[: words.index("schedule") if "schedule" in words else None]:
            if os.path.isabs(path) and not os.access(path, os.X_OK):
                reason = f"{name} starts {path}, which is not there"
                yield make_finding("schedule-broken", "", reason)


def check_secrets(snapshot: Snapshot) -> Iterator[Finding]:
    """Number and kinds of secrets in a file, never their text."""
    for path, kinds in _file_secrets(snapshot):
        if kinds:
            numbers = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            yield make_finding("secret-in-clear", secrets.mask_name(path).text, f"holds {numbers}")


def _file_secrets(snapshot: Snapshot) -> Iterator[tuple[str, Counter[str]]]:
    for path, episode in snapshot.episodes.items():
        if isinstance(episode, Episode):
            yield path, _turn_secrets((turn, episode.session) for turn in episode.turns)
    for path, box in snapshot.inboxes.items():
        yield path, _turn_secrets((item.turn, item.session) for item in box.turns)
    for path, shard in snapshot.shards.items():
        yield path, _text_secrets(text for each in shard.records for text in own_texts(each))
    for path, topic in snapshot.topics.items():
        yield path, _text_secrets(["\n".join(topic.lines)])
    for path, rows in snapshot.logs.items():
        if path.endswith("/review.jsonl"):
            yield path, _text_secrets(text for row in rows.mappings for text in strings(row))
    for file in snapshot.of_kind("quarantine"):
        with contextlib.suppress(ClsmError):  # other checks report unreadable files
            data = atomic.read(snapshot.store.root / file.path, MAX_FILE) or b""
            yield file.path, _text_secrets([data.decode("utf-8", "replace")])


def _turn_secrets(turns: Iterable[tuple[Turn, str]]) -> Counter[str]:
    mask = Masker()
    for turn, session in turns:
        masked_turn(turn, session, mask)
    return mask.counts


def _text_secrets(texts: Iterable[str]) -> Counter[str]:
    return sum((Counter(secrets.mask(text).counts) for text in texts), Counter())


MAX_COMPARED = 1500  # most passages of an index that is compared with a fresh one: about 1.5 s
_PATH = ".clsm/index/index.sqlite"


def check_index(snapshot: Snapshot) -> Iterator[Finding]:
    """The index: intact, built from the current files, with their content."""
    path = database.path_of(snapshot.store.derived)
    if not path.exists():
        yield make_finding("index-missing", _PATH, "is missing; the next command makes it")
        return
    try:
        connection = database.open_to_read(snapshot.store.derived)
        if connection is None:
            yield _unopened(path)
            return
        with contextlib.closing(connection):
            yield from _opened(snapshot, connection)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # from the schema, which is text
        yield make_finding("index-damaged", _PATH, f"cannot be read ({error})")


def _unopened(path: Path) -> Finding:
    """An index of another version is rebuilt by the next command; any other file is damaged."""
    with open(path, "rb") as file:
        head = file.read(64)
    version = int.from_bytes(head[60:64], "big")
    if head.startswith(b"SQLite format 3\0") and 0 < version < database.SCHEMA_VERSION:
        return make_finding("index-stale", _PATH, "was made by another version of clsm")
    return make_finding("index-damaged", _PATH, "is no index")


def _opened(snapshot: Snapshot, connection: sqlite3.Connection) -> Iterator[Finding]:
    ((result, *_), *_) = connection.execute("PRAGMA integrity_check(3)").fetchall()
    if result != "ok":
        reason = f"is damaged: {' '.join(str(result).split())[:120]}"
        yield make_finding("index-damaged", _PATH, reason)
        return
    stale = changes(connection, snapshot.store)
    if stale.any:
        names = sorted({*stale.changed, *stale.removed})
        yield make_finding("index-stale", _PATH, f"has not read {list_names(names)} yet")
    elif differs := _difference(snapshot, connection):
        yield make_finding("index-differs", _PATH, differs)
    vectors = VectorFiles(connection, snapshot.store.derived)
    count = len(vectors.find_damaged())
    if count or (vectors.engine is not None and not vectors.is_whole(vectors.engine)):
        reason = f"{count} texts have vectors that are not as they were written"
        yield make_finding("vectors-damaged", ".clsm/index", reason)
    elif waiting := vectors.waiting:
        yield make_finding("vectors-missing", _PATH, f"{waiting} texts have no vector yet")


def _difference(snapshot: Snapshot, connection: sqlite3.Connection) -> str:
    """How its files or, if it is small, its rows differ from fresh ones; "" for no difference."""
    known = dict(connection.execute("SELECT path, sha256 FROM files").fetchall())
    files = snapshot.files
    odd = sorted(p for p in known if p in files and files[p].sha256 not in (None, known[p]))
    if odd:
        return f"was made of other bytes of {list_names(odd)}"
    if connection.execute("SELECT COUNT(*) FROM passages").fetchone()[0] > MAX_COMPARED:
        return ""
    other = differences(snapshot.store, connection)
    return f"says otherwise: {list_names(other)}" if other else ""


def check_git(snapshot: Snapshot) -> Iterator[Finding]:
    """The repository, and conflict copies that wait to be joined."""
    store = snapshot.store
    yield from _copies(store)
    if (tree := git.work_tree(store.root)) is None:
        return
    yield from _unmerged(tree)
    lack = git_setup.find_missing(store.root)
    lines = [line for each in lack.lines.values() for line in each if not line.startswith("#")]
    attributes = ["info/attributes"] if lack.attributes else []
    if what := [*lines, *lack.settings, *attributes]:
        yield make_finding("git-setup", "", f"is not set up for a memory: lacks {list_names(what)}")


def _copies(store: Store) -> Iterator[Finding]:
    for copy in joining.find_copies(store):
        path = copy.path.relative_to(store.root).as_posix()
        reason = f"is another version of {copy.original.name}, left by a program that synchronises"
        if not copy.is_joinable:
            step = "take from it what is wanted, and delete it"
        elif copy.writer in (None, store.device):
            step = "nothing; the next clsm ingest or clsm consolidate joins the two"
        else:
            step = f"nothing; {copy.writer} joins the two at its next clsm ingest"
        yield make_finding("conflict-copy", path, reason, next_step=step)


def _unmerged(tree: git.WorkTree) -> Iterator[Finding]:
    for path, versions in git.unmerged(tree).items():
        name = quote(path)
        reason, step = "was changed on both sides", f"edit it, then: git add {name}"
        if versions in ((1, 2), (1, 3)):
            reason = "was changed on one side and deleted on the other"
            hidden = "(what was forgotten or moved to an episode stays out of sight)"
            step = f"keep it: git add {name} {hidden}, or: git rm {name}"
        elif len(versions) == 1:
            reason = "got two names: each side renamed it"
            step = f"keep what is there: git add -A {name}"
        yield make_finding("git-unmerged", path, reason, next_step=f"{step}, then: git commit")
