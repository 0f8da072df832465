"""Proposed queries and their pools as JSON, and the same with the marks of whoever judged them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.records import NamedTuple
from clsm_cli.store import labels
from clsm_cli.store.jsonlines import LineError, load
from clsm_cli.store.labels import Label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clsm_cli.evaluation.own.gold import Known
    from clsm_cli.evaluation.own.pools import Found
    from clsm_cli.evaluation.own.proposals import Proposal

SCHEMA = "clsm.label/1"
_NEXT = "begin from what this prints: clsm eval label --json"
_OWN = ("category", "difficulty")
_LISTS = ("evidence", "concepts")
_NAMES = {"query", "kind", "about", "items", "none", *_OWN, *_LISTS}


class Marked(NamedTuple):
    """A sheet that came back.

    Attributes:
        rows: Labels of the queries that were judged.
        left: Queries without a mark.
    """

    rows: tuple[Label, ...]
    left: int


def of(proposals: Sequence[Proposal], pool: Callable[[Proposal], list[Found]]) -> dict[str, Any]:
    """The sheet; ``relevant`` and ``none`` are to be filled in."""
    queries = [
        {
            "query": each.text,
            "kind": each.kind,
            "about": each.about,
            "none": None,
            "items": [{**found._asdict(), "relevant": None} for found in pool(each)],
        }
        for each in proposals
    ]
    return {"schema": SCHEMA, "queries": queries}


def read(text: str, name: str, known: Known) -> Marked:
    """The labels that a sheet makes.

    A query is judged where ``none`` is true, where an item is marked, or where it has evidence or
    concepts; its category is the kind of the proposal unless it names one. What no mark says yes to
    is not relevant.

    Args:
        text: JSON.
        name: Of the file.
        known: The store, to check the ids.

    Raises:
        BadInputError: It is not such a sheet, or names what the store does not have.
    """
    try:
        sheet = load(text)
    except LineError as error:
        raise BadInputError(name, str(error), _NEXT) from None
    if not isinstance(sheet, dict) or not isinstance(sheet.get("queries"), list):
        raise BadInputError(name, "has no list 'queries'", _NEXT)
    rows: list[Label] = []
    for number, each in enumerate(sheet["queries"], 1):
        try:
            row = _row(each, known)
        except ValueError as error:
            raise BadInputError(f"{name}, query {number}", str(error), _NEXT) from None
        if row is not None and any(row.id == other.id for other in rows):
            raise BadInputError(f"{name}, query {number}", "is there twice", "keep one of them")
        rows += [row] if row is not None else []
    return Marked(tuple(rows), len(sheet["queries"]) - len(rows))


def _row(each: Any, known: Known) -> Label | None:
    """A label; None: the query is not judged. ValueError says what is wrong."""
    if not isinstance(each, dict):
        raise ValueError("is not a mapping")
    odd = sorted(set(each) - _NAMES)
    if odd:
        raise ValueError(f"has the unknown key {odd[0][:40]!r}")
    text = _text(each, "query")
    if not text:
        raise ValueError("has no text")
    items = each.get("items") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("'items' is not a list of mappings")
    marks = {str(item.get("id")): _mark(item, "relevant") for item in items}
    relevant = tuple(name for name, mark in marks.items() if mark)
    lists = {key: _texts(each, key) for key in _LISTS}
    is_none = _mark(each, "none")
    if is_none and (relevant or any(lists.values())):
        raise ValueError("says 'none' and marks something all the same")
    if not is_none and not any(lists.values()) and all(mark is None for mark in marks.values()):
        return None
    for name in relevant:
        if known.piece(name) is None:
            raise ValueError(f"the store has no memory or turn {name[:60]!r}")
    category = _text(each, "category") or category_of(_text(each, "kind"))
    return Label(
        labels.id_of(text),
        text,
        memories=relevant,
        category=category,
        difficulty=_text(each, "difficulty"),
        evidence=lists["evidence"],
        concepts=lists["concepts"],
    )


def category_of(kind: str) -> str:
    """The category of a query by the kind of its proposal; one that should have no answer has none."""
    return "" if kind == "negative" else kind


def _text(each: dict[str, Any], key: str) -> str:
    value = each.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key!r} is not text")
    return " ".join((value or "").split())


def _texts(each: dict[str, Any], key: str) -> tuple[str, ...]:
    value = each.get(key) or []
    if not isinstance(value, list) or not all(
        isinstance(one, str) and one.strip() for one in value
    ):
        raise ValueError(f"{key!r} is not a list of texts")
    return tuple(dict.fromkeys(" ".join(one.split()) for one in value))


def _mark(each: dict[str, Any], key: str) -> bool | None:
    value = each.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{key!r} is not true, false or null")
    return value
