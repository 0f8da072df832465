"""A snapshot of a store: every file read once, without the lock, for all checks.

Nothing here raises on bad content. A failure is a value (``File.error``, a problem of a shard, an
error in place of an episode), so one bad file does not hide the others.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import ClsmError, DamagedStoreError
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Episode
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episode_files, inbox, ledger, logs, shards, topics
from clsm_cli.store.file_kinds import Kind, kind_of
from clsm_cli.store.front_matter import MAX_FRONT_MATTER
from clsm_cli.store.inbox import Inbox
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import Rows
from clsm_cli.store.shards import Shard
from clsm_cli.store.topics import Topic

LIMITS: dict[Kind, int] = {
    "settings": MAX_FRONT_MATTER,
    "topic": MAX_FILE,
    "shard": MAX_FILE,
    "episode": episode_files.MAX_EPISODE,
    "inbox": logs.MAX_LOG,
    "log": logs.MAX_LOG,
    "tombstones": logs.MAX_LOG,
}
"""Maximum bytes of each kind."""
_MARKER = re.compile(rb"^(?:<{7}|\|{7}|>{7})(?: .*)?\r?$|^={7}\r?$", re.MULTILINE)
_HEADING = re.compile(rb"^### .*\^([0-9a-f]{12})\r?$", re.MULTILINE)


class File(NamedTuple):
    """A file, or a link, device or socket."""

    path: str  # relative to the store, with slashes
    kind: Kind
    mode: int  # ``st_mode`` with the type, from lstat
    owner: int
    size: int
    sha256: str | None = None  # None if it was not read
    nul: int | None = None  # line of its first NUL byte
    broken: int | None = None  # line of its first invalid UTF-8 byte
    markers: tuple[int, ...] = ()  # lines with git conflict markers
    torn: int | None = None  # its last line, if no newline ends it
    error: str | None = None

    @property
    def is_regular(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)


class CheckContext(NamedTuple):
    """What checks know besides the store.

    ``fault``: why the machine's settings cannot be used. Hashing the model takes 0.1 s.
    """

    now: datetime
    variables: Mapping[str, str]
    has_model: bool = True
    jobs: Mapping[str, Sequence[str]] = MappingProxyType({})
    fault: str = ""


@dataclass(slots=True)
class Snapshot:
    """A store as it was read; mappings are keyed by path relative to the store.

    Attributes:
        files: Everything but folders; ``folders``: path → mode and owner.
        episodes: The episode, or why its file cannot be read.
        headings: Keys in the headings of an episode file, in order.
    """

    store: Store
    around: CheckContext
    files: dict[str, File] = field(default_factory=dict)
    folders: dict[str, tuple[int, int]] = field(default_factory=dict)
    shards: dict[str, Shard] = field(default_factory=dict)
    episodes: dict[str, Episode | DamagedStoreError] = field(default_factory=dict)
    headings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    inboxes: dict[str, Inbox] = field(default_factory=dict)
    logs: dict[str, Rows] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()  # hashes of ids with a tombstone
    episode_ids: frozenset[str] = frozenset()
    records: dict[str, Record] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    """Id of a record → a shard that holds it."""
    turns: set[str] = field(default_factory=set)
    """Keys of the turns of episodes and inboxes, including forgotten ones."""

    def of_kind(self, *kinds: Kind) -> Iterator[File]:
        """Files of some kinds."""
        return (file for file in self.files.values() if file.kind in kinds)

    @property
    def ledgers(self) -> dict[str, Rows]:
        """The ledgers of all machines."""
        return {path: rows for path, rows in self.logs.items() if path.endswith(ledger.FILE)}

    def is_gone(self, record_id: str) -> bool:
        """Whether an id has a tombstone."""
        return logs.is_forgotten(record_id, self.forgotten)


def take_snapshot(store: Store, around: CheckContext) -> Snapshot:
    """Read every file of a store whose path has a known kind."""
    snapshot = Snapshot(store, around)
    _walk(snapshot, store.root, "")
    for path, file in sorted(snapshot.files.items()):
        if file.kind in LIMITS and file.is_regular:
            snapshot.files[path] = _read(snapshot, file)
    snapshot.forgotten = logs.load_tombstones(store)
    snapshot.records = shards.fold(snapshot.shards.values(), snapshot.forgotten).records
    for path, shard in reversed(snapshot.shards.items()):
        snapshot.where |= {record.id: path for record in shard.records}
    for box in snapshot.inboxes.values():
        snapshot.turns.update(item.turn.key for item in box.turns)
    found = [each for each in snapshot.episodes.values() if isinstance(each, Episode)]
    snapshot.episode_ids = frozenset(episode.id for episode in found)
    snapshot.turns.update(turn.key for episode in found for turn in episode.turns)
    return snapshot


def _walk(snapshot: Snapshot, folder: Path, inside: str) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # ``check_modes`` reports it
    for entry in entries:
        path = f"{inside}{entry.name}"
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:  # removed meanwhile
            continue
        if not entry.is_dir(follow_symlinks=False):
            name = path.encode(errors="surrogateescape").decode(errors="replace")
            about = (found.st_mode, found.st_uid, found.st_size)
            snapshot.files[path] = File(path, kind_of(name), *about)
        elif path != ".git":  # git checks its own files
            snapshot.folders[path] = (found.st_mode, found.st_uid)
            _walk(snapshot, Path(entry.path), f"{path}/")


def _read(snapshot: Snapshot, file: File) -> File:
    """Fill in the fields that need the file's bytes, and parse its content into ``snapshot``."""
    path = snapshot.store.root / file.path
    try:
        data = atomic.read(path, LIMITS[file.kind])
        if data is None:
            return file
        _parse(snapshot, file, data)
    except DamagedStoreError as error:
        return file._replace(error=error.reason)
    except ClsmError as error:
        return file._replace(error=str(error).removeprefix(f"{path}: ").partition(";")[0])
    is_torn = data and not data.endswith(b"\n")
    return file._replace(
        size=len(data),
        sha256=atomic.sha256(data),
        nul=_line(data, data.index(0)) if 0 in data else None,
        broken=_broken(data),
        markers=tuple(_line(data, each.start()) for each in _MARKER.finditer(data)),
        torn=_line(data, len(data)) if is_torn else None,
    )


def _parse(snapshot: Snapshot, file: File, data: bytes) -> None:
    path = snapshot.store.root / file.path
    if file.kind == "shard":
        snapshot.shards[file.path] = shards.parse(data, path)
    elif file.kind == "topic":
        snapshot.topics[file.path] = topics.parse(data, path)
    elif file.kind == "inbox":
        snapshot.inboxes[file.path] = inbox.read(path)
    elif file.kind in ("log", "tombstones"):
        snapshot.logs[file.path] = logs.rows(path)
    elif file.kind == "episode":
        snapshot.headings[file.path] = tuple(m.group(1).decode() for m in _HEADING.finditer(data))
        try:
            snapshot.episodes[file.path] = episode_files.parse(data, path)
        except DamagedStoreError as error:
            snapshot.episodes[file.path] = error


def _line(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


def _broken(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return _line(data, error.start)
    return None


def is_shared(path: str) -> bool:
    """Whether recalls append to a log without the lock; such a log is never rewritten."""
    return path.endswith("/activation.jsonl")
