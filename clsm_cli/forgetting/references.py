"""Turns that stay but seem to refer to a forgotten person: listed for review, never removed by themselves.

``find_references`` walks through each conversation and document in its order. From a turn that goes on, a thread
is open: a pronoun, the role that was told of the person, an answer, a repetition leads back to it
until another person comes between or the subject changes (``thread``). Apart from threads, a part of
the name, a number of theirs or a statement about them leads back from anywhere (``Person``).
Missing a sentence is harm, offering one too many a nuisance: doubt speaks for offering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.forgetting import selection
from clsm_cli.forgetting.discourse import Thread
from clsm_cli.forgetting.person import Person
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.person_words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from clsm_cli.forgetting.selection import Chosen, Wanted
    from clsm_cli.forgetting.store_contents import StoreContents


class Reference(NamedTuple):
    """A turn or block that stays and seems to be about somebody who goes.

    Attributes:
        id: What ``clsm forget`` takes.
        place: File and line, or conversation.
        why: What in it leads back.
    """

    id: str
    kind: str
    text: str
    place: str
    time: str | None
    why: str


def find_references(
    memory: StoreContents, chosen: Chosen, wanted: Wanted, zone: tzinfo
) -> tuple[Reference, ...]:
    """What stays and refers to somebody.

    Args:
        wanted: What was asked for; nothing is offered where no person was, and nothing that a
            source, a conversation or a time leaves out.
    """
    names = selection.person_meant(memory, wanted)
    if not names:
        return ()
    gone = chosen.turns
    person = Person.of(names, [memory.turns[key].turn for key in sorted(gone)])
    words = (word for told in memory.turns.values() for word in words_of(told.turn.text))
    ordinary = {word.text for word in words if word.text.islower()}
    found: dict[str, str] = {}
    for keys in _in_order(memory):
        turns = [memory.turns[key].turn for key in keys]
        if any(key in gone for key in keys):
            for place, reason in Thread(person, turns, gone, ordinary).walk():
                found.setdefault(keys[place], reason)
                person.remember(turns[place])
    for key, told in memory.turns.items():
        if key not in found and (why := person.why_anywhere(told.turn)):
            found[key] = why
    for key, why in _stated(memory, person):
        found.setdefault(key, why)
    within = selection.narrow(memory, wanted, zone) - gone
    offered = [key for key in memory.turns if key in found and key in within]
    return tuple(_refers(memory, key, found[key]) for key in offered)


def _in_order(memory: StoreContents) -> Iterator[list[str]]:
    """Keys of what was told together: conversations, documents as they are, and as they were."""
    sessions: dict[tuple[str, str | None], list[str]] = {}
    waiting = sorted(memory.turns, key=lambda key: memory.turns[key].episode is None)
    for key in waiting:
        told = memory.turns[key]
        sessions.setdefault((told.session, told.document and told.episode), []).append(key)
    yield from sessions.values()
    for record in memory.records.values():
        if isinstance(record, Document):
            yield [block.key for block in record.blocks if block.key in memory.turns]


def _stated(memory: StoreContents, person: Person) -> Iterator[tuple[str, str]]:
    """Turns that a statement or connection about the person rests on."""
    for row in memory.statements.values():
        if row.kind != "gist" and (row.subject in person.nodes or person.is_named_in(row.text)):
            yield from (
                (key, f"a statement about them rests on it ({row.id})") for key in row.sources
            )
    for record in memory.records.values():
        if isinstance(record, Edge) and {record.source, record.target} & person.nodes:
            why = f"a connection of theirs rests on it ({record.id})"
            yield from ((key, why) for key in record.sources)


def _refers(memory: StoreContents, key: str, why: str) -> Reference:
    told = memory.turns[key]
    turn = told.turn
    who = f"{turn.speaker}: " if turn.speaker else ""
    is_block = told.document is not None
    place = f"{told.session}:{turn.line_start}" if is_block else told.session
    text = who + " ".join(turn.text.split())
    return Reference(key, "block" if is_block else "turn", text, place, turn.time, why)
