"""The log of shadow mode, and the static files that memory is compared with.

Which files it stands beside is this machine's own word: ``shadow/`` in the user's state folder has a
file for each store while shadow mode is on there, so no store that comes from elsewhere names a file
to be read. The log lies below ``.clsm``, which git does not see: ``shadow/<device>.jsonl`` has a line
for each sitting. A line holds counts, and turns by the hash that a tombstone keeps of an id: neither
a text nor an id, so nothing in it has to go when something is forgotten. It is not derived: whoever
deletes ``.clsm`` deletes the log.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError, DamagedStoreError
from clsm_cli.evaluation.shadow.sittings import LoadedItem
from clsm_cli.evaluation.systems.baselines import ALWAYS, startup_files
from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.model.episodes import Document
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.jsonlines import LineError, dump
from clsm_cli.store.jsonlines import load as load_line
from clsm_cli.store.lock import locked
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from clsm_cli.store.layout import Store

_MOST = 1 << 20
"""Bytes of the settings."""
_SHOWN = 16
"""Hex digits of a hash: 64 bits."""


class Mode(NamedTuple):
    """Shadow mode, while it is on.

    Attributes:
        since: UTC; sittings that the store took in before are not looked at.
        static: Full paths of files and workspaces.
    """

    since: str
    static: tuple[str, ...]


class SideFigures(NamedTuple):
    """What one way to remember loaded in a sitting, in tokens.

    Attributes:
        tokens: Loaded, each item once.
        prompt: In front of the model at a prompt, the mean.
        used: Of what was loaded, each item once, the sentences that the conversation used.
        replies: Prompts whose reply used something that was loaded.
    """

    tokens: int
    prompt: float
    used: int
    replies: int


class SittingRow(NamedTuple):
    """A sitting: when it began (UTC), the hashes of its turns, its prompts and how many were asked.

    ``static`` is None where no file was named, or none could be read.
    """

    at: str
    turns: tuple[str, ...]
    prompts: int
    asked: int
    clsm: SideFigures
    static: SideFigures | None


def id_mark(record_id: str) -> str:
    """What stands in the log for an id.

    >>> id_mark("3f0c52ab9d10") == tombstone_hash("3f0c52ab9d10")[:16]
    True
    """
    return tombstone_hash(record_id)[:_SHOWN]


def current_mode(store: Store) -> Mode | None:
    """Shadow mode of this machine; None while it is off.

    Raises:
        DamagedStoreError: Its file is none; stopping and starting again mends that.
    """
    path = _mode_file(store)
    data = atomic.read(path, _MOST)
    if data is None:
        return None
    try:
        value = load_line(data.decode("utf-8", "replace"))
        return Mode(str(value["since"]), tuple(map(str, value["static"])))
    except (LineError, LookupError, TypeError):
        raise DamagedStoreError(path, 1, "does not say what shadow mode looks at") from None


def turn_on(store: Store, wanted: Mode) -> None:
    """Turn shadow mode on."""
    with locked(store.root, store.settings.store.lock_wait):
        atomic.put(_mode_file(store), dump(wanted._asdict()).encode() + b"\n")


def turn_off(store: Store, *, delete: bool) -> bool:
    """Turn it off, and delete the log if that is wanted."""
    paths = [_mode_file(store), *([_log_file(store)] if delete else [])]
    with locked(store.root, store.settings.store.lock_wait):
        found = [path for path in paths if path.exists()]
        for path in found:
            atomic.remove(path)
    return bool(found)


def logged_rows(store: Store) -> tuple[list[SittingRow], int]:
    """The sittings of the log by time, each once, and how many lines cannot be read."""
    found, problems = logs.rows(_log_file(store))
    rows: dict[tuple[str, ...], SittingRow] = {}
    bad = len(problems)
    for _, value in found:
        try:
            row = _row(value)
        except (LookupError, TypeError, ValueError):
            bad += 1
        else:
            rows.setdefault(row.turns, row)
    return sorted(rows.values()), bad


def plain_row(row: SittingRow) -> dict[str, Any]:
    """A sitting as JSON values."""
    static = None if row.static is None else row.static._asdict()
    return {**row._asdict(), "clsm": row.clsm._asdict(), "static": static}


def append_rows(store: Store, new: Iterable[SittingRow]) -> None:
    """Log sittings, durably, one line each."""
    lines = [dump(plain_row(row)).encode() for row in new]
    if lines:
        with locked(store.root, store.settings.store.lock_wait):
            atomic.append(_log_file(store), b"\n".join(lines))


def _row(value: dict[str, Any]) -> SittingRow:
    """A line of the log; one of an earlier version may have more."""

    def side(found: dict[str, Any]) -> SideFigures:
        tokens, prompt, used, replies = (float(found[name]) for name in SideFigures._fields)
        return SideFigures(int(tokens), prompt, int(used), int(replies))

    return SittingRow(
        at=str(value["at"]),
        turns=tuple(map(str, value["turns"])),
        prompts=int(value["prompts"]),
        asked=int(value["asked"]),
        clsm=side(value["clsm"]),
        static=None if value["static"] is None else side(value["static"]),
    )


def _mode_file(store: Store) -> Path:
    import platformdirs

    place = atomic.sha256(os.fsencode(store.root.resolve()))[:_SHOWN]
    return platformdirs.user_state_path("clsm") / "shadow" / f"{place}.json"


def _log_file(store: Store) -> Path:
    return store.derived / "shadow" / f"{store.device}.jsonl"


class StaticFiles(NamedTuple):
    """What was loaded.

    Attributes:
        blocks: Paragraphs and list items; headings are loaded, and belong to none.
        missing: A sentence for each file that cannot be read now.
    """

    tokens: int
    blocks: tuple[LoadedItem, ...]
    missing: tuple[str, ...]


def checked_files(named: Iterable[str]) -> tuple[str, ...]:
    """Files and workspaces as full paths, each once.

    Raises:
        BadInputError: One is missing, not text, too large, or a folder without any such file.
    """
    found: dict[str, None] = {}
    for name in named:
        path = Path(os.path.realpath(os.path.expanduser(name)))
        if not path.is_dir():
            _text(path, name)
        elif not _of_workspace(path):
            reason = f"holds neither {', '.join(ALWAYS)} nor daily notes"
            raise BadInputError(name, reason, "name the files themselves")
        found[str(path)] = None
    return tuple(found)


def ingested_files(store: Store) -> tuple[str, ...]:
    """The workspaces whose files the store took in and that are still there, sorted."""
    with open_index(store, None) as opened:
        origins = [
            Path(os.path.expanduser(record.origin))
            for record in records_of(opened.index.connection, "document", frozenset())
            if isinstance(record, Document) and record.origin
        ]
    folders = {origin.parent for origin in origins if origin.name in ALWAYS and origin.is_file()}
    return tuple(sorted(map(str, folders)))


def load_static(named: Sequence[str], start: datetime, store: Store) -> StaticFiles:
    """What is loaded at the start of a sitting."""
    day = start.astimezone(store.zone).date().isoformat()
    size = 0
    blocks: list[LoadedItem] = []
    missing: list[str] = []
    paths = (
        path
        for each in map(Path, named)
        for path in (_of_workspace(each, day) if each.is_dir() else [each])
    )
    for path in dict.fromkeys(paths):
        try:
            text = _text(path, str(path))
        except BadInputError as error:
            missing.append(str(error))
            continue
        size += tokens.count_tokens(text)
        blocks += _blocks(text, path, store)
    return StaticFiles(size, tuple(blocks), tuple(missing))


def _of_workspace(folder: Path, before: str = "9999") -> list[Path]:
    fixed = [folder / name for name in ALWAYS if (folder / name).is_file()]
    dated = [path for path in (folder / "memory").glob("*.md") if path.stem < before]
    return list(map(Path, startup_files(map(str, (*fixed, *dated)))))


def _text(path: Path, name: str) -> str:
    advice = "name a note with --static"
    try:
        if not path.is_file():
            raise BadInputError(name, "is no file that can be read", advice)
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BadInputError(name, error.strerror or "cannot be read", advice) from None
    if len(data) > MAX_FILE:
        raise BadInputError(name, f"is larger than {MAX_FILE >> 20} MiB", advice)
    if b"\0" in data:
        raise BadInputError(name, "is not text", advice)
    return data.decode("utf-8", "replace")


def _blocks(text: str, path: Path, store: Store) -> Iterator[LoadedItem]:
    document = markdown.read(text.encode(), path=path.name, zone=store.zone)
    if not isinstance(document, Problem):
        for number, block in enumerate(document.blocks):
            yield LoadedItem(f"{path}:{number}", block.text, tokens.count_tokens(block.text))
