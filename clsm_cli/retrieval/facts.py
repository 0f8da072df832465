"""What was true: the facts that a question asks for, at a time, as far as they were known.

A question about a slot of something ("How often does the heartbeat come?") is answered by the
statements with that subject and slot that hold at the time; one that claims a value ("Is it every
ten minutes?") gets one of three answers, since a memory that holds no such fact cannot say no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.model import clocks
from clsm_cli.store.index import graph
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from clsm_cli.store.index.graph import Fact
    from clsm_cli.store.index.reader import Index
    from clsm_cli.text.slot_questions import Asked

YES, NO, UNKNOWN = "yes", "no", "not known"


class Verdict(NamedTuple):
    """What the facts say to a question about a slot.

    Attributes:
        answer: yes, no or not known, of a claim; None where a value is asked for and known.
        facts: Those that hold at the time, by subject, slot and key.
    """

    answer: str | None
    facts: tuple[Fact, ...]


def look_up(index: Index, text: str, at: str, known_at: str | None = None) -> Verdict | None:
    """Look up the facts that a question asks for.

    Args:
        index: Fresh.
        text: The question.
        at: When it should be true: an instant, or a bare date for any time of that day.
        known_at: When it should have been known; None for now.

    Returns:
        None where it asks for no slot that clsm knows.
    """
    from clsm_cli.text import slot_questions

    asked = slot_questions.asked(text)
    if asked is None:
        return None
    found = [fact for fact in _about(index, asked) if clocks.holds(fact, at, known_at)]
    if asked.value is None:
        return Verdict(None if found else UNKNOWN, tuple(found))
    agree = [
        fact
        for fact in found
        if slot_questions.same_value(asked.slot, asked.value, fact.value or "")
    ]
    if agree:
        return Verdict(YES, tuple(agree))
    is_denied = found and slot_questions.is_single(asked.slot)
    return Verdict(NO if is_denied else UNKNOWN, tuple(found))


def _about(index: Index, asked: Asked) -> list[Fact]:
    """All that was stated about the slot of what is asked about, under any of its names."""
    known = graph.facts(index.connection, subjects(index, asked.subject))
    whole = [fact for fact in known if fact.slot == asked.slot]
    if whole or "/" in asked.slot:
        return whole
    return [fact for fact in known if (fact.slot or "").split("/", 1)[0] == asked.slot]


def subjects(index: Index, name: str) -> set[str]:
    """Ids under which statements may be about what a name means: its own, and its other names'.

    A statement keeps the name that its sentence used.
    """
    own = node_id(name)
    nodes = {
        row[0]
        for row in index.connection.execute("SELECT node FROM aliases WHERE alias = ?", (own,))
    }
    found = {own, *nodes}
    for node in sorted(nodes):
        found.update(
            row[0]
            for row in index.connection.execute("SELECT alias FROM aliases WHERE node = ?", (node,))
        )
    return found
