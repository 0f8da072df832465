"""Ingest in this process with the real model kept open, and compare what stores hold afterwards."""

import atexit
import contextlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from clsm_cli.embedding import download, weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import ENGINE
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.ingestion import ingest_run
from clsm_cli.ingestion.ingest_report import IngestReport
from clsm_cli.ingestion.jsonl_rows import no_key
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, EndMark, Episode, Turn
from clsm_cli.store import episode_files, inbox, layout, shards
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.index.passages import Passage
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import stems

NOW = "2026-03-01T12:00:00+01:00"


@cache
def _encoder() -> Encoder:
    folder = weights.default_folder()
    download.install(folder)
    return Encoder.open(folder)


_vectors: dict[str, Any] = {}


def _embed(texts: Sequence[str]) -> Any:
    """The real vectors; a text that comes again is not embedded again (same bits in any batch)."""
    new = [text for text in dict.fromkeys(texts) if text not in _vectors]
    if new:
        _vectors.update(zip(new, _encoder().encode(new), strict=True))
    return [_vectors[text] for text in texts]


def embedder() -> Embedder:
    return Embedder(ENGINE, lambda: _embed, _words)


def _words(texts: Sequence[str]) -> Any:
    return _table().mean_vectors(texts)


@cache
def _table() -> StaticVectors:
    return StaticVectors.open(weights.default_folder())


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder in memory where there is one: thousands of fsyncs are no part of the question."""
    shm = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="clsm-", dir=shm if os.access(shm, os.W_OK) else None)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder)


def place(root: Path, *names: str, **files: bytes) -> None:
    """Lay down files: some with a text, some with what is given."""
    for name, data in (dict.fromkeys(names, b"Text.\n") | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def opened(root: Path, device: str = "pi") -> Store:
    """A store as a machine sees it."""
    return layout.open_store(root, {"CLSM_DEVICE": device})


def new_store(root: Path, device: str = "pi") -> Store:
    layout.create(root, "Europe/Amsterdam")
    return opened(root, device)


def made_once(make: Callable[[Path], Store]) -> Callable[[Path], Store]:
    """Let what makes the store ``memory`` in a folder do it once; each call gives a copy of all there."""

    @cache
    def first() -> Path:
        folder = Path(tempfile.mkdtemp(prefix="clsm-"))
        atexit.register(shutil.rmtree, folder)
        make(folder)
        return folder

    def copied(folder: Path) -> Store:
        return opened(shutil.copytree(first(), folder, dirs_exist_ok=True) / "memory")

    return copied


def take(
    store: Store, *paths: Path | str, stdin: bytes | None = None, **options: Any
) -> ingest_run.IngestReport:
    """``clsm ingest`` of some paths; ``model=False`` for a machine without the model."""
    request = ingest_run.IngestRequest(
        paths=tuple(map(str, paths)) or ("-",),
        now=datetime.fromisoformat(options.pop("now", NOW)),
        openclaw=options.pop("openclaw", False),
        stdin=None if stdin is None else io.BytesIO(stdin),
        session=options.pop("session", None),
        capture_only=options.pop("capture_only", False),
        since=options.pop("since", None),
        dry_run=options.pop("dry_run", False),
        fence_key=options.pop("fence_key", no_key),
    )
    engine = embedder() if options.pop("model", True) else None
    assert not options
    return ingest_run.ingest(store, request, engine, lambda *_: None)


@dataclass(frozen=True)
class State:
    """What a store holds, without what may differ: source lines, ``rev``, times of recording."""

    episodes: dict[str, Episode]
    records: dict[str, Record]
    waiting: dict[str, tuple[Turn | EndMark, ...]]

    def keys(self) -> list[str]:
        """Keys of all turns, as often as they are held."""
        found = [turn.key for episode in self.episodes.values() for turn in episode.turns]
        found += [t.key for box in self.waiting.values() for t in box if isinstance(t, Turn)]
        return sorted(found)


def same(found: State, expected: State) -> None:
    """Assert that two stores hold the same; says where they first differ."""
    for name in ("episodes", "records", "waiting"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one.keys() == other.keys(), name
        for key in other:
            assert one[key] == other[key], f"{name} {key}"


def state_of(store: Store) -> State:
    found = [
        episode_files.read(path) for flow in store.flows() for path in episode_files.files(flow)
    ]
    known = shards.load_graph(store.graphs(), frozenset())
    assert not known.problems
    boxes = [inbox.read(path) for path in inbox.files(store.inbox)]
    assert not any(box.problems for box in boxes)
    return State(
        episodes={each.id: _bare_episode(each) for each in found},
        records={key: _bare_record(record) for key, record in known.records.items()},
        waiting={
            box.path.name: tuple(
                item if isinstance(item, EndMark) else _bare(item.turn) for item in box.items
            )
            for box in boxes
            if box.items
        },
    )


def _bare(turn: Turn) -> Turn:
    return replace(turn, path="", line_start=0, line_end=0)


def _bare_episode(episode: Episode) -> Episode:
    return replace(episode, recorded_at="", turns=tuple(map(_bare, episode.turns)))


def _bare_record(record: Record) -> Record:
    if isinstance(record, Document):
        return replace(record, rev=(0, ""), recorded_at="", path="")
    return replace(record, rev=(0, ""))


def captured(store: Store) -> list[Turn]:
    """The turns that wait in inboxes, in their order."""
    return [item.turn for path in inbox.files(store.inbox) for item in inbox.read(path).turns]


def passages(store: Store, words: str = "") -> list[Passage]:
    """The current passages of a store, or those that some words reach."""
    with open_index(store, None) as opened:
        reached = {row for term in stems(words) for row, _, _ in opened.index.postings(term)}
        rows = sorted(reached) if words else opened.index.current_rows()
        return list(opened.index.passages(rows).values())


def tree(root: Path, *, derived: bool = False) -> dict[str, bytes]:
    """Every file of a store with its bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and (derived or ".clsm" not in path.relative_to(root).parts)
    }


@contextlib.contextmanager
def unchanged(root: Path, *, derived: bool = False) -> Iterator[None]:
    """What is done meanwhile changes no byte of a store."""
    before = tree(root, derived=derived)
    yield
    assert tree(root, derived=derived) == before


START = datetime.fromisoformat("2026-02-24T08:00:00+01:00")


def row(text: str, minute: float | None = None, speaker: str = "user", **more: Any) -> bytes:
    """A line of a conversation: what was said, and how long after ``START``; without a time if None."""
    values: dict[str, Any] = {"role": speaker, "content": text, "session": "main"}
    if minute is not None:
        values["timestamp"] = (START + timedelta(minutes=minute)).isoformat()
    return json.dumps({**values, **more}).encode() + b"\n"


def pipe(store: Store, *rows: bytes, **options: Any) -> IngestReport:
    return take(store, stdin=b"".join(rows), **options)
