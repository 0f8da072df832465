"""Drift probe: facts that change again and again over 50 sessions (CMA §6.3)."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import Line, RandomDraw
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult, Series
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import record_files, shards
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Item
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine

ABOUT = (
    "Twelve facts, each told anew in ten of 50 weekly sessions, in five wordings; asked after every"
    " tenth session. All tellings of a fact are about the same words, so words cannot say which is"
    " the latest."
)
CRITERION = (
    "the first item that tells the fact at all tells its latest value in 90 % of the questions; of"
    " the replaced values that became statements, 90 % are no longer current"
)
BARS = {"latest": 0.9, "closed": 0.9}
SYSTEMS = (CLSM, BM25, MINILM)

SESSIONS = 50
CHECKS = 5
"""Times at which everything is asked, as many sessions apart."""
TELLINGS = 10
"""Of each fact."""
CHATTER = 3
"""Lines of a session about something else."""
START = datetime(2025, 3, 3, 18, tzinfo=UTC)


class FactChange(NamedTuple):
    """One change of a fact."""

    id: str
    fact: int
    week: int
    value: str
    text: str


class DriftMaterial(NamedTuple):
    """A conversation about facts that change.

    Attributes:
        asks: Wordings of the question, fact by fact.
        tellings: In the order of time.
        weeks: The turns of each session.
    """

    asks: tuple[tuple[str, ...], ...]
    tellings: tuple[FactChange, ...]
    weeks: tuple[tuple[LabelledTurn, ...], ...]


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    drifting = make_material(seed)
    each = SESSIONS // CHECKS
    parts = [
        [turn for week in drifting.weeks[at : at + each] for turn in week]
        for at in range(0, SESSIONS, each)
    ]
    benches = probe_questions.growing_benches(
        factory, engine, "drift", parts, probe_questions.consolidate
    )
    latest: dict[str, list[list[bool]]] = {name: [] for name in SYSTEMS}
    for check, bench in enumerate(benches, 1):
        factory.progress("drift", check, CHECKS)
        told = [telling for telling in drifting.tellings if telling.week < check * each]
        queries = [
            Query(f"{check}-{fact}", wordings[check % len(wordings)])
            for fact, wordings in enumerate(drifting.asks)
        ]
        for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
            latest[name].append(
                [
                    tells_latest(answer.items, [t for t in told if t.fact == fact])
                    for fact, answer in enumerate(answers)
                ]
            )
    figures = {name: {"latest": fmean(map(fmean, rows))} for name, rows in latest.items()}
    figures[CLSM] |= closing_figures(benches[-1], drifting.tellings)
    return ProbeResult(
        "drift",
        ABOUT,
        CRITERION,
        tuple(probe_questions.verdict(name, found, BARS) for name, found in figures.items()),
        ("sessions", "latest value first"),
        tuple(
            Series(name, tuple((each * at, fmean(row)) for at, row in enumerate(rows, 1)))
            for name, rows in latest.items()
        ),
    )


def make_material(seed: int) -> DriftMaterial:
    """Make the conversation of a seed."""
    draw = RandomDraw(seed, "drift")
    people = [draw.name() for _ in range(6)]
    names = {"p": people[0], "q": people[1], "project": draw.name(), "pet": draw.name()}
    tellings: list[FactChange] = []
    facts = material.load_yaml("drift")
    for fact, row in enumerate(facts):
        # The first telling is early, so that every check has something to ask for.
        weeks = [draw.below(5), *sorted(draw.some(range(5, SESSIONS), TELLINGS - 1))]
        values = draw.values(row["values"], TELLINGS)
        for week, value, old in zip(weeks, values, ["", *values], strict=False):
            wordings = row["news"] if old else row["news"][:1]
            text = draw.one(wordings).format_map({**names, "v": value, "old": old})
            tellings.append(FactChange(f"{row['id']}-{week}", fact, week, value, text))
    tellings.sort(key=lambda telling: telling.week)
    sessions: list[tuple[LabelledTurn, ...]] = []
    for week in range(SESSIONS):
        lines = [Line(each.text, each.id) for each in tellings if each.week == week]
        talk = draw.talk(draw.some(lines, len(lines)), CHATTER, people)
        sessions.append(tuple(material.session_turns(week, START + timedelta(weeks=week), talk)))
    asks = tuple(tuple(ask.format_map(names) for ask in row["asks"]) for row in facts)
    return DriftMaterial(asks, tuple(tellings), tuple(sessions))


def tells_latest(items: Iterable[Item], told: Iterable[FactChange]) -> bool:
    """Whether the first item that tells a fact tells its latest value, and no other."""
    values = {telling.id: telling.value for telling in told}
    latest = list(values.values())[-1]
    for item in items:
        if said := {values[turn] for turn in item.turns if turn in values}:
            return said == {latest}
    return False


def closing_figures(bench: Bench, tellings: Iterable[FactChange]) -> dict[str, float]:
    """What consolidation made of the replaced values.

    Returns:
        ``closing_figures``: the share of them that became a statement; ``closed``: of these the share of
        which no statement is current.
    """
    current = _current(bench)
    by_fact: dict[int, list[FactChange]] = defaultdict(list)
    for telling in tellings:
        by_fact[telling.fact].append(telling)
    known: list[bool] = []
    replaced = 0
    for told in by_fact.values():
        for telling in told:
            if telling.value == told[-1].value:
                continue
            replaced += 1
            texts = [is_held for text, is_held in current[telling.id] if telling.value in text]
            if texts:
                known.append(not any(texts))
    return {"learnt": len(known) / replaced, "closed": probe_questions.true_share(known)}


def _current(bench: Bench) -> Mapping[str, list[tuple[str, bool]]]:
    """The statements that rest on each turn, by its id: text, and whether it holds."""
    with open_index(bench.store, bench.factory.embedder) as opened:
        index = opened.index
        passages = index.passages(index.current_rows()).values()
        ids = {passage.key: passage.foreign_id for passage in passages if passage.foreign_id}
    graph = shards.load_graph(bench.store.graphs(), only="statement")
    rows = record_files.load_statements(bench.store, graph.records, bench.now.isoformat())
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for row in rows.values():
        if row.kind != "gist":
            for key in row.sources:
                if key in ids:
                    found[ids[key]].append((row.text, row.is_current))
    return found
