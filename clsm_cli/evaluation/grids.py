"""A result for a reader: names, numbers, tables, and where clsm stands in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clsm_cli.evaluation.compare import GateRow
    from clsm_cli.evaluation.result import (
        AblationResult,
        Pair,
        ProbeResult,
        SetResult,
        SystemResult,
    )

NOTHING = "–"
"""In the place of a figure that is not defined."""


HEADINGS = {
    **{f"recall@{k}": f"R{k}" for k in (1, 5, 10, 50)},
    "ndcg@10": "nDCG10",
    "mrr": "MRR",
    **{f"tokens@{budget}": f"T{budget}" for budget in (1000, 2000)},
    "reduced": "-96.5%",
    "relevance": "relev.",
    "efficiency": "saved",
    "retention": "retain",
    "reach": "reach",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "coverage": "cover",
    "concepts": "conc.",
    "tokens": "tokens",
}
"""The heading of each measure of queries, in the order in which they are shown."""
PLAIN = ("concepts", "tokens")
"""Measures that are numbers of their own unit; all others are shares, of which more is better."""


def measure_heading(name: str) -> str:
    """A measure in few letters; one of a probe's own is called as it is.

    >>> measure_heading("recall@10"), measure_heading("lost_after_50")
    ('R10', 'lost after 50')
    """
    return HEADINGS.get(name) or name.replace("_", " ")


def format_share(value: float) -> str:
    """A share in per cent.

    >>> format_share(0.8234)
    '82.3'
    """
    return f"{100 * value:.1f}"


def format_value(name: str, value: float | None) -> str:
    """A value of a measure as it stands in a table; of an unknown unit as many digits as say something.

    >>> format_value("recall@10", 0.5), format_value("tokens", 1234.5), format_value("mrr", None)
    ('50.0', '1,234', '–')
    >>> [format_value("of a probe", value) for value in (1234.5, 12.34, 0.0123, 0.0)]
    ['1,234', '12.3', '0.0123', '0']
    """
    if value is None:
        return NOTHING
    if name in HEADINGS and name not in PLAIN:
        return format_share(value)
    if abs(value) >= 100 or (value == int(value) and name not in PLAIN):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 or name in PLAIN else f"{value:.3g}"


def format_difference(value: float) -> str:
    """A difference of shares, in points.

    >>> format_difference(0.051), format_difference(-0.0004), format_difference(0.0)
    ('+5.1', '0.0', '0.0')
    """
    text = f"{100 * value:+.1f}"
    return text[1:] if text in ("+0.0", "-0.0") else text.replace("-", "−")


def format_interval(interval: tuple[float, float], *, is_difference: bool = False) -> str:
    """An interval of shares, or of differences.

    >>> format_interval((0.7, 0.81)), format_interval((-0.02, 0.1), is_difference=True)
    ('70.0–81.0', '−2.0 to +10.0')
    """
    low, high = interval
    return (
        f"{format_difference(low)} to {format_difference(high)}"
        if is_difference
        else f"{format_share(low)}–{format_share(high)}"
    )


def format_p(p: float) -> str:
    """A p-value.

    >>> format_p(0.0423), format_p(0.00004)
    ('.042', '<.001')
    """
    return "<.001" if p < 0.0005 else f"{p:.3f}".replace("0.", ".", 1)


def format_test(each: Pair | AblationResult | GateRow) -> tuple[str, str, str]:
    """A difference in points, its interval and its p."""
    interval = format_interval(each.interval, is_difference=True)
    return format_difference(each.difference), interval, format_p(each.p)


CONCEPTS = ("precision", "recall", "f1", "coverage")
NOTED = ("recall@10", "reduced")
EVIDENCE = ("recall@10", "tokens@1000", "reduced", "ndcg@10", "mrr")
CROSSING = "cross-domain"
"""The category whose recall CLS-M calls its weakness (§5.3)."""


class Grid(NamedTuple):
    """A table before it is written anywhere; nothing in it is escaped.

    Attributes:
        words: Columns from the left that hold words; the others hold numbers.
        best: Row and column of figures that nothing in their column exceeds.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


Column = tuple[str, "Callable[[SystemResult], tuple[str, float | None]]"]
"""A heading, and of a system its text and what is compared for the best of them, if anything."""


def set_grids(found: SetResult, *, is_full: bool = False) -> Iterator[Grid]:
    """The tables of a set; with ``is_full`` also what each mechanism does."""
    yield headline_grid(found)
    if any(each.groups.get("category") for each in found.systems):
        yield category_grid(found)
    if found.pairs:
        yield pairs_grid(found)
    if found.ablation:
        yield ablation_grid(found, is_full=is_full)
    if found.abstention:
        yield abstention_grid(found)


def full_grid(found: SetResult) -> Grid:
    """Each system with all its measures."""
    return _by_system("All measures (%)", found, [_figure(name) for name in HEADINGS])


def _has_concepts(found: SetResult) -> bool:
    return any(each.figures.get("f1") is not None for each in found.systems)


def headline_grid(found: SetResult) -> Grid:
    """Each system with the few measures that matter for what is labelled."""
    names = (*CONCEPTS, *NOTED) if _has_concepts(found) else EVIDENCE
    names = names if found.headline in names else (found.headline, *names)
    columns: list[Column] = []
    for name in (*names, "tokens"):
        columns.append(_figure(name))
        if name == found.headline:
            columns.append(_interval(name))
        if name == "coverage":
            columns.append(("cross", _in_category(CROSSING, "recall")))
    return _by_system("Systems (%)", found, columns)


