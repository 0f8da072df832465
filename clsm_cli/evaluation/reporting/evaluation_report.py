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
    lines = [f"# {plain(summary.title(result))}", "", *_code(result.command), ""]
    lines += _facts(summary.origin(result))
    for found in result.sets:
        lines += _set(found)
    if result.probes:
        lines += ["## Probes", ""]
        for each in result.probes:
            lines += probe(each)
    return "\n".join(lines).rstrip() + "\n"


def plain(words: str) -> str:
    r"""Words that Markdown shows as they are, on one line.

    >>> plain("a|b <script> *c*"), plain("- 1")
    ('a\\|b \\<script\\> \\*c\\*', '\\- 1')
    """
    return _MARKS.sub(_escape, safe(" ".join(words.split())))


def _escape(found: re.Match[str]) -> str:
    mark = found.group()
    if not mark:  # in front of ":" and "." of an address, so that no reader makes a link of it
        return "<!-- -->"
    return f"{mark}<!-- -->" if mark.isdigit() else f"\\{mark}"


def _set(found: SetResult) -> Iterator[str]:
    yield from (f"## {plain(found.name)} ({plain(found.kind)})", "", plain(summary.lead(found)), "")
    yield from _facts(
        [*grids.sizes(found), ("evidence is a", found.unit), ("SHA-256", found.digest)]
    )
    yield from table(grids.headline(found))
    for kind in grids.kinds(found):
        yield from table(grids.group(found, kind, found.headline))
    if grids.has_concepts(found):
        yield from table(grids.paper(found))
    for is_there, grid in (
        (found.pairs, grids.pairs(found, is_full=any(p.group != "all" for p in found.pairs))),
        (found.ablation, grids.ablation(found, is_full=True)),
        (found.abstention, grids.abstention(found)),
        (found.systems, grids.everything(found)),
    ):
        if is_there:
            yield from table(grid)
    if found.notes:
        yield from ("### About this set", "", *(f"- {plain(note)}" for note in found.notes), "")


def probe(found: ProbeResult) -> Iterator[str]:
    """The lines of a probe."""
    yield from table(grids.probe(found), above=f"{found.about} {summary.says_little(found)}")


def table(grid: Grid, above: str = "") -> Iterator[str]:
    """The lines of a table under its title.

    Args:
        grid: What it says.
        above: Words between title and table; may be empty.
    """
    yield from (f"### {plain(grid.title)}", "")
    if above.strip():
        yield from (plain(above), "")
    yield _line(map(plain, grid.headings))
    yield _line("---" if at < grid.words else "---:" for at in range(len(grid.headings)))
    for at, row in enumerate(grid.rows):
        yield _line(
            f"**{plain(cell)}**" if (at, place) in grid.best else plain(cell)
            for place, cell in enumerate(row)
        )
    yield from ("", plain(grid.note), "") if grid.note else ("",)


def _facts(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from ("| | |", "|---|---|")
    yield from (_line((plain(name), plain(value))) for name, value in rows)
    yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(words: str) -> list[str]:
    """A block of code that its words cannot end."""
    shown = safe(" ".join(words.split()))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return [fence, shown, fence]


def write(folder: Path, result: Result) -> list[Path]:
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
        "queries.jsonl": "".join(f"{_json_line(each)}\n" for each in queries(result)),
    }
    for name, text in texts.items():
        atomic.put(folder / name, text.encode("utf-8", "backslashreplace"))
    return [folder / name for name in texts]


def queries(result: Result) -> Iterator[dict[str, Any]]:
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
