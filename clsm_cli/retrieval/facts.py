"""What was true: the facts that a question asks for, at a time, as far as they were known.

A question about a slot of something ("How often does the heartbeat come?") is answered by the
statements with that subject and slot that hold at the time; one that claims a value ("Is it every
ten minutes?") gets one of three answers, since a memory that holds no such fact cannot say no.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.records import NamedTuple
from clsm_cli.store.index import graph
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.store.index.graph import Fact
    from clsm_cli.store.index.reader import Index
    from clsm_cli.text.slot_questions import Asked

YES, NO, UNKNOWN = "yes", "no", "not known"


class Verdict(NamedTuple):
    """What the facts say to a question about a slot.

    Attributes:
        answer: yes, no or not known, of a claim; None where a value is asked for and known.
        facts: Those that hold at the time, by subject, slot and key; of a claim that is true those
            that say so. Where none holds, the status by which the last ones ended.
        evidence: Keys of the passages that state them: the statements, and what these rest on.
    """

    answer: str | None
    facts: tuple[Fact, ...] = ()
    evidence: tuple[str, ...] = ()


def look_up(index: Index, text: str, at: str, known_at: str | None = None) -> Verdict | None:
    """Look up the facts that a question asks for.

    Args:
        index: Fresh.
        text: The question.
        at: When it should be true: an instant, or a bare date for any time of that day.
        known_at: When it should have been known; None for now.

    Returns:
        None where it asks for no slot that clsm knows, or where two values of one that has a single
        one hold at once: which is right nobody can say.
    """
    from clsm_cli.text import slot_questions

    asked = slot_questions.asked(text)
    if asked is None:
        return None
    told = _about(index, asked)
    found = [fact for fact in told if clocks.holds(fact, at, known_at)]
    if not all(fact.valid_from for fact in found) and at[:_DAY] < _began(index):
        found = [fact for fact in found if fact.valid_from]
    if not found:
        found = [fact for fact in _enders(index, told) if clocks.holds(fact, at, known_at)]
    if is_single(asked.slot) and _disagree(asked.slot, found):
        return None
    agree = [fact for fact in found if _is_claimed(asked, fact)]
    answer = None if found else UNKNOWN
    if asked.value is not None:
        is_denied = found and is_single(asked.slot)
        answer = YES if agree else NO if is_denied else UNKNOWN
    facts = tuple(agree or found)
    return Verdict(answer, facts, _evidence(index, facts))


_DAY = 10
"""Characters of a date."""


def _disagree(slot: str, found: Sequence[Fact]) -> bool:
    """Whether something has two values of a slot at once."""
    from clsm_cli.text import slot_questions

    return any(
        one.subject == two.subject
        and not slot_questions.same_value(slot, one.value or "", two.value or "")
        for one, two in combinations(found, 2)
        if one.slot == two.slot == slot
    )


def _is_claimed(asked: Asked, fact: Fact) -> bool:
    from clsm_cli.text import slot_questions

    return asked.value is not None and slot_questions.same_value(
        asked.slot, asked.value, fact.value or ""
    )


def _about(index: Index, asked: Asked) -> list[Fact]:
    """All that was stated about the slot of what is asked about, under any of its names."""
    named = subjects(index, asked.subject)
    if asked.subject.islower():
        named |= _kin(index, asked)
    known = graph.facts(index.connection, named)
    whole = [fact for fact in known if fact.slot == asked.slot]
    if whole or "/" in asked.slot:
        return whole
    return [fact for fact in known if (fact.slot or "").partition("/")[0] == asked.slot]


def subjects(index: Index, name: str) -> set[str]:
    """Ids under which statements may be about what a name means: its own, and its other names'.

    A statement keeps the name that its sentence used. What an agent says of itself stands under
    "I"; it goes by the name that it gave itself. An empty name means it, or who speaks to it: a
    question may be the agent's own, or what the person asked it.
    """
    run = index.connection.execute
    called = run("SELECT value FROM clocks WHERE subject = ? AND slot = 'name'", (_AGENT,))
    own = {node_id(value) for (value,) in called if value}
    found = own if not name else {node_id(name)}
    nodes = {
        row[0]
        for each in sorted(found)
        for row in run("SELECT node FROM aliases WHERE alias = ?", (each,))
    }
    found |= nodes
    for node in sorted(nodes):
        found.update(row[0] for row in run("SELECT alias FROM aliases WHERE node = ?", (node,)))
    if not name:
        return found | {_AGENT, _USER}
    return found | {_AGENT} if found & own else found


_AGENT = "i"
"""Id of the subject of what an agent says of itself."""
_USER = "user"
"""Id of the subject of what a person without a name says of themselves."""


def _kin(index: Index, asked: Asked) -> set[str]:
    """Ids of subjects of the slot that a common noun may mean: "the club" is the reading club.

    A shorter name is meant only where it can mean nothing else: "club" is the reading club unless
    the store knows of a chess club as well.
    """
    from clsm_cli.text import slot_questions

    base, own = asked.slot.partition("/")[0], node_id(asked.subject)
    # Copies of data are called by the tool that makes them: any of their subjects may be meant.
    last = "%" if base == "target" else f"%{own.rpartition('-')[2]}"
    rows = index.connection.execute(
        "SELECT DISTINCT subject FROM clocks WHERE (slot = ? OR (slot > ? AND slot < ?))"
        " AND subject LIKE ?",
        (base, f"{base}/", f"{base}0", last),  # "0" is the character after "/"
    )
    others = {subject for (subject,) in rows} - {own}
    return {
        name
        for name in others
        if slot_questions.is_about(asked, name, asked.slot)
        and not (own.endswith(f"-{name}") and any(other.endswith(f"-{name}") for other in others))
    }


def _enders(index: Index, told: Sequence[Fact]) -> list[Fact]:
    """What some values gave way to: a status that began on the day on which they stopped.

    Of what is paused or switched off this is the answer, whatever else is asked.
    """
    ends = {(fact.subject or "", fact.valid_until[:_DAY]) for fact in told if fact.valid_until}
    return [
        fact
        for fact in graph.facts(index.connection, {subject for subject, _ in ends})
        if fact.slot == "status" and (fact.subject, (fact.valid_from or "")[:_DAY]) in ends
    ]


def _began(index: Index) -> str:
    """The day of the first turn or note of the store; without any, no day is before it.

    How long something without a known start had been true before that, nobody can say.
    """
    row = index.connection.execute(
        "SELECT p.time FROM passages p JOIN places l ON l.id = p.place WHERE p.day IS NOT NULL"
        " AND l.kind NOT IN ('statement', 'gist') ORDER BY p.day LIMIT 1"
    ).fetchone()
    return row[0][:_DAY] if row else ""


def _evidence(index: Index, facts: Sequence[Fact]) -> tuple[str, ...]:
    """Keys of the statements of some facts, and of the turns and blocks that they rest on."""
    found = {fact.key for fact in facts}
    for key in sorted(found):
        for (sources,) in index.connection.execute(
            "SELECT sources FROM passages WHERE key = ? AND sources IS NOT NULL", (key,)
        ):
            found.update(json.loads(sources))
    return tuple(sorted(found))
