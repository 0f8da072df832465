"""Probes of a store that grows: facts that change again and again, and unrelated material added."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import Line, RandomDraw
from clsm_cli.evaluation.probes.probe_questions import CLSM, SYSTEMS, Probe
from clsm_cli.forgetting.archiving import Request, decay
from clsm_cli.retrieval.recall import collect_candidates
from clsm_cli.retrieval.retrieve import Query as Asking
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import record_files, shards
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Item
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

DRIFT_SESSIONS = 50
CHECKS = 5
"""Times at which everything is asked, as many sessions apart."""
TELLINGS = 10
"""Of each fact."""
DRIFT_CHATTER = 3
"""Lines of a session about something else."""
DRIFT_START = datetime(2025, 3, 3, 18, tzinfo=UTC)


class FactChange(NamedTuple):
    """One change of a fact."""

    id: str
    fact: int
    week: int
    value: str
    text: str


class DriftMaterial(NamedTuple):
    """A conversation about facts that change."""

    asks: tuple[tuple[str, ...], ...]
    tellings: tuple[FactChange, ...]
    weeks: tuple[tuple[LabelledTurn, ...], ...]


def run_drift(factory: StoreFactory, engine: Engine, seed: int) -> dict[str, dict[str, float]]:
    """Tell, sleep and ask."""
    drifting = make_drift(seed)
    each = DRIFT_SESSIONS // CHECKS
    parts = [
        [turn for week in drifting.weeks[at : at + each] for turn in week]
        for at in range(0, DRIFT_SESSIONS, each)
    ]
    benches = probe_questions.growing_benches(
        factory, engine, "drift", parts, stores.run_consolidation
    )
    latest: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for check, bench in enumerate(benches, 1):
        factory.progress("drift", check, CHECKS)
        told = [telling for telling in drifting.tellings if telling.week < check * each]
        queries = [
            Query(f"{check}-{fact}", wordings[check % len(wordings)])
            for fact, wordings in enumerate(drifting.asks)
        ]
        for name, answers in probe_questions.ask_systems(bench, queries).items():
            latest[name].append(
                fmean(
                    tells_latest(answer.items, [t for t in told if t.fact == fact])
                    for fact, answer in enumerate(answers)
                )
            )
    figures = {name: {"latest": fmean(rows)} for name, rows in latest.items()}
    figures[CLSM] |= closing_figures(benches[-1], drifting.tellings)
    return figures


def make_drift(seed: int) -> DriftMaterial:
    """Make the conversation of a seed."""
    draw = RandomDraw(seed, "drift")
    people = [draw.name() for _ in range(6)]
    names = {"p": people[0], "q": people[1], "project": draw.name(), "pet": draw.name()}
    tellings: list[FactChange] = []
    facts = material.load_yaml("drift")
    for fact, row in enumerate(facts):
        # The first telling is early, so that every check has something to ask for.
        weeks = [draw.below(5), *sorted(draw.some(range(5, DRIFT_SESSIONS), TELLINGS - 1))]
        values = draw.values(row["values"], TELLINGS)
        for week, value, old in zip(weeks, values, ["", *values], strict=False):
            wordings = row["news"] if old else row["news"][:1]
            text = draw.one(wordings).format_map({**names, "v": value, "old": old})
            tellings.append(FactChange(f"{row['id']}-{week}", fact, week, value, text))
    tellings.sort(key=lambda telling: telling.week)
    sessions: list[tuple[LabelledTurn, ...]] = []
    for week in range(DRIFT_SESSIONS):
        lines = [Line(each.text, each.id) for each in tellings if each.week == week]
        talk = draw.talk(draw.some(lines, len(lines)), DRIFT_CHATTER, people)
        sessions.append(
            tuple(material.session_turns(week, DRIFT_START + timedelta(weeks=week), talk))
        )
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


DRIFT = Probe({"latest": 0.9, "closed": 0.9}, run_drift)
"""CMA §6.3."""


SIZES = (1, 2, 5, 10)
FIRST = 10
"""Items of an answer that are looked at."""
PEOPLE = 8
"""Whom the things that are said are about, and the chatter too."""
SESSIONS = 20
CHATTER = 6
"""Lines of a session about something else."""
START = datetime(2025, 1, 6, 19, tzinfo=UTC)
EVERY = timedelta(days=3)
"""From one session to the next."""


def run_growth(factory: StoreFactory, engine: Engine, seed: int) -> dict[str, dict[str, float]]:
    """Tell, sleep, forget and ask, at each size."""
    queries, turns = make_facts(seed)
    parts = [turns, *_added(seed, len(turns))]
    benches = probe_questions.growing_benches(factory, engine, "growth", parts, run_night)
    figures: dict[str, dict[str, float]] = {name: {} for name in SYSTEMS}
    for size, bench in (("1x", benches[0]), ("10x", benches[-1])):
        for name, answers in probe_questions.ask_systems(bench, queries).items():
            figures[name][f"recall@10 at {size}"] = probe_questions.true_share(
                probe_questions.first_rank(answer.items, query.gold) <= FIRST
                for query, answer in zip(queries, answers, strict=True)
            )
            figures[name][f"tokens at {size}"] = fmean(
                sum(item.tokens for item in answer.items[:FIRST]) for answer in answers
            )
        figures[CLSM][f"passages at {size}"] = _passages(bench, queries)
    for found in figures.values():
        found["lost"] = found["recall@10 at 1x"] - found["recall@10 at 10x"]
    return figures


def run_night(factory: StoreFactory, store: Store, now: datetime) -> None:
    """What a user's machine does: consolidate, then let fade what was not used."""
    stores.run_consolidation(factory, store, now)
    decay(store, Request(now=now, explicit=True))


def make_facts(seed: int) -> tuple[list[Query], list[LabelledTurn]]:
    """The questions with the ids of what answers them, and a conversation with forty facts."""
    draw = RandomDraw(seed, "recorded")
    people = [draw.name() for _ in range(PEOPLE)]
    queries, told = [], []
    for number, row in enumerate(material.load_yaml("facts")):
        given = {"p": draw.one(people), "town": draw.name("towns")}
        line = Line(row["told"].format_map(given), f"fact-{number}")
        told.append(line)
        queries.append(Query(line.id, row["ask"].format_map(given), gold=(line.id,)))
    sessions = material.spread_lines(draw, told, SESSIONS)
    return queries, material.make_turns(draw, sessions, people, CHATTER, START, EVERY)


def _added(seed: int, turns: int) -> list[list[LabelledTurn]]:
    """What is added at each size after the first, about other people, session after session."""
    draw = RandomDraw(seed, "growth")
    people = [draw.name() for _ in range(5 * PEOPLE)]
    parts: list[list[LabelledTurn]] = []
    number, count = SESSIONS, turns
    for size in SIZES[1:]:
        part: list[LabelledTurn] = []
        while count + len(part) < size * turns:
            talk = draw.talk((), 2 * CHATTER, people)
            part += material.session_turns(number, START + number * EVERY, talk)
            number += 1
        count += len(part)
        parts.append(part)
    return parts


def _passages(bench: Bench, queries: Sequence[Query]) -> float:
    limits = bench.store.settings.recall
    asked = [Asking(each.text, bench.time_of(each), limits.k, limits.budget) for each in queries]
    seen = collect_candidates(bench.store, asked, bench.engine, bench.factory.embedder)
    return fmean(each.passages for each in seen)


GROWTH = Probe({"recall@10 at 10x": 0.8}, run_growth, most_lost=0.05)
