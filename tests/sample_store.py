"""The sample memory, and one way to ask it, for tests that need both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.commands import engine
from clsm_cli.retrieval.recall import Query, recall

if TYPE_CHECKING:
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.store.layout import Store

SAMPLE = Path(__file__).parents[1] / "fixtures" / "sample"
NOW = "2026-02-25T08:00:00+01:00"


def ask(store: Store, text: str, *, k: int = 10, budget: int = 2000) -> Answer:
    """One recall that leaves no trace."""
    query = Query(text=text, now=NOW, k=k, budget=budget, touch=False)
    return recall(store, query, engine.embedder(), engine.encode_query)
