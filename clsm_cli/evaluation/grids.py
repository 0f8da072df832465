"""A result for a reader: names, numbers, tables."""

from collections.abc import Iterator, Sequence

from clsm_cli.evaluation.result import Difference, Interval, ProbeResult, SetResult
from clsm_cli.startup.records import NamedTuple

# A heading, the measure, and of each system its value or an interval.
Column = tuple[str, str, list[float | None] | list[Interval | None]]

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
PLAIN = ("concepts", "tokens")  # numbers; all others are shares, of which more is better


def measure_heading(name: str) -> str:
    """A measure in few letters; one of a probe's own is called as it is.

    >>> measure_heading("recall@10"), measure_heading("lost_after_50")
    ('R10', 'lost after 50')
    """
    return HEADINGS.get(name) or name.replace("_", " ")


def format_share(value: float) -> str:
    """A share in per cent."""
    return f"{100 * value:.1f}"


def format_value(name: str, value: float | Interval | None) -> str:
    """A value of a measure as it stands in a table, or an interval of shares.

    Of an unknown unit it has as many digits as say something.

    >>> format_value("recall@10", 0.5), format_value("tokens", 1234.5), format_value("mrr", None)
    ('50.0', '1,234', '–')
    >>> [format_value("of a probe", value) for value in (1234.5, 12.34, 0.0123, 0.0)]
    ['1,234', '12.3', '0.0123', '0']
    """
    if value is None:
        return "–"
    if not isinstance(value, (int, float)):
        return "–".join(map(format_share, value))
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


def format_test(each: Difference) -> tuple[str, str, str]:
    """A difference in points, its interval and its p."""
    low, high = map(format_difference, each["interval"])
    p = "<.001" if each["p"] < 0.0005 else f"{each['p']:.3f}".replace("0.", ".", 1)
    return format_difference(each["difference"]), f"{low} to {high}", p


CONCEPTS = ("precision", "recall", "f1", "coverage")
NOTED = ("recall@10", "reduced")
EVIDENCE = ("recall@10", "tokens@1000", "reduced", "ndcg@10", "mrr")
CROSSING = "cross-domain"  # the category whose recall CLS-M calls its weakness (§5.3)


