"""Tables of text: aligned for a pipe, drawn for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

    from clsm_cli.commands.output import Printer


@dataclass(frozen=True, slots=True)
class Table:
    """A title, headings, and rows of text; the first column is to the left, the others right.

    Without headings it is the title alone.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def show(printer: Printer, mapping: Mapping[str, Any], found: Iterable[Table]) -> None:
    """Print a result: as JSON where that is wanted, else its tables for who reads them."""
    if printer.as_json:
        printer.json(mapping)
    elif printer.is_terminal:
        printer.rich(renderables(found))
    else:
        printer.lines(table_lines(found))


def table_lines(found: Iterable[Table]) -> list[str]:
    """Tables as aligned text, a blank line between two."""
    text: list[str] = []
    for table in found:
        grid = [table.headings, *table.rows] if table.headings else []
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        text += ["", table.title] if text else [table.title]
        text += [_line(row, widths) for row in grid]
    return text


def renderables(found: Iterable[Table]) -> list[RenderableType]:
    """Tables for a terminal, as Rich draws them."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown: list[RenderableType] = []
    for table in found:
        rich = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for place, heading in enumerate(table.headings):
            rich.add_column(safe(heading), justify="right" if place else "left")
        for row in table.rows:
            rich.add_row(*map(safe, row))
        shown.append(Text(safe(table.title), style="bold"))
        shown += [rich] if table.headings else []
    return shown


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip()
