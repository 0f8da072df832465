"""Regression gate: whether a run is worse than an earlier one, or than a limit.

Two runs are compared set by set and query by query, and only where both hold the same data: a mean
over other queries says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.systems.system_registry import CLSM

if TYPE_CHECKING:
    from clsm_cli.evaluation.result import Result, SetResult

_SLACK = 1e-9
"""Points that are rounding, not a regression."""
_NEXT = "compare two runs of the same sets"


@dataclass(frozen=True, slots=True)
class GateRow:
    """The headline measure of clsm on one set, over the queries that have it.

    Attributes:
        set: Its kind and name.
        difference: Mean of now minus before, query by query.
        interval: Its 95 % bootstrap interval, cases as clusters.
        p: Two-sided, by random signs of the differences.
    """

    set: str
    measure: str
    queries: int
    before: float
    now: float
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class Gate:
    """What a comparison found; ``sentences`` say why it failed and what could not be compared."""

    rows: tuple[GateRow, ...]
    failed: bool
    sentences: tuple[str, ...]


def compare_runs(now: Result, before: Result, fail_under: float | None) -> Gate:
    """Compare a run with an earlier one.

    Args:
        now: The run.
        before: The baseline.
        fail_under: Points (of 100) that the headline measure of a set must have gained at least;
            −1: it may lose one. None: nothing fails.

    Raises:
        RefusedError: Other data or other queries, or no set in common.
    """
    here, there = ({_name(each): each for each in run.sets} for run in (now, before))
    if here.keys().isdisjoint(there):
        raise RefusedError("--baseline", "has no set in common with this run", _NEXT)
    rows = [_row(here[name], there[name], now.seed) for name in here if name in there]
    failures = [
        f"{row.set}: {row.measure} went from {100 * row.before:.2f} to {100 * row.now:.2f}, by"
        f" {100 * row.difference:+.2f} points; at least {fail_under:+g} was asked for"
        for row in rows
        if fail_under is not None and 100 * row.difference < fail_under - _SLACK
    ]
    alone = sorted(here.keys() ^ there.keys())
    told = (f"{name} is in one of the runs only and was not compared" for name in alone)
    return Gate(tuple(rows), bool(failures), (*failures, *told))


def check_run(now: Result, fail_under: float) -> Gate:
    """Hold a run against a limit, without an earlier one."""
    failures = [
        f"{_name(each)}: {each.headline} is {100 * found:.2f} %, less than {fail_under:g} %"
        for each in now.sets
        if 100 * (found := fmean(_values(each).values())) < fail_under - _SLACK
    ]
    return Gate((), bool(failures), tuple(failures))


def _name(each: SetResult) -> str:
    return f"{each.kind} {each.name}"


def _values(each: SetResult) -> dict[tuple[str, str], float]:
    """Case and id of each query that has the headline measure → its value."""
    found = ((q, q.values.get(CLSM, {}).get(each.headline)) for q in each.queries)
    return {(query.case, query.id): value for query, value in found if value is not None}


def _row(new: SetResult, old: SetResult, seed: int) -> GateRow:
    now, then, what = _values(new), _values(old), f"--baseline, {_name(new)}"
    if new.digest != old.digest:
        reason = f"holds other data (sha256 {old.digest[:12]}, now {new.digest[:12]})"
        raise RefusedError(what, reason, "make a new baseline with: clsm eval run --json > FILE")
    if not now or now.keys() != then.keys():
        raise RefusedError(what, "has figures of other queries", "run both with the same options")
    current, earlier = list(now.values()), [then[key] for key in now]
    found = metrics.paired(current, earlier, [case for case, _ in now], seed)
    return GateRow(_name(new), new.headline, len(now), fmean(earlier), fmean(current), *found)
