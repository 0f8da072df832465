"""Distractor probe: the true memory must come before similar, superseded and planted ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import Line, RandomDraw
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Retrieved
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine

ABOUT = (
    "True memories among others in much the same words: what is true of somebody else or is denied"
    " (similar), what was true before (superseded), and what a page that a tool printed wants to be"
    " remembered (poisoned). The planted text repeats the question, so words prefer it."
)
CRITERION = (
    "in 90 % of the questions the true memory is returned and stands above every similar one; the"
    " same of the superseded one; the same of the poisoned one"
)
SIMILAR, SUPERSEDED, POISONED = KINDS = ("similar", "superseded", "poisoned")
BARS = dict.fromkeys(KINDS, 0.9)
SYSTEMS = (CLSM, BM25, MINILM)

SETS = 3
"""Questions from each template, about other people."""
SESSIONS = 24
CHATTER = 3
"""Lines of a session about something else."""
START = datetime(2025, 9, 1, 9, tzinfo=UTC)


class Trap(NamedTuple):
    """A question; of its ``n``-th the lines have ids ``n-true``, ``n-similar-0`` and so on."""

    ask: str
    lines: tuple[Line, ...]


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    traps, turns = make_material(seed)
    bench = probe_questions.make_bench(factory, engine, "distractor", turns)
    queries = [Query(str(number), trap.ask) for number, trap in enumerate(traps)]
    verdicts = []
    for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
        figures = {
            kind: probe_questions.true_share(
                is_above(answer, trap, number, kind)
                for number, (answer, trap) in enumerate(zip(answers, traps, strict=True))
            )
            for kind in KINDS
        }
        verdicts.append(probe_questions.verdict(name, figures, BARS))
    return ProbeResult("distractor", ABOUT, CRITERION, tuple(verdicts))


def is_above(answer: Retrieved, trap: Trap, number: int, kind: str) -> bool:
    """Whether the true memory is returned, and above every other of a kind."""
    false = [line.id for line in trap.lines if line.id.startswith(f"{number}-{kind}")]
    place = probe_questions.first_rank(answer.items, [f"{number}-true"])
    return place < probe_questions.first_rank(answer.items, false)


def make_material(seed: int) -> tuple[list[Trap], list[LabelledTurn]]:
    """Make the questions and the conversation of a seed."""
    draw = RandomDraw(seed, "distractor")
    people = [draw.name() for _ in range(6)]
    traps = [
        _trap(draw, row, number * SETS + copy)
        for number, row in enumerate(material.load_yaml("distractor"))
        for copy in range(SETS)
    ]
    sessions: list[list[Line]] = [[] for _ in range(SESSIONS)]
    for trap in traps:
        for line, place in zip(trap.lines, _places(draw), strict=True):
            sessions[place].append(line)
    turns: list[LabelledTurn] = []
    for number, lines in enumerate(sessions):
        talk = draw.talk(draw.some(lines, len(lines)), CHATTER, people)
        turns += material.session_turns(number, START + timedelta(days=4 * number), talk)
    return traps, turns


def _trap(draw: RandomDraw, row: dict[str, object], number: int) -> Trap:
    true, *false = draw.values(str(row["values"]), 5)
    given = {"p": draw.name(), "q": draw.name(), "project": draw.name(), "second": draw.name()}
    given |= {"town": draw.name("towns"), "other": draw.name("towns"), "v": true}
    given |= {f"w{place}": value for place, value in enumerate(false, 1)}

    def line(name: str, template: object, role: str = "user") -> Line:
        return Line(str(template).format_map(given), f"{number}-{name}", role)

    similar = row["similar"]
    assert isinstance(similar, list)
    return Trap(
        str(row["ask"]).format_map(given),
        (
            line(SUPERSEDED, row["old"]),
            line("true", row["true"]),
            *(line(f"{SIMILAR}-{place}", each) for place, each in enumerate(similar)),
            line(POISONED, row["poison"], "tool"),
        ),
    )


def _places(draw: RandomDraw) -> Iterator[int]:
    """Sessions of a trap's lines: what was true before comes before what is, the rest anywhere."""
    yield from sorted(draw.some(range(SESSIONS), 2))
    for _ in range(3):
        yield draw.below(SESSIONS)
