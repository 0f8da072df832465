"""The layout of a memory folder: paths, creation, discovery, settings."""

from __future__ import annotations

import errno
import os
import re
from datetime import tzinfo
from functools import cache
from pathlib import Path
from typing import Any

from clsm_cli.config import FORMAT_VERSION, Settings, defaults, of_machine, with_changes
from clsm_cli.errors import (
    BadInputError,
    DamagedStoreError,
    DiskError,
    NewerFormatError,
    StoreNotFoundError,
)
from clsm_cli.model.ids import digest
from clsm_cli.model.streams import STREAMS, Stream
from clsm_cli.startup.records import NamedTuple
from clsm_cli.startup.zones import is_zone, zone_of
from clsm_cli.store import atomic, front_matter
from clsm_cli.store.device import device_name, machine_id
from clsm_cli.store.jsonlines import dump

CONFIG_NAME = "clsm.yaml"
_FOLDERS = frozenset({*STREAMS, ".clsm", "archive", "quarantine", "tombstones"})
"""Folders at the top of a store."""
SIDE_MARK = "~"
"""Marks the name of an inbox file that was written without the lock (``inbox.write_side_file``)."""
SHARD_NAME = r"[0-9a-f]{1,2}\.yaml"
"""Pattern of the name of a graph shard."""
TOPIC_STREAMS: tuple[Stream, ...] = ("identity", "projects", "tasks")
"""The streams with statements in Markdown; ``flow`` has episodes."""

GIT_ATTRIBUTES = """\
# Records are joined by id when read, so every line of both sides is kept.
*.yaml merge=union
*.jsonl merge=union
identity/*.md merge=union
projects/*.md merge=union
tasks/*.md merge=union
clsm.yaml -merge
"""
"""``.gitattributes`` of a store."""
GIT_IGNORED = "# Derived, or of this machine only.\n.clsm/\n.tmp-*\n"
"""``.gitignore`` of a store."""
_HEADER = (
    "# clsm memory store; see docs/format.md. Settings that differ from the defaults go below.\n"
)
_KEYS = ("format", "store", "time_zone", "settings")


class Store(NamedTuple):
    """An opened store.

    ``misplaced`` and ``unknown`` name ignored settings of ``clsm.yaml``: those that only a machine may
    set, and those of another version or misspelt.
    """

    root: Path
    store_id: str
    zone_name: str
    settings: Settings
    device: str
    misplaced: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def zone(self) -> tzinfo:
        """The time zone of source times without a zone."""
        return zone_of(self.zone_name)

    @property
    def flow(self) -> Path:
        """This machine's folder of the stream ``flow``."""
        return self.root / "flow" / self.device

    @property
    def inbox(self) -> Path:
        """Captured turns of open episodes."""
        return self.flow / "inbox"

    @property
    def derived(self) -> Path:
        """The folder of derived data, which may be deleted at any time, and of what undo needs."""
        return self.root / ".clsm"

    @property
    def quarantine(self) -> Path:
        """The folder for copies of unreadable data."""
        return self.root / "quarantine"

    def graph(self, stream: Stream) -> Path:
        """The folder of a stream's graph shards that this machine writes."""
        return (self.flow if stream == "flow" else self.root / stream) / "graph"

    def graphs(self) -> list[Path]:
        """The folders of graph shards of all machines, in a fixed order."""
        folders = [self.root / stream / "graph" for stream in TOPIC_STREAMS]
        return _without_links([*folders, *(flow / "graph" for flow in self.flows())])

    def archive(self, stream: Stream) -> Path:
        """The folder of shards for a stream's statements that this machine's ``decay`` archived."""
        folder = self.root / "archive" / stream
        return folder / self.device if stream == "flow" else folder

    def archives(self) -> list[Path]:
        """The folders of archived statements of all machines, in a fixed order."""
        folders = [self.root / "archive" / stream for stream in TOPIC_STREAMS]
        return _without_links([*folders, *folders_in(self.root / "archive" / "flow")])

    def flows(self) -> list[Path]:
        """The flow folders of all machines, sorted by device, without those that contain a symlink."""
        return [flow for flow in folders_in(self.root / "flow") if _find_symlink(flow) is None]


