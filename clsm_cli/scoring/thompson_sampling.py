"""Thompson sampling: weights learnt from feedback, with a Beta distribution per signal.

As in Smriti, but the priors are kept: there, the first feedback discards them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum

from clsm_cli.startup.records import NamedTuple

HALF_LIFE_DAYS = 7.0
"""Days after which a judgement counts half (Smriti)."""
MIN_JUDGEMENTS = 10
"""Judgements before which the weights stay as they are (Smriti)."""
MIN_MULTIPLIER, MAX_MULTIPLIER = 0.5, 2.0
"""Bounds of a multiplier: feedback tunes a signal, but neither silences it nor lets it dominate."""


class Beta(NamedTuple):
    """Beta distribution of the probability that a signal leads to good items."""

    good: float
    bad: float

    @property
    def mean(self) -> float:
        """The expected probability: good / (good + bad)."""
        return self.good / (self.good + self.bad)


Feedback = tuple[str, bool, float]
"""A judgement: the signal that led to the item, whether the item is good, and the judgement's age in days (a
future one counts as 0).
"""


def multipliers(
    priors: Mapping[str, Beta], feedback: Iterable[Feedback], seed: str | int | None = None
) -> dict[str, float]:
    """The factor for the default weight of each signal; 1 below ``MIN_JUDGEMENTS`` judgements.

        good' = good + Σ over good judgements of 2^(−age / 7),  bad' likewise
        multiplier = probability / mean of the prior,  between 0.5 and 2

    The probability is the posterior's mean or, with a seed, one draw from it (Thompson sampling).

    Args:
        feedback: In any order; judgements of signals without a prior are ignored.
        seed: Of the draw, which does not depend on the order of ``priors``.

    Ten good and one bad judgement, all today: (2 + 10) / (3 + 11) against 2 / 3:

    >>> judgements = [("cosine", True, 0.0)] * 10 + [("cosine", False, 0.0)]
    >>> found = multipliers({"cosine": Beta(2, 1), "text": Beta(1.2, 1)}, judgements)
    >>> {signal: round(value, 3) for signal, value in found.items()}
    {'cosine': 1.286, 'text': 1.0}
    """
    judgements = [judgement for judgement in feedback if judgement[0] in priors]
    if len(judgements) < MIN_JUDGEMENTS:
        return dict.fromkeys(priors, 1.0)
    decayed: dict[tuple[str, bool], list[float]] = {}
    for signal, is_good, age in judgements:
        decayed.setdefault((signal, is_good), []).append(2 ** (-max(0.0, age) / HALF_LIFE_DAYS))
    posteriors = {
        signal: Beta(
            prior.good + fsum(decayed.get((signal, True), ())),
            prior.bad + fsum(decayed.get((signal, False), ())),
        )
        for signal, prior in priors.items()
    }
    expected = {signal: beta.mean for signal, beta in posteriors.items()}
    if seed is not None:
        from random import Random  # takes 5 ms; only exploration needs it

        source = Random(seed)  # noqa: S311 — not for security
        expected = {
            signal: source.betavariate(*posteriors[signal]) for signal in sorted(posteriors)
        }
    return {
        signal: min(MAX_MULTIPLIER, max(MIN_MULTIPLIER, expected[signal] / prior.mean))
        for signal, prior in priors.items()
    }
