"""What every measure is called, and how its values are written; the same in all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTHING = "–"
"""In the place of a figure that is not defined."""


class Measure(NamedTuple):
    """How a measure is shown.

    Attributes:
        heading: A few letters for a column.
        meaning: A line for who does not know it.
        is_share: Shown in per cent, and more is better; else a number of its own unit.
    """

    heading: str
    meaning: str
    is_share: bool = True


def _first(k: int) -> Measure:
    return Measure(f"R{k}", f"Recall@{k}: share of the evidence among the first {k} places")


def _within(tokens: int) -> Measure:
    return Measure(
        f"T{tokens}", f"Share of the evidence that fits {tokens:,} tokens, in rank order"
    )


MEASURES = {
    **{f"recall@{k}": _first(k) for k in (1, 3, 5, 10, 20, 50)},
    "precision@10": Measure("P10", "Share of the first 10 places that hold evidence"),
    "f1@10": Measure("F10", "Harmonic mean of precision and recall at 10"),
    "hit@10": Measure("hit10", "Queries with any of their evidence among the first 10"),
    "all@10": Measure("all10", "Queries with all of their evidence among the first 10"),
    "ndcg@10": Measure("nDCG10", "Normalised discounted cumulative gain at 10, binary gains"),
    "precision@1000t": Measure("P in 1000", "Share of items that hold evidence, in 1,000 tokens"),
    "f1@1000t": Measure("F in 1000", "Harmonic mean of precision and recall in 1,000 tokens"),
    "hit@1000t": Measure("hit in 1000", "Queries with any of their evidence in 1,000 tokens"),
    "all@1000t": Measure("all in 1000", "Queries with all of their evidence in 1,000 tokens"),
    "ndcg@1000t": Measure("nDCG in 1000", "The same of what fits 1,000 tokens"),
    "mrr": Measure("MRR", "Mean of one over the place of the first piece of evidence"),
    **{f"tokens@{budget}": _within(budget) for budget in (500, 1000, 2000, 4000)},
    "reduced": Measure("-96.5%", "Share of the evidence when 96.5 % of the context is left out"),
    "reduced2": Measure("-93%", "Share of the evidence when 93 % of the context is left out"),
    "relevance": Measure(
        "relev.", "Tokens of returned items that hold evidence, of those returned"
    ),
    "efficiency": Measure("saved", "Share of the context that need not be loaded"),
    "retention": Measure("retain", "Queries for which something that answers is returned"),
    "reach": Measure("reach", "Of items that embedding alone does not return, those with evidence"),
    "reached": Measure("reached", "Of evidence that embedding alone misses, what is found"),
    "precision": Measure("P", "Share of the returned concepts that are labelled"),
    "recall": Measure("R", "Share of the labelled concepts that are returned"),
    "f1": Measure("F1", "Harmonic mean of precision and recall of concepts, mean over queries"),
    "coverage": Measure("cover", "Queries with at least one labelled concept"),
    "answer@10": Measure(
        "answer", "Labelled concepts of the answer that the question does not name, among ten"
    ),
    "concepts": Measure("conc.", "Concepts returned per query", is_share=False),
    "tokens": Measure("tokens", "Estimated tokens returned per query", is_share=False),
    "ms": Measure("ms", "Processor time per query in milliseconds", is_share=False),
}
"""All measures of queries, in the order in which they are shown."""


def measure(name: str) -> Measure:
    """How a measure is shown; one of a probe's own is a number and called as it is.

    >>> measure("recall@10").heading, measure("lost_after_50").heading
    ('R10', 'lost after 50')
    """
    return MEASURES.get(name) or Measure(name.replace("_", " "), "", is_share=False)


def heading(name: str) -> str:
    """A measure in few letters.

    >>> heading("recall@10"), heading("tokens@1000"), heading("mrr")
    ('R10', 'T1000', 'MRR')
    """
    return measure(name).heading


def ordered(names: Iterable[str]) -> list[str]:
    """Measures in the order in which they are shown, those of nobody else at the end, by name.

    >>> ordered(["ms", "own", "recall@10"])
    ['recall@10', 'ms', 'own']
    """
    places = {name: place for place, name in enumerate(MEASURES)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def share(value: float) -> str:
    """A share in per cent.

    >>> share(0.8234)
    '82.3'
    """
    return f"{100 * value:.1f}"


def shown(name: str, value: float | None) -> str:
    """A value of a measure as it stands in a table.

    >>> shown("recall@10", 0.5), shown("tokens", 1234.5), shown("ms", 3.21), shown("mrr", None)
    ('50.0', '1,234', '3.2', '–')
    """
    if value is None:
        return NOTHING
    if name not in MEASURES:
        return number(value)
    if MEASURES[name].is_share:
        return share(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def number(value: float) -> str:
    """A number of a unit that nobody knows, with as many digits as say something.

    >>> number(1234.5), number(12.34), number(0.0123), number(0.0)
    ('1,234', '12.3', '0.0123', '0')
    """
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 1 else f"{value:.3g}"


def more(value: float) -> str:
    """A difference of shares, in points.

    >>> more(0.051), more(-0.0004), more(0.0)
    ('+5.1', '0.0', '0.0')
    """
    text = f"{100 * value:+.1f}"
    return text[1:] if text in ("+0.0", "-0.0") else text.replace("-", "−")


def span(interval: tuple[float, float], *, is_difference: bool = False) -> str:
    """An interval of shares, or of differences.

    >>> span((0.7, 0.81)), span((-0.02, 0.1), is_difference=True)
    ('70.0–81.0', '−2.0 to +10.0')
    """
    low, high = interval
    return f"{more(low)} to {more(high)}" if is_difference else f"{share(low)}–{share(high)}"


def chance(p: float) -> str:
    """A p-value.

    >>> chance(0.0423), chance(0.00004)
    ('.042', '<.001')
    """
    return "<.001" if p < 0.0005 else f"{p:.3f}".replace("0.", ".", 1)