def _without_links(folders: list[Path]) -> list[Path]:
    return [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]


def folders_in(parent: Path) -> list[Path]:
    """The folders in a folder, sorted by name, without symlinks and hidden ones."""
    try:
        with os.scandir(parent) as entries:
            names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [parent / name for name in names if not name.startswith(".")]


def discover(named: str | None, environment: dict[str, str], cwd: Path) -> Path:
    """The store folder: ``--store``, else CLSM_STORE, else the nearest parent, else the default."""
    chosen = named or environment.get("CLSM_STORE")
    if chosen:
        root = Path(os.path.expanduser(chosen))
        if not _is_store(root):
            raise StoreNotFoundError(chosen)
        return root.resolve()
    for folder in (cwd, *cwd.parents):
        if _is_store(folder):
            return folder.resolve()
    default = default_root(environment)
    if not _is_store(default):
        raise StoreNotFoundError(str(default))
    return default.resolve()


def _is_store(root: Path) -> bool:
    try:
        return (root / CONFIG_NAME).is_file()
    except OSError as error:
        if error.errno == errno.EIO:  # with False, the caller could create a store
            raise DiskError(root / CONFIG_NAME, os.strerror(errno.EIO)) from error
        return False  # no permission, or the name is too long


def default_root(environment: dict[str, str]) -> Path:
    """The default store folder, ``~/.clsm/memory``."""
    return Path(environment.get("HOME") or str(Path.home())) / ".clsm" / "memory"


def open_store(root: Path, environment: dict[str, str]) -> Store:
    """Open a store: read its id and settings.

    Raises:
        StoreNotFoundError: The folder has no ``clsm.yaml``.
        DamagedStoreError: ``clsm.yaml`` is invalid, or a folder is a symlink.
        NewerFormatError: A newer clsm wrote it.
    """
    path = root / CONFIG_NAME
    data = atomic.read(path, front_matter.MAX_FRONT_MATTER)
    if data is None:
        raise StoreNotFoundError(str(root))
    _refuse_links(root)
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n")
        store = _parse_config(root, path, front_matter.parse_config(text), environment)
    except ValueError as error:
        raise DamagedStoreError(path, None, str(error)) from None
    for link in (_find_symlink(store.flow), store.derived / "runs"):
        if link is not None and link.is_symlink():  # folders of other machines are only skipped
            raise _symlink_error(link)
    return store


def _refuse_links(root: Path) -> None:
    """Refuse a folder of the store that is a symlink: it would lead readers and writers outside."""
    with atomic.disk_errors(root), os.scandir(root) as entries:
        for entry in entries:
            if entry.name in _FOLDERS and entry.is_symlink():
                raise _symlink_error(entry.path)


def _find_symlink(flow: Path) -> Path | None:
    """The first of a machine's folders that is a symlink."""
    parts = (flow, flow / "episodes", flow / "inbox", flow / "graph")
    return next((path for path in parts if path.is_symlink()), None)


def _symlink_error(path: Path | str) -> DamagedStoreError:
    return DamagedStoreError(path, None, "is a symbolic link, which clsm does not follow")


def _parse_config(
    root: Path, path: Path, values: dict[str, Any], environment: dict[str, str]
) -> Store:
    version = values.get("format")
    if type(version) is not int or version < 1:
        raise ValueError("'format' must be a whole number from 1")
    if version > FORMAT_VERSION:
        raise NewerFormatError(path, version, FORMAT_VERSION)
    changes = values.get("settings") or {}
    if not isinstance(changes, dict):
        raise ValueError("'settings' must be a mapping")
    misplaced = of_machine(changes)
    known = defaults(Settings()) if changes else {}
    own = {name: value for name, value in changes.items() if name in known}
    others = [*(values.keys() - set(_KEYS)), *(changes.keys() - {*own, *misplaced})]
    zone_name = str(values.get("time_zone", "UTC"))
    if not is_zone(zone_name):
        raise ValueError(f"'time_zone' {zone_name!r} is not an IANA time zone")
    return Store(
        root=root,
        store_id=str(values.get("store", "")),
        zone_name=zone_name,
        settings=with_changes(Settings(), own),
        device=device_name(root, environment),
        misplaced=misplaced,
        unknown=tuple(sorted(map(str, others))),
    )


