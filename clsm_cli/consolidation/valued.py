"""Values that a sentence tells: the one that holds, those that are over, and which are worth a row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.consolidation.leftovers import is_in
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import changes, slots
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.slots import Fact
    from clsm_cli.text.todo import Todo

_ASIDE = re.compile(r", (?:who|which) ")
_SETTLED = frozenset(
    {
        "dose", "due", "email", "expires", "interval", "name", "owner", "phone", "port", "price", "rate",
        "rule", "runs on", "setting", "target", "time", "uses", "venue", "version", "workdays",
    }
)  # fmt: skip
"""Slots whose values somebody set: one that a sentence tells by the way is worth a row."""
STOPPED = frozenset(
    {
        "abandoned", "archived", "canceled", "cancelled", "decommissioned", "deprecated", "disabled",
        "discontinued", "frozen", "off", "on hold", "out of service", "paused", "retired",
        "shut down", "suspended", "switched off", "turned off",
    }
)  # fmt: skip
"""States in which a thing does nothing; see ``endings``."""
RUNNING = "running"
"""State of what was stopped, where a sentence tells only for how long it had lasted."""


class Past(NamedTuple):
    """A value that held before, as a sentence tells it.

    Attributes:
        line: it as a statement of its own.
        subject: id of what it is of.
        since: first day on which it held; None where that is not told.
        until: the first day on which it did not any more; None where that is not told.
        is_single: newer values take its place.
        is_told: the sentence says that it ended then, so that it may stand as a row of its own.
    """

    line: str
    subject: str
    slot: str
    value: str
    since: str | None
    until: str | None
    is_single: bool
    is_told: bool


def chosen(facts: Sequence[Fact]) -> Fact | None:
    """Of the facts of a sentence the one that its statement is about.

    What holds goes before what is over, and what a newer value replaces before what stands beside
    others.
    """
    return min(facts, key=lambda fact: (fact.is_ended, not fact.is_single), default=None)


def besides(facts: Sequence[Fact], main: Fact | None) -> list[Fact]:
    """The facts of a sentence that tell a change in another slot than the one it is about."""
    return [
        fact
        for fact in facts
        if main is not None
        and (fact.subject, fact.slot) != (main.subject, main.slot)
        and fact.is_single
        and not fact.is_ended
        and fact.subject
        and is_settled(fact)
    ]


def is_settled(fact: Fact) -> bool:
    """Whether a value stands as a row of its own: it is told since when it holds, or somebody set it."""
    slot = fact.slot.partition("/")[0]
    is_lasting = slot != "status" or fact.value in STOPPED
    return fact.since is not None or (slot in _SETTLED and is_lasting)


def is_news(text: str, facts: Sequence[Fact], *, is_note: bool) -> bool:
    """Whether a sentence is worth a row whatever else it says: it has a value, or tells a change.

    One of many things that something uses is none in a talk: nobody says which of them is over.
    """
    if is_note:
        return bool(facts)
    told = (fact for fact in facts if fact.is_single or fact.slot != "uses")
    return any(told) or changes.tells_change(text)


def pasts(
    facts: Sequence[Fact], main: Fact | None, told: str | None, speaker: str
) -> tuple[Past, ...]:
    """What the facts of a sentence say of values that are over.

    Args:
        facts: the facts of one sentence.
        main: the one that holds, or was chosen.
        told: when it was said.
        speaker: who says "I".
    """
    found: list[Past] = []
    for fact in facts:
        if fact.is_ended:
            until = fact.until or told
            found.append(
                _past(fact, speaker, fact.value, fact.since, until, is_told=fact.until is not None)
            )
        elif fact == main:
            until = fact.since or told
            older = fact.was or _implied(fact)
            last = older[-1] if older else None
            # What ends in the days to come holds on the day of speaking.
            start = fact.before or (
                told[:10] if told and until and told[:10] < until[:10] else None
            )
            found += [
                _past(
                    fact, speaker, old, start if old == last else None, until, is_told=old == last
                )
                for old in older
            ]
    return tuple(found)


def _implied(fact: Fact) -> tuple[str, ...]:
    """The value before, where it need not be named: who is ten since a day was nine until then."""
    if fact.slot == "age" and fact.since is not None and int(fact.value) > 1:
        return (str(int(fact.value) - 1),)
    return (RUNNING,) if fact.slot == "status" and fact.before is not None else ()


def changes_left(
    turn: Turn, at: date | None, taken: Sequence[tuple[int, int]], tasks: Sequence[Todo]
) -> Iterator[tuple[str, list[Fact]]]:
    """Sentences of a note that no claim took up and that tell a change all the same.

    An agent's own settings, what ends, what a finished task replaced, and what a task says on the
    side of somebody: "a quiz for Mia, who turns ten on Friday".

    Args:
        turn: a block of a note.
        at: the day on which it was written.
        taken: start and end of what became claims.
        tasks: its tasks.
    """
    for span in split(turn.text):
        text = plain(turn.text[span.start : span.end])
        if is_in(span.start, span.end, taken):
            continue
        told = [fact for fact in slots.facts(text, at) if fact.is_single]
        told = [fact for fact in told if fact.is_ended or (not fact.subject and fact.since)]
        if told:
            yield text, told
    for task in tasks:
        told = [fact for fact in slots.facts(task.text, at) if fact.is_single and fact.since]
        if told and task.state == "done" and told[0].was:
            yield f"{task.text.rstrip('.')}.", told
        elif told and _ASIDE.search(task.text) and told[0].subject:
            yield line(told[0].subject, told[0].slot, told[0].value), told[:1]


def _past(
    fact: Fact, speaker: str, value: str, since: str | None, until: str | None, *, is_told: bool
) -> Past:
    return Past(
        line(fact.subject, fact.slot, value),
        subject_of(fact, speaker),
        fact.slot,
        value,
        since,
        until,
        fact.is_single,
        is_told,
    )


def line(subject: str, slot: str, value: str) -> str:
    """A value as a statement of its own.

    >>> line("heartbeat", "interval", "5 minutes"), line("Ilse", "habit/morning", "tea")
    ('Heartbeat: interval 5 minutes.', 'Ilse: morning habit tea.')
    >>> line("", "rule/nothing before", "eight")
    'Rule: nothing before eight.'
    """
    name, _, about = slot.partition("/")
    if name == "rule":
        return f"Rule: {about} {value}."
    what = f"{about} {name}" if name == "habit" and about else name
    said = f"{subject}: {what} {value}." if subject else f"{what} {value}."
    is_word = said.split(maxsplit=1)[0].strip(":").isalpha()  # "memory_v2" is written as it is
    return said[:1].upper() + said[1:] if is_word else said


def subject_of(fact: Fact, speaker: str) -> str:
    """Id of what a fact is about; an agent's own facts are about "i"."""
    return node_id(fact.subject or speaker or "i")
