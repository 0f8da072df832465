"""Packing and ties, on small data."""

from math import log
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.retrieval import lexical_search
from clsm_cli.retrieval.answer import Memory, Signals
from clsm_cli.retrieval.dense_search import Meaning
from clsm_cli.retrieval.question import understand
from clsm_cli.retrieval.recall import pack_memories
from clsm_cli.store.index import database
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.refresh import refresh
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import stems


def memory(number: int, tokens: int) -> Memory:
    fields = ("x", "flow", 1 / (number + 1), 0.5, tokens, "user", "s", (), Signals(), Signals())
    return Memory(f"m{number}", "passage", *fields)


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(0, 200))
def test_packing_never_exceeds_and_never_wastes(sizes: list[int], limit: int) -> None:
    kept, budget = pack_memories([memory(n, size) for n, size in enumerate(sizes)], limit, "tokens")
    assert budget.used == sum(item.tokens for item in kept) <= limit
    assert len(kept) + len(budget.dropped) == len(sizes)
    order = [int(item.id[1:]) for item in kept]
    assert order == sorted(order)
    # nothing that was dropped would still fit
    assert all(budget.used + dropped.tokens > limit for dropped in budget.dropped)


def test_names_with_a_vector_take_no_passage_its_place() -> None:
    """A consolidation leaves their vectors, and an index that was made anew has none of them."""
    meaning = Meaning(cast(Any, OneInTen()), understand("salt", (), []), None)
    meaning.cosines = [1 - row / 100 for row in range(100)]
    assert meaning.nearest(5) == [0, 10, 20, 30, 40]


class OneInTen:
    """An index in which one vector in ten is of a passage."""

    def rows_of_vectors(self, rows: list[int]) -> list[tuple[int, str, int, int]]:
        return [(row, f"k{row}", 0, row) for row in rows if row % 10 == 0]

    def has_archived(self) -> bool:
        return False


def from_nothing(store: Store) -> Index:
    """The index of a store, made anew in memory."""
    made = database.in_memory(None)
    refresh(made, store, changes(made, store))
    return Index(made, store)


def test_bm25_of_a_known_case(sample: Store) -> None:
    """Against the formula written out over all passages of the sample memory."""
    index = from_nothing(sample)
    found = index.current_passages()
    docs = {row: stems(f"{p.speaker} {p.embedded_text}") for row, p in found.items()}
    average = sum(map(len, docs.values())) / len(docs)
    question = understand("memory_v2 failed", (), [])
    scores = lexical_search.search(index, question, sample.settings.recall, {}).scores
    k1, b = 0.9, 0.3
    assert scores
    for row, terms in docs.items():
        expected = 0.0
        for term in question.terms:
            n = sum(term in other for other in docs.values())
            tf = terms.count(term)
            idf = log(1 + (len(docs) - n + 0.5) / (n + 0.5))
            expected += idf * tf / (tf + k1 * (1 - b + b * len(terms) / average))
        assert abs(scores.get(row, 0.0) - expected) < 1e-9


def test_coverage_is_the_share_of_the_idf_without_names(sample: Store) -> None:
    index = from_nothing(sample)
    rows = index.current_rows()
    plain = understand("memory_v2 failed", (), [])
    named = understand("memory_v2 failed Ilse", (), ["Ilse"])
    settings = sample.settings.recall
    both = [
        lexical_search.search(index, question, settings, {}).idf_coverage(rows)
        for question in (plain, named)
    ]
    assert both[0] == {row: share for row, share in both[1].items() if share}
    assert 0 < min(both[0].values()) <= max(both[0].values()) <= 1 + 1e-12