def can_create(root: Path) -> bool:
    """Whether a store can be created here; False if there already is one.

    Raises:
        BadInputError: The folder contains something else, or lies inside a store.
    """
    with atomic.disk_errors(root):
        if (root / CONFIG_NAME).is_file():
            return False
        for parent in root.absolute().parents:
            if (parent / CONFIG_NAME).is_file():
                reason = f"lies inside the store {parent}"
                raise BadInputError(str(root), reason, "choose a folder outside for: clsm init DIR")
        if root.exists() and (not root.is_dir() or _is_occupied(root)):
            next_step = "choose a new folder for: clsm init DIR"
            raise BadInputError(str(root), "is not empty and not a store", next_step)
    return True


def create(root: Path, zone_name: str) -> bool:
    """Create an empty store, unless there already is one; whether it was created.

    The store id is derived from the folder and the machine, so creation needs no randomness.
    """
    if not can_create(root):
        return False
    for stream in STREAMS:
        atomic.make_folder(root / stream)
    with atomic.disk_errors(root):
        os.chmod(root, atomic.FOLDER_MODE)
    atomic.put(root / ".gitattributes", GIT_ATTRIBUTES.encode())
    atomic.put(root / ".gitignore", GIT_IGNORED.encode())
    store_id = digest("store", str(root.resolve()), machine_id())
    config = {"format": FORMAT_VERSION, "store": store_id, "time_zone": zone_name}
    lines = "".join(f"{key}: {dump(value)}\n" for key, value in config.items())
    atomic.put(root / CONFIG_NAME, (_HEADER + lines).encode())
    return True


def _is_occupied(root: Path) -> bool:
    """Whether a folder contains anything but git's files and remains of an interrupted ``create``."""
    ours = {".git", ".gitattributes", ".gitignore"}
    ours |= {name for name in STREAMS if (root / name).is_dir() and not os.listdir(root / name)}
    others = (name for name in os.listdir(root) if name not in ours)
    return not all(name.startswith(atomic.TEMP_PREFIX) for name in others)


def device_of(path: str) -> str | None:
    """The machine whose folder contains a file, by its path in the store; None for shared files.

    >>> device_of("flow/pi/runs.jsonl"), device_of("tasks/today.md")
    ('pi', None)
    """
    parts = path.removeprefix("archive/").split("/")
    return parts[1] if parts[0] == "flow" and len(parts) > 2 else None


@cache
def _copy_mark() -> re.Pattern[str]:
    """The marks of a conflict copy in file names: Syncthing; Dropbox and Nextcloud.

    docs.syncthing.net/users/syncing.html, help.dropbox.com/syncing-uploads/conflicted-copy. Compiled
    on first use: hardly any store has such a file, and every recall checks for them.
    """
    marks = r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?| \([^()]*conflicted copy[^()]*\)"
    return re.compile(rf"({marks})+(?=\.[a-z]+\Z)", re.IGNORECASE)


def is_conflict_copy(name: str) -> bool:
    """Whether a file is a synchroniser's conflict copy of another.

    >>> is_conflict_copy("3.sync-conflict-20260101-120000-ABCDEFG.yaml"), is_conflict_copy("3.yaml")
    (True, False)
    """
    return "conflict" in name.lower() and _copy_mark().search(name) is not None


def original_name(name: str) -> str:
    """The name of the file that a conflict copy belongs to.

    >>> original_name("people (Mara's conflicted copy 2026-01-01).md")
    'people.md'
    """
    return _copy_mark().sub("", name, count=1)
