"""Signals of several kinds made one score: put on one scale, then summed by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def spread(values: Sequence[float]) -> list[float]:
    """Min-max normalisation: (v − min) / (max − min), 0 … 1.

    Where nothing differs everything is the best there is: 1, or 0 if that is nothing.

    >>> spread([2.0, 4.0, 3.0]), spread([5.0, 5.0]), spread([0.0])
    ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0])
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = high - low
    if not width:
        return [float(high > 0)] * len(values)
    return [(value - low) / width for value in values]


def weighted(signals: Sequence[float], weights: Sequence[float]) -> float:
    """Linear fusion Σ wᵢ · sᵢ.

    >>> weighted((0.5, 1.0), (2.0, -0.5))
    0.5
    """
    return sum(w * s for w, s in zip(weights, signals, strict=True))
