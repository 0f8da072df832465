"""Figures over many queries: what is averaged, what is compared, and a run with an earlier one."""

from typing import cast

import pytest

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation import compare
from clsm_cli.evaluation.compare import Measured
from clsm_cli.evaluation.dataset import Negative, Query
from clsm_cli.evaluation.result import Result, SetResult

CASES = ["one", "one", "two", "two"]


def worth(
    at: int, confidence: float | None = None, *, silent: Negative = "", **figures: float
) -> Measured:
    """The query at a place, of category a or b; ``recall_10`` stands for ``recall@10``."""
    named: dict[str, float | None] = {n.replace("_", "@"): value for n, value in figures.items()}
    query = Query(f"q{at}", "?", "aabb"[at], negative=silent)
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


def labelled(*recalls: float, **changes: str) -> SetResult:
    """A set of queries of two cases in turn, with what is compared of it."""
    queries = [
        {"id": f"q{n}", "case": f"case {n % 2}", "values": {"clsm": {"recall@10": recall}}}
        for n, recall in enumerate(recalls)
    ]
    named = {"kind": "locomo", "name": "talks", "digest": "a" * 64, "headline": "recall@10"}
    return cast("SetResult", {**named, "queries": queries, **changes})


def run(*sets: SetResult) -> Result:
    return cast("Result", {"seed": 7, "sets": sets})


GOOD, WORSE = labelled(*[1.0] * 10), labelled(*[0.0] * 5, *[1.0] * 5)


def test_a_worse_run_fails_and_says_where() -> None:
    same = compare.compare_runs(run(GOOD), run(GOOD), 0.0)
    assert (same["failed"], same["sentences"]) == (False, [])
    found = compare.compare_runs(run(WORSE), run(GOOD), -1.0)
    assert found["failed"]
    (sentence,) = found["sentences"]
    assert sentence == (
        "locomo talks: recall@10 went from 100.00 to 50.00, by -50.00 points;"
        " at least -1 was asked for"
    )
    (row,) = found["rows"]
    assert (row["queries"], row["difference"]) == (10, -0.5)
    assert row["interval"][0] <= -0.5 <= row["interval"][1] <= 0
    assert row["p"] == 2 * 0.5**5  # all five signs alike, in either direction


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ([labelled(1.0, digest="b" * 64)], r"locomo talks: holds other data \(sha256 bbbbbbbbbbbb"),
        ([labelled(1.0, name="others")], "no set in common"),
        ([], "no set in common"),
        ([labelled(*[1.0] * 9)], "figures of other queries"),
    ],
)
def test_other_data_is_refused(before: list[SetResult], reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        compare.compare_runs(run(GOOD), run(*before), -100.0)
