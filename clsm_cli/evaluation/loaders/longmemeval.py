"""LongMemEval (Wu et al., ICLR 2025): a question, and its own haystack of chats with an assistant.

Gold are the turns marked ``has_answer`` in the sessions that hold the evidence, as in the set's own
turn-level retrieval. Questions whose id ends in ``_abs`` ask what the haystack does not say.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import dataset

FILES = ("longmemeval_s*.json", "longmemeval_m*.json", "longmemeval_oracle*.json")
"""What is read of a folder: the first that is there."""
_WEEKDAY = re.compile(r"\s*\(\w+\)")


def load(path: Path) -> dataset.Dataset:
    """Read a file of the set, or the first of ``FILES`` that a folder holds."""
    source = next(iter(files(path)), None)
    if source is None:
        raise BadInputError(str(path), f"holds none of {', '.join(FILES)}", dataset.LAYOUT)
    faults = dataset.Faults()
    cases = []
    rows = dataset.load_json(source)
    for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
        with dataset.reading(source, f"question {number}"):
            case = _case(row)
            if case.queries[0].gold or case.queries[0].negative:
                cases.append(case)
            else:
                why = "no turn of its haystack is marked as its evidence"
                faults.add(f"query is left out, {why}", case.name)
    if not cases:
        raise dataset.malformed_error(source, "it holds no list of questions with evidence")
    notes = faults.sentences()
    return dataset.made_dataset("longmemeval", source, [source], cases, notes, "turn", "recall@10")


def files(path: Path) -> list[Path]:
    """The files of the set at a path."""
    if not path.is_dir():
        return [path]
    return [found for pattern in FILES for found in sorted(path.glob(pattern))]


def parse_time(text: str) -> datetime:
    """A time of the set; it names no time zone, so UTC stands for it.

    >>> parse_time("2023/05/20 (Sat) 02:21").isoformat()
    '2023-05-20T02:21:00+00:00'
    """
    try:
        day = _WEEKDAY.sub("", text.strip())
        return datetime.strptime(day, "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{text!r} is no time") from None


def _case(row: dict[str, Any]) -> dataset.Case:
    """A question and its haystack, in which the turns of a session follow each other by seconds.

    The oracle file has the sessions in another order than that of time; some haystacks have one
    twice, told apart by place.
    """
    parts = ("haystack_dates", "haystack_session_ids", "haystack_sessions")
    listed = enumerate(zip(*(row[part] for part in parts), strict=True))
    sessions = [(parse_time(day), place, name, chat) for place, (day, name, chat) in listed]
    turns: list[dataset.LabelledTurn] = []
    gold: list[str] = []
    for begin, place, name, chat in sorted(sessions, key=lambda session: session[:2]):
        session = f"{place}:{name}"
        rows = [
            (f"{session}:{n}", t["role"], t["role"], t["content"]) for n, t in enumerate(chat, 1)
        ]
        turns += dataset.turns_of(session, begin, rows)
        if name in row["answer_session_ids"]:
            marks = zip(rows, (turn.get("has_answer") is True for turn in chat), strict=True)
            gold += [id_ for (id_, *_, text), is_gold in marks if is_gold and text.strip()]
    if not turns:
        raise ValueError("its haystack is empty")
    is_unknown = row["question_id"].endswith("_abs")
    query = dataset.LabelledQuery(
        id=row["question_id"],
        text=row["question"],
        category=row.get("question_type") or "",
        gold=() if is_unknown else tuple(gold),
        negative="near topic" if is_unknown else "",
        answer=str(row.get("answer") or ""),
        at=parse_time(row["question_date"]).isoformat(),
    )
    return dataset.Case(query.id, dataset.Chat((), tuple(turns)), (query,))
