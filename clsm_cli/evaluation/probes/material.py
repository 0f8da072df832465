"""What probes share: material drawn from a seed, stores made of it, and questions to them.

The material is templates, in which people, places and firms get coined names, so that nothing about
them can be known beforehand. The stores are made by the real ingest and consolidation.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from math import inf
from typing import Any, TypeVar

from clsm_cli.evaluation import benches, stores
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, Folders, LabelledTurn, packaged_yaml
from clsm_cli.evaluation.measures import Item
from clsm_cli.evaluation.stores import MadeStore, StoreFactory
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.layout import Store

T = TypeVar("T")

_REPLIED = 0.4  # share of what a person says that the assistant replies to
PEOPLE = 6  # whom chatter is about


def _words() -> Any:
    return packaged_yaml("probes/words.yaml")


class Line(NamedTuple):
    """Something said; nobody asks for what has no id."""

    text: str
    id: str = ""
    role: str = "user"


class RandomDraw:
    """Everything random of a probe: the same seed and name of a probe draw the same."""

    def __init__(self, seed: int, name: str, people: int = PEOPLE) -> None:
        import numpy as np

        self._random = np.random.default_rng([seed, *name.encode()])
        self._coined: set[str] = set()
        self.people = [self.name() for _ in range(people)]

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
        words = _words()
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
        options = kind if make or not isinstance(kind, str) else _words()[kind]
        found: list[str] = []
        while len(found) < count:
            value = make(self) if make else self.one(options)
            seen = found if make or count <= len(options) else found[-1:]
            if value not in seen:
                found.append(value)
        return found

    def fill(self, template: str, **given: str) -> str:
        """A template with its names replaced; what is not given is drawn from ``words.yaml``."""
        drawn = {name: self.one(_words()[f"{name}s"]) for name in ("thing", "room", "field")}
        return template.format_map({**drawn, **given})

    def chatter(self) -> str:
        """One or two sentences about nothing that is asked for."""
        chosen = self.some(_words()["chatter"], 1 + self.below(2))
        return " ".join(self.fill(each, p=self.one(self.people)) for each in chosen)

    def talk(self, news: Iterable[Line], chatter: int) -> Iterator[Line]:
        """News, in its order, among lines of chatter, with replies."""
        lines = list(news)
        for _ in range(chatter):
            lines.insert(self.below(len(lines) + 1), Line(self.chatter()))
        for line in lines:
            yield line
            if self._random.random() < _REPLIED:
                yield Line(self.one(_words()["replies"]), role="assistant")


# Kinds of values that are made up.
_MADE: dict[str, Callable[[RandomDraw], str]] = {
    "people": RandomDraw.name,
    "towns": lambda draw: draw.name("towns"),
    "companies": lambda draw: f"{draw.name()} {draw.one(_words()['companies'])}",
    "venues": lambda draw: f"the {draw.name()} {draw.one(_words()['venues'])}",
    "times": lambda draw: f"{draw.below(24):02}:{5 * draw.below(12):02}",
    "doses": lambda draw: f"{(2 + draw.below(40)) / 2:g} mg",
    "numbers": lambda draw: f"0{20 + draw.below(70)} 555 {1000 + draw.below(9000)}",
    "amounts": lambda draw: f"{10 * (30 + draw.below(120))} euros",
    "dates": lambda draw: f"{1 + draw.below(28)} {draw.one(_words()['months'])}",
    "code": lambda draw: f"zq{draw.below(10)}x{draw.below(10)}k{draw.below(100):02}",
    "invoice": lambda draw: f"INV-{2023 + draw.below(4)}-{10_000 + draw.below(90_000)}",
    "telephone": lambda draw: f"+49 {151 + draw.below(28)} 555 {draw.below(10_000):04}",
    "hash": lambda draw: f"{draw.below(16**10):010x}",
    "address": lambda draw: f"10.{draw.below(8)}.{draw.below(32)}.{draw.below(32)}",
    "place": (
        lambda draw: f"src/{draw.one(('pump', 'valve'))}_{draw.below(100):02}.py:{draw.below(400)}"
    ),
}


def make_turns(
    draw: RandomDraw,
    sessions: Iterable[Sequence[Line]],
    chatter: int,
    start: datetime,
    every: timedelta,
) -> list[LabelledTurn]:
    """The turns of a conversation: what is told in each session, among chatter, with replies.

    They are a minute apart; ids are those of the lines, or tell their place.
    """
    turns: list[LabelledTurn] = []
    for number, news in enumerate(sessions):
        name = f"s{number:03}"
        for place, line in enumerate(draw.talk(news, chatter)):
            time = (start + number * every + timedelta(minutes=place)).isoformat()
            id_ = line.id or f"{name}-{place}"
            turns.append(LabelledTurn(id_, line.role, line.role, line.text, time, name))
    return turns


def make_bench(factory: StoreFactory, engine: Engine, name: str, source: Chat | Folders) -> Bench:
    """A conversation or some notes, consolidated, and asked a day after the last turn."""
    dataset = benches.unlabelled(Case(name, source, ()))
    (made,) = benches.make_benches(dataset, factory, engine)
    return made


def growing_benches(
    factory: StoreFactory, engine: Engine, name: str, parts: Sequence[Sequence[LabelledTurn]]
) -> list[Bench]:
    """One store that grows: a bench after each part was taken in and a night had passed."""
    made = stores.make_store(Case(name, Chat((), tuple(parts[0])), ()), factory)
    found: list[Bench] = []
    for number, part in enumerate(parts):
        factory.progress(name, number, len(parts))
        now = stores.day_after(turn.time for turn in part)
        content = stores.json_lines(part) if number else b""

        def grow(store: Store, content: bytes = content, now: datetime = now) -> None:
            if content:
                source = store.root.with_suffix(".jsonl")
                atomic.put(source, content)
                stores.ingest_files(factory, store, [source], now)
            stores.run_consolidation(factory, store, now)

        label = f"part-{number}-{atomic.sha256(content)}"
        made = MadeStore(stores.cached_copy(made, label, grow), now)
        case = Case(name, Chat((), tuple(chain(*parts[: number + 1]))), ())
        dataset, store = benches.unlabelled(case), made.store
        found.append(Bench(dataset, case, store, store, now, factory, engine))
    return found


def first_rank(items: Iterable[Item], is_wanted: Callable[[Item], object]) -> float:
    """Place from 1 of the first item that is wanted; inf without one."""
    return next((float(at) for at, item in enumerate(items, 1) if is_wanted(item)), inf)
