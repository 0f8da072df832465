"""Study of time expressions: days by the calendar, conversations by their order in a store."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.loaders.parsing import LabelledTurn, load_yaml, malformed_error
from clsm_cli.evaluation.studies import Section
from clsm_cli.retrieval import time_scope
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.time import bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.store.index.index_queries import Index

FILE = "expressions.yaml"
CALENDAR, STORE = "calendar", "store"

Answer = tuple[str, ...]
"""Session ids, or the first day and the day after the last; an open side is empty."""


class Expression(NamedTuple):
    """A question and where it looks.

    Attributes:
        now: When it is asked.
        kind: ``calendar`` or ``store``.
        answers: All that are right.
        hard: Whether the words fix the bounds; None where that is not labelled.
    """

    id: str
    now: datetime
    query: str
    kind: str
    answers: tuple[Answer, ...]
    hard: bool | None


def run_times(path: Path, factory: StoreFactory) -> dict[str, Section]:
    """Read every expression; those over the store are looked up in one made of its sessions.

    Raises:
        BadInputError: The file cannot be read.
        DiskError: The work folder cannot be written.
    """
    chat, expressions = load(path)
    made = stores.chat_store(factory, "times", chat)
    right: dict[str, list[bool]] = {"all": []}
    firm: list[bool] = []
    otherwise = []
    with open_index(made.store, factory.embedder) as opened:
        for each in expressions:
            found, is_firm = _read(each, opened.index)
            is_right = found in each.answers
            firm += [is_firm] if is_right else []
            for kind in (each.kind, "all"):
                right.setdefault(kind, []).append(is_right)
            if not (is_right and is_firm):
                wrong = f"is {_said(found)}, not {_said(each.answers[0])}"
                said = "hard and soft are mistaken" if is_right else wrong
                otherwise.append(f"{each.id} {each.query}: {said}")
    counts = {f"right, {kind}": (sum(held), len(held)) for kind, held in sorted(right.items())}
    counts["of these, hard or soft right too"] = (sum(firm), len(firm))
    counts["conversations of the store"] = (len({turn.session for turn in chat.turns}), 0)
    return {"time expressions": Section(counts, {"read otherwise": tuple(otherwise)})}


def _read(each: Expression, index: Index) -> tuple[Answer, bool]:
    """What is found for an expression, and whether hard and soft were told apart."""
    if each.kind == STORE:
        scope = time_scope.resolve(index, each.query, each.now.isoformat())
        return (scope.sessions if scope else ()), True
    times = bounds.read_times(each.query, each.now)
    found: Answer = ()
    if len(times.periods) == 1:  # several periods are no answer
        found = tuple(str(side or "") for side in times.periods[0])
    return found, times.hard == each.hard


def _said(answer: Answer) -> str:
    return " ".join(each or "open" for each in answer) or "nothing"


def load(path: Path) -> tuple[Chat, tuple[Expression, ...]]:
    """Read the sessions of the store, and the expressions."""
    rows = load_yaml(path / FILE)
    try:
        turns = tuple(_turns(rows["store"]))
        return Chat((), turns), tuple(map(_expression, rows["expressions"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise malformed_error(path / FILE, repr(error)) from error


def _turns(rows: Sequence[dict[str, Any]]) -> Iterator[LabelledTurn]:
    """The turns of the store; those of a session follow each other by a minute."""
    for row in rows:
        begin = datetime.fromisoformat(row["time"])
        for place, line in enumerate(row["text"]):
            role, _, text = line.partition(": ")
            time = (begin + timedelta(minutes=place)).isoformat()
            turn = f"{row['id']}:{place + 1}"
            yield LabelledTurn(turn, role, role, text, time, row["id"], row["id"])


def _expression(row: dict[str, Any]) -> Expression:
    in_store = bool(row.get("store"))
    return Expression(
        id=row["id"],
        now=datetime.fromisoformat(row["now"]),
        query=row["query"],
        kind=STORE if in_store else CALENDAR,
        answers=tuple(_answer(each, in_store=in_store) for each in (row, *row.get("or", ()))),
        hard=None if in_store else row["hard"],
    )


def _answer(row: dict[str, Any], *, in_store: bool) -> Answer:
    if in_store:
        return tuple(row["answer"])
    days = (row["first"], row["until"])
    return tuple("" if day is None else date.fromisoformat(day).isoformat() for day in days)
