"""A run, in reading order: each set tried, its systems asked, each probe run."""

from __future__ import annotations

import platform
from functools import cache
from typing import TYPE_CHECKING, Any

import clsm_cli
from clsm_cli.evaluation import ablation, benches, compare, measures, rank_fit
from clsm_cli.evaluation.ablation import MECHANISMS
from clsm_cli.evaluation.compare import Asked, Measured
from clsm_cli.evaluation.measures import credit_items
from clsm_cli.evaluation.nodes import rankers
from clsm_cli.evaluation.probes.probe_registry import run_probe
from clsm_cli.evaluation.result import SCHEMA, AblationResult, QueryResult, Result, SetResult
from clsm_cli.evaluation.systems import (
    BASELINES,
    CLSM,
    MINILM,
    PACKED,
    preset_system,
    recall_system,
)
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clsm_cli.evaluation.ablation import Mechanism
    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Dataset, Query
    from clsm_cli.evaluation.measures import Retrieved
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.evaluation.systems import System
    from clsm_cli.retrieval.dense_search import Engine


class Request(NamedTuple):
    """What to measure."""

    datasets: tuple[Dataset, ...]
    presets: tuple[str, ...]
    mechanisms: tuple[str, ...]
    probes: tuple[str, ...]
    settings: Mapping[str, Any]
    seed: int
    command: str


