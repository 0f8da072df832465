"""Stores of an evaluation, made by the real ingest in a work folder and cached there.

A store is named by a digest of what goes into it, of the engine and of the program that makes it,
so a changed input or program gets a new store and a second run finds the first one's. An
interrupted run left stores that are whole up to a point; ingesting again completes them.

What is consolidated is a copy beside it, kept under a digest of the whole program, so that what is
measured is the program as it is.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import zip_longest
from pathlib import Path

import clsm_cli
from clsm_cli.config import Settings
from clsm_cli.consolidation.consolidation_report import Request as Sleep
from clsm_cli.consolidation.consolidation_run import consolidate
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat, LabelledTurn
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.ingestion.ingest_run import IngestRequest, ingest
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, layout
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store

# Parts of the program that decide what an ingested store holds, its index included.
INGEST = ("embedding", "ingestion", "model", "scoring", "store", "text")
SLEEP = (*INGEST, "consolidation", "heads")  # those that decide what a consolidated one holds


@cache
def code_digest(parts: tuple[str, ...]) -> str:
    """Digest of some parts of the code with their data, and of the shipped settings."""
    root = Path(clsm_cli.__file__).parent
    everything = (file for part in parts for file in (root / part, *(root / part).rglob("*")))
    files = sorted(file for file in everything if file.is_file() and file.suffix != ".pyc")
    files.append(root / "config.py")
    return digest(clsm_cli.__version__, *(atomic.digest_of(file) or "" for file in files))


ZONE = "UTC"  # time zone of the stores; the sets name none
_DEVICE = {"CLSM_DEVICE": "eval"}  # one name, so that every machine makes the same store
NEVER = "2000-01-01T12:00:00+00:00"  # stands for the time of a store in which nothing is dated
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class StoreFactory:
    """Where stores are made, and with what."""

    folder: Path
    embedder: Embedder
    progress: Progress


class MadeStore(NamedTuple):
    """A store, and the time of its ingest, at which it is asked: a day after what was told last."""

    store: Store
    now: datetime


def make_store(case: Case, factory: StoreFactory, settings: Settings | None = None) -> MadeStore:
    """The store of a case as it is ingested.

    A conversation is ingested as generic JSON Lines, its sessions ended.
    """
    source = case.source
    if isinstance(source, Chat):
        content, times = json_lines(source.turns), [turn.time for turn in source.turns]
    else:
        files = files_in(source.root, source.names)
        parts = [f"{file.relative_to(source.root)}:{atomic.digest_of(file)}\n" for file in files]
        days = [found[0] for file in files if (found := _DATE.match(file.name))]
        content, times = "".join(parts).encode(), [f"{day}T12:00:00+00:00" for day in days]
    now = day_after(times or [NEVER])
    made = [atomic.sha256(content), now.isoformat(), factory.embedder.engine, code_digest(INGEST)]
    made += [json.dumps(settings)] if settings else []
    place = factory.folder / f"{_safe(case.name)}-{digest(*made)}"
    root, done = place / "memory", place / "whole"
    atomic.make_folder(root)
    layout.create(root, ZONE)
    store = layout.open_store(root, _DEVICE)
    if not done.exists():
        if isinstance(source, Chat):
            paths = [place / "conversation.jsonl"]
            atomic.put(paths[0], content)
        else:
            paths = [each for name in source.names if (each := source.root / name).is_dir()]
        ingest_files(factory, store._replace(settings=settings or store.settings), paths, now)
        atomic.put(done, b"")
    return MadeStore(store, now)


def files_in(root: Path, folders: Sequence[str]) -> list[Path]:
    """The files of some folders of a labelled memory, sorted."""
    return sorted(each for name in folders for each in (root / name).rglob("*") if each.is_file())


def cached_copy(made: MadeStore, name: str, make: Callable[[Store], None]) -> Store:
    """A copy of a store beside it, changed once and kept while the program stays as it is.

    Its index counts, as files keep their times.
    """
    place = made.store.root.with_name(f"{_safe(name)}-{digest(name, code_digest(SLEEP))}")
    done = place.with_suffix(".whole")
    if done.exists() and place.exists():
        return layout.open_store(place, _DEVICE)
    atomic.remove_folder(place)
    with atomic.disk_errors(place):
        shutil.copytree(made.store.root, place)
    store = layout.open_store(place, _DEVICE)
    make(store)
    atomic.put(done, b"")
    return store


def run_consolidation(factory: StoreFactory, store: Store, now: datetime) -> None:
    """Consolidate a store, or fail: a figure over half of one would be a lie."""
    report = consolidate(store, Sleep(now=now), factory.embedder, factory.progress)
    if report.bad_model is not None:
        raise report.bad_model
    if report.unread:
        raise RuntimeError(str(report.unread))


def ingest_files(factory: StoreFactory, store: Store, paths: Iterable[Path], now: datetime) -> None:
    """Ingest some files; BadInputError if anything in them could not be read."""
    request = IngestRequest(paths=tuple(map(str, paths)), now=now)
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
        place = {"session": turn.session, "timestamp": turn.time}
        content = {"id": turn.id, "role": turn.role, "speaker": turn.speaker, "text": turn.text}
        rows.append({**place, **content})
        if after is None or after.session != turn.session:
            rows.append({**place, "type": "session_end"})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def day_after(times: Iterable[str]) -> datetime:
    """The instant a day after the last of some ISO times.

    >>> day_after(["2023-05-08T13:56:00+00:00", "2023-05-01T09:00:00+00:00"]).isoformat()
    '2023-05-09T13:56:00+00:00'
    """
    return max(map(datetime.fromisoformat, times)) + timedelta(days=1)


def _safe(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)
