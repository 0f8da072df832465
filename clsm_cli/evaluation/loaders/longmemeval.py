"""LongMemEval (Wu et al., ICLR 2025): a question, and its own haystack of chats with an assistant.

Gold are the turns marked ``has_answer`` in the sessions that hold the evidence, as in the set's own
turn-level retrieval. Questions whose id ends in ``_abs`` ask what the haystack does not say.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import (
    CASE_TWICE,
    NO_TEXT,
    Case,
    Chat,
    Dataset,
    Faults,
    LabelledTurn,
    Query,
    answer_of,
    digest_contents,
    load_json,
    malformed_error,
    naming_place,
    required_field,
)

if TYPE_CHECKING:
    from pathlib import Path

KIND = "longmemeval"
ABSTENTION = "_abs"
"""End of the ids of questions that the haystack does not answer."""
FILES = ("longmemeval_s*.json", "longmemeval_m*.json", "longmemeval_oracle*.json")
"""What is read of a folder: the first that is there."""

_TIME = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)(?:\s*\(\w+\))?\s+(\d\d?):(\d\d)")
_NO_TURN = "query is left out, no turn of its haystack is marked as its evidence"


def load(path: Path) -> Dataset:
    """Read a file of the set, or the first of ``FILES`` that a folder holds."""
    found = Faults()
    listed = files(path)
    if not listed:
        names = ", ".join(FILES)
        raise BadInputError(str(path), f"holds none of {names}", "see docs/evaluation.md")
    source = listed[0]
    cases: dict[str, Case] = {}
    rows = load_json(source)
    if not isinstance(rows, list):
        raise malformed_error(source, "it holds no list of questions")
    for number, row in enumerate(rows, 1):
        with naming_place(source, f"question {number}"):
            name = required_field(row, "question_id", str)
            case = _case(name, row, found)
        if name in cases:
            found.add(CASE_TWICE, name)
        elif case is not None:
            cases[name] = case
    if not cases:
        raise malformed_error(source, "it holds no question with evidence")
    return Dataset(
        kind=KIND,
        name=source.resolve().name,
        digest=digest_contents(source, [source]),
        unit="turn",
        headline="recall@10",
        cases=tuple(cases.values()),
        notes=found.sentences(),
    )


def parse_time(text: str) -> datetime:
    """A time of the set; it names no time zone, so UTC stands for it.

    >>> parse_time("2023/05/20 (Sat) 02:21").isoformat()
    '2023-05-20T02:21:00+00:00'
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is no time")
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def files(path: Path) -> list[Path]:
    """The files of the set at a path."""
    if not path.is_dir():
        return [path]
    return [found for pattern in FILES for found in sorted(path.glob(pattern))]


def _case(name: str, row: dict[str, Any], found: Faults) -> Case | None:
    """A question and its haystack; None for one that nothing is known to answer.

    The turns of a session follow each other by seconds.
    """
    evidence = set(map(str, required_field(row, "answer_session_ids", list)))
    turns: list[LabelledTurn] = []
    gold: list[str] = []
    for begin, place, published, chat in _sessions(row):
        session = f"{place}:{published}"
        for number, turn in enumerate(chat):
            identity = f"{session}:{number + 1}"
            role, text = required_field(turn, "role", str), required_field(turn, "content", str)
            if not text.strip():
                found.add(NO_TEXT, f"{name} {identity}")
                continue
            time = (begin + timedelta(seconds=number)).isoformat()
            turns.append(LabelledTurn(identity, role, role, text, time, session))
            if turn.get("has_answer") is True and published in evidence:
                gold.append(identity)
    if not turns:
        raise ValueError("its haystack is empty")
    is_unknown = name.endswith(ABSTENTION)
    if not gold and not is_unknown:
        found.add(_NO_TURN, name)
        return None
    query = Query(
        id=name,
        text=required_field(row, "question", str),
        category=str(row.get("question_type") or ""),
        gold=() if is_unknown else tuple(gold),
        negative="near topic" if is_unknown else "",
        answer=answer_of(row),
        at=parse_time(required_field(row, "question_date", str)).isoformat(),
    )
    return Case(name, Chat((), tuple(turns)), (query,))


def _sessions(row: dict[str, Any]) -> list[tuple[datetime, int, str, list[Any]]]:
    """Time, place, id and turns of the sessions of a haystack by date.

    The oracle file has them in another order; some haystacks have one twice, told apart by place.
    """
    parts = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    ids, dates, chats = (required_field(row, part, list) for part in parts)
    if not len(ids) == len(dates) == len(chats):
        raise ValueError(
            f"it has {len(ids)} session ids, {len(dates)} dates, {len(chats)} sessions"
        )
    rows = enumerate(zip(ids, dates, chats, strict=True))
    read = [(parse_time(str(day)), at, str(name), chat) for at, (name, day, chat) in rows]
    return sorted(read, key=lambda session: session[:2])
