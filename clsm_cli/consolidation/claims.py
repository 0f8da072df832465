"""From turns to claims: which sentences of an episode become statements, in their author's words.

What a tool printed or a page says makes none: it stays in its episode, to be recalled for what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, get_args

from clsm_cli.consolidation.statement_selection import KEPT, ScoredUnit, UnitScores, Verdict
from clsm_cli.model.clocks import day_of, seconds
from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.model.graph import Statement, StatementKind
from clsm_cli.model.streams import Stream
from clsm_cli.model.trust import TRUSTED, Trust
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
"""Topic file of a kind; facts go by their stream."""
FACTS: dict[Stream, str] = {
    "identity": "people",
    "projects": "facts",
    "tasks": "dates",
    "flow": "events",
}
"""Topic file of the facts of a stream."""
KINDS: tuple[StatementKind, ...] = tuple(
    kind for kind in get_args(StatementKind) if kind not in ("task", "gist")
)
"""Kinds of what a sentence says; a task is an item of a list, a gist a summary."""
RULES = frozenset({"preference", "correction", "convention", "workflow"})
"""Kinds that say how to do things."""
_DEFINED = re.compile(r"([^\W_][^\s:.!?]*(?:\s[^\s:.!?]+){0,3}): ")
_NAMED = re.compile(
    r"((?:[A-Z][\w-]*|\w*[a-z]\w*[_\d]\w*)(?:\s(?:[A-Z][\w-]*|van|von|der|den|de|of))*)(?:['’]s)?\s(?=[a-z])"
)
"""What a sentence begins with: a name and a colon, or a run of capitalised words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Statement):
    """What a sentence says: a statement that is not held yet, and has no id.

    Its ``subject`` is the id of the name that the sentence has, ``recorded_at`` when it was said, or for
    what has no time, when the store got it; the first of its ``sources`` says it.

    Attributes:
        item: The words of a task, without the headings before them.
        is_answer: An agent said it in a conversation.
    """

    id: str = ""
    rev: tuple[int, str] = (0, "")
    item: str = ""
    is_answer: bool = False


def topic_of(kind: StatementKind, stream: Stream) -> str:
    """The topic file of a statement."""
    return TOPICS.get(kind) or FACTS[stream]


def episode_claims(episode: Episode, scores: UnitScores) -> list[Claim]:
    """The claims of an episode, in the order of its turns."""
    return [
        claim
        for turn in episode.turns
        if _silent(turn, scores) is None
        for claim in _of_turn(turn, turn.time or episode.recorded_at, scores)
    ]


def weighed(episode: Episode, scores: UnitScores) -> Iterator[ScoredUnit]:
    """The sentences of which ``episode_claims`` keeps some."""
    for turn in episode.turns:
        if _silent(turn, scores) is None:
            yield from scores.pieces.get(turn.key, ())


def verdict(turn: Turn, piece: ScoredUnit, scores: UnitScores) -> Verdict:
    """What decides whether ``episode_claims`` makes a claim of a sentence."""
    tasks = todo.todos(turn.text, day_of(turn.time))
    return _silent(turn, scores) or _verdict(piece, tasks, scores)


def _silent(turn: Turn, scores: UnitScores) -> Verdict | None:
    """Why nothing that a turn says is kept; None where it may be."""
    if turn.key not in scores.current:
        return "gone"
    return "unsaid" if not is_said(turn) else "document" if scores.states_nothing else None


def _verdict(piece: ScoredUnit, tasks: Sequence[Todo], scores: UnitScores) -> Verdict:
    is_task = any(piece.start < task.end and task.start < piece.end for task in tasks)
    return "task" if is_task else scores.verdict(piece)


def is_said(turn: Turn) -> bool:
    """Whether a person or the agent says a turn, not a tool or a page."""
    return turn.role in ("user", "assistant") and is_trusted(turn.trust)


def is_trusted(trust: Trust) -> bool:
    """Whether what is said may become a statement."""
    return trust in TRUSTED


def _of_turn(turn: Turn, recorded_at: str, scores: UnitScores) -> Iterator[Claim]:
    said: dict[str, Any] = {"sources": (turn.key,), "trust": turn.trust, "valid_from": turn.time}
    said["recorded_at"] = recorded_at
    tasks = todo.todos(turn.text, day_of(turn.time))
    for task in tasks:
        if scores.is_task(turn, task):
            title = scores.title_of(turn, task)
            yield Claim(
                text=f"{title}: {task.text}" if title else task.text,
                kind="task",
                stream="tasks",
                topic=TOPICS["task"],
                state=task.state,
                due=task.due,
                item=task.text,
                **said,
            )
    for piece in scores.pieces.get(turn.key, ()):
        if _verdict(piece, tasks, scores) in KEPT:
            text, kind = piece.statement, piece.kind
            stream: Stream = "identity" if kind == "preference" else stream_of(text)
            if kind == "decision" and stream == "flow":
                stream = "projects"
            named = None if turn.speaker else leading_name(piece.text)
            yield Claim(
                text=text,
                kind=kind,
                stream=stream,
                topic=topic_of(kind, stream),
                subject=named or leading_name(text),
                is_answer=scores.about is None and turn.trust == "agent",
                **said,
            )


def leading_name(text: str) -> str | None:
    """Id of the name that a sentence begins with, which it is about; None for none.

    >>> leading_name("The Slow Lane: a book."), leading_name("Mara Lind has a boat.")
    ('the-slow-lane', 'mara-lind')
    >>> leading_name("By noon Mara had left."), leading_name("The bell rings.")
    (None, None)
    """
    named = _DEFINED.match(text) or _NAMED.match(text)
    name = named.group(1) if named is not None else "The"
    return None if name == "The" or name.split()[0] in NON_NAMES - {"The"} else node_id(name)


def sort_claims(claims: list[Claim], zone: tzinfo) -> list[Claim]:
    """Claims by the time since when they hold, or else by when the store got them.

    What is to come stands where it was announced: the nights until its day read it there.
    """

    def place(claim: Claim) -> tuple[float, float]:
        told = seconds(claim.recorded_at, zone)
        return min(seconds(claim.valid_from, zone) if claim.valid_from else told, told), told

    return sorted(claims, key=place)
