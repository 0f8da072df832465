"""Stores of an evaluation, made by the real ingest in a work folder and cached there.

A store is named by a digest of what goes into it, of the engine and of the program that makes it,
so a changed input or program gets a new store and a second run finds the first one's. An
interrupted run left stores that are whole up to a point; ingesting again completes them.

What is consolidated is a copy beside it, kept under a digest of the whole program, so that what is
measured is the program as it is.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import clsm_cli
from clsm_cli.consolidation import consolidation_run
from clsm_cli.consolidation.consolidation_report import Request as Sleep
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion.ingest_run import Request, ingest
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clsm_cli.config import Settings
    from clsm_cli.evaluation.dataset import Chat, LabelledTurn
    from clsm_cli.ingestion.ingest_report import Progress
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

INGEST = ("embedding", "ingestion", "model", "scoring", "store", "text")
"""Parts of the program that decide what an ingested store holds, its index included."""
SLEEP = (*INGEST, "consolidation", "heads")
"""Those that decide what a consolidated one holds."""


@cache
def code_digest(parts: tuple[str, ...]) -> str:
    """Digest of some parts of the code with their data, and of the shipped settings."""
    root = Path(clsm_cli.__file__).parent
    everything = (file for part in parts for file in (root / part).rglob("*"))
    files = sorted(file for file in everything if file.is_file() and file.suffix != ".pyc")
    files.append(root / "config.py")
    return digest(clsm_cli.__version__, *(atomic.digest_of(file) or "" for file in files))


ZONE = "UTC"
"""Time zone of the stores; the sets name none."""
_DEVICE = {"CLSM_DEVICE": "eval"}
"""Environment of the stores: one device name, so that every machine makes the same store."""
_DONE = "whole"
"""File beside a store that says that its ingest ended."""


@dataclass(frozen=True, slots=True)
class StoreFactory:
    """Where stores are made, and with what.

    Attributes:
        now: Time of the ingest; None: the day after the last turn.
        fresh: Delete a store of an earlier run and make it again.
    """

    folder: Path
    embedder: Embedder
    now: datetime | None
    fresh: bool
    progress: Progress


class MadeStore(NamedTuple):
    """A store, and the time at which it is asked: that of its ingest."""

    store: Store
    now: datetime


def chat_store(
    factory: StoreFactory, name: str, chat: Chat, settings: Settings | None = None
) -> MadeStore:
    """The store of a conversation, ingested as generic JSON Lines, its sessions ended."""
    content = json_lines(chat.turns)
    now = factory.now or day_after(turn.time for turn in chat.turns)
    place = _place(factory, name, content, now, settings)
    source = place / "conversation.jsonl"
    if not (place / _DONE).exists():
        atomic.put(source, content)
    return _made(factory, place, [str(source)], now, settings)


def folder_store(
    factory: StoreFactory, root: Path, folders: Sequence[str], settings: Settings | None = None
) -> MadeStore:
    """The store of notes and transcripts, ingested from folders of a labelled memory."""
    files = files_in(root, folders)
    parts = [f"{file.relative_to(root)}:{atomic.digest_of(file)}\n" for file in files]
    now = factory.now or day_after(_dates(files))
    place = _place(factory, root.resolve().name, "".join(parts).encode(), now, settings)
    paths = [str(root / name) for name in folders if (root / name).is_dir()]
    return _made(factory, place, paths, now, settings)


def files_in(root: Path, folders: Sequence[str]) -> list[Path]:
    """The files of some folders of a labelled memory, sorted."""
    return sorted(each for name in folders for each in (root / name).rglob("*") if each.is_file())


def cached_copy(
    factory: StoreFactory, made: MadeStore, name: str, make: Callable[[Store], None]
) -> Store:
    """A copy of a store beside it, changed once and kept while the program stays as it is.

    Its index counts, as files keep their times.
    """
    place = made.store.root.with_name(f"{_safe(name)}-{digest(name, code_digest(SLEEP))}")
    done = place.with_suffix(".whole")
    if done.exists() and place.exists() and not factory.fresh:
        return layout.open_store(place, _DEVICE)
    with atomic.disk_errors(_cleared(place)):
        shutil.copytree(made.store.root, place)
    store = layout.open_store(place, _DEVICE)
    make(store)
    atomic.put(done, b"")
    return store


def run_consolidation(factory: StoreFactory, store: Store, now: datetime) -> None:
    """Consolidate a store, or fail: a figure over half of one would be a lie."""
    request = Sleep(now=now)
    report = consolidation_run.consolidate(store, request, factory.embedder, factory.progress)
    if report.bad_model is not None:
        raise report.bad_model
    if report.unread:
        raise RuntimeError(str(report.unread))


def ingest_files(factory: StoreFactory, store: Store, paths: Sequence[str], now: datetime) -> None:
    """Ingest some files; BadInputError if anything in them could not be read."""
    request = Request(paths=tuple(paths), now=now)
    report = ingest(store, request, factory.embedder, factory.progress)
    if report.bad_model is not None:
        raise report.bad_model
    if report.problems:
        problem = report.problems[0]
        raise BadInputError(problem.path, problem.reason, "mend it", line=problem.line)


def json_lines(turns: Sequence[LabelledTurn]) -> bytes:
    """Turns as generic JSON Lines, with an end mark after each session."""
    rows: list[dict[str, str]] = []
    for turn, after in zip_longest(turns, turns[1:]):
        told = {"session": turn.session, "timestamp": turn.time}
        said = {"id": turn.id, "role": turn.role, "speaker": turn.speaker, "text": turn.text}
        rows.append({**told, **said})
        if after is None or after.session != turn.session:
            rows.append({**told, "type": "session_end"})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def day_after(times: Iterable[str]) -> datetime:
    """The instant a day after the last of some ISO times.

    >>> day_after(["2023-05-08T13:56:00+00:00", "2023-05-01T09:00:00+00:00"]).isoformat()
    '2023-05-09T13:56:00+00:00'
    """
    return max(map(datetime.fromisoformat, times)) + timedelta(days=1)


def _dates(files: Iterable[Path]) -> list[str]:
    """Noon of the dates in the names of files; without any, a day long past."""
    found = [match.group() for file in files if (match := re.match(r"\d{4}-\d\d-\d\d", file.name))]
    return [f"{day}T12:00:00+00:00" for day in found or ["2000-01-01"]]


def _place(
    factory: StoreFactory, name: str, content: bytes, now: datetime, settings: Settings | None
) -> Path:
    parts = (atomic.sha256(content), now.isoformat(), factory.embedder.engine, code_digest(INGEST))
    made = digest(*parts, *([json.dumps(settings)] if settings else []))
    place = factory.folder / f"{_safe(name)}-{made}"
    return _cleared(place) if factory.fresh else place


def _safe(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _cleared(place: Path) -> Path:
    if place.exists():
        with atomic.disk_errors(place):
            shutil.rmtree(place)
    return place


def _made(
    factory: StoreFactory,
    place: Path,
    paths: Sequence[str],
    now: datetime,
    settings: Settings | None,
) -> MadeStore:
    root = place / "memory"
    atomic.make_folder(root)
    layout.create(root, ZONE)
    store = layout.open_store(root, _DEVICE)
    if not (place / _DONE).exists():
        ingest_files(factory, store._replace(settings=settings or store.settings), paths, now)
        atomic.put(place / _DONE, b"")
    return MadeStore(store, now)
