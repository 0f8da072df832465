"""Measures against their definitions."""

from __future__ import annotations

import random

import pytest

from clsm_cli.evaluation import metrics


def test_auroc_is_the_share_of_pairs_in_order() -> None:
    draw = random.Random(3)
    positive = [draw.randrange(6) for _ in range(40)]
    negative = [draw.randrange(5) for _ in range(25)]
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert metrics.auroc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_auroc_needs_both_sides() -> None:
    with pytest.raises(ValueError, match="both sides"):
        metrics.auroc([0.5], [])


def test_the_interval_is_wider_when_conversations_differ() -> None:
    values = [1.0] * 50 + [0.0] * 50
    alone = [str(at) for at in range(100)]
    halves = ["a"] * 50 + ["b"] * 50
    narrow = metrics.cluster_interval(values, alone, seed=1)
    wide = metrics.cluster_interval(values, halves, seed=1)
    assert narrow[1] - narrow[0] < 0.25
    assert wide == (0.0, 1.0)


def test_the_interval_of_one_cluster_is_the_plain_bootstrap() -> None:
    values = [1.0] * 50 + [0.0] * 50
    low, high = metrics.cluster_interval(values, ["a"] * 100, seed=1)
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)


def test_the_interval_is_the_same_for_a_seed() -> None:
    values, clusters = [0.1, 0.5, 0.9, 0.4], ["a", "a", "b", "b"]
    assert metrics.cluster_interval(values, clusters, 5) == metrics.cluster_interval(
        values, clusters, 5
    )


def test_sampled_flips_agree_with_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    differences = [draw.choice([-1.0, 0.5, 1.0]) for _ in range(14)]
    exact = metrics.sign_flip(differences, seed=0)
    monkeypatch.setattr(metrics, "EXACT_FLIPS", 3)
    assert metrics.sign_flip(differences, seed=0) == pytest.approx(exact, abs=0.02)


def test_no_difference_is_no_evidence() -> None:
    assert metrics.sign_flip([0.0, 0.0], seed=0) == 1.0
    assert metrics.sign_flip([1.0, -1.0], seed=0) == 1.0


def test_ndcg_of_more_gold_than_places_can_be_one() -> None:
    assert metrics.ndcg([1, 2, 3], 2) == 1.0


def test_nothing_returned_scores_nothing() -> None:
    missing = [float("inf")]
    assert metrics.reciprocal_rank(missing) == 0.0
    assert metrics.ndcg(missing, 10) == 0.0
    assert metrics.recall(missing, 10) == 0.0
