import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.evaluation.rank_fusion import fuse_rounds, is_settled, reciprocal_ranks

rankings = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6, unique=True), max_size=4)
rounds = st.lists(
    st.tuples(
        st.sampled_from([1.0, 0.8, 0.6]),
        st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1), max_size=6),
    ),
    max_size=4,
)


def test_hand_ranks() -> None:
    fused = reciprocal_ranks([["x", "y", "z"], ["y", "z"], ["z"]], [1.0, 2.0, 0.5])
    assert list(fused) == ["z", "y", "x"]
    assert fused["y"] == pytest.approx(1 / 62 + 2 / 61)
    assert fused["z"] == pytest.approx(1 / 63 + 2 / 62 + 0.5 / 61)
    assert fused["x"] == pytest.approx(1 / 61)


def test_ties_go_by_id_and_a_repeated_id_counts_once() -> None:
    assert list(reciprocal_ranks([["b"], ["a"]])) == ["a", "b"]
    assert reciprocal_ranks([["a", "a", "b"]]) == {"a": 1 / 61, "b": 1 / 62}


@examples(200)
@given(rankings)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[str]]) -> None:
    fused = reciprocal_ranks(lists)
    assert list(reciprocal_ranks(lists[::-1]).items()) == list(fused.items())
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_a_document_of_several_sub_queries_is_raised() -> None:
    fused = fuse_rounds([(1.0, {"a": 0.9, "b": 0.5}), (0.8, {"b": 0.5}), (0.6, {"b": 0.5})])
    assert fused == pytest.approx({"b": 0.5 * (1 + 0.8 + 0.6) * 1.3**2, "a": 0.9})
    assert list(fused) == ["b", "a"]


@examples(200)
@given(rounds)
def test_a_further_sub_query_never_lowers_a_score(
    found: list[tuple[float, dict[str, float]]],
) -> None:
    before = fuse_rounds(found[:-1])
    after = fuse_rounds(found)
    assert all(after[name] >= score for name, score in before.items())
    assert list(fuse_rounds(found[::-1]).items()) == list(after.items())


@pytest.mark.parametrize(
    ("before", "after", "settled"),
    [
        ({"a": 1.0}, {"a": 1.049}, True),
        ({"a": 1.0}, {"a": 1.051}, False),
        ({"a": 0.016}, {"a": 0.0161}, True),
        ({"a": 0.016}, {"a": 0.0169}, False),
        ({"a": 1.0}, {"a": 1.0, "b": 0.01}, False),
        ({"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 0.9}, True),
        ({}, {"a": 0.1}, False),
        ({}, {}, True),
        ({"a": 1.0}, {"a": 0.5}, True),
    ],
)
def test_rounds_end_when_nothing_is_won(
    before: dict[str, float], after: dict[str, float], settled: bool
) -> None:
    assert is_settled(before, after) is settled
