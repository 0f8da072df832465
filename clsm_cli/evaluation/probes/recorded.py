"""Forty things that are said once, among talk about nothing: what three of the probes ask for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import material
from clsm_cli.evaluation.probes.material import Draw, Line
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from clsm_cli.evaluation.loaders.cases import Said

PEOPLE = 8
"""Whom the things that are said are about, and the chatter too."""
SESSIONS = 20
CHATTER = 6
"""Lines of a session about something else."""
START = datetime(2025, 1, 6, 19, tzinfo=UTC)
EVERY = timedelta(days=3)
"""From one session to the next."""


class Fact(NamedTuple):
    """Something that is said once.

    Attributes:
        ask: A question that it answers, in other words.
        near: A question about the same matter that nothing answers.
    """

    told: Line
    ask: str
    near: str

    @property
    def query(self) -> Query:
        """What it answers, with its label."""
        return Query(self.told.id, self.ask, gold=(self.told.id,))


class Recorded(NamedTuple):
    """A conversation of some sessions with forty facts."""

    facts: tuple[Fact, ...]
    turns: tuple[Said, ...]


def facts(draw: Draw, people: list[str]) -> list[Fact]:
    """All facts, about some people."""
    found = []
    for number, row in enumerate(material.load("facts")):
        given = {"p": draw.one(people), "town": draw.name("towns")}
        told = Line(row["told"].format_map(given), f"fact-{number}")
        found.append(Fact(told, row["ask"].format_map(given), row["near"].format_map(given)))
    return found


def made(seed: int) -> Recorded:
    """The conversation of a seed."""
    draw = Draw(seed, "recorded")
    people = [draw.name() for _ in range(PEOPLE)]
    known = facts(draw, people)
    turns: list[Said] = []
    parts = material.spread(draw, [fact.told for fact in known], SESSIONS)
    for number, lines in enumerate(parts):
        talk = draw.talk(lines, CHATTER, people)
        turns += material.session(number, START + number * EVERY, talk)
    return Recorded(tuple(known), tuple(turns))
