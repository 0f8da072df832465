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
from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.compare import ALL, HEADLINES, group_places
from clsm_cli.evaluation.systems.system_registry import CLSM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.result import QueryResult, Result, SetResult

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
        queries: How many.
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
    """What a comparison found.

    Attributes:
        sentences: Why it failed, and what could not be compared.
    """

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
        RefusedError: Another schema, other data or other queries, or no set in common.
        BadInputError: The limit is no number.
    """
    check_limit(fail_under)
    if now.schema != before.schema:
        raise RefusedError(
            "--baseline", f"is of schema {before.schema}, this run of {now.schema}", _NEXT
        )
    _refuse_other_data(now, before)
    known = {(each.kind, each.digest): each for each in before.sets}
    both = [(each, known[each.kind, each.digest]) for each in now.sets if _key(each) in known]
    if not both:
        raise RefusedError("--baseline", "has no set in common with this run", _NEXT)
    sentences = [*_alone(now, before)]
    rows: list[GateRow] = []
    failures: list[str] = []
    for new, old in both:
        pairs = _pairs(new, old)
        rows += _rows(new, pairs, now.seed)
        failures += _failures(new, pairs, rows, fail_under)
    return Gate(tuple(rows), bool(failures), (*failures, *sentences))


def check_run(now: Result, fail_under: float) -> Gate:
    """Hold a run against a limit, without an earlier one.

    Args:
        now: The run.
        fail_under: Per cent that the headline measure of each set must reach.

    Raises:
        BadInputError: The limit is no number.
    """
    check_limit(fail_under)
    failures = []
    for each in now.sets:
        values = [
            value for query in each.queries if (value := _value(query, each.headline)) is not None
        ]
        found = 100 * fmean(values) if values else None
        if found is None:
            failures.append(f"{_name(each)}: no query has a figure for {each.headline}")
        elif found < fail_under - _SLACK:
            failures.append(
                f"{_name(each)}: {each.headline} is {found:.2f} %, less than {fail_under:g} %"
            )
    if not now.sets:
        failures.append("the run holds no set")
    return Gate((), bool(failures), tuple(failures))


def check_limit(fail_under: float | None) -> None:
    """Refuse a limit that is no number.

    Raises:
        BadInputError: It is none.
    """
    if fail_under is not None and not isfinite(fail_under):
        raise BadInputError("--fail-under", "is no number", "give points, like: --fail-under -1")


def _key(each: SetResult) -> tuple[str, str]:
    return each.kind, each.digest


def _name(each: SetResult) -> str:
    return f"{each.kind} {each.name}"


def _refuse_other_data(now: Result, before: Result) -> None:
    """Refuse what goes by the same name and is another set."""
    here, there = ({_key(each) for each in run.sets} for run in (now, before))
    for new in now.sets:
        for old in before.sets:
            is_namesake = (new.kind, new.name) == (old.kind, old.name)
            if is_namesake and _key(new) not in there and _key(old) not in here:
                raise RefusedError(
                    f"--baseline, {_name(old)}",
                    f"holds other data (sha256 {old.digest[:12]}, now {new.digest[:12]})",
                    "make a new baseline with: clsm eval run --out FOLDER",
                )


def _alone(now: Result, before: Result) -> Iterator[str]:
    """Sets that only one side has."""
    here, there = ({_key(each) for each in run.sets} for run in (now, before))
    for each in now.sets:
        if _key(each) not in there:
            yield f"{_name(each)} is not in the baseline and was not compared"
    for each in before.sets:
        if _key(each) not in here:
            yield f"{_name(each)} is only in the baseline and was not compared"


def _pairs(new: SetResult, old: SetResult) -> list[tuple[QueryResult, QueryResult]]:
    """The queries of both, now and before.

    Raises:
        RefusedError: They are not the same, or one side did not ask clsm.
    """
    what = f"--baseline, {_name(new)}"
    known = {(each.case, each.id): each for each in old.queries}
    asked = {(each.case, each.id) for each in new.queries}
    if known.keys() != asked or len(asked) != len(new.queries) or len(known) != len(old.queries):
        less, more = len(known.keys() - asked), len(asked - known.keys())
        raise RefusedError(
            what,
            f"has other queries ({less} only there, {more} only here)",
            "run both with the same --limit",
        )
    for each in (*new.queries, *old.queries):
        if CLSM not in each.values:
            raise RefusedError(what, f"query {each.id} was not put to {CLSM} in both runs", _NEXT)
    return [(each, known[each.case, each.id]) for each in new.queries]


def _value(query: QueryResult, measure: str) -> float | None:
    """A figure of clsm; None where it is not defined."""
    value = query.values.get(CLSM, {}).get(measure)
    return value if value is not None and isfinite(value) else None


def _rows(
    new: SetResult, pairs: Sequence[tuple[QueryResult, QueryResult]], seed: int
) -> Iterator[GateRow]:
    """The headline measure first, then the others, each over all queries and by category."""
    groups = {ALL: list(range(len(pairs)))}
    by_category = group_places([query.category for query, _ in pairs])
    if len(by_category) > 1:
        groups |= by_category
    for measure in dict.fromkeys((new.headline, *HEADLINES)):
        for group, places in groups.items():
            found = [
                (one, two, pairs[at][0].case)
                for at in places
                if (one := _value(pairs[at][0], measure)) is not None
                and (two := _value(pairs[at][1], measure)) is not None
            ]
            if found:
                ours, theirs, cases = zip(*found, strict=True)
                gained = [one - two for one, two in zip(ours, theirs, strict=True)]
                yield GateRow(
                    set=_name(new),
                    group=group,
                    measure=measure,
                    decides=measure == new.headline and group == ALL,
                    queries=len(found),
                    before=fmean(theirs),
                    now=fmean(ours),
                    difference=fmean(gained),
                    interval=metrics.cluster_interval(gained, cases, seed),
                    p=metrics.sign_flip(gained, seed),
                )


def _failures(
    new: SetResult,
    pairs: Sequence[tuple[QueryResult, QueryResult]],
    rows: Sequence[GateRow],
    fail_under: float | None,
) -> Iterator[str]:
    """Why the gate fails for a set."""
    if fail_under is None:
        return
    lost = sum(
        _value(query, new.headline) is None and _value(earlier, new.headline) is not None
        for query, earlier in pairs
    )
    if lost:
        yield (
            f"{_name(new)}: {lost} of {len(pairs)} queries have no figure for {new.headline} any"
            " more"
        )
    decisive = [row for row in rows if row.decides and row.set == _name(new)]
    if not decisive:
        yield f"{_name(new)}: no query has a figure for {new.headline} in both runs"
    for row in decisive:
        points = 100 * row.difference
        if points < fail_under - _SLACK:
            yield (
                f"{row.set}: {row.measure} went from {100 * row.before:.2f} to {100 * row.now:.2f},"
                f" by {points:+.2f} points; at least {fail_under:+g} was asked for"
            )
