"""From scores of candidates to figures."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.loaders.cases import Question
from clsm_cli.evaluation.measures import DAYS, TURNS, Ranking
from clsm_cli.evaluation.ranking.asking import Asked
from clsm_cli.evaluation.ranking.runs import SIGNALS, Run


def _asked(units: list[int], gold: tuple[int, ...]) -> Asked:
    count = len(units)
    run = Run(
        units=np.array(units, dtype=np.int32),
        costs=np.array([10 * (at + 1) for at in range(count)], dtype=np.int32),
        signals=np.zeros((count, len(SIGNALS))),
        bm25=np.zeros(count),
        cosine=np.zeros(count),
        confidence=0.0,
    )
    return Asked("c", Question("q", "?", "x", ()), gold, run, whole=1000)


def test_a_unit_in_two_parts_counts_once_by_its_better_part() -> None:
    found = measures.ranking(_asked([5, 6, 5], (6,)), np.array([0.9, 0.5, 0.8]))
    assert found.ranks == [2.0]
    assert found.costs == [10, 20]


def test_equal_scores_keep_the_order_of_time() -> None:
    found = measures.ranking(_asked([5, 6, 7], (5, 6, 7)), np.array([0.5, 0.5, 0.9]))
    assert found.ranks == [2.0, 3.0, 1.0]


def test_minus_infinity_is_not_returned() -> None:
    found = measures.ranking(_asked([5, 6], (5, 8)), np.array([-inf, 0.5]))
    assert found.ranks == [inf, inf]
    assert found.costs == [20]


def test_figures_of_one_ranking() -> None:
    found = Ranking([[0], [11], []], [400, 200, *[10] * 10], whole=20_000)
    assert TURNS["recall@10"](found) == pytest.approx(1 / 3)
    assert TURNS["recall@20"](found) == pytest.approx(2 / 3)
    assert TURNS["hit@10"](found) == 1
    assert TURNS["all@10"](found) == 0
    assert TURNS["mrr"](found) == 1
    # 400, then ten of 10: the one of 200 does not fit any more.
    assert TURNS["tokens@500"](found) == pytest.approx(2 / 3)
    # 3.5 % of 20,000 are 700 tokens.
    assert TURNS["reduced"](found) == pytest.approx(2 / 3)
    assert DAYS["recall@1"](found) == pytest.approx(1 / 3)


def test_gold_that_several_items_hold_counts_where_one_fits() -> None:
    found = Ranking([[0, 1]], [600, 400], whole=0)
    assert TURNS["tokens@500"](found) == 1
    assert found.ranks == [1.0]
