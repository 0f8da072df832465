"""From turns to claims: which sentences of an episode become statements, in their author's words.

Tool output and web pages make no claims; recall finds them in their episodes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from typing import Any, get_args

from clsm_cli.consolidation.statement_selection import (
    KEPT_VERDICTS,
    ScoredUnit,
    UnitScores,
    Verdict,
)
from clsm_cli.model.clocks import day_of, seconds
from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.model.graph import Statement, StatementKind
from clsm_cli.model.streams import Stream
from clsm_cli.model.trust import TRUSTED
from clsm_cli.text import todo
from clsm_cli.text.name_matching import NON_NAMES
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.statement_streams import stream_of
from clsm_cli.text.todo import Todo

TOPICS: dict[str, str] = {
    "preference": "preferences",
    "correction": "rules",
    "convention": "conventions",
    "workflow": "workflows",
    "decision": "decisions",
    "task": "tasks",
    "gist": "gists",
}
"""Topic file by kind; that of a fact depends on its stream."""
FACT_TOPICS: dict[Stream, str] = {
    "identity": "people",
    "projects": "facts",
    "tasks": "dates",
    "flow": "events",
}
"""Topic file of facts by stream."""
KINDS: tuple[StatementKind, ...] = tuple(
    kind for kind in get_args(StatementKind) if kind not in ("task", "gist")
)
"""Kinds that a sentence may have; a task is a list item, a gist a summary."""
RULE_KINDS = frozenset({"preference", "correction", "convention", "workflow"})
"""Kinds that prescribe behaviour."""
_TERM = re.compile(r"([^\W_][^\s:.!?]*(?:\s[^\s:.!?]+){0,3}): ")
_NAME = re.compile(
    r"((?:[A-Z][\w-]*|\w*[a-z]\w*[_\d]\w*)(?:\s(?:[A-Z][\w-]*|van|von|der|den|de|of))*)(?:['’]s)?\s(?=[a-z])"
)
"""How a sentence may begin: a name and a colon, or a run of capitalised words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Statement):
    """A candidate statement, not in the store yet and without an id.

    ``subject`` is the id of the name that the sentence begins with; ``recorded_at`` is when it was said, or
    without a time, when the store received it; the first of ``sources`` states it.

    Attributes:
        item: The words of a task, without its headings.
        is_answer: Whether an agent said it in a conversation.
    """

    id: str = ""
    rev: tuple[int, str] = (0, "")
    item: str = ""
    is_answer: bool = False


def topic_of(kind: StatementKind, stream: Stream) -> str:
    """The topic file of a statement."""
    return TOPICS.get(kind) or FACT_TOPICS[stream]


def episode_claims(episode: Episode, scores: UnitScores) -> list[Claim]:
    """The claims of an episode, in turn order."""
    return [
        claim
        for turn in episode.turns
        if _exclusion(turn, scores) is None
        for claim in _turn_claims(turn, turn.time or episode.recorded_at, scores)
    ]


def claimable_units(episode: Episode, scores: UnitScores) -> Iterator[ScoredUnit]:
    """The sentences from which ``episode_claims`` selects; tasks are known by their form."""
    for turn in episode.turns:
        if _exclusion(turn, scores) is None:
            tasks = todo.todos(turn.text, day_of(turn.time))
            pieces = scores.pieces.get(turn.key, ())
            yield from (each for each in pieces if _verdict(each, tasks, scores) != "task")


def verdict(turn: Turn, piece: ScoredUnit, scores: UnitScores) -> Verdict:
    """Why ``episode_claims`` keeps a sentence or not."""
    tasks = todo.todos(turn.text, day_of(turn.time))
    return _exclusion(turn, scores) or _verdict(piece, tasks, scores)


def _exclusion(turn: Turn, scores: UnitScores) -> Verdict | None:
    """Why a turn makes no claims; None if it may."""
    if turn.key not in scores.current:
        return "gone"
    return "unsaid" if not is_spoken(turn) else "document" if scores.states_nothing else None


def _verdict(piece: ScoredUnit, tasks: Sequence[Todo], scores: UnitScores) -> Verdict:
    is_task = any(piece.start < task.end and task.start < piece.end for task in tasks)
    return "task" if is_task else scores.verdict(piece)


def is_spoken(turn: Turn) -> bool:
    """Whether a turn is by a person or the agent, not by a tool or from a page."""
    return turn.role in ("user", "assistant") and turn.trust in TRUSTED


def _turn_claims(turn: Turn, recorded_at: str, scores: UnitScores) -> Iterator[Claim]:
    origin: dict[str, Any] = {"sources": (turn.key,), "trust": turn.trust, "valid_from": turn.time}
    origin["recorded_at"] = recorded_at
    tasks = todo.todos(turn.text, day_of(turn.time))
    for task in tasks:
        if scores.is_task(turn, task):
            claim = _task_claim(task, scores.title_of(turn, task), day_of(turn.time))
            yield replace(claim, **origin)
    is_answer = scores.about is None and turn.trust == "agent"
    for piece in scores.pieces.get(turn.key, ()):
        if _verdict(piece, tasks, scores) in KEPT_VERDICTS:
            claim = _sentence_claim(piece, has_speaker=bool(turn.speaker))
            yield replace(claim, is_answer=is_answer, **origin)


def _task_claim(task: Todo, title: str, at: date | None) -> Claim:
    text = f"{title}: {task.text}" if title else task.text
    return Claim(
        text=text,
        kind="task",
        stream="tasks",
        topic=TOPICS["task"],
        state=task.state,
        due=todo.due_day(text, at, len(text) - len(task.text)),
        item=task.text,
    )


def _sentence_claim(piece: ScoredUnit, *, has_speaker: bool) -> Claim:
    text, kind = piece.statement, piece.kind
    # Titles come last, as their first word is no verb: "Mail from Jonas", "Book club".
    parts = f"{piece.text} · {piece.title}"
    stream: Stream = "identity" if kind == "preference" else stream_of(parts)
    if kind == "decision" and stream == "flow":
        stream = "projects"
    named = None if has_speaker else leading_name(piece.text)
    topic = topic_of(kind, stream)
    subject = named or leading_name(text)
    return Claim(text=text, kind=kind, stream=stream, topic=topic, subject=subject)


def leading_name(text: str) -> str | None:
    """Id of the name that a sentence begins with, as its subject; None without one.

    >>> leading_name("The Slow Lane: a book."), leading_name("Mara Lind has a boat.")
    ('the-slow-lane', 'mara-lind')
    >>> leading_name("By noon Mara had left."), leading_name("The bell rings.")
    (None, None)
    """
    named = _TERM.match(text) or _NAME.match(text)
    name = named.group(1) if named is not None else "The"
    return None if name == "The" or name.split()[0] in NON_NAMES - {"The"} else node_id(name)


def sort_claims(claims: list[Claim], zone: tzinfo) -> list[Claim]:
    """Claims by the start of their validity, or else by when the store received them.

    A future event sorts by its announcement, because runs before its day read it then. Of one time, what is
    done comes last, since it may be the end of an open task.
    """

    def place(claim: Claim) -> tuple[float, float, bool]:
        recorded = seconds(claim.recorded_at, zone)
        start = seconds(claim.valid_from, zone) if claim.valid_from else recorded
        return min(start, recorded), recorded, claim.state == "done"

    return sorted(claims, key=place)
