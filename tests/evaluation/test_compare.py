"""Figures over many queries: what is averaged, and what is compared."""

import pytest

from clsm_cli.evaluation import compare
from clsm_cli.evaluation.compare import Measured
from clsm_cli.evaluation.dataset import LabelledQuery, Negative

CASES = ["one", "one", "two", "two"]


def worth(
    at: int, confidence: float | None = None, *, silent: Negative = "", **figures: float
) -> Measured:
    """The query at a place, of category a or b; ``recall_10`` stands for ``recall@10``."""
    named: dict[str, float | None] = {n.replace("_", "@"): value for n, value in figures.items()}
    query = LabelledQuery(f"q{at}", "?", "aabb"[at], negative=silent)
    return Measured(query, CASES[at], named, confidence, is_answered=confidence != 0.5)


def test_a_system_has_figures_groups_and_intervals() -> None:
    measured = [
        worth(at, recall_10=value, mrr=1.0) for at, value in enumerate((1.0, 0.5, 0.5, 0.0))
    ]
    found = compare.system_result("s", measured, seed=3)
    assert found["figures"] == {"recall@10": 0.5, "mrr": 1.0}
    assert found["groups"]["category"]["a"] == {"recall@10": 0.75, "mrr": 1.0}
    expected = compare.cluster_interval([1.0, 0.5, 0.5, 0.0], CASES, 3)
    assert found["intervals"] == {"recall@10": expected}  # no headline: mrr


def test_pairs_are_compared_query_by_query() -> None:
    ours = [worth(at, f1=value, coverage=1.0) for at, value in enumerate((1.0, 1.0, 0.5, 0.5))]
    theirs = [worth(at, f1=value, coverage=0.0) for at, value in enumerate((0.5, 0.5, 0.5, 0.75))]
    found = list(compare.compare_pairs({"clsm": ours, "other": theirs}, "clsm", seed=0))
    assert [(pair["measure"], pair["difference"], pair["against"]) for pair in found] == [
        ("f1", pytest.approx(0.1875), "other"),
        ("coverage", 1.0, "other"),
    ]
    assert found[1]["interval"] == (1.0, 1.0)
    assert found[1]["p"] == pytest.approx(2 / 2**4)  # of 16 sign patterns all plus and all minus


def test_a_pair_counts_the_queries_that_both_systems_have() -> None:
    ours, theirs = [worth(0, f1=1.0), worth(1, f1=1.0)], [worth(0, f1=0.0), worth(2, f1=0.5)]
    found = compare.paired(ours, theirs, "f1", seed=0)
    assert found is not None
    assert (found["difference"], found["p"]) == (1.0, 1.0)
    assert compare.paired(ours, [worth(3, f1=1.0)], "f1", seed=0) is None


def test_confidence_is_compared_by_kind_of_silence() -> None:
    silent = [
        worth(0, 0.5, silent="off topic"),
        worth(1, 0.95, silent="near topic"),
        worth(2, 0.1, silent="off topic"),
    ]
    mute = [worth(0), worth(1), worth(2)]
    answers = {"s": [worth(0, 0.9), worth(1, 0.5), worth(2)], "mute": mute}
    found = compare.abstention(answers, {"s": silent, "mute": mute})
    assert [tuple(each.values()) for each in found] == [
        ("s", "near topic", 1, 0.0, 0.0),
        # 0.9 is above both, 0.5 is above one and ties with the other.
        ("s", "off topic", 2, 3.5 / 4, 0.5),
    ]
