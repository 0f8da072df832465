"""A memory in this process, by the real ingest, consolidate and recall; no text is embedded twice."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import engine
from clsm_cli.consolidation import consolidation_run
from clsm_cli.consolidation.consolidation_report import Request as Night
from clsm_cli.ingestion import ingest_run
from clsm_cli.ingestion.ingest_report import IngestRequest
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.store.layout import Store

_vectors: dict[str, Any] = {}


def _embed(texts: Sequence[str]) -> Any:
    new = [text for text in dict.fromkeys(texts) if text not in _vectors]
    if new:
        _vectors.update(zip(new, engine.embedder().embed()(new), strict=True))
    return [_vectors[text] for text in texts]


EMBEDDER = engine.embedder()._replace(embed=lambda: _embed)


@cache
def _queries() -> engine.QueryEngine:
    return engine.QueryEngine()


def new_store(root: Path) -> Store:
    """An empty store."""
    layout.create(root, "Europe/Amsterdam")
    return layout.open_store(root, {"CLSM_DEVICE": "bench"})


def take_in(store: Store, paths: Iterable[Path], now: str) -> None:
    """Ingest some files."""
    request = IngestRequest(paths=tuple(map(str, paths)), now=datetime.fromisoformat(now))
    ingest_run.ingest(store, request, EMBEDDER, lambda *_: None)


def sleep(store: Store, now: str) -> None:
    """Consolidate a store."""
    night = Night(now=datetime.fromisoformat(now))
    report = consolidation_run.consolidate(store, night, EMBEDDER, lambda *_: None)
    assert not report.unread


def ask(store: Store, questions: Iterable[str], now: str) -> Iterator[Answer]:
    """What a store answers: ten items within 2,000 tokens to each question."""
    asked = (Query(text, now, 10, 2000) for text in questions)
    return recall(store, asked, _queries(), EMBEDDER)
