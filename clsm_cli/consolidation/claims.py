"""From turns to claims: which sentences of an episode become statements, in their author's words.

What a tool printed or a page says makes none: it stays in its episode, to be recalled for what it is.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.consolidation.active_learning import Candidate
from clsm_cli.consolidation.leftovers import is_in, values_left
from clsm_cli.consolidation.valued import (
    besides,
    changes_left,
    chosen,
    is_news,
    line,
    pasts,
    subject_of,
)
from clsm_cli.consolidation.values import leading_name
from clsm_cli.text import rules, slots, todo
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.statement_streams import stream_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from clsm_cli.config import ConsolidationSettings
    from clsm_cli.consolidation.statement_selection import Piece, Weights
    from clsm_cli.consolidation.valued import Past
    from clsm_cli.model.episodes import Episode, Observation, Turn
    from clsm_cli.model.graph import StatementKind, TaskState
    from clsm_cli.model.streams import Stream
    from clsm_cli.model.trust import Trust
    from clsm_cli.text.slots import Fact
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
RULES = frozenset({"preference", "correction", "convention", "workflow"})
"""Kinds that several sessions must show, unless somebody stated them as a rule."""
_OTHER = re.compile(r"\b(?:him|her|them|his|their)\b")
_NAMED_INSIDE = re.compile(r"\s[A-Z][a-z]")


class Claim(NamedTuple):
    """What one sentence says, as a statement would say it.

    Attributes:
        subject: Id of the name it is about, as the sentence has it.
        past: Values that it says are over.
        is_single: A newer value of its slot replaces an older one.
        is_ended: It says that the value holds no longer.
        announces: It says itself since when it holds.
        valid_from: Since when: a date or a time; None when nothing is dated.
        observed: When it was said, or for what has no time, when the store got it.
        turn: Key of its source.
        reason: Why a task is blocked.
    """

    text: str
    kind: StatementKind
    stream: Stream
    topic: str
    turn: str
    trust: Trust
    valid_from: str | None = None
    observed: str = ""
    subject: str | None = None
    slot: str | None = None
    value: str | None = None
    past: tuple[Past, ...] = ()
    is_single: bool = False
    is_ended: bool = False
    announces: bool = False
    state: TaskState | None = None
    reason: str = ""
    due: str | None = None
    more_turns: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[str, ...]:
        """Keys of all its sources."""
        return (self.turn, *self.more_turns)


def of_episode(
    episode: Episode,
    weights: Weights,
    current: AbstractSet[str],
    settings: ConsolidationSettings,
) -> list[Claim]:
    """The claims of an episode, in the order of its turns.

    Args:
        episode: What was said.
        weights: What its sentences are worth.
        current: Keys of turns that still hold; blocks that a document lost make no claims.
        settings: How much a sentence must be worth.
    """
    found: list[Claim] = []
    for turn in _telling(episode, weights, current):
        told = turn.time or episode.recorded_at
        found += [claim._replace(observed=told) for claim in _of_turn(turn, weights, settings)]
    return found


def candidates(
    episode: Episode, weights: Weights, current: AbstractSet[str], worth: float
) -> Iterator[Candidate]:
    """The sentences that ``of_episode`` looks at, as they stand in memory, or would."""
    least = weights.least(worth)
    for turn in _telling(episode, weights, current):
        for piece in weights.pieces.get(turn.key, ()):
            yield Candidate(turn.key, piece.statement, piece.chance, piece.keep, least)


def _telling(episode: Episode, weights: Weights, current: AbstractSet[str]) -> Iterator[Turn]:
    """The turns that may make claims."""
    for turn in episode.turns:
        is_said = turn.role in ("user", "assistant") and is_trusted(turn.trust)
        if turn.key in current and is_said and not weights.states_nothing:
            yield turn


def is_trusted(trust: Trust) -> bool:
    """Whether what is said may become a statement."""
    return trust in ("user", "agent")


def _of_task(task: Todo, turn: Turn) -> Claim:
    return Claim(
        text=task.text,
        reason=task.reason,
        kind="task",
        stream="tasks",
        topic=TOPICS["task"],
        turn=turn.key,
        trust=turn.trust,
        valid_from=turn.time,
        state=task.state,
        due=task.due,
    )


def _of_turn(turn: Turn, weights: Weights, settings: ConsolidationSettings) -> Iterator[Claim]:
    at, is_note = day_of(turn.time), weights.about is not None
    tasks = todo.todos(turn.text, at, turn.heading)
    yield from (_of_task(task, turn) for task in tasks if weights.is_task(turn, task, settings))
    taken = [(task.start, task.end) for task in tasks]
    for piece in weights.pieces.get(turn.key, ()):
        if is_in(piece.start, piece.end, taken):
            continue
        raw = turn.text[piece.start : piece.end]
        facts = [
            fact
            for sentence in sentences(raw)
            for fact in slots.facts(plain(sentence), at, speaker=turn.speaker)
        ]
        is_told = is_news(piece.text, facts, is_note=is_note)
        if not weights.is_worth(piece, settings) and not is_told:
            continue
        taken.append((piece.start, piece.end))
        claim = _claim(piece, turn, facts)
        if claim is not None:
            yield claim
        for fact in besides(facts, chosen(facts)):
            yield _with_fact(line(fact.subject, fact.slot, fact.value), "fact", [fact], turn)
    for text, fact in values_left(turn, at, taken):
        yield _with_fact(text, "fact", [fact], turn)
    if is_note:
        for text, told in changes_left(turn, at, taken, tasks):
            yield _with_fact(text, "fact", told, turn)


def _claim(piece: Piece, turn: Turn, facts: Sequence[Fact]) -> Claim | None:
    """The claim of a sentence; None for a rule that one session alone does not make."""
    text = piece.statement
    rule = next(iter(rules.sentence_rules(piece.text)), None)
    if rule is not None and turn.trust != "user" and rule[0] in ("preference", "correction"):
        rule = None  # whose they are a note says with marks; see ``observe``
    kind: StatementKind = "fact"
    fact = chosen(facts)
    if rule is not None:
        name, is_explicit = rule
        # A value that somebody set is one, whoever says it; other habits of a talk must be seen twice.
        is_set = fact is not None and fact.is_single
        if name in RULES and turn.speaker and not is_explicit and not is_set:
            return None
        kind = name if name in TOPICS and (is_explicit or name == "decision") else "fact"
    stream = stream_of(text)
    if kind in ("preference", "correction"):
        stream = "identity"
    elif kind in ("convention", "workflow", "decision") and stream == "flow":
        stream = "projects"
    return _with_fact(text, kind, facts, turn)._replace(
        stream=stream, topic=TOPICS.get(kind) or FACTS[stream]
    )


def _with_fact(text: str, kind: StatementKind, facts: Sequence[Fact], turn: Turn) -> Claim:
    """A claim, and the value that it gives a slot, if it gives one."""
    fact = chosen(facts)
    stream = stream_of(text)
    claim = Claim(
        text=text,
        kind=kind,
        stream=stream,
        topic=TOPICS.get(kind) or FACTS[stream],
        turn=turn.key,
        trust=turn.trust,
        valid_from=turn.time,
        subject=leading_name(text),
    )
    if fact is None:
        return claim
    since = fact.until if fact.is_ended and fact.until else fact.since
    return claim._replace(
        valid_from=since or turn.time,
        subject=subject_of(fact, turn.speaker),
        slot=fact.slot,
        value=fact.value,
        past=pasts(facts, fact, turn.time, turn.speaker),
        is_single=fact.is_single,
        is_ended=fact.is_ended,
        announces=fact.since is not None,
    )


def of_stated_rules(
    episode: Episode, observations: Sequence[Observation], current: AbstractSet[str]
) -> list[Claim]:
    """The rules that an episode states as such; one session is enough for them."""
    turns = {turn.key: turn for turn in episode.turns}
    return [
        of_rule(each, turns[each.turns[0]].trust, turns[each.turns[0]].time)._replace(
            observed=turns[each.turns[0]].time or episode.recorded_at,
        )
        for each in observations
        if each.is_explicit and current >= {*each.turns} and not _is_of_nobody(each.text)
    ]


def _is_of_nobody(rule: str) -> bool:
    """Whether a rule is about somebody whom it does not name before.

    >>> _is_of_nobody("Tell him the level."), _is_of_nobody("Quote Brian, do not digest him.")
    (True, False)
    """
    other = _OTHER.search(rule)
    return other is not None and _NAMED_INSIDE.search(rule[: other.start()]) is None


def of_rule(first: Observation, trust: Trust, time: str | None, turns: Sequence[str] = ()) -> Claim:
    """The claim of a rule that some turns show, ``first`` of all."""
    fact = next((each for each in slots.facts(first.text, day_of(time)) if each.is_single), None)
    stream: Stream = "identity" if first.kind in ("preference", "correction") else "projects"
    shown = tuple(dict.fromkeys((*first.turns, *turns)))
    return Claim(
        text=first.text,
        kind=first.kind,
        stream=stream,
        topic=TOPICS[first.kind],
        turn=shown[0],
        more_turns=shown[1:],
        trust=trust,
        valid_from=time,
        observed=time or "",
        subject=node_id(fact.subject or "i") if fact else None,
        slot=fact.slot if fact else None,
        value=fact.value if fact else None,
        is_single=fact is not None and not fact.is_ended,
    )


def day_of(time: str | None) -> date | None:
    """The day of a time.

    >>> day_of("2026-02-24T08:15:00+01:00"), day_of(None)
    (datetime.date(2026, 2, 24), None)
    """
    return None if time is None else date.fromisoformat(time[:10])


def in_order(claims: list[Claim]) -> list[Claim]:
    """Claims by the time since when they hold, or else by when the store got them.

    What is to come stands where it was announced: the nights until its day read it there.
    """

    def place(claim: Claim) -> tuple[str, str]:
        return min(claim.valid_from or claim.observed, claim.observed), claim.observed

    return sorted(claims, key=place)
