"""The queries of a set as one HTML table: those first in which clsm is furthest behind.

Radio buttons choose what is shown, by style alone; no script runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting import html
from clsm_cli.evaluation.reporting.names import NOTHING, heading, share, shown
from clsm_cli.inspection.drawing import escaped

if TYPE_CHECKING:
    from clsm_cli.evaluation.result import QueryResult, SetResult

MOST = 500
"""Queries of a set on the page; ``queries.jsonl`` has them all."""
CATEGORIES = 12
"""Categories that have a button."""
SIDES = {
    "behind": "another system does better",
    "ahead": "better than all others",
    "level": "as good as the best",
    "missed": "clsm finds nothing",
}
"""Classes of rows, and the words on their buttons."""
TINTS = 4
"""Steps of the tint of a value."""


def css() -> str:
    """The rules by which the buttons work."""
    names = [*SIDES, *(f"c{place}" for place in range(CATEGORIES))]
    return "".join(
        f".queries:has(.f-{name}:checked) tbody tr:not(.{name}) {{ display: none; }}\n"
        for name in names
    )


def order(found: SetResult) -> list[QueryResult]:
    """Queries, that first in which clsm is furthest behind the best; those without a figure last."""

    def key(query: QueryResult) -> tuple[bool, float, str, str]:
        behind = gap(found, query)
        return behind is None, -(behind or 0.0), query.case, query.id

    return sorted(found.queries, key=key)


def gap(found: SetResult, query: QueryResult) -> float | None:
    """Best of the others minus clsm, of the headline measure; None where there is no such figure."""
    values = [query.values.get(each.name, {}).get(found.headline) for each in found.systems]
    if not values or values[0] is None:
        return None
    others = [value for value in values[1:] if value is not None]
    return max(others) - values[0] if others else None


def table(found: SetResult, place: int) -> str:
    """All queries of a set with the headline measure of every system.

    Args:
        found: The set.
        place: Of the set on the page: names of buttons are unique by it.
    """
    if not found.queries:
        return ""
    chosen = order(found)[:MOST]
    categories = list(dict.fromkeys(each.category for each in chosen if each.category))[:CATEGORIES]
    names = [each.name for each in found.systems]
    title = f"{heading(found.headline)} of each query (%)"
    first = names[0] if names else "clsm"
    heads = ("query", "store", "category", "gold", f"places of {first}", *names)
    head = "".join(
        f'<th scope="col"{" class=word" if at < 3 else ""}>{escaped(each)}</th>'
        for at, each in enumerate(heads)
    )
    rows = "".join(_row(found, each, categories) for each in chosen)
    more = len(found.queries) - len(chosen)
    rest = f" {more:,} more are in queries.jsonl." if more else ""
    return (
        f'<div class="queries">\n{_buttons(place, categories)}'
        f'<p class="note">In order of how far {escaped(first)} is behind the best of the others.'
        " Places: of the first item that holds each piece of evidence;"
        f" {NOTHING}: not returned.{rest}</p>\n"
        f"{html.scrolling(title)}<table><caption>{escaped(title)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></div>\n"
    )


def _buttons(place: int, categories: list[str]) -> str:
    sides = [("all", ""), *((text, name) for name, text in SIDES.items())]
    named = [("all", ""), *((text, f"c{at}") for at, text in enumerate(categories))]
    parts = [_choice("Show", f"side-{place}", sides)]
    if len(categories) > 1:
        parts.append(_choice("Category", f"category-{place}", named))
    return f"<form>{''.join(parts)}</form>\n"


def _choice(legend: str, group: str, options: list[tuple[str, str]]) -> str:
    buttons = (
        f'<label><input type="radio" name="{group}" class="f-{name or "all"}"'
        f"{'' if name else ' checked'}> {escaped(text)}</label>"
        for text, name in options
    )
    return f"<fieldset><legend>{legend}</legend>{' '.join(buttons)}</fieldset>"


def _row(found: SetResult, query: QueryResult, categories: list[str]) -> str:
    names = [each.name for each in found.systems]
    ranks = query.ranks.get(names[0], ()) if names else ()
    places = ", ".join(NOTHING if rank is None else str(rank) for rank in ranks) or NOTHING
    cells = [
        f'<th scope="row" class="word">{escaped(query.id)}</th>',
        f'<td class="word">{escaped(query.case)}</td>',
        f'<td class="word">{escaped(query.category)}</td>',
        f"<td>{query.gold}</td><td>{places}</td>",
        *(_value(found.headline, query.values.get(name, {}).get(found.headline)) for name in names),
    ]
    classes = _classes(found, query, categories)
    return f'<tr class="{" ".join(classes)}">{"".join(cells)}</tr>\n'


def _classes(found: SetResult, query: QueryResult, categories: list[str]) -> list[str]:
    classes = [f"c{categories.index(query.category)}"] if query.category in categories else []
    behind = gap(found, query)
    if behind is not None:
        classes.append("behind" if behind > 0 else "ahead" if behind < 0 else "level")
    first = found.systems[0].name if found.systems else ""
    if query.values.get(first, {}).get(found.headline) == 0:
        classes.append("missed")
    return classes


def _value(name: str, value: float | None) -> str:
    tint = "none" if value is None else f"t{round(min(max(value, 0.0), 1.0) * TINTS)}"
    return f'<td class="{tint}">{shown(name, value) if value is None else share(value)}</td>'
