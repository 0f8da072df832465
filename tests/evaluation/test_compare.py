"""Figures over many queries: what is averaged over what, and what is compared with what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clsm_cli.evaluation import compare
from clsm_cli.evaluation.compare import Asked, Measured
from clsm_cli.evaluation.dataset import Negative, Query

CASES = ["one", "one", "two", "two"]


def worth(
    confidence: float | None = None, *, is_answered: bool = True, **figures: float | None
) -> Measured:
    """One query; ``recall_10`` stands for ``recall@10``."""
    named = {name.replace("_", "@"): value for name, value in figures.items()}
    return Measured(named, confidence, is_answered)


def asked(categories: str = "aabb", cases: Sequence[str] = CASES) -> Asked:
    queries = [Query(f"q{at}", "?", category) for at, category in enumerate(categories)]
    return Asked(queries, cases)


def test_a_system_has_figures_groups_and_intervals() -> None:
    measured = [worth(recall_10=value, mrr=1.0) for value in (1.0, 0.5, 0.5, 0.0)]
    found = compare.system_result("s", measured, asked(), seed=3)
    assert found.figures == {"recall@10": 0.5, "mrr": 1.0}
    assert found.groups["category"]["a"] == {"recall@10": 0.75, "mrr": 1.0}
    expected = compare.cluster_interval([1.0, 0.5, 0.5, 0.0], CASES, 3)
    assert found.intervals == {"recall@10": expected}  # no headline: mrr


def test_pairs_are_compared_query_by_query() -> None:
    ours = [worth(f1=value, coverage=1.0) for value in (1.0, 1.0, 0.5, 0.5)]
    theirs = [worth(f1=value, coverage=0.0) for value in (0.5, 0.5, 0.5, 0.75)]
    found = list(compare.compare_pairs({"clsm": ours, "other": theirs}, "clsm", asked(), seed=0))
    assert [(pair.measure, pair.difference) for pair in found] == [
        ("f1", pytest.approx(0.1875)),
        ("coverage", 1.0),
    ]
    assert {pair.against for pair in found} == {"other"}
    assert found[1].interval == (1.0, 1.0)
    assert found[1].p == pytest.approx(2 / 2**4)  # of 16 sign patterns all plus and all minus


def negative(kind: Negative) -> Query:
    return Query("n", "?", negative=kind)


def test_confidence_is_compared_by_kind_of_silence() -> None:
    queries = [negative("off topic"), negative("near topic"), negative("off topic")]
    answers = {"s": [worth(0.9), worth(0.5), worth()], "mute": [worth()] * 3}
    silent = [worth(0.5, is_answered=False), worth(0.95), worth(0.1)]
    found = list(compare.abstention(answers, {"s": silent, "mute": [worth()] * 3}, queries))
    assert [(each.system, each.negative, each.queries) for each in found] == [
        ("s", "near topic", 1),
        ("s", "off topic", 2),
    ]
    near, off = found
    assert (near.auroc, near.refused) == (0.0, 0.0)
    # 0.9 is above both, 0.5 is above one and ties with the other.
    assert (off.auroc, off.refused) == (3.5 / 4, 0.5)