class Grid(NamedTuple):
    """A table before it is written anywhere; nothing in it is escaped."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1  # columns from the left that hold words; the others hold numbers
    best: frozenset[tuple[int, int]] = frozenset()  # figures that nothing in their column exceeds
    note: str = ""


def set_grids(found: SetResult, *, is_full: bool = False) -> Iterator[Grid]:
    """The tables of a set; with ``is_full`` also what each mechanism does."""
    name = found["headline"]
    yield _headline_grid(found)
    groups = (each["groups"].get("category", {}) for each in found["systems"])
    if names := dict.fromkeys(group for each in groups for group in each):
        columns = [(group, name, _in_category(found, group, name)) for group in names]
        yield _by_system(f"{measure_heading(name)} by category (%)", found, columns)
    if found["pairs"]:
        yield _pairs_grid(found)
    if found["ablation"]:
        yield _ablation_grid(found, is_full=is_full)
    if found["abstention"]:
        yield _abstention_grid(found)


def full_grid(found: SetResult) -> Grid:
    """Each system with all its measures."""
    return _by_system("All measures (%)", found, [_figures(found, name) for name in HEADINGS])


def _has_concepts(found: SetResult) -> bool:
    return any(each["figures"].get("f1") is not None for each in found["systems"])


def _headline_grid(found: SetResult) -> Grid:
    """Each system with the few measures that matter for what is labelled."""
    names = (*CONCEPTS, *NOTED) if _has_concepts(found) else EVIDENCE
    headline = found["headline"]
    columns: list[Column] = []
    for name in dict.fromkeys((*(() if headline in names else (headline,)), *names, "tokens")):
        columns.append(_figures(found, name))
        if name == headline:
            intervals = [each["intervals"].get(name) for each in found["systems"]]
            columns.append((f"{measure_heading(name)} 95 %", name, intervals))
        if name == "coverage":
            columns.append(("cross", name, _in_category(found, CROSSING, "recall")))
    return _by_system("Systems (%)", found, columns)


def _pairs_grid(found: SetResult) -> Grid:
    """What clsm has more than each other system by what the set is judged by."""
    judged = (found["headline"], "recall@10" if _has_concepts(found) else "tokens@1000")
    return Grid(
        f"{found['systems'][0]['name']} minus another, query by query",
        ("against", "measure", "points", "95 %", "p"),
        tuple(
            (each["against"], measure_heading(each["measure"]), *format_test(each))
            for each in found["pairs"]
            if each["measure"] in judged
        ),
        words=2,
        note="Intervals: paired bootstrap, conversations as clusters. p: two-sided, random signs.",
    )


def _ablation_grid(found: SetResult, *, is_full: bool) -> Grid:
    """Each mechanism taken out, the greatest loss first; with ``is_full`` also what it does."""
    name = found["headline"]
    heading = measure_heading(name)
    rows = []
    for each in sorted(found["ablation"], key=lambda e: (e["difference"], e["mechanism"])):
        which = (each["mechanism"], each["about"])[: 1 + is_full]
        rows.append((*which, format_value(name, each["figures"].get(name)), *format_test(each)))
    return Grid(
        f"Without a mechanism ({heading}, %)",
        (*("without", "which")[: 1 + is_full], heading, "points", "95 %", "p"),
        tuple(rows),
        words=1 + is_full,
        note="Points below zero: what is lost when the mechanism is off.",
    )


def _abstention_grid(found: SetResult) -> Grid:
    """Whether confidence tells what the memory holds from what it does not."""
    rows = []
    for each in found["abstention"]:
        figures = (str(each["queries"]), f"{each['auroc']:.3f}", format_share(each["refused"]))
        rows.append((each["system"], each["negative"], *figures))
    return Grid(
        "Queries without an answer",
        ("system", "kind", "queries", "AUROC", "refused %"),
        tuple(rows),
        words=2,
        note="AUROC: how often a query with an answer has the higher confidence. Refused: got"
        f" nothing. Of the queries with an answer {format_share(found['silenced'])} % got nothing"
        " of clsm.",
    )


def size_rows(found: SetResult) -> list[tuple[str, str]]:
    """What a set holds and how much of it became a memory, by name."""
    rows = [(name.replace("_", " "), f"{count:,}") for name, count in found["sizes"].items()]
    if found["stored"] is not None:
        rows.append(("evidence that became a memory", f"{format_share(found['stored'])} %"))
    return rows


def probe_grid(found: ProbeResult) -> Grid:
    """One probe: each system with its verdict and its figures."""
    names = list(dict.fromkeys(name for each in found["verdicts"] for name in each["figures"]))
    rows = []
    for each in found["verdicts"]:
        figures = (format_value(name, each["figures"].get(name)) for name in names)
        rows.append((each["system"], "pass" if each["passed"] else "FAIL", *figures))
    return Grid(
        found["name"],
        ("system", "verdict", *map(measure_heading, names)),
        tuple(rows),
        words=2,
        note=f"Has to hold: {found['criterion']}" if found["criterion"] else "",
    )


def weakness_note(found: ProbeResult) -> str:
    """A remark where all that is compared with clsm passes too; else empty."""
    others = found["verdicts"][1:]
    if others and all(each["passed"] for each in others):
        return "All others pass too: this probe tells nothing apart."
    return ""


def _figures(found: SetResult, name: str) -> Column:
    return measure_heading(name), name, [each["figures"].get(name) for each in found["systems"]]


def _in_category(found: SetResult, group: str, name: str) -> list[float | None]:
    groups = (each["groups"].get("category", {}) for each in found["systems"])
    return [each.get(group, {}).get(name) for each in groups]


def _by_system(title: str, found: SetResult, columns: Sequence[Column]) -> Grid:
    """A row for each system; rows and columns that are empty are left out."""
    kept = [each for each in columns if any(value is not None for value in each[2])]
    names = [each["name"] for each in found["systems"]]
    rows = [at for at in range(len(names)) if any(each[2][at] is not None for each in kept)]
    best: set[tuple[int, int]] = set()
    cells = [[names[at] for at in rows]]
    for place, (_, name, values) in enumerate(kept, 1):
        shown = [values[at] for at in rows]
        shares = [value for value in shown if isinstance(value, (int, float))]
        if shares and name not in PLAIN:
            best |= {(row, place) for row, value in enumerate(shown) if value == max(shares)}
        cells.append([format_value(name, value) for value in shown])
    return Grid(
        title,
        ("system", *(heading for heading, _, _ in kept)),
        tuple(zip(*cells, strict=True)),
        best=frozenset(best),
    )
