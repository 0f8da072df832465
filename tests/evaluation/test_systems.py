"""What is compared scores candidates as it says."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from clsm_cli.evaluation.loaders.cases import Question
from clsm_cli.evaluation.ranking import runs, systems
from clsm_cli.evaluation.ranking.asking import Asked
from clsm_cli.evaluation.ranking.runs import Run

WIDTH = len(runs.SIGNALS)


def _run(signals: list[list[float]]) -> Run:
    count = len(signals)
    return Run(
        units=np.arange(count, dtype=np.int32),
        costs=np.ones(count, dtype=np.int32),
        signals=np.array([row + [0.0] * (WIDTH - len(row)) for row in signals]),
        bm25=np.array([0.0, 2.0, 4.0]),
        cosine=np.array([0.5, nan, 0.1]),
        confidence=0.5,
    )


def test_baselines_return_only_what_they_know() -> None:
    run = _run([[0.0], [0.0], [0.0]])
    words, meaning, fused = (system.scores(run, "") for system in systems.baselines())
    assert words.tolist() == [-inf, 2.0, 4.0]
    assert meaning.tolist() == [0.5, -inf, 0.1]
    assert fused == pytest.approx([0.6, 0.2, 0.4 + 0.6 * 0.2])


def test_weights_are_fitted_on_the_other_conversations() -> None:
    """Conversation a rewards signal 0, b and c signal 1: each is judged by the others."""
    first, second = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    asked = [
        Asked(name, Question("q", "?", "x", ()), (0,), _run(signals), 0)
        for name, signals in (("a", first), ("b", second), ("c", second))
        for _ in range(5)
    ]
    fitted = systems.leave_one_out(asked)
    assert fitted["a"][1] > fitted["a"][0]
    assert fitted["b"] == pytest.approx(fitted["c"])
    assert fitted["b"][0] == pytest.approx(fitted["b"][1])
    frozen = systems.leave_one_out(asked, [runs.SIGNALS[1]])
    assert frozen["a"][1] == 0


def test_one_conversation_has_no_others() -> None:
    asked = [Asked("a", Question("q", "?", "x", ()), (0,), _run([[1.0]] * 3), 0)]
    assert systems.leave_one_out(asked) == {}
    assert systems.refits(asked, {}) == []


def test_content_only_leaves_out_who_and_when() -> None:
    weights = [1.0] * WIDTH
    _, content = systems.shipped(weights)
    run = _run([[1.0] * WIDTH] * 3)
    kept = sum(name not in runs.NOT_CONTENT for name in runs.SIGNALS)
    assert content.scores(run, "")[0] == kept


def test_the_floor_leaves_out_whole_answers() -> None:
    run = _run([[1.0], [1.0], [1.0]])
    weights = [1.0] + [0.0] * (WIDTH - 1)
    assert systems.above(0.3, weights).scores(run, "").tolist() == [1.0, 1.0, 1.0]
    assert systems.above(0.0, weights).scores(run, "").tolist() == [1.0, 1.0, 1.0]
    assert systems.above(0.6, weights).scores(run, "").tolist() == [-inf, -inf, -inf]
