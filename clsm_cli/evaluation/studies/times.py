"""Study of time expressions: days by the calendar, conversations by their order in a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.loaders.parsing import LabelledTurn, malformed_error
from clsm_cli.retrieval import time_scope
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text.time import bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.stores import StoreFactory

NAME = "times"
"""Of the store."""
FILE = "expressions.yaml"
MAX_FILE = 1 << 23
"""Bytes."""
CALENDAR, STORE = "calendar", "store"

Answer = tuple[str, ...]
"""Session ids, or the first day and the day after the last; an open side is empty."""


@dataclass(frozen=True, slots=True)
class Expression:
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


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found for an expression.

    Attributes:
        is_right: Whether it is one of the answers.
        is_firm: Whether hard and soft were told apart, or are not labelled.
    """

    id: str
    kind: str
    query: str
    expected: Answer
    found: Answer
    is_right: bool
    is_firm: bool


@dataclass(frozen=True, slots=True)
class TimesReport:
    """The result, by expression."""

    sessions: int
    readings: tuple[Reading, ...]


def run_times(path: Path, factory: StoreFactory) -> TimesReport:
    """Read every expression; those over the store are looked up in one made of its sessions.

    Args:
        path: Folder with ``expressions.yaml``.
        factory: Where the store is made.

    Raises:
        BadInputError: The file cannot be read.
        DiskError: The work folder cannot be written.
    """
    chat, expressions = load(path)
    made = stores.chat_store(factory, NAME, chat)
    readings: list[Reading] = []
    with open_index(made.store, factory.embedder) as opened:
        for each in expressions:
            if each.kind == CALENDAR:
                readings.append(_by_calendar(each))
                continue
            found = time_scope.resolve(opened.index, each.query, each.now.isoformat())
            sessions = found.sessions if found else ()
            readings.append(_reading(each, sessions, is_firm=True))
    return TimesReport(len({turn.session for turn in chat.turns}), tuple(readings))


def _by_calendar(each: Expression) -> Reading:
    """Read an expression by the calendar; several periods are no answer."""
    times = bounds.read_times(each.query, each.now)
    found: Answer = ()
    if len(times.periods) == 1:
        first, until = times.periods[0]
        found = (str(first or ""), str(until or ""))
    return _reading(each, found, is_firm=times.hard == each.hard)


def _reading(each: Expression, found: Answer, *, is_firm: bool) -> Reading:
    return Reading(
        each.id, each.kind, each.query, each.answers[0], found, found in each.answers, is_firm
    )


def load(path: Path) -> tuple[Chat, tuple[Expression, ...]]:
    """Read the sessions of the store, and the expressions.

    Raises:
        BadInputError: The file is missing or not what it must be.
    """
    file = path / FILE
    data = atomic.read(file, MAX_FILE)
    if data is None:
        raise BadInputError(str(file), "is missing", "see docs/evaluation.md for the layout")
    try:
        rows = yaml_text.load(data.decode("utf-8"), MAX_FILE, values=None)
        turns = tuple(_turns(rows["store"]))
        expressions = tuple(map(_expression, rows["expressions"]))
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(file), str(error), "mend it") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise malformed_error(file, repr(error)) from error
    return Chat((), turns), expressions


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
    answers = tuple(_answer(each, in_store=in_store) for each in (row, *row.get("or", ())))
    return Expression(
        id=row["id"],
        now=datetime.fromisoformat(row["now"]),
        query=row["query"],
        kind=STORE if in_store else CALENDAR,
        answers=answers,
        hard=None if in_store else row["hard"],
    )


def _answer(row: dict[str, Any], *, in_store: bool) -> Answer:
    if in_store:
        return tuple(row["answer"])
    days = (row["first"], row["until"])
    return tuple("" if day is None else date.fromisoformat(day).isoformat() for day in days)
