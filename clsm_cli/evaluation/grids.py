"""A result for a reader: names, numbers, tables, and where clsm stands in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clsm_cli.evaluation.result import Pair, ProbeResult, SetResult, SystemResult, Verdict

NOTHING = "–"
"""In the place of a figure that is not defined."""


HEADINGS = {
    **{f"recall@{k}": f"R{k}" for k in (1, 5, 10, 50)},
    "ndcg@10": "nDCG10",
    "mrr": "MRR",
    **{f"tokens@{budget}": f"T{budget}" for budget in (1000, 2000)},
    "reduced": "-96.5%",
    "reduced2": "-93%",
    "relevance": "relev.",
    "efficiency": "saved",
    "retention": "retain",
    "reach": "reach",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "coverage": "cover",
    "answer@10": "answer",
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
    """A value of a measure as it stands in a table.

    >>> format_value("recall@10", 0.5), format_value("tokens", 1234.5), format_value("mrr", None)
    ('50.0', '1,234', '–')
    """
    if value is None:
        return NOTHING
    if name not in HEADINGS:
        return format_number(value)
    if name not in PLAIN:
        return format_share(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def format_number(value: float) -> str:
    """A number of a unit that nobody knows, with as many digits as say something.

    >>> format_number(1234.5), format_number(12.34), format_number(0.0123), format_number(0.0)
    ('1,234', '12.3', '0.0123', '0')
    """
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 1 else f"{value:.3g}"


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


CONCEPTS = ("precision", "recall", "f1", "coverage")
NOTED = ("answer@10", "recall@10", "reduced", "reduced2")
EVIDENCE = ("recall@10", "tokens@1000", "reduced", "ndcg@10", "mrr")
CROSSING = "cross-domain"
"""The category whose recall CLS-M calls its weakness (§5.3)."""


class Grid(NamedTuple):
    """A table before it is written anywhere; nothing in it is escaped.

    Attributes:
        words: Columns from the left that hold words; the others hold numbers.
        best: Row and column of figures that nothing in their column exceeds.
        note: A sentence below; may be empty.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


class _Column(NamedTuple):
    """A heading, the text of each system, and what is compared for the best of them, if anything."""

    heading: str
    text: Callable[[SystemResult], str]
    value: Callable[[SystemResult], float | None] | None = None


def has_concepts(found: SetResult) -> bool:
    """Whether concepts are labelled in a set."""
    return any(each.figures.get("f1") is not None for each in found.systems)


def set_grids(found: SetResult, *, is_full: bool) -> Iterator[Grid]:
    """All tables of a set; with ``is_full`` also all its measures."""
    yield headline_grid(found)
    if has_categories(found):
        yield category_grid(found)
    if found.pairs:
        yield pairs_grid(found, is_full=is_full)
    if found.ablation:
        yield ablation_grid(found, is_full=is_full)
    if found.abstention:
        yield abstention_grid(found)
    if is_full and found.systems:
        yield full_grid(found)


def headline_grid(found: SetResult) -> Grid:
    """Each system with the few measures that matter for what is labelled."""
    names = (*CONCEPTS, *NOTED) if has_concepts(found) else EVIDENCE
    names = names if found.headline in names else (found.headline, *names)
    columns: list[_Column] = []
    for name in (*names, "tokens"):
        columns.append(_figure(name))
        if name == found.headline:
            columns.append(_interval(name))
        if name == "coverage":
            columns.append(
                _Column("cross", lambda each: format_value("recall", _crossed(each)), _crossed)
            )
    return _by_system("Systems (%)", found, columns)


def full_grid(found: SetResult) -> Grid:
    """Each system with all its measures."""
    return _by_system("All measures (%)", found, [_figure(name) for name in HEADINGS])


def has_categories(found: SetResult) -> bool:
    """Whether the queries of a set are of several categories."""
    return any(each.groups.get("category") for each in found.systems)


