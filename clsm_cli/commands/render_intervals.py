"""The result of probes and facts by the day, as JSON and as tables."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.studies.intervals import Asked, IntervalsReport


def mapping(report: IntervalsReport) -> dict[str, Any]:
    """The JSON object: every question."""
    return {"schema": "clsm.study-intervals/1", **plain(report)}


def tables(report: IntervalsReport, *, verbose: bool) -> list[Table]:
    """What a person reads.

    Args:
        report: The result.
        verbose: Also the questions that were answered rightly.
    """
    kinds = dict.fromkeys(each.kind for each in report.probes)
    asked = tuple(chain.from_iterable(report.facts.values()))
    found = [
        Table(
            "probes",
            ("kind", "count", "right"),
            (
                *(_counts(kind, _of(report.probes, kind)) for kind in kinds),
                _counts("all", report.probes),
            ),
        ),
        Table(
            "facts that changed, by the day",
            ("fact", "values right", "claims right"),
            (
                *(_by_fact(name, each) for name, each in report.facts.items()),
                _by_fact("all", asked),
            ),
        ),
        Table(
            "queries with an answer",
            ("count", "facts say not known"),
            ((str(report.queries), str(len(report.unknown))),),
        ),
    ]
    shown = [each for each in (*report.probes, *asked) if verbose or each.why]
    if shown:
        head = ("of", "question", "as of", "expected", "why not", "facts", "first memory")
        found.append(Table("questions" if verbose else "not right", head, tuple(map(_row, shown))))
    return found


def _of(asked: Iterable[Asked], kind: str) -> list[Asked]:
    return [each for each in asked if each.kind == kind]


def _counts(name: str, asked: Sequence[Asked]) -> tuple[str, ...]:
    return name, str(len(asked)), str(_right(asked))


def _by_fact(name: str, asked: Sequence[Asked]) -> tuple[str, ...]:
    kinds = [_of(asked, kind) for kind in ("value", "claim")]
    return name, *(f"{_right(each)} of {len(each)}" for each in kinds)


def _right(asked: Iterable[Asked]) -> int:
    return sum(not each.why for each in asked)


def _row(asked: Asked) -> tuple[str, ...]:
    why = asked.why or "right"
    return (
        asked.of,
        asked.query,
        asked.as_of,
        asked.expected or "nothing",
        why if asked.is_read or asked.kind not in ("value", "claim") else f"{why}; not read",
        "; ".join(asked.facts) or "-",
        asked.first or "-",
    )
