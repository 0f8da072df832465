"""Measures by figures that can be checked by hand, and against the libraries that others use."""

import random
from collections.abc import Sequence
from math import inf

import pytest
import pytrec_eval
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.evaluation import compare, measures
from clsm_cli.evaluation.dataset import LabelledQuery
from clsm_cli.evaluation.grids import PLAIN
from clsm_cli.evaluation.measures import BUDGETS, DELIVERED, FIRST, Item, Retrieved, credit_items
from clsm_cli.evaluation.result import Figures

SCORES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[int], int]:
    """Places from 1 of the gold that was returned, and how much was not."""
    places = draw(st.sets(st.integers(1, 40), max_size=8))
    missing = draw(st.integers(0, 4))
    assume(places or missing)
    return sorted(places), missing


def _trec(places: Sequence[int], missing: int, returned: int) -> dict[str, float]:
    """What TREC's program says of a ranking of ``returned`` documents."""
    gold = {f"d{place:02}": 1 for place in places} | {f"x{at}": 1 for at in range(missing)}
    run = {f"d{place:02}": float(returned - place) for place in range(1, returned + 1)}
    wanted = {"recall.1,5,10,50", "ndcg_cut.10", "recip_rank"}
    found: dict[str, float] = pytrec_eval.RelevanceEvaluator({"q": gold}, wanted).evaluate(
        {"q": run}
    )["q"]
    return found


@examples(100)
@given(rankings())
def test_trec_eval_measures_the_same(ranking: tuple[list[int], int]) -> None:
    places, missing = ranking
    theirs = _trec(places, missing, 40)
    ranks = [*map(float, places), *[inf] * missing]
    ours = measures.rank_figures(ranks, ranks)
    named = {f"recall_{k}": f"recall@{k}" for k in FIRST}
    named |= {"ndcg_cut_10": "ndcg@10", "recip_rank": "mrr"}
    assert {n: ours[own] for n, own in named.items()} == pytest.approx(theirs, abs=1e-9)


@examples(100)
@given(SCORES, SCORES)
def test_auroc_is_the_u_of_mann_and_whitney(positive: list[float], negative: list[float]) -> None:
    import scipy.stats  # half a second, which not every worker has to spend

    theirs = scipy.stats.mannwhitneyu(positive, negative).statistic
    share = theirs / (len(positive) * len(negative))
    truths = [True] * len(positive) + [False] * len(negative)
    assert compare.auroc(positive + negative, truths) == pytest.approx(share, abs=1e-9)


def p_of(differences: list[float], draws: float) -> float:
    import scipy.stats

    found = scipy.stats.permutation_test(
        (differences,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws,
        rng=1,
    )
    return float(found.pvalue)


@examples(40)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 0.5, 1.0]), min_size=2, max_size=9))
def test_the_exact_p_is_that_of_a_permutation_test(differences: list[float]) -> None:
    wanted = pytest.approx(p_of(differences, inf), abs=1e-9)
    assert compare.sign_flip(differences, seed=0) == wanted


def test_the_sampled_p_is_that_of_a_permutation_test() -> None:
    draw = random.Random(7)
    differences = [draw.choice([-1.0, 0.5, 1.0]) - 0.1 for _ in range(200)]
    wanted = pytest.approx(p_of(differences, 20_000), abs=0.015)
    assert compare.sign_flip(differences, seed=0) == wanted


@pytest.mark.parametrize("seed", [0, 1])
def test_the_interval_of_one_cluster_is_the_plain_bootstrap(seed: int) -> None:
    import scipy.stats

    draw = random.Random(seed)
    values = [draw.choice([0.0, 0.5, 1.0]) * draw.random() for _ in range(80)]
    theirs = scipy.stats.bootstrap(
        (values,), lambda sample, axis: sample.mean(axis=axis), method="percentile", rng=1
    ).confidence_interval
    ours = compare.cluster_interval(values, ["a"] * 80, seed, draws=20_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.004)


WHOLE = 20_000
"""Tokens; 3.5 % of it are 700."""


def item(*turns: str, tokens: int = 10, uses: int = 1) -> Item:
    return Item("-".join(turns), " ".join(turns), tokens, turns, "", uses)


def filler(count: int, tokens: int = 10) -> list[Item]:
    return [item(f"x{at}", tokens=tokens) for at in range(count)]