def category_grid(found: SetResult) -> Grid:
    """The headline measure by category."""
    name = found.headline
    groups = dict.fromkeys(g for each in found.systems for g in each.groups.get("category", {}))
    title = f"{measure_heading(name)} by category (%)"
    return _by_system(title, found, [(group, _in_category(group, name)) for group in groups])


def pairs_grid(found: SetResult) -> Grid:
    """What clsm has more than each other system by what the set is judged by."""
    judged = (found.headline, "recall@10" if _has_concepts(found) else "tokens@1000")
    return Grid(
        f"{found.systems[0].name if found.systems else 'clsm'} minus another, query by query",
        ("against", "measure", "points", "95 %", "p"),
        tuple(
            (each.against, measure_heading(each.measure), *format_test(each))
            for each in found.pairs
            if each.measure in judged
        ),
        words=2,
        note="Intervals: paired bootstrap, conversations as clusters. p: two-sided, random signs.",
    )


def ablation_grid(found: SetResult, *, is_full: bool) -> Grid:
    """Each mechanism taken out, the greatest loss first; with ``is_full`` also what it does."""
    name = found.headline
    heading = measure_heading(name)
    return Grid(
        f"Without a mechanism ({heading}, %)",
        ("without", *(["which"] if is_full else []), heading, "points", "95 %", "p"),
        tuple(
            (
                *(each.mechanism, *([each.about] if is_full else [])),
                *(format_value(name, each.figures.get(name)), *format_test(each)),
            )
            for each in sorted(found.ablation, key=lambda each: (each.difference, each.mechanism))
        ),
        words=2 if is_full else 1,
        note="Points below zero: what is lost when the mechanism is off.",
    )


def abstention_grid(found: SetResult) -> Grid:
    """Whether confidence tells what the memory holds from what it does not."""
    return Grid(
        "Queries without an answer",
        ("system", "kind", "queries", "AUROC", "refused %"),
        tuple(
            (e.system, e.negative, str(e.queries), f"{e.auroc:.3f}", format_share(e.refused))
            for e in found.abstention
        ),
        words=2,
        note="AUROC: how often a query with an answer has the higher confidence."
        f" Refused: got nothing. Of the queries with an answer {format_share(found.silenced)} % got"
        " nothing of clsm.",
    )


def sizes_grid(found: SetResult) -> list[tuple[str, str]]:
    """What a set holds and how much of it became a memory, by name."""
    rows = [(name.replace("_", " "), f"{count:,}") for name, count in found.sizes.items()]
    if found.stored is not None:
        rows.append(("evidence that became a memory", f"{format_share(found.stored)} %"))
    return rows


def probe_grid(found: ProbeResult) -> Grid:
    """One probe: each system with its verdict and its figures."""
    names = list(dict.fromkeys(name for each in found.verdicts for name in each.figures))
    return Grid(
        found.name,
        ("system", "verdict", *map(measure_heading, names)),
        tuple(
            (
                *(each.system, "pass" if each.passed else "FAIL"),
                *(format_value(name, each.figures.get(name)) for name in names),
            )
            for each in found.verdicts
        ),
        words=2,
        note=f"Has to hold: {found.criterion}" if found.criterion else "",
    )


def _figure(name: str) -> Column:
    def cell(each: SystemResult) -> tuple[str, float | None]:
        value = each.figures.get(name)
        return format_value(name, value), None if name in PLAIN else value

    return measure_heading(name), cell


def _in_category(group: str, name: str) -> Callable[[SystemResult], tuple[str, float | None]]:
    def cell(each: SystemResult) -> tuple[str, float | None]:
        value = each.groups.get("category", {}).get(group, {}).get(name)
        return format_value(name, value), value

    return cell


def _interval(name: str) -> Column:
    def cell(each: SystemResult) -> tuple[str, None]:
        found = each.intervals.get(name)
        return NOTHING if found is None else format_interval(found), None

    return f"{measure_heading(name)} 95 %", cell


def _by_system(title: str, found: SetResult, columns: Sequence[Column]) -> Grid:
    """A row for each system; rows and columns that are empty are left out."""
    table = [[cell(each) for _, cell in columns] for each in found.systems]
    rows = [at for at, row in enumerate(table) if any(text != NOTHING for text, _ in row)]
    kept = [at for at in range(len(columns)) if any(table[row][at][0] != NOTHING for row in rows)]
    best: set[tuple[int, int]] = set()
    for place, at in enumerate(kept, 1):
        values = [table[row][at][1] for row in rows]
        top = max((value for value in values if value is not None), default=None)
        best |= {(row, place) for row, v in enumerate(values) if v is not None and v == top}
    return Grid(
        title,
        ("system", *(columns[at][0] for at in kept)),
        tuple((found.systems[row].name, *(table[row][at][0] for at in kept)) for row in rows),
        best=frozenset(best),
    )


class Standing(NamedTuple):
    """Where clsm stands by the headline measure; the best of the others, and ``its`` value."""

    value: float
    interval: tuple[float, float] | None
    rival: str
    its: float


def find_standing(found: SetResult) -> Standing:
    """Where clsm stands on a set with other systems."""
    name, (first, *others) = found.headline, found.systems
    rivals = [each for each in others if not each.name.startswith(f"{first.name} ")]
    best = max(rivals, key=lambda each: each.figures.get(name) or 0.0)
    interval = first.intervals.get(name)
    return Standing(first.figures[name] or 0.0, interval, best.name, best.figures[name] or 0.0)


def weakness_note(found: ProbeResult) -> str:
    """A remark where all that is compared with clsm passes too; else empty."""
    others = found.verdicts[1:]
    if others and all(each.passed for each in others):
        return "All others pass too: this probe tells nothing apart."
    return ""
