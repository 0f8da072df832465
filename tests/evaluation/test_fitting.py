"""The fitted weights are where the likelihood is highest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from clsm_cli.evaluation import rank_fit
from clsm_cli.evaluation.rank_fit import Sample


def _samples(weights: NDArray[np.float64], count: int = 400) -> list[Sample]:
    """Choices drawn from the model itself."""
    generator = np.random.default_rng(11)
    found = []
    for _ in range(count):
        signals = generator.random((20, len(weights)))
        odds = np.exp(signals @ weights)
        gold = int(generator.choice(20, p=odds / odds.sum()))
        found.append(Sample(signals, (gold,)))
    return found


def _likelihood(samples: list[Sample], weights: NDArray[np.float64]) -> float:
    total = -rank_fit.RIDGE * len(samples) / 2 * float(weights @ weights)
    for sample in samples:
        scores = sample.signals @ weights
        logs = scores - np.log(np.exp(scores).sum())
        total += float(np.mean(logs[list(sample.gold)]))
    return total


def test_it_finds_the_weights_that_made_the_choices() -> None:
    true = np.array([6.0, 2.0, -3.0])
    assert rank_fit.fit(_samples(true)) == pytest.approx(true, abs=0.8)


def test_no_step_away_is_better() -> None:
    samples = _samples(np.array([4.0, 1.0]), 60)
    samples += [Sample(sample.signals, (0, 3)) for sample in samples[:20]]  # several gold
    best = rank_fit.fit(samples)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert _likelihood(samples, best + np.array(step)) < _likelihood(samples, best)
