"""A run against an earlier one: the same passes, a worse one fails, other data is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation import compare
from clsm_cli.evaluation.result import SCHEMA, QueryResult, Result, SetResult

DIGEST, OTHER = "a" * 64, "b" * 64


def query(number: int, recall: float | None) -> QueryResult:
    """A query of one of two cases."""
    return QueryResult(
        id=f"q{number}",
        case=f"case {number % 2}",
        category="",
        values={"clsm": {"recall@10": recall}, "BM25": {"recall@10": 0.0}},
    )


def labelled(*queries: QueryResult, name: str = "talks", digest: str = DIGEST) -> SetResult:
    return SetResult(
        kind="locomo",
        name=name,
        digest=digest,
        unit="turn",
        headline="recall@10",
        notes=(),
        sizes={},
        stored=None,
        silenced=0.0,
        systems=(),
        pairs=(),
        ablation=(),
        abstention=(),
        queries=queries,
    )


def run(*sets: SetResult) -> Result:
    return Result(SCHEMA, "1", "clsm eval run", {}, 7, {}, sets, ())


GOOD = labelled(*(query(number, 1.0) for number in range(10)))
WORSE = labelled(*(query(number, float(number >= 5)) for number in range(10)))


def test_a_run_against_itself_passes_at_nothing() -> None:
    found = compare.compare_runs(run(GOOD), run(GOOD), 0.0)
    assert not found.failed
    assert found.sentences == ()
    assert {row.difference for row in found.rows} == {0.0}
    assert [row.measure for row in found.rows] == ["recall@10"]


def test_a_worse_run_fails_and_says_where() -> None:
    found = compare.compare_runs(run(WORSE), run(GOOD), -1.0)
    assert found.failed
    (sentence,) = found.sentences
    assert sentence == (
        "locomo talks: recall@10 went from 100.00 to 50.00, by -50.00 points;"
        " at least -1 was asked for"
    )
    (decisive,) = found.rows
    assert (decisive.queries, decisive.difference) == (10, -0.5)
    assert decisive.interval[0] <= -0.5 <= decisive.interval[1] <= 0
    assert decisive.p == 2 * 0.5**5  # all five signs alike, in either direction


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ([replace(GOOD, digest=OTHER)], r"locomo talks: holds other data \(sha256 bbbbbbbbbbbb"),
        ([replace(GOOD, name="others", digest=OTHER)], "no set in common"),
        ([], "no set in common"),
        ([labelled(*GOOD.queries[1:])], "figures of other queries"),
    ],
)
def test_other_data_is_refused(before: list[SetResult], reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        compare.compare_runs(run(GOOD), run(*before), -100.0)


def test_without_a_baseline_the_limit_is_the_figure_itself() -> None:
    assert not compare.check_run(run(WORSE), 50.0).failed
    found = compare.check_run(run(WORSE), 50.5)
    assert found.failed
    assert found.sentences == ("locomo talks: recall@10 is 50.00 %, less than 50.5 %",)
