"""Material of probes: templates filled from a seed.

People, places and firms get coined names, so nothing about them can be known beforehand.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from clsm_cli.evaluation.loaders.parsing import LabelledTurn
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import yaml_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

T = TypeVar("T")

_LARGEST = 64 << 10
"""Characters of a file."""
_REPLIED = 0.4
"""Share of what a person says that the assistant replies to."""


@cache
def load_yaml(name: str) -> Any:
    """Load a YAML file of this package."""
    text = files("clsm_cli.evaluation.probes").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return yaml_text.load(text, _LARGEST)


class Line(NamedTuple):
    """Something said; nobody asks for what has no id."""

    text: str
    id: str = ""
    role: str = "user"


class RandomDraw:
    """Everything random of a probe: the same seed and name of a probe draw the same."""

    def __init__(self, seed: int, name: str) -> None:
        import numpy as np

        self._random = np.random.default_rng([seed, *name.encode()])
        self._coined: set[str] = set()

    def below(self, limit: int) -> int:
        """A random number from 0 to below a limit."""
        return int(self._random.integers(limit))

    def one(self, options: Sequence[T]) -> T:
        """A random choice."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """Several random choices without repetition, in random order."""
        return [options[at] for at in self._random.permutation(len(options))[:count].tolist()]

    def name(self, endings: str = "people") -> str:
        """A coined name that was not drawn before; no other name begins with it."""
        words = load_yaml("words")
        while True:
            stem = self.one(words["syllables"]) + self.one(words["syllables"])
            name: str = (stem + self.one(words[endings])).capitalize()
            if not any(name[:5] == other[:5] for other in self._coined):
                self._coined.add(name)
                return name

    def values(self, kind: str | Sequence[str], count: int) -> list[str]:
        """Values that are made up, of a list of ``words.yaml``, or of the list that is given.

        Where a list is too short, no value follows itself.
        """
        make = _MADE.get(kind) if isinstance(kind, str) else None
        options = load_yaml("words")[kind] if isinstance(kind, str) and make is None else kind
        found: list[str] = []
        while len(found) < count:
            value = make(self) if make else self.one(options)
            seen = found if make or count <= len(options) else found[-1:]
            if value not in seen:
                found.append(value)
        return found

    def fill(self, template: str, given: Mapping[str, str]) -> str:
        """A template with its names replaced; what is not given is drawn from ``words.yaml``."""
        words = load_yaml("words")
        lists = {"thing": "things", "room": "rooms", "field": "fields"}
        drawn = {name: self.one(words[key]) for name, key in lists.items()}
        return template.format_map({**drawn, **given})

    def chatter(self, people: Sequence[str]) -> str:
        """One or two sentences about nothing that is asked for."""
        chosen = self.some(load_yaml("words")["chatter"], 1 + self.below(2))
        return " ".join(self.fill(each, {"p": self.one(people)}) for each in chosen)

    def talk(self, told: Iterable[Line], chatter: int, people: Sequence[str]) -> list[Line]:
        """What is told, in its order, among lines of chatter about some people, with replies."""
        lines = list(told)
        for _ in range(chatter):
            lines.insert(self.below(len(lines) + 1), Line(self.chatter(people)))
        found: list[Line] = []
        for line in lines:
            found.append(line)
            if self._random.random() < _REPLIED:
                found.append(Line(self.one(load_yaml("words")["replies"]), role="assistant"))
        return found


_MADE: dict[str, Callable[[RandomDraw], str]] = {
    "people": RandomDraw.name,
    "towns": lambda draw: draw.name("towns"),
    "companies": lambda draw: f"{draw.name()} {draw.one(load_yaml('words')['companies'])}",
    "venues": lambda draw: f"the {draw.name()} {draw.one(load_yaml('words')['venues'])}",
    "times": lambda draw: f"{draw.below(24):02}:{5 * draw.below(12):02}",
    "doses": lambda draw: f"{(2 + draw.below(40)) / 2:g} mg",
    "numbers": lambda draw: f"0{20 + draw.below(70)} 555 {1000 + draw.below(9000)}",
    "amounts": lambda draw: f"{10 * (30 + draw.below(120))} euros",
    "dates": lambda draw: f"{1 + draw.below(28)} {draw.one(load_yaml('words')['months'])}",
}
"""Kinds of values that are made up."""


def session_turns(number: int, start: datetime, lines: Iterable[Line]) -> list[LabelledTurn]:
    """The turns of a session, a minute apart; ids are those of the lines, or tell their place."""
    name = f"s{number:03}"
    found = []
    for place, line in enumerate(lines):
        time = (start + timedelta(minutes=place)).isoformat()
        id_ = line.id or f"{name}-{place}"
        found.append(LabelledTurn(id_, line.role, line.role, line.text, time, name, id_))
    return found


def spread_lines(draw: RandomDraw, lines: Iterable[Line], sessions: int) -> list[list[Line]]:
    """Lines over sessions, as evenly as it goes, in random order."""
    shuffled = draw.some(list(lines), 1 << 30)
    return [shuffled[place::sessions] for place in range(sessions)]


def make_turns(
    draw: RandomDraw,
    sessions: Iterable[Sequence[Line]],
    people: Sequence[str],
    chatter: int,
    start: datetime,
    every: timedelta,
) -> list[LabelledTurn]:
    """The turns of a conversation: what is told in each session, among chatter, with replies."""
    turns: list[LabelledTurn] = []
    for number, lines in enumerate(sessions):
        turns += session_turns(number, start + number * every, draw.talk(lines, chatter, people))
    return turns
