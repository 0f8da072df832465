"""A run of ``clsm eval`` as tables that fit a terminal of 80 columns."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.reporting import grids, summary
from clsm_cli.inspection.drawing import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.evaluation.result import Result, SetResult

COLUMNS = 80
"""Of a terminal; a drawn table has two more than its text."""
WORD, HEAD = 26, 14
"""Letters of a name in a row, and in a heading that is a name."""


def tables(result: Result, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        result: What was found.
        verbose: Also all measures and all groups of every system.
    """
    shown: list[Table] = []
    for found in result.sets:
        shown += _set(found, verbose=verbose)
    for each in result.probes:
        shown += _fitted(grids.probe(each))
        shown += _said(summary.says_little(each))
    digests = (f"{each.name} {each.digest[: summary.DIGITS]}" for each in result.sets)
    return [*shown, *_said(f"clsm {result.version}, seed {result.seed}; {', '.join(digests)}")]


def _set(found: SetResult, *, verbose: bool) -> Iterator[Table]:
    sizes = tuple((cut(name, 40), count) for name, count in grids.sizes(found))
    yield Table(cut(f"{found.name} ({found.kind})", COLUMNS), ("it holds", ""), sizes)
    yield from _fitted(grids.headline(found))
    yield from _said(summary.lead(found))
    for kind in grids.kinds(found):
        if verbose or kind == "category":
            yield from _fitted(grids.group(found, kind, found.headline))
    if grids.has_concepts(found):
        yield from _fitted(grids.paper(found))
    for is_there, grid in (
        (found.pairs, grids.pairs(found, is_full=verbose)),
        (found.ablation, grids.ablation(found, is_full=False)),
        (found.abstention, grids.abstention(found)),
        (verbose and found.systems, grids.everything(found)),
    ):
        if is_there:
            yield from _fitted(grid)
    for note in found.notes:
        yield from _said(f"- {note}")


def _fitted(grid: Grid) -> Iterator[Table]:
    """A grid as tables none of which is wider than a terminal; each begins with the first column."""
    heads = [cut(each, HEAD) for each in grid.headings]
    rows = [[cut(cell, WORD) for cell in row] for row in grid.rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    fewest = len(_parts(widths, COLUMNS - 2))
    even = next(most for most in range(COLUMNS) if len(_parts(widths, most)) == fewest)
    for start, end in _parts(widths, even):
        title = grid.title if start == 1 else f"{grid.title}, continued"
        rows_of = tuple((row[0], *row[start:end]) for row in rows)
        yield Table(cut(title, COLUMNS), (heads[0], *heads[start:end]), rows_of)
    yield from _said(grid.note)


def _parts(widths: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Which columns stand together in so many letters beside the first one; one always does.

    >>> _parts([6, 10, 10, 10], 32), _parts([6], 32)
    ([(1, 3), (3, 4)], [(1, 1)])
    """
    parts = [(1, min(2, len(widths)))]
    for place in range(2, len(widths)):
        start = parts[-1][0]
        if widths[0] + sum(2 + width for width in widths[start : place + 1]) <= most:
            parts[-1] = (start, place + 1)
        else:
            parts.append((place, place + 1))
    return parts


def _said(words: str) -> Iterator[Table]:
    """A sentence as it fits a terminal; nothing for no words."""
    if words.strip():
        yield Table("\n".join(wrap(" ".join(words.split()), COLUMNS)), (), ())
