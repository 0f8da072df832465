"""Pieces of the HTML page: tables, figures, folded parts. All text that comes in is escaped here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting import charts
from clsm_cli.inspection.drawing import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.inspection.bar_chart import BarChart
    from clsm_cli.inspection.chart import Chart

VERDICTS = {"pass": "pass", "FAIL": "fail"}
"""Cells that are verdicts, and their classes."""


def table(grid: Grid) -> str:
    """A grid as a table with a caption, in a frame that scrolls where the screen is narrow."""
    heads = [
        _heading(text, meaning, is_word=place < grid.words)
        for place, (text, meaning) in enumerate(_explained(grid))
    ]
    rows = [_row(grid, at, row) for at, row in enumerate(grid.rows)]
    note = f'<p class="note">{escaped(grid.note)}</p>' if grid.note else ""
    return (
        f'<div class="table">{scrolling(grid.title)}'
        f"<table><caption>{escaped(grid.title)}</caption>\n"
        f"<thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>\n{''.join(rows)}</tbody></table></div>{note}</div>\n"
    )


def scrolling(title: str) -> str:
    """The start of a frame that scrolls sideways, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escaped(title)}">'


def figures(found: Iterable[Chart | BarChart | None]) -> str:
    """Charts, side by side where there is room; nothing where there are none."""
    drawn = [
        f"<figure><figcaption>{escaped(each.title)}</figcaption>\n{charts.draw(each)}</figure>\n"
        for each in found
        if each is not None
    ]
    return f'<div class="charts">\n{"".join(drawn)}</div>\n' if drawn else ""


def folded(summary: str, body: str) -> str:
    """A part that is closed until somebody opens it."""
    return f"<details><summary>{escaped(summary)}</summary>\n{body}</details>\n" if body else ""


def facts(rows: Iterable[tuple[str, str]], kind: str = "facts") -> str:
    """Names and values."""
    cells = (f"<div><dt>{escaped(a)}</dt><dd>{escaped(b)}</dd></div>" for a, b in rows)
    return f'<dl class="{kind}">{"".join(cells)}</dl>\n'


def listed(texts: Sequence[str]) -> str:
    """Sentences as a list; nothing where there are none."""
    return f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in texts)}</ul>\n" if texts else ""


def _explained(grid: Grid) -> Iterable[tuple[str, str]]:
    meanings = grid.meanings or ("",) * len(grid.headings)
    return zip(grid.headings, meanings, strict=True)


def _heading(text: str, meaning: str, *, is_word: bool) -> str:
    kind = ' class="word"' if is_word else ""
    shown = f'<abbr title="{escaped(meaning)}">{escaped(text)}</abbr>' if meaning else escaped(text)
    return f'<th scope="col"{kind}>{shown}</th>'


def _row(grid: Grid, at: int, row: Sequence[str]) -> str:
    cells = [f'<th scope="row" class="word">{escaped(row[0])}</th>']
    for place, text in enumerate(row[1:], 1):
        kinds = ["word"] if place < grid.words else []
        kinds += ["best"] if (at, place) in grid.best else []
        kinds += [VERDICTS[text]] if place == 1 and text in VERDICTS else []
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        cells.append(f"<td{kind}>{escaped(text)}</td>")
    return f"<tr>{''.join(cells)}</tr>\n"
