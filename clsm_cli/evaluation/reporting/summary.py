"""Summarise a result in a sentence or two, and say what it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting.grids import (
    format_interval,
    format_p,
    format_share,
    measure_heading,
)
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from clsm_cli.evaluation.result import Pair, ProbeResult, Result, SetResult, SystemResult

DIGITS = 12
"""Of a digest, where it need not be compared by a program."""


class Standing(NamedTuple):
    """Where clsm stands on a set by its headline measure.

    Attributes:
        value: Of clsm; ``interval`` its 95 % interval, where there is one.
        rival: The best of the others, variants of clsm itself aside, with ``its`` value; empty:
            there is none.
        pair: The paired comparison of the two, where it was made.
    """

    value: float
    interval: tuple[float, float] | None
    rival: str
    its: float
    pair: Pair | None


def find_standing(found: SetResult) -> Standing | None:
    """Where clsm stands on a set; None where its headline measure is not defined."""
    if not found.systems:
        return None
    name, first = found.headline, found.systems[0]
    value = first.figures.get(name)
    if value is None:
        return None
    others = [each for each in found.systems[1:] if not each.name.startswith(f"{first.name} ")]
    best = max(others, key=lambda each: _value(each, name), default=None)
    if best is None or best.figures.get(name) is None:
        return Standing(value, first.intervals.get(name), "", 0.0, None)
    pair = next(
        (p for p in found.pairs if (p.measure, p.against, p.group) == (name, best.name, "all")),
        None,
    )
    return Standing(value, first.intervals.get(name), best.name, _value(best, name), pair)


def standing_sentence(found: SetResult) -> str:
    """Where clsm stands on a set, in words."""
    where = find_standing(found)
    name = measure_heading(found.headline)
    if where is None:
        return f"{name} is not defined for this set."
    first = found.systems[0].name
    interval = f" (95 %: {format_interval(where.interval)})" if where.interval else ""
    said = f"{first} has {name} {format_share(where.value)} %{interval}."
    return f"{said} It is {comparison_words(where)}" if where.rival else said


def comparison_words(where: Standing) -> str:
    """The comparison with the best of the others, in words."""
    points = abs(100 * (where.value - where.its))
    side = "ahead of" if where.value > where.its else "behind"
    said = f"{points:.1f} points {side}" if points >= 0.05 else "level with"
    said = f"{said} {where.rival} ({format_share(where.its)} %), the best of the others"
    if where.pair is None:
        return f"{said}."
    interval = format_interval(where.pair.interval, is_difference=True)
    return f"{said} (95 %: {interval}, p {format_p(where.pair.p)})."


def weakness_note(found: ProbeResult) -> str:
    """A remark where all that is compared with clsm passes too; else empty."""
    others = found.verdicts[1:]
    if others and all(each.passed for each in others):
        return "All others pass too: this probe tells nothing apart."
    return ""


def report_title(result: Result) -> str:
    """The title of a report: what was measured."""
    names = list(dict.fromkeys(each.name for each in result.sets))
    if not names:
        return "Probes of a memory" if result.probes else "Nothing was measured"
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"What a memory finds: {', '.join(names[:3])}{rest}"


def origin_line(result: Result) -> list[tuple[str, str]]:
    """By what, where and with which settings a result was made."""
    rows = [("clsm", result.version), ("seed", str(result.seed))]
    rows += [*result.machine.items()]
    settings = ", ".join(f"{name} = {value}" for name, value in result.settings.items())
    return [*rows, ("settings", settings or "as shipped"), ("schema", result.schema)]


def _value(each: SystemResult, name: str) -> float:
    value = each.figures.get(name)
    return -1.0 if value is None else value