class CachingEngine:
    """Another engine, and the vectors it made; see ``retrieval.dense_search.Engine``."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.open = engine.open
        self.products = engine.products
        self.encode = cache(engine.encode)


def run(request: Request, factory: StoreFactory, engine: Engine) -> Result:
    """Measure all that was asked for; nothing but the work folder is written."""
    engine = CachingEngine(engine)
    return Result(
        schema=SCHEMA,
        version=clsm_cli.__version__,
        command=request.command,
        machine={
            "architecture": platform.machine(),
            "system": platform.system(),
            "Python": platform.python_version(),
        },
        seed=request.seed,
        settings={name: str(value) for name, value in sorted(request.settings.items())},
        sets=tuple(evaluate_set(dataset, request, factory, engine) for dataset in request.datasets),
        probes=tuple(run_probe(name, factory, engine, request.seed) for name in request.probes),
    )


KEPT = (*compare.HEADLINES, "precision", "tokens")
"""Measures that a report has for each query by itself."""
CONFIDENT = (CLSM, *BASELINES)
"""Systems that are also asked what has no answer; published ones have no confidence of their own."""
CUT = "concept-cut"
"""The mechanism without which clsm is shown wherever concepts are labelled: recall before the cut."""
TESTED = "consolidation"
"""The mechanism that is compared as a system is: what the night is for."""
RANKED = ("turn", "day")
"""Units whose single passages are ranked too: elsewhere a passage is no unit of the labels."""


def evaluate_set(
    dataset: Dataset, request: Request, factory: StoreFactory, engine: Engine
) -> SetResult:
    """Evaluate every system on a set; as ``run``."""
    made = [
        ablation.with_settings(each, request.settings)
        for each in benches.make_benches(dataset, factory, engine)
    ]
    asked = QueryField(made)
    systems = _systems(dataset, request.presets)
    answers = {system.name: asked.ask(system) for system in systems}
    answers |= asked.ranked()
    ours = answers[CLSM]
    ablated = []
    for mechanism in map(MECHANISMS.__getitem__, request.mechanisms):
        if all(map(mechanism.applies, made)):
            system = mechanism.system()
            without = asked.ask(system)
            ablated.append(_ablated(mechanism, without, ours, asked, request.seed))
            if mechanism.name == TESTED:
                answers[system.name] = without
    negatives = {
        system.name: asked.refuse(system) for system in systems if system.name in CONFIDENT
    }
    return SetResult(
        kind=dataset.kind,
        name=dataset.name,
        digest=dataset.digest,
        unit=dataset.unit,
        headline=dataset.headline,
        notes=dataset.notes,
        sizes=benches.sizes(made),
        stored=benches.stored_share(made),
        silenced=sum(not each.is_answered for each in ours) / len(ours),
        systems=tuple(
            compare.system_result(name, measured, asked.answered, request.seed)
            for name, measured in answers.items()
        ),
        pairs=tuple(compare.compare_pairs(answers, CLSM, asked.answered, request.seed)),
        ablation=tuple(ablated),
        abstention=tuple(compare.abstention(answers, negatives, asked.unanswerable)),
        queries=tuple(_queries(asked, answers)),
    )


def _systems(dataset: Dataset, presets: Sequence[str]) -> list[System]:
    """clsm, also packed for each budget and before its concepts are cut; then all others."""
    ours = [recall_system(CLSM)]
    if any(query.gold for case in dataset.cases for query in case.queries):
        ours.append(PACKED)
    if any(query.concepts for case in dataset.cases for query in case.queries):
        ours.append(MECHANISMS[CUT].system())
    published = map(preset_system, presets)
    return [*ours, *published, *BASELINES.values()]


def _ablated(
    mechanism: Mechanism,
    without: Sequence[Measured],
    ours: Sequence[Measured],
    asked: QueryField,
    seed: int,
) -> AblationResult:
    found = compare.compare_pair(without, ours, asked.headline, asked.answered.cases, seed)
    difference, interval, p = found or (0.0, (0.0, 0.0), 1.0)
    figures = compare.mean_figures(without)
    return AblationResult(mechanism.name, mechanism.about, figures, difference, interval, p)


def _queries(asked: QueryField, answers: Mapping[str, Sequence[Measured]]) -> Iterator[QueryResult]:
    for at, query in enumerate(asked.answered.queries):
        yield QueryResult(
            id=query.id,
            case=asked.answered.cases[at],
            category=query.category,
            values={
                name: {key: value for key, value in found[at].figures.items() if key in KEPT}
                for name, found in answers.items()
            },
        )


class QueryField:
    """The benches of a set and its queries, those with an answer and those without."""

    def __init__(self, made: Sequence[Bench]) -> None:
        self.benches = made
        self.headline = made[0].dataset.headline
        self._answerable = [[q for q in each.case.queries if not q.negative] for each in made]
        self._negative = [[q for q in each.case.queries if q.negative] for each in made]
        cases = zip(made, self._answerable, strict=True)
        self.answered = Asked(
            [query for queries in self._answerable for query in queries],
            [bench.case.name for bench, queries in cases for _ in queries],
        )
        self.unanswerable = [query for queries in self._negative for query in queries]
        self._near = cache(self._returned_by_meaning)

    def ask(self, system: System) -> list[Measured]:
        """What a system makes of the queries with an answer."""
        return self._measured([self._asked(system, *each) for each in self._pairs()])

    def refuse(self, system: System) -> list[Measured]:
        """The answers of a system to the queries without an answer."""
        return [
            measured
            for bench, queries in zip(self.benches, self._negative, strict=True)
            if queries
            for measured in score_answers(
                bench, queries, self._asked(system, bench, queries), [None] * len(queries)
            )
        ]

    def ranked(self) -> dict[str, list[Measured]]:
        """The figures of the systems that need all cases at once."""
        dataset = self.benches[0].dataset
        found: dict[str, list[list[Retrieved]]] = {}
        if dataset.kind == benches.PLANTED:
            found = rankers.rank(self.benches, self._answerable)
        elif dataset.unit in RANKED:
            found = rank_fit.rank_asked(rank_fit.ask_all(self.benches, self._answerable))
        return {name: self._measured(by_case) for name, by_case in found.items()}

    def _pairs(self) -> Iterator[tuple[Bench, list[Query]]]:
        return zip(self.benches, self._answerable, strict=True)

    def _asked(self, system: System, bench: Bench, queries: Sequence[Query]) -> list[Retrieved]:
        found = []
        for at, retrieved in enumerate(system.ask(bench, queries)):
            bench.factory.progress(f"{system.name}, {bench.case.name}", at, len(queries))
            found.append(retrieved)
        return found

    def _measured(self, by_case: Sequence[Sequence[Retrieved]]) -> list[Measured]:
        return [
            measured
            for place, (bench, queries) in enumerate(self._pairs())
            for measured in score_answers(bench, queries, by_case[place], self._near(place))
        ]

    def _returned_by_meaning(self, place: int) -> Sequence[Retrieved | None]:
        """What MiniLM alone returns, cut to what counts; None where no evidence is labelled."""
        bench, queries = self.benches[place], self._answerable[place]
        if not any(query.gold for query in queries):
            return [None] * len(queries)
        return [
            found._replace(items=tuple(measures.delivered(found.items)))
            for found in BASELINES[MINILM].ask(bench, queries)
        ]


def score_answers(
    bench: Bench,
    queries: Sequence[Query],
    found: Sequence[Retrieved],
    nearest: Sequence[Retrieved | None],
) -> Iterator[Measured]:
    """Measure each answer, counted as the evidence whose words stand in it.

    ``nearest`` is what MiniLM alone returned to each query, where that is of use.
    """
    setting = measures.Setting(bench.dataset.unit, bench.whole)
    for query, answer, near in zip(queries, found, nearest, strict=True):
        items = credit_items(answer.items, query.gold, bench.turn_texts)
        packed = answer.packed and {
            budget: credit_items(each, query.gold, bench.turn_texts)
            for budget, each in answer.packed.items()
        }
        told = answer._replace(items=items, packed=packed)
        figures = {} if query.negative else measures.figures(query, told, near, setting)
        is_answered = any(packed.values()) if packed else bool(items)
        yield Measured(figures, answer.confidence, is_answered)
