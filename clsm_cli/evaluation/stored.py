"""What the stores of a set hold, and how much of the evidence became a memory of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.retrieved import of_passage
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.store.index.passages import Passage

SAID = "passage"
"""Kind of the passages that were said or written; all other kinds consolidation made."""


def sizes(benches: Sequence[Bench]) -> dict[str, int]:
    """Cases, queries by kind, pieces of evidence, and passages, by name."""
    queries = [query for bench in benches for query in bench.case.queries]
    return {
        "cases": len(benches),
        "queries": sum(not query.negative for query in queries),
        "without an answer": sum(bool(query.negative) for query in queries),
        "evidence": sum(len(query.gold) for query in queries),
        "labelled concepts": sum(len(query.concepts) for query in queries),
        "passages": sum(kind == SAID for bench in benches for kind in _kinds(bench)),
        "tokens of the context": sum(bench.whole for bench in benches),
    }


def share(benches: Sequence[Bench]) -> float | None:
    """CAIM's memory storage (§4): the share of the evidence that became a memory.

    A piece of evidence is stored when a statement has its words, or rests on a passage that holds
    it. What was said is kept in any case; this is about what consolidation made of it. None where
    no evidence is labelled, or whole days are.
    """
    pieces = [
        piece in held
        for bench in benches
        if bench.dataset.unit != "day"
        for held in [_held(bench)]
        for query in bench.case.queries
        for piece in query.gold
    ]
    return sum(pieces) / len(pieces) if pieces else None


def _passages(bench: Bench) -> list[Passage]:
    with open_index(bench.store, bench.shop.embedder) as opened:
        return list(opened.index.passages(opened.index.current_rows()).values())


def _kinds(bench: Bench) -> list[str]:
    return [passage.kind for passage in _passages(bench)]


def _held(bench: Bench) -> set[str]:
    """The pieces of evidence that a memory holds or rests on."""
    passages = _passages(bench)
    made = [passage for passage in passages if passage.kind != SAID]
    resting = {key for passage in made for key in passage.sources}
    told = [passage for passage in passages if passage.key in resting]
    items = [of_passage(passage, 0) for passage in (*made, *told)]
    gold = {piece for query in bench.case.queries for piece in query.gold}
    return {piece for piece in gold if any(i.holds(piece, bench.dataset.unit) for i in items)}
