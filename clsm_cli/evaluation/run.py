"""A run: each set tried, its systems asked, each probe run."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import clsm_cli
from clsm_cli.evaluation import benches, compare, measures, systems
from clsm_cli.evaluation.benches import MECHANISMS
from clsm_cli.evaluation.compare import Measured
from clsm_cli.evaluation.measures import credit_items
from clsm_cli.evaluation.probes.probe_registry import run_probe
from clsm_cli.evaluation.result import SCHEMA, AblationResult, QueryResult, Result, SetResult
from clsm_cli.evaluation.systems import BASELINES, CLSM, MINILM, system_without
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def run(request: Request, factory: StoreFactory, engine: Engine) -> Result:
    """Measure all that was asked for; nothing but the work folder is written."""
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
        sets=[evaluate_set(dataset, request, factory, engine) for dataset in request.datasets],
        probes=[run_probe(name, factory, engine, request.seed) for name in request.probes],
    )


KEPT = (*compare.HEADLINES, "precision", "tokens")  # what a report has for each query by itself
CONFIDENT = (CLSM, *BASELINES)  # asked what has no answer too; published systems have no confidence
CUT = (
    "concept-cut"  # without it clsm is shown wherever concepts are labelled: recall before the cut
)
TESTED = "consolidation"  # the mechanism that is compared as a system is: what the night is for


class Part(NamedTuple):
    """Some queries of a bench, and what MiniLM alone returns to each, where that is of use."""

    bench: Bench
    queries: Sequence[Query]
    nearest: Sequence[Retrieved | None]


def evaluate_set(
    dataset: Dataset, request: Request, factory: StoreFactory, engine: Engine
) -> SetResult:
    """Evaluate every system on a set; as ``run``."""
    made = [
        benches.with_settings(each, request.settings)
        for each in benches.make_benches(dataset, factory, engine)
    ]
    parts = [_part(bench, is_negative=False) for bench in made]
    silent = [_part(bench, is_negative=True) for bench in made]
    asked = _systems(dataset, request.presets)
    answers = {system.name: _ask(system, parts) for system in asked}
    negatives = {each.name: _ask(each, silent) for each in asked if each.name in CONFIDENT}
    ours = answers[CLSM]
    known = compare.defined(ours, dataset.headline)
    ablated = []
    for mechanism in map(MECHANISMS.__getitem__, request.mechanisms):
        if all(map(mechanism.applies, made)):
            system = system_without(mechanism)
            without = _ask(system, parts)
            lost = compare.paired(compare.defined(without, dataset.headline), known, request.seed)
            ablated.append(
                AblationResult(
                    mechanism=mechanism.name,
                    about=mechanism.about,
                    figures=compare.mean_figures(without),
                    **(lost or compare.NONE),
                )
            )
            if mechanism.name == TESTED:
                answers[system.name] = without
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
        systems=[compare.system_result(*each, request.seed) for each in answers.items()],
        pairs=list(compare.compare_pairs(answers, CLSM, request.seed)),
        ablation=ablated,
        abstention=list(compare.abstention(answers, negatives)),
        queries=list(_queries(answers)),
    )


def _part(bench: Bench, *, is_negative: bool) -> Part:
    queries = [query for query in bench.case.queries if bool(query.negative) == is_negative]
    if is_negative or not any(query.gold for query in queries):
        return Part(bench, queries, [None] * len(queries))
    return Part(bench, queries, list(BASELINES[MINILM].ask(bench, queries)))


def _systems(dataset: Dataset, presets: Sequence[str]) -> list[System]:
    """clsm, also packed for each budget and before its concepts are cut; then all others."""
    queries = [query for case in dataset.cases for query in case.queries]
    found = [systems.recall_system(CLSM)]
    found += [systems.PACKED] if any(query.gold for query in queries) else []
    found += [system_without(MECHANISMS[CUT])] if any(query.concepts for query in queries) else []
    found += [*map(systems.preset_system, presets), *BASELINES.values()]
    return [*found, systems.PASSAGES] if dataset.kind == benches.PLANTED else found


def _queries(answers: Mapping[str, Sequence[Measured]]) -> Iterator[QueryResult]:
    for row in zip(*answers.values(), strict=True):
        values = {
            name: {key: value for key, value in each.figures.items() if key in KEPT}
            for name, each in zip(answers, row, strict=True)
        }
        query, case = row[0].query, row[0].case
        yield QueryResult(id=query.id, case=case, category=query.category, values=values)


def _ask(system: System, parts: Sequence[Part]) -> list[Measured]:
    return [each for part in parts if part.queries for each in score_answers(system, part)]


def score_answers(system: System, part: Part) -> Iterator[Measured]:
    """Measure the answers of a system, each counted as the evidence whose words stand in it."""
    bench, texts = part.bench, part.bench.turn_texts
    answers = zip(part.queries, system.ask(bench, part.queries), part.nearest, strict=True)
    for at, (query, answer, near) in enumerate(answers):
        bench.factory.progress(f"{system.name}, {bench.case.name}", at, len(part.queries))
        items = credit_items(answer.items, query.gold, texts)
        packed = answer.packed and {
            budget: credit_items(each, query.gold, texts) for budget, each in answer.packed.items()
        }
        told, unit = answer._replace(items=items, packed=packed), bench.dataset.unit
        figures = {} if query.negative else measures.figures(query, told, near, unit, bench.whole)
        came = any(packed.values()) if packed else bool(items)
        yield Measured(query, bench.case.name, figures, answer.confidence, came)
