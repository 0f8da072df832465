"""Regression gate: whether a run is worse than an earlier one, or than a limit.

Two runs are compared set by set and query by query, and only where both hold the same data: a mean
over other queries says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.evaluation.compare import compare_pair
from clsm_cli.evaluation.systems.system_registry import CLSM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.result import QueryResult, Result, SetResult

_SLACK = 1e-9
"""Points that are rounding, not a regression."""
_NEXT = "compare two runs of the same sets"


@dataclass(frozen=True, slots=True)
class GateRow:
    """The headline measure of clsm on one set, over the queries that have it in both runs.

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
    rows: list[GateRow] = []
    failures: list[str] = []
    for name in [each for each in here if each in there]:
        _check_same(here[name], there[name])
        row, lost = _compared(here[name], there[name], now.seed)
        rows += [row] if row else []
        if fail_under is not None:
            failures += _failures(here[name], row, lost, fail_under)
    alone = sorted(here.keys() ^ there.keys())
    told = (f"{name} is in one of the runs only and was not compared" for name in alone)
    return Gate(tuple(rows), bool(failures), (*failures, *told))


def check_run(now: Result, fail_under: float) -> Gate:
    """Hold a run against a limit, without an earlier one."""
    failures = [] if now.sets else ["the run holds no set"]
    for each in now.sets:
        values = [value for q in each.queries if (value := _value(q, each.headline)) is not None]
        if not values:
            failures.append(f"{_name(each)}: no query has a figure for {each.headline}")
        elif (found := 100 * fmean(values)) < fail_under - _SLACK:
            failures.append(
                f"{_name(each)}: {each.headline} is {found:.2f} %, less than {fail_under:g} %"
            )
    return Gate((), bool(failures), tuple(failures))


def check_limit(fail_under: float | None) -> None:
    """Refuse a limit that is no number.

    Raises:
        BadInputError: It is none.
    """
    if fail_under is not None and not isfinite(fail_under):
        raise BadInputError("--fail-under", "is no number", "give points, like: --fail-under -1")


def _name(each: SetResult) -> str:
    return f"{each.kind} {each.name}"


def _check_same(new: SetResult, old: SetResult) -> None:
    what = f"--baseline, {_name(new)}"
    if new.digest != old.digest:
        reason = f"holds other data (sha256 {old.digest[:12]}, now {new.digest[:12]})"
        raise RefusedError(what, reason, "make a new baseline with: clsm eval run --json > FILE")
    there, here = ({(q.case, q.id) for q in each.queries} for each in (old, new))
    if there != here:
        less, more = len(there - here), len(here - there)
        reason = f"has other queries ({less} only there, {more} only here)"
        raise RefusedError(what, reason, "run both with the same --limit")


def _value(query: QueryResult, measure: str) -> float | None:
    return query.values.get(CLSM, {}).get(measure)


def _compared(new: SetResult, old: SetResult, seed: int) -> tuple[GateRow | None, int]:
    """The row of a set, None where no query has a figure in both runs; queries that lost theirs."""
    name = new.headline
    known = {(each.case, each.id): _value(each, name) for each in old.queries}
    then = [known[each.case, each.id] for each in new.queries]
    now = [_value(each, name) for each in new.queries]
    lost = sum(a is None and b is not None for a, b in zip(now, then, strict=True))
    before, after = ([{name: value} for value in side] for side in (then, now))
    found = compare_pair(after, before, name, [each.case for each in new.queries], seed)
    if found is None:
        return None, lost
    pairs = [(a, b) for a, b in zip(now, then, strict=True) if a is not None and b is not None]
    current, earlier = (fmean(side) for side in zip(*pairs, strict=True))
    return GateRow(_name(new), name, len(pairs), earlier, current, *found), lost


def _failures(new: SetResult, row: GateRow | None, lost: int, fail_under: float) -> Iterator[str]:
    name, measure = _name(new), new.headline
    if lost:
        yield f"{name}: {lost} of {len(new.queries)} queries have no figure for {measure} any more"
    if row is None:
        yield f"{name}: no query has a figure for {measure} in both runs"
    elif 100 * row.difference < fail_under - _SLACK:
        yield (
            f"{name}: {measure} went from {100 * row.before:.2f} to {100 * row.now:.2f}, by"
            f" {100 * row.difference:+.2f} points; at least {fail_under:+g} was asked for"
        )
