"""When a probe counts an answer as right, on answers written by hand."""

from __future__ import annotations

from clsm_cli.evaluation.measures import Item, Retrieved
from clsm_cli.evaluation.probes import distractor
from clsm_cli.evaluation.probes.distractor import Trap
from clsm_cli.evaluation.probes.drift import FactChange, tells_latest
from clsm_cli.evaluation.probes.material import Line


def item(*turns: str) -> Item:
    return Item("-".join(turns), "text", 3, turns, "2026-01-01")


TOLD = [
    FactChange("a", 0, 1, "Leeds", ""),
    FactChange("b", 0, 5, "York", ""),
    FactChange("c", 0, 9, "Leeds", ""),
]


def test_the_first_item_that_tells_the_fact_decides() -> None:
    assert tells_latest([item("x"), item("c"), item("b")], TOLD)
    assert not tells_latest([item("x"), item("b"), item("c")], TOLD)
    assert tells_latest([item("a")], TOLD)  # the same value, told before
    assert not tells_latest([item("a", "b")], TOLD)  # two values at once say nothing
    assert not tells_latest([item("x")], TOLD)
    assert not tells_latest([], TOLD)


def test_a_distractor_may_be_missing_but_the_truth_may_not() -> None:
    lines = [Line("t", "7-true"), Line("s", "7-similar-0"), Line("s", "7-similar-1")]
    trap = Trap("?", (*lines, Line("p", "7-poisoned"), Line("o", "7-superseded")))

    def judge(*ids: str) -> list[bool]:
        found = Retrieved(tuple(item(id_) for id_ in ids))
        return [distractor.is_above(found, trap, 7, kind) for kind in distractor.KINDS]

    assert judge("7-true") == [True, True, True]
    assert judge("7-true", "7-poisoned") == [True, True, True]
    assert judge("7-poisoned", "7-true", "7-similar-1") == [True, True, False]
    assert judge("7-similar-1", "7-superseded", "7-true") == [False, False, True]
    assert judge("17-true", "other") == [False, False, False]
