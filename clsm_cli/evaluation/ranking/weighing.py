"""Weights of the signals: those that are shipped, and those fitted on the other cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.ranking import fitting, runs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.ranking.asking import Asked

    Floats = NDArray[np.float64]
    Weights = dict[str, Floats]
    """Case → weights in the order of ``runs.SIGNALS``."""


def shipped(asked: Sequence[Asked], left_out: Collection[str] = ()) -> Weights:
    """The weights in the settings of each store.

    Args:
        asked: The cases.
        left_out: Names of signals whose weight is 0 instead.
    """
    import numpy as np

    kept = np.array([name not in left_out for name in runs.SIGNALS])
    return {
        each.bench.case.name: np.array(runs.weights(each.bench.raw.settings.recall)) * kept
        for each in asked
    }


def leave_one_out(asked: Sequence[Asked], frozen: Collection[str] = ()) -> Weights:
    """Weights for each case, fitted on the queries of all others (``fitting.fit``).

    Signals without a shipped weight get none.

    Args:
        asked: The cases; queries without gold among their candidates teach nothing.
        frozen: Names of further signals that stay out.

    Returns:
        Empty where fewer than two cases have anything to learn from.
    """
    samples = {each.bench.case.name: each.samples for each in asked}
    if sum(map(bool, samples.values())) < 2:
        return {}
    out = {*unused(asked), *frozen}
    places = [place for place, name in enumerate(runs.SIGNALS) if name in out]
    return {
        left_out: fitting.fit(
            [sample for name, found in samples.items() if name != left_out for sample in found],
            places,
        )
        for left_out in samples
    }


def unused(asked: Sequence[Asked]) -> tuple[str, ...]:
    """Names of the signals that no store has a weight for."""
    table = list(shipped(asked).values())
    return tuple(
        name
        for place, name in enumerate(runs.SIGNALS)
        if not any(weights[place] for weights in table)
    )
