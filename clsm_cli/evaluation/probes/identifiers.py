"""Identifier probe: what is asked for by its number, code or name comes first, among similar ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING

from clsm_cli.evaluation import benches
from clsm_cli.evaluation.dataset import Case, Dataset, Folders, Query
from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import Line, RandomDraw
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Retrieved
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine

ABOUT = (
    "A hundred each of codes, invoices, telephone numbers, hashes, addresses of machines, places in"
    " files and coined names, told in a conversation and again in notes, in sentences of one form."
    " Each is asked for alone and within a question; to a model of meaning all of a kind are alike."
)
CRITERION = (
    "of all that are asked for none is absent from the answer, and 97 % stand in its first item, in"
    " the conversation and in the notes, asked alone and within a question"
)
BARS = {
    f"{what}, {where} {how}": bar
    for where in ("chat", "notes")
    for how in ("alone", "in a question")
    for what, bar in (("found", 1.0), ("first", 0.97))
}
SYSTEMS = (CLSM, BM25, MINILM)

ALIKE = 100
"""Of each kind."""
ASKED = 20
"""Of each kind that are asked for."""
SESSIONS = 20
CHATTER = 4
"""Lines of a session about something else."""
FIRST = 10
"""Items of an answer that are looked at."""
START = datetime(2025, 4, 7, 9, tzinfo=UTC)


class Kind(NamedTuple):
    """Identifiers of one form.

    Attributes:
        make: Draws one.
        told: What is said of it, about a thing in a room.
        ask: A question for it.
    """

    make: Callable[[RandomDraw], str]
    told: str
    ask: str


KINDS = {
    "code": Kind(
        lambda draw: f"zq{draw.below(10)}x{draw.below(10)}k{draw.below(100):02}",
        "The locker with the {thing} in the {room} opens with {x}.",
        "what does the code {x} open?",
    ),
    "invoice": Kind(
        lambda draw: f"INV-{2023 + draw.below(4)}-{10_000 + draw.below(90_000)}",
        "{x} is the bill for the {thing} in the {room}, it is paid.",
        "what was the bill {x} for?",
    ),
    "telephone": Kind(
        lambda draw: f"+49 {151 + draw.below(28)} 555 {draw.below(10_000):04}",
        "Call {x} if the {thing} in the {room} breaks.",
        "whose number is {x}?",
    ),
    "hash": Kind(
        lambda draw: f"{draw.below(16**10):010x}",
        "Since {x} the {thing} in the {room} is measured every night.",
        "what changed with commit {x}?",
    ),
    "address": Kind(
        lambda draw: f"10.{draw.below(8)}.{draw.below(32)}.{draw.below(32)}",
        "The sensor of the {thing} in the {room} listens on {x}.",
        "which machine is {x}?",
    ),
    "place": Kind(
        lambda draw: f"src/{draw.one(('pump', 'valve'))}_{draw.below(100):02}.py:{draw.below(400)}",
        "There is a slip in {x}, it turns the {thing} in the {room} off.",
        "what is wrong in {x}?",
    ),
    "name": Kind(
        RandomDraw.name,
        "{x} has looked at the {thing} in the {room} and will be back.",
        "what did {x} look at?",
    ),
}


class Material(NamedTuple):
    """What a memory is told, and asked for.

    Attributes:
        lines: Sentences, each with one identifier.
        asked: Identifiers that are asked for, each with a question.
    """

    lines: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell and ask, a conversation and notes.

    Raises:
        DiskError: The work folder cannot be written.
    """
    told = make_material(seed)
    chat = probe_questions.make_bench(factory, engine, "identifiers", as_conversation(told, seed))
    figures: dict[str, dict[str, float]] = {name: {} for name in SYSTEMS}
    for where, bench in (("chat", chat), ("notes", as_notes(told, factory, engine))):
        for how, queries in (
            ("alone", [Query(x, x) for x, _ in told.asked]),
            ("in a question", [Query(x, question) for x, question in told.asked]),
        ):
            for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
                places = [
                    rank_of(answer, x) for (x, _), answer in zip(told.asked, answers, strict=True)
                ]
                figures[name] |= {
                    f"found, {where} {how}": probe_questions.true_share(
                        each <= FIRST for each in places
                    ),
                    f"first, {where} {how}": probe_questions.true_share(
                        each == 1 for each in places
                    ),
                }
    verdicts = tuple(probe_questions.verdict(name, found, BARS) for name, found in figures.items())
    return ProbeResult("identifiers", ABOUT, CRITERION, verdicts)


def rank_of(answer: Retrieved, identifier: str) -> float:
    """Place from 1 of the first item that shows an identifier; inf without one."""
    shown = re.compile(rf"(?<!\w){re.escape(identifier)}(?!\w)")
    places = (place for place, item in enumerate(answer.items, 1) if shown.search(item.text))
    return float(next(places, inf))


def make_material(seed: int) -> Material:
    """Make the sentences and questions of a seed."""
    draw = RandomDraw(seed, "identifiers")
    lines, asked = [], []
    for kind in KINDS.values():
        alike: dict[str, None] = {}
        while len(alike) < ALIKE:
            alike[kind.make(draw)] = None
        lines += [draw.fill(kind.told, {"x": x}) for x in alike]
        asked += [(x, kind.ask.format(x=x)) for x in draw.some(list(alike), ASKED)]
    return Material(tuple(draw.some(lines, len(lines))), tuple(asked))


def as_conversation(told: Material, seed: int) -> list[LabelledTurn]:
    """The sentences in the sessions of a conversation."""
    draw = RandomDraw(seed, "identifiers, spoken")
    people = [draw.name() for _ in range(6)]
    turns: list[LabelledTurn] = []
    sessions = material.spread_lines(draw, (Line(text) for text in told.lines), SESSIONS)
    for number, lines in enumerate(sessions):
        talk = draw.talk(lines, CHATTER, people)
        turns += material.session_turns(number, START + timedelta(days=3 * number), talk)
    return turns


def as_notes(told: Material, factory: StoreFactory, engine: Engine) -> Bench:
    """The sentences in dated notes, a list in each, consolidated.

    Raises:
        DiskError: The work folder cannot be written.
    """
    own = probe_questions.probe_factory(factory)
    root = own.folder / "identifiers-notes"
    for number in range(SESSIONS):
        day = (START + timedelta(days=3 * number)).date().isoformat()
        note = f"# {day}\n\n## Log\n\n{_listed(told.lines[number::SESSIONS])}"
        atomic.put(root / "memory" / f"{day}.md", note.encode())
    case = Case("identifiers-notes", Folders(root, ("memory",)), ())
    dataset = Dataset("probe", case.name, "", "quote", "recall@10", (case,))
    (bench,) = benches.make_benches(dataset, own, engine)
    return bench


def _listed(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)
