"""What a simulated year says: data only, rendered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.forgetting.report import StreamState
    from clsm_cli.model.streams import Stream

ALL, USED, NEVER = "all", "used or pinned", "never asked"
GROUPS = (ALL, USED, NEVER)
"""All quotes of all queries; those that an answer of the year has shown, or that a pinned memory
holds; those of queries that nobody has asked."""
MOST_LOST = {USED: 0.01, ALL: 0.03}
"""Recall@10 that a year may cost."""
LEAST_SPARED = 0.4
"""Share of the items that a query may no longer have to consider."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Evidence recall@10 of a group of quotes, against the first day.

    Attributes:
        queries: That have such quotes; the mean is over them.
        quotes: How many there are.
        now: Mean share of a query's quotes that are in its first ten items.
        before: The same on the first day, of the same quotes.
        interval: 95 % bootstrap interval of ``now - before``, query by query.
    """

    queries: int
    quotes: int
    now: float
    before: float
    interval: tuple[float, float]

    @property
    def lost(self) -> float:
        """By how much recall fell; below 0 where it rose."""
        return self.before - self.now


@dataclass(frozen=True, slots=True)
class Month:
    """The store at the end of a month.

    Attributes:
        month: 0 is the day on which the memory was made.
        kept: By group; a group without quotes is missing.
        considered: Passages that a labelled query is compared with by words and meaning, on average.
        closely: Of these how many are looked at closely.
        second: Labelled queries that needed the second pass, over everything.
        archived: By stream, as the last decay left it; empty before the first.
    """

    month: int
    day: str
    kept: dict[str, Kept]
    considered: float
    closely: float
    second: int
    archived: dict[Stream, StreamState]


@dataclass(frozen=True, slots=True)
class Target:
    """What a year may cost at most, or has to save at least, as a share, and what it did."""

    name: str
    is_most: bool
    limit: float
    measured: float

    @property
    def is_met(self) -> bool:
        """Whether it was reached, sums that are equal but for rounding included."""
        beyond = self.measured - self.limit
        return beyond <= 1e-9 if self.is_most else beyond >= -1e-9


@dataclass(frozen=True, slots=True)
class YearQuery:
    """A labelled query: how often it was asked, and its recall@10 by month."""

    id: str
    category: str
    asked: int
    recall: dict[int, float]


@dataclass(frozen=True, slots=True)
class YearReport:
    """A year of use.

    Attributes:
        data: Sizes of the set and of the year.
        months: The first is before any use.
        targets: At the end of the year.
    """

    data: dict[str, int]
    months: tuple[Month, ...]
    targets: tuple[Target, ...]
    queries: tuple[YearQuery, ...]


def kept(now: Sequence[float], before: Sequence[float], quotes: int, seed: int) -> Kept:
    """Compare the shares of quotes found, query by query.

    >>> found = kept([1.0, 0.5], [1.0, 1.0], 3, seed=0)
    >>> found.now, found.before, found.lost, found.interval
    (0.75, 1.0, 0.25, (-0.5, 0.0))
    """
    gained = [later - first for later, first in zip(now, before, strict=True)]
    interval = metrics.cluster_interval(gained, [""] * len(gained), seed)
    return Kept(len(gained), quotes, fmean(now), fmean(before), interval)


def targets(months: Sequence[Month]) -> tuple[Target, ...]:
    """What was to be reached, by the last month; a group that has no quotes then is left out."""
    first, last = months[0], months[-1]
    lost = [
        Target(f"recall@10 lost, {group}", is_most=True, limit=most, measured=last.kept[group].lost)
        for group, most in MOST_LOST.items()
        if group in last.kept
    ]
    spared = 1 - last.considered / first.considered
    name = "items considered per query, saved"
    return (*lost, Target(name, is_most=False, limit=LEAST_SPARED, measured=spared))
