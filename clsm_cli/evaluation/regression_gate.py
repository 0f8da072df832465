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
from clsm_cli.evaluation.compare import ALL, HEADLINES, compare_pair, group_places
from clsm_cli.evaluation.systems.system_registry import CLSM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.result import QueryResult, Result, SetResult

    Pairs = Sequence[tuple[QueryResult, QueryResult]]
    """The queries of a set, now and before."""

_SLACK = 1e-9
"""Points that are rounding, not a regression."""
_NEXT = "compare two runs of the same sets"


@dataclass(frozen=True, slots=True)
class GateRow:
    """One measure of clsm on one set, then and now, over the queries that have it in both runs.

    Attributes:
        set: Its kind and name.
        group: ``all``, or the name of a category.
        decides: The gate looks at this one: the headline measure over all queries.
        difference: Mean of now minus before, query by query.
        interval: Its 95 % bootstrap interval, cases as clusters.
        p: Two-sided, by random signs of the differences.
    """

    set: str
    group: str
    measure: str
    decides: bool
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
    known = {(each.kind, each.name): each for each in before.sets}
    names = {(each.kind, each.name) for each in now.sets}
    alone = [
        f"{_name(each)} is not in the baseline" for each in now.sets if _key(each) not in known
    ]
    alone += [
        f"{_name(each)} is only in the baseline" for each in before.sets if _key(each) not in names
    ]
    if not known.keys() & names:
        raise RefusedError("--baseline", "has no set in common with this run", _NEXT)
    rows: list[GateRow] = []
    failures: list[str] = []
    for new in now.sets:
        if old := known.get(_key(new)):
            pairs = _pairs(new, old)
            found = list(_rows(new, pairs, now.seed))
            rows += found
            if fail_under is not None:
                failures += _failures(new, pairs, found, fail_under)
    sentences = (*failures, *(f"{each} and was not compared" for each in alone))
    return Gate(tuple(rows), bool(failures), sentences)


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


def _key(each: SetResult) -> tuple[str, str]:
    return each.kind, each.name


def _name(each: SetResult) -> str:
    return f"{each.kind} {each.name}"


def _pairs(new: SetResult, old: SetResult) -> Pairs:
    """The queries of both, now and before."""
    what = f"--baseline, {_name(new)}"
    if new.digest != old.digest:
        reason = f"holds other data (sha256 {old.digest[:12]}, now {new.digest[:12]})"
        raise RefusedError(what, reason, "make a new baseline with: clsm eval run --out FOLDER")
    known = {(each.case, each.id): each for each in old.queries}
    asked = {(each.case, each.id) for each in new.queries}
    if known.keys() != asked:
        less, more = len(known.keys() - asked), len(asked - known.keys())
        reason = f"has other queries ({less} only there, {more} only here)"
        raise RefusedError(what, reason, "run both with the same --limit")
    for each in (*new.queries, *old.queries):
        if CLSM not in each.values:
            raise RefusedError(what, f"query {each.id} was not put to {CLSM} in both runs", _NEXT)
    return [(each, known[each.case, each.id]) for each in new.queries]


def _value(query: QueryResult, measure: str) -> float | None:
    return query.values.get(CLSM, {}).get(measure)


def _rows(new: SetResult, pairs: Pairs, seed: int) -> Iterator[GateRow]:
    """The headline measure first, then the others, each over all queries and by category."""
    by_category = group_places([query.category for query, _ in pairs])
    groups = {ALL: list(range(len(pairs))), **(by_category if len(by_category) > 1 else {})}
    for measure in dict.fromkeys((new.headline, *HEADLINES)):
        for group, places in groups.items():
            chosen = [
                pairs[at]
                for at in places
                if all(_value(query, measure) is not None for query in pairs[at])
            ]
            ours, theirs = ([pair[side].values[CLSM] for pair in chosen] for side in (0, 1))
            found = compare_pair(ours, theirs, measure, [query.case for query, _ in chosen], seed)
            if found is not None:
                after, earlier = (fmean(f[measure] or 0.0 for f in side) for side in (ours, theirs))
                yield GateRow(
                    _name(new),
                    group,
                    measure,
                    measure == new.headline and group == ALL,
                    len(chosen),
                    earlier,
                    after,
                    *found,
                )


def _failures(
    new: SetResult, pairs: Pairs, rows: Sequence[GateRow], fail_under: float
) -> Iterator[str]:
    lost = sum(
        _value(query, new.headline) is None and _value(earlier, new.headline) is not None
        for query, earlier in pairs
    )
    if lost:
        yield (
            f"{_name(new)}: {lost} of {len(pairs)} queries have no figure for {new.headline} any"
            " more"
        )
    decisive = next((row for row in rows if row.decides), None)
    if decisive is None:
        yield f"{_name(new)}: no query has a figure for {new.headline} in both runs"
    elif 100 * decisive.difference < fail_under - _SLACK:
        yield (
            f"{_name(new)}: {new.headline} went from {100 * decisive.before:.2f} to"
            f" {100 * decisive.now:.2f}, by {100 * decisive.difference:+.2f} points; at least"
            f" {fail_under:+g} was asked for"
        )
