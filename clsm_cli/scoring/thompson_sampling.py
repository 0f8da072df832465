"""Thompson sampling: weights learnt from feedback, a Beta distribution for each signal.

Thompson sampling as in Smriti, with its priors kept: there the first feedback discards them.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HALF_LIFE = 7.0
"""Days after which a feedback counts half (Smriti)."""
ENOUGH = 10
"""Feedbacks before which the weights stay as they are (Smriti)."""
LEAST, MOST = 0.5, 2.0
"""Bounds of a multiplier: feedback tunes a signal, it neither silences it nor lets it rule alone."""


class Beta(NamedTuple):
    """Beta distribution of the probability that a signal is right."""

    good: float
    bad: float

    @property
    def mean(self) -> float:
        """The probability to expect: good / (good + bad)."""
        return self.good / (self.good + self.bad)


Feedback = tuple[str, bool, float]
"""A judgement: the signal that led to it, whether it is good, and its age in days (ahead of now: 0)."""


def multipliers(
    priors: Mapping[str, Beta], feedback: Iterable[Feedback], seed: str | int | None = None
) -> dict[str, float]:
    """What to multiply the default weight of each signal by: 1 until ``ENOUGH`` feedbacks.

        good' = good + Σ over good ones of 2^(−age / 7),  bad' likewise
        multiplier = probability / mean of the prior,  between 0.5 and 2

    The probability is the posterior's mean, or with a seed one draw from it (Thompson sampling).

    Args:
        feedback: In any order; what names no signal of ``priors`` does not count.
        seed: Of the draw; the same seed draws the same, whatever the order of ``priors``.

    Ten times good and once bad, all today: (2 + 10) / (3 + 11) against 2 / 3:

    >>> told = [("cosine", True, 0.0)] * 10 + [("cosine", False, 0.0)]
    >>> found = multipliers({"cosine": Beta(2, 1), "text": Beta(1.2, 1)}, told)
    >>> {signal: round(value, 3) for signal, value in found.items()}
    {'cosine': 1.286, 'text': 1.0}
    """
    told = [each for each in feedback if each[0] in priors]
    if len(told) < ENOUGH:
        return dict.fromkeys(priors, 1.0)
    faded: dict[tuple[str, bool], list[float]] = {}
    for signal, is_good, age in told:
        faded.setdefault((signal, is_good), []).append(2 ** (-max(0.0, age) / HALF_LIFE))
    learnt = {
        signal: Beta(
            prior.good + fsum(faded.get((signal, True), ())),
            prior.bad + fsum(faded.get((signal, False), ())),
        )
        for signal, prior in priors.items()
    }
    sure = {signal: beta.mean for signal, beta in learnt.items()}
    if seed is not None:
        from random import Random  # 5 ms that only exploring needs

        source = Random(seed)  # noqa: S311 — nothing here is secret
        sure = {signal: source.betavariate(*learnt[signal]) for signal in sorted(learnt)}
    return {
        signal: min(MOST, max(LEAST, sure[signal] / prior.mean)) for signal, prior in priors.items()
    }
