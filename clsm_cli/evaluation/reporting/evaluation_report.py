"""A result in words, as Markdown, and as files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting import grids
from clsm_cli.evaluation.reporting.grids import (
    format_interval,
    format_p,
    format_share,
    measure_heading,
)
from clsm_cli.evaluation.result import dump
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.evaluation.result import Pair, ProbeResult, Result, SetResult, SystemResult

_MARKS = re.compile(r"[\\`*_{}\[\]<>()#|~&!]|^[-+](?=\s|$)")


def write_report(folder: Path, result: Result) -> list[Path]:
    """Write ``report.json`` and ``report.md``; each that was there is replaced whole.

    Raises:
        DiskError: The operating system refused.
    """
    texts = {
        "report.json": f"{json.dumps(dump(result), ensure_ascii=False, indent=1)}\n",
        "report.md": markdown(result),
    }
    for name, text in texts.items():
        atomic.put(folder / name, text.encode("utf-8", "backslashreplace"))
    return [folder / name for name in texts]


def markdown(result: Result) -> str:
    """The whole result as Markdown; figures in per cent unless a heading says otherwise."""
    command = safe(" ".join(result.command.split()))
    lines = [f"# {escape_markdown(report_title(result))}", "", f"    {command}", ""]
    lines += _facts(origin_line(result))
    for found in result.sets:
        lines += _set(found)
    if result.probes:
        lines += ["## Probes", ""]
        for each in result.probes:
            lines += probe_lines(each)
    return "\n".join(lines).rstrip() + "\n"


def escape_markdown(words: str) -> str:
    r"""Words that Markdown shows as they are, on one line.

    >>> escape_markdown("a|b <script> *c*"), escape_markdown("- 1")
    ('a\\|b \\<script\\> \\*c\\*', '\\- 1')
    """
    return _MARKS.sub(r"\\\g<0>", safe(" ".join(words.split())))


def _set(found: SetResult) -> Iterator[str]:
    yield from (f"## {escape_markdown(f'{found.name} ({found.kind})')}", "")
    yield from (escape_markdown(standing_sentence(found)), "")
    yield from _facts(
        [*grids.sizes_grid(found), ("evidence is a", found.unit), ("SHA-256", found.digest)]
    )
    for grid in grids.set_grids(found, is_full=True):
        yield from table_lines(grid)
    if found.notes:
        notes = (f"- {escape_markdown(note)}" for note in found.notes)
        yield from ("### About this set", "", *notes, "")


def probe_lines(found: ProbeResult) -> Iterator[str]:
    """The lines of a probe."""
    yield from table_lines(grids.probe_grid(found), f"{found.about} {weakness_note(found)}")


def table_lines(grid: Grid, above: str = "") -> Iterator[str]:
    """The lines of a table under its title, and words between the two."""
    yield from (f"### {escape_markdown(grid.title)}", "")
    if above.strip():
        yield from (escape_markdown(above), "")
    yield _line(map(escape_markdown, grid.headings))
    yield _line("---" if at < grid.words else "---:" for at in range(len(grid.headings)))
    for at, row in enumerate(grid.rows):
        yield _line(
            f"**{escape_markdown(cell)}**" if (at, place) in grid.best else escape_markdown(cell)
            for place, cell in enumerate(row)
        )
    yield from ("", escape_markdown(grid.note), "") if grid.note else ("",)


def _facts(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from ("| | |", "|---|---|")
    yield from (_line(map(escape_markdown, row)) for row in rows)
    yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


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
