"""A result as Markdown, and as files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.reporting import grids, summary
from clsm_cli.evaluation.result import dump
from clsm_cli.store import atomic
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.evaluation.result import ProbeResult, Result, SetResult

_MARKS = re.compile(
    r"[\\`*_{}\[\]<>()#|~&!]|^[-+](?=\s|$)|^\d+(?=[.)](?:\s|$))|(?<=http)(?=s?:)|(?<=www)"
)


def markdown(result: Result) -> str:
    """The whole result as Markdown; figures in per cent unless a heading says otherwise."""
    lines = [f"# {escape_markdown(summary.report_title(result))}", "", *_code(result.command), ""]
    lines += _facts(summary.origin_line(result))
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
    return _MARKS.sub(_escape, safe(" ".join(words.split())))


def _escape(found: re.Match[str]) -> str:
    mark = found.group()
    if not mark:  # in front of ":" and "." of an address, so that no reader makes a link of it
        return "<!-- -->"
    return f"{mark}<!-- -->" if mark.isdigit() else f"\\{mark}"


def _set(found: SetResult) -> Iterator[str]:
    yield from (
        f"## {escape_markdown(found.name)} ({escape_markdown(found.kind)})",
        "",
        escape_markdown(summary.standing_sentence(found)),
        "",
    )
    yield from _facts(
        [*grids.sizes_grid(found), ("evidence is a", found.unit), ("SHA-256", found.digest)]
    )
    yield from table_lines(grids.headline_grid(found))
    for kind in grids.group_kinds(found):
        yield from table_lines(grids.group_grid(found, kind, found.headline))
    if grids.has_concepts(found):
        yield from table_lines(grids.paper_grid(found))
    for is_there, grid in (
        (found.pairs, grids.pairs_grid(found, is_full=any(p.group != "all" for p in found.pairs))),
        (found.ablation, grids.ablation_grid(found, is_full=True)),
        (found.abstention, grids.abstention_grid(found)),
        (found.systems, grids.full_grid(found)),
    ):
        if is_there:
            yield from table_lines(grid)
    if found.notes:
        yield from (
            "### About this set",
            "",
            *(f"- {escape_markdown(note)}" for note in found.notes),
            "",
        )


def probe_lines(found: ProbeResult) -> Iterator[str]:
    """The lines of a probe."""
    yield from table_lines(
        grids.probe_grid(found), above=f"{found.about} {summary.weakness_note(found)}"
    )


def table_lines(grid: Grid, above: str = "") -> Iterator[str]:
    """The lines of a table under its title.

    Args:
        grid: What it says.
        above: Words between title and table; may be empty.
    """
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
    yield from (_line((escape_markdown(name), escape_markdown(value))) for name, value in rows)
    yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(words: str) -> list[str]:
    """A block of code that its words cannot end."""
    shown = safe(" ".join(words.split()))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return [fence, shown, fence]


def write_report(folder: Path, result: Result) -> list[Path]:
    """Write all files of a report; each that was there is replaced whole.

    Args:
        folder: Made where it is missing.
        result: What was found.

    Returns:
        The files: ``report.json``, ``report.md`` and ``queries.jsonl``.

    Raises:
        DiskError: The operating system refused.
    """
    texts = {
        "report.json": f"{json.dumps(dump(result), ensure_ascii=False, indent=1)}\n",
        "report.md": markdown(result),
        "queries.jsonl": "".join(f"{_json_line(each)}\n" for each in query_lines(result)),
    }
    for name, text in texts.items():
        atomic.put(folder / name, text.encode("utf-8", "backslashreplace"))
    return [folder / name for name in texts]


def query_lines(result: Result) -> Iterator[dict[str, Any]]:
    """One object a query; the text of no query stands in it, since sets have licences of their own."""
    for found in result.sets:
        for each in found.queries:
            yield {
                "set": found.name,
                "case": each.case,
                "id": each.id,
                "category": each.category,
                "difficulty": each.difficulty,
                "gold": each.gold,
                "values": each.values,
                "ranks": {name: list(ranks) for name, ranks in each.ranks.items()},
            }


def _json_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