def figures(
    gold: Sequence[str], items: Sequence[Item], without: Sequence[Item] | None = None
) -> Figures:
    near = None if without is None else Retrieved(tuple(without))
    query = LabelledQuery("q", "?", gold=tuple(gold))
    return measures.figures(query, Retrieved(tuple(items)), near, "turn", WHOLE)


def test_a_turn_counts_where_its_words_are() -> None:
    told = {"t1": "Ilse mends theremins, she starts at nine.", "t2": "Ilse mends theremins."}
    (found,) = credit_items([Item("s", told["t2"], 9, ("t1", "t2", "t3"), "")], ["t1", "t2"], told)
    assert found.turns == ("t2", "t3")
    (whole,) = credit_items([Item("p", told["t1"], 9, ("t1",), "")], ["t1"], told)
    assert whole.turns == ("t1",)


def test_a_statement_takes_a_place_for_each_turn_that_it_rests_on() -> None:
    told = item("a", "b", "c", uses=3)
    assert measures.ranks(["b", "d"], [told, item("d")], "turn") == [1.0, 4.0]
    # Nine places are left after the first; the statement is the last that counts.
    items = [*filler(9), told, item("d")]
    assert measures.delivered(items) == items[:10]
    found = figures(["c", "d"], items)
    assert (found["recall@10"], found["recall@50"], found["mrr"]) == (0.5, 1.0, 0.1)


def test_relevance_efficiency_and_retention() -> None:
    items = [item("a", tokens=30), item("x", tokens=50), item("b", tokens=20)]
    found = figures(["a", "b", "c"], items)
    assert found["relevance"] == pytest.approx(0.5)
    assert found["efficiency"] == pytest.approx(1 - 100 / WHOLE)
    assert (found["retention"], found["tokens"]) == (1.0, 100.0)
    assert figures(["c"], items)["retention"] == 0.0
    assert figures(["c"], items)["relevance"] == 0.0


def test_reach_looks_at_what_the_embedding_alone_does_not_return() -> None:
    ours = [item("a"), item("b"), item("x"), item("c")]
    found = figures(["a", "b", "c", "d", "e"], ours, [item("a"), item("e"), *filler(3)])
    # Of b, x and c, which MiniLM does not return, b and c hold evidence.
    assert found["reach"] == pytest.approx(2 / 3)


def test_the_first_ten_concepts_are_looked_at_and_each_is_found_once() -> None:
    query = LabelledQuery("q", "?", concepts=(frozenset({"heron", "bird"}), frozenset({"moon"})))
    named = ["bird", "heron", "tea chai", *[f"c{at}" for at in range(7)], "moon"]
    concepts = tuple(frozenset(each.split()) for each in named)
    found = measures.figures(query, Retrieved((), concepts), None, "turn", WHOLE)
    assert found["precision"] == pytest.approx(0.1)
    assert found["recall"] == 0.5
    assert found["f1"] == pytest.approx(2 * 0.1 * 0.5 / 0.6)
    assert (found["coverage"], found["concepts"]) == (1.0, 10.0)
    assert "recall@10" not in found
    none = measures.figures(query, Retrieved(()), None, "turn", WHOLE)
    assert (none["precision"], none["f1"], none["coverage"]) == (0.0, 0.0, 0.0)


answers = st.lists(
    st.builds(
        item, st.sampled_from("abcdxyz"), tokens=st.integers(1, 1200), uses=st.integers(1, 4)
    ),
    max_size=30,
)


@given(answers, answers)
def test_what_holds_of_every_ranking(items: list[Item], near: list[Item]) -> None:
    found = figures(["a", "b", "c"], items, near)
    by_place = [found[f"recall@{place}"] or 0.0 for place in FIRST]
    assert by_place == sorted(by_place)
    for name, value in found.items():
        assert value is None or name in PLAIN or 0.0 <= value <= 1.0
    returned = measures.delivered(items)
    assert sum(each.tokens for each in returned) <= DELIVERED
    assert found["retention"] == float(any(each.turns[0] in "abc" for each in returned))
    for budget in BUDGETS:
        kept = measures.within_budget(items, budget)
        assert sum(each.tokens for each in kept) <= budget
        held = {each.turns[0] for each in kept} & set("abc")
        assert found[f"tokens@{budget}"] == pytest.approx(len(held) / 3)
