"""Measures against their definitions, and against the libraries that others use."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf

import pytest
import pytrec_eval
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.evaluation import compare, measures

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
    named = {f"recall_{k}": f"recall@{k}" for k in measures.FIRST}
    named |= {"ndcg_cut_10": "ndcg@10", "recip_rank": "mrr"}
    assert {n: ours[own] for n, own in named.items()} == pytest.approx(theirs, abs=1e-9)


@examples(100)
@given(SCORES, SCORES)
def test_auroc_is_the_u_of_mann_and_whitney(positive: list[float], negative: list[float]) -> None:
    theirs = scipy.stats.mannwhitneyu(positive, negative).statistic
    share = theirs / (len(positive) * len(negative))
    assert compare.auroc(positive, negative) == pytest.approx(share, abs=1e-9)


@examples(40)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 0.5, 1.0]), min_size=2, max_size=9))
def test_the_exact_p_is_that_of_a_permutation_test(differences: list[float]) -> None:
    theirs = scipy.stats.permutation_test(
        (differences,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=inf,
    ).pvalue
    assert compare.sign_flip(differences, seed=0) == pytest.approx(theirs, abs=1e-9)


def test_the_sampled_p_is_that_of_a_permutation_test() -> None:
    draw = random.Random(7)
    differences = [draw.choice([-1.0, 0.5, 1.0]) - 0.1 for _ in range(200)]
    theirs = scipy.stats.permutation_test(
        (differences,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=1,
    ).pvalue
    assert compare.sign_flip(differences, seed=0) == pytest.approx(theirs, abs=0.015)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_interval_of_one_cluster_is_the_plain_bootstrap(seed: int) -> None:
    draw = random.Random(seed)
    values = [draw.choice([0.0, 0.5, 1.0]) * draw.random() for _ in range(80)]
    theirs = scipy.stats.bootstrap(
        (values,), lambda sample, axis: sample.mean(axis=axis), method="percentile", rng=1
    ).confidence_interval
    ours = compare.cluster_interval(values, ["a"] * 80, seed, draws=20_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.004)
