"""Packing and ties, on small data."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from sample_store import ask

from clsm_cli.retrieval.answer import Memory, Source, Why
from clsm_cli.retrieval.concepts import named_in
from clsm_cli.retrieval.ranking import by_words
from clsm_cli.retrieval.recall import pack
from clsm_cli.store.index import database
from clsm_cli.store.index.reader import Index
from clsm_cli.store.index.refresh import changes, refresh
from clsm_cli.store.layout import Store


def memory(number: int, tokens: int) -> Memory:
    return Memory(
        id=f"m{number}",
        kind="passage",
        text="x",
        stream="flow",
        score=1 / (number + 1),
        confidence=0.5,
        tokens=tokens,
        trust="user",
        session="s",
        sources=(Source("a.md", 1, 1, ("t",), None),),
        why=Why(),
    )


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(0, 200))
def test_packing_never_exceeds_and_never_wastes(sizes: list[int], limit: int) -> None:
    kept, budget = pack([memory(n, size) for n, size in enumerate(sizes)], limit)
    assert budget.used == sum(item.tokens for item in kept) <= limit
    assert len(kept) + len(budget.dropped) == len(sizes)
    order = [int(item.id[1:]) for item in kept]
    assert order == sorted(order)
    # whatever was dropped would not have fitted behind what was kept before it
    for dropped in budget.dropped:
        before = sum(item.tokens for item in kept if int(item.id[1:]) < int(dropped.id[1:]))
        assert before + dropped.tokens > limit


def test_bm25_of_a_known_case(sample: Store) -> None:
    """Against the formula written out over all passages of the sample memory."""
    from math import log

    from clsm_cli.text.tokens import stems

    copy = database.in_memory(None)
    refresh(copy, sample, changes(copy, sample))
    index = Index(copy, sample)
    rows = copy.execute("SELECT id FROM passages WHERE current").fetchall()
    found = index.passages([row[0] for row in rows])
    docs = {row: stems(f"{p.speaker} {p.embedded_text}") for row, p in found.items()}
    average = sum(map(len, docs.values())) / len(docs)
    scores, coverage = by_words(index, "memory_v2 failed", sample.settings.recall)
    k1, b = 0.9, 0.3
    for row, terms in docs.items():
        expected = 0.0
        for term in dict.fromkeys(stems("memory_v2 failed")):
            n = sum(term in other for other in docs.values())
            tf = terms.count(term)
            idf = log(1 + (len(docs) - n + 0.5) / (n + 0.5))
            expected += idf * tf / (tf + k1 * (1 - b + b * len(terms) / average))
        assert abs(scores.get(row, 0.0) - expected) < 1e-9
    assert max(coverage.values()) <= 1 + 1e-12


def test_names_are_found_longest_first(sample: Store) -> None:
    copy = database.in_memory(None)
    refresh(copy, sample, changes(copy, sample))
    index = Index(copy, sample)
    assert list(named_in(index, "Is the delegation defect in Filters Against Folly?")) == [
        "filters-against-folly",
        "delegation-defect",
    ]
    assert named_in(index, "nothing of the kind") == {}


def test_the_order_of_candidates_is_total(sample: Store) -> None:
    memories = ask(sample, "Ilse", k=40, budget=100_000).memories
    keys = [(-m.score, m.sources[0].timestamp or "", m.id) for m in memories]
    assert len({m.id for m in memories}) == len(memories)
    for a, b in combinations(keys, 2):
        assert a[0] <= b[0]
