"""Signals of different scales brought to one score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def spread(values: Sequence[float]) -> list[float]:
    """Min-max normalisation: (v − min) / (max − min), 0 … 1; all 0 where nothing differs.

    >>> spread([2.0, 4.0, 3.0]), spread([5.0, 5.0])
    ([0.0, 1.0, 0.5], [0.0, 0.0])
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = high - low
    return [(value - low) / width if width else 0.0 for value in values]


def weighted(signals: Sequence[float], weights: Sequence[float]) -> float:
    """Linear fusion Σ wᵢ · sᵢ.

    >>> weighted((0.5, 1.0), (2.0, -0.5))
    0.5
    """
    return sum(w * s for w, s in zip(weights, signals, strict=True))
