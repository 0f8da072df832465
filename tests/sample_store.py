"""The sample memory, and one way to ask a store, for tests that need either."""

from functools import cache
from pathlib import Path
from typing import Any

from ingesting import embedder

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.retrieval.answer import Answer
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store.layout import Store

SAMPLE = Path(__file__).parents[1] / "fixtures" / "sample"
NOW = "2026-02-25T08:00:00+01:00"


@cache
def query_engine() -> QueryEngine:
    """The real engine; it stays open."""
    engine = QueryEngine()
    engine.open()
    return engine


def ask(store: Store, text: str, *, k: int = 10, budget: int = 2000, **options: Any) -> Answer:
    """One recall that leaves no trace; ``options`` are fields of ``Query``."""
    query = Query(text=text, now=NOW, k=k, budget=budget)._replace(**options)
    (answer,) = recall(store, [query], query_engine(), embedder())
    return answer