def category_grid(found: SetResult) -> Grid:
    """The headline measure by category."""
    name = found.headline
    groups = dict.fromkeys(g for each in found.systems for g in each.groups.get("category", {}))

    def column(group: str) -> _Column:
        def value(each: SystemResult) -> float | None:
            return each.groups.get("category", {}).get(group, {}).get(name)

        return _Column(group, lambda each: format_value(name, value(each)), value)

    title = f"{measure_heading(name)} by category (%)"
    return _by_system(title, found, [column(each) for each in groups])


def pairs_grid(found: SetResult, *, is_full: bool) -> Grid:
    """What clsm has more than each other system by what the set is judged by.

    With ``is_full`` by every measure that is compared.
    """
    judged = (found.headline, "recall@10" if has_concepts(found) else "tokens@1000")
    rows = (
        (
            *(each.against, measure_heading(each.measure), format_difference(each.difference)),
            *(format_interval(each.interval, is_difference=True), format_p(each.p)),
        )
        for each in found.pairs
        if is_full or each.measure in judged
    )
    return Grid(
        f"{found.systems[0].name if found.systems else 'clsm'} minus another, query by query",
        ("against", "measure", "points", "95 %", "p"),
        tuple(rows),
        words=2,
        note="Intervals: paired bootstrap, conversations as clusters. p: two-sided, random signs.",
    )


def ablation_grid(found: SetResult, *, is_full: bool) -> Grid:
    """Each mechanism taken out, the greatest loss first; with ``is_full`` also what it does."""
    name = found.headline
    order = sorted(found.ablation, key=lambda each: (each.difference, each.mechanism))
    return Grid(
        f"Without a mechanism ({measure_heading(name)}, %)",
        ("without", *(("which",) if is_full else ()), measure_heading(name), "points", "95 %", "p"),
        tuple(
            (
                *(each.mechanism, *((each.about,) if is_full else ())),
                *(format_value(name, each.figures.get(name)), format_difference(each.difference)),
                *(format_interval(each.interval, is_difference=True), format_p(each.p)),
            )
            for each in order
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

    def row(each: Verdict) -> tuple[str, ...]:
        figures = (format_value(name, each.figures.get(name)) for name in names)
        return (each.system, "pass" if each.passed else "FAIL", *figures)

    return Grid(
        found.name,
        ("system", "verdict", *map(measure_heading, names)),
        tuple(map(row, found.verdicts)),
        words=2,
        note=f"Has to hold: {found.criterion}" if found.criterion else "",
    )


def _figure(name: str) -> _Column:
    def value(each: SystemResult) -> float | None:
        return each.figures.get(name)

    return _Column(
        measure_heading(name),
        lambda each: format_value(name, value(each)),
        None if name in PLAIN else value,
    )


def _interval(name: str) -> _Column:
    def text(each: SystemResult) -> str:
        found = each.intervals.get(name)
        return NOTHING if found is None else format_interval(found)

    return _Column(f"{measure_heading(name)} 95 %", text)


def _crossed(each: SystemResult) -> float | None:
    return each.groups.get("category", {}).get(CROSSING, {}).get("recall")


def _by_system(title: str, found: SetResult, columns: Sequence[_Column]) -> Grid:
    """A row for each system; rows and columns that are empty are left out."""
    rows = [row for row in found.systems if any(each.text(row) != NOTHING for each in columns)]
    kept = [each for each in columns if any(each.text(row) != NOTHING for row in rows)]
    best: set[tuple[int, int]] = set()
    for place, column in enumerate(kept, 1):
        values = [column.value(row) for row in rows] if column.value else []
        top = max((value for value in values if value is not None), default=None)
        best |= {(at, place) for at, v in enumerate(values) if v is not None and v == top}
    return Grid(
        title,
        ("system", *(each.heading for each in kept)),
        tuple((row.name, *(each.text(row) for each in kept)) for row in rows),
        best=frozenset(best),
    )


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
        (p for p in found.pairs if (p.measure, p.against) == (name, best.name)),
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


def _value(each: SystemResult, name: str) -> float:
    value = each.figures.get(name)
    return -1.0 if value is None else value
