"""A run: each set tried, its systems asked, each probe run."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import clsm_cli
from clsm_cli.evaluation import benches, compare, measures, systems
from clsm_cli.evaluation.benches import MECHANISMS, Bench
from clsm_cli.evaluation.compare import Measured
from clsm_cli.evaluation.dataset import Dataset, LabelledQuery
from clsm_cli.evaluation.measures import Retrieved, credit_items
from clsm_cli.evaluation.presets import published
from clsm_cli.evaluation.probes.probe_registry import run_probe
from clsm_cli.evaluation.result import SCHEMA, AblationResult, QueryResult, Result, SetResult
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import BASELINES, CLSM, MINILM, WITHOUT, System
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.startup.records import NamedTuple


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


def evaluate_set(
    dataset: Dataset, request: Request, factory: StoreFactory, engine: Engine
) -> SetResult:
    """Evaluate every system on a set; as ``run``."""
    made = benches.make_benches(dataset, factory, engine)
    made = [benches.with_settings(each, request.settings) for each in made]
    asked = _systems(dataset, request.presets)
    answers = {name: _measured(name, system, made) for name, system in asked.items()}
    negatives = {name: _measured(name, asked[name], made, negative=True) for name in CONFIDENT}
    ours = answers[CLSM]
    ablation = []
    for mechanism in map(MECHANISMS.__getitem__, request.mechanisms):
        if all(map(mechanism.applies, made)):
            name = WITHOUT.format(mechanism.name)
            without = _measured(name, systems.recall_system(mechanism.without), made)
            ablation.append(
                AblationResult(
                    mechanism=mechanism.name,
                    about=mechanism.about,
                    figures=compare.mean_figures(without),
                    **compare.paired(without, ours, dataset.headline, request.seed) or compare.NONE,
                )
            )
            if mechanism.name == "consolidation":  # compared as a system is: what the night is for
                answers[name] = without
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
        ablation=ablation,
        abstention=list(compare.abstention(answers, negatives)),
        queries=list(_queries(answers)),
    )


def _systems(dataset: Dataset, presets: Sequence[str]) -> dict[str, System]:
    """clsm, also packed for each budget and before its concepts are cut; then all others."""
    queries = [query for case in dataset.cases for query in case.queries]
    found: dict[str, System] = {CLSM: systems.recall_system()}
    if any(query.gold for query in queries):
        found["clsm, packed"] = systems.ask_packed
    if any(query.concepts for query in queries):
        cut = MECHANISMS["concept-cut"]
        found[WITHOUT.format(cut.name)] = systems.recall_system(cut.without)
    for name in presets:  # none of these has a confidence
        found[name] = systems.library_system(partial(published.retrieve, name=name))
    found |= BASELINES
    if dataset.kind == benches.PLANTED:
        found["five passages, keep .30"] = systems.ask_best_passages
    return found


def _queries(answers: Mapping[str, Sequence[Measured]]) -> Iterator[QueryResult]:
    for row in zip(*answers.values(), strict=True):
        values = {
            name: {key: value for key, value in each.figures.items() if key in KEPT}
            for name, each in zip(answers, row, strict=True)
        }
        query, case = row[0].query, row[0].case
        yield QueryResult(id=query.id, case=case, category=query.category, values=values)


def _measured(
    name: str, ask: System, made: Sequence[Bench], *, negative: bool = False
) -> list[Measured]:
    """The measured answers to queries that have one, or to those that have none."""
    found: list[Measured] = []
    for bench in made:
        queries = [query for query in bench.case.queries if bool(query.negative) == negative]
        if queries:
            near = [None] * len(queries) if negative else _nearest(bench)
            answers = zip(queries, ask(bench, queries), near, strict=True)
            for at, (query, answer, nearest) in enumerate(answers):
                bench.factory.progress(f"{name}, {bench.case.name}", at, len(queries))
                found.append(_score(bench, query, answer, nearest))
    return found


@lru_cache(maxsize=16)
def _nearest(bench: Bench) -> Sequence[Retrieved | None]:
    """What MiniLM alone returns to each query with an answer, where that is of use."""
    queries = [query for query in bench.case.queries if not query.negative]
    if not any(query.gold for query in queries):
        return [None] * len(queries)
    return list(BASELINES[MINILM](bench, queries))


def _score(
    bench: Bench, query: LabelledQuery, answer: Retrieved, near: Retrieved | None
) -> Measured:
    """The figures of an answer, each item counted as the evidence whose words stand in it."""
    texts, unit = bench.turn_texts, bench.dataset.unit
    items = credit_items(answer.items, query.gold, texts)
    packed = answer.packed and {
        budget: credit_items(each, query.gold, texts) for budget, each in answer.packed.items()
    }
    credited = answer._replace(items=items, packed=packed)
    figures = {} if query.negative else measures.figures(query, credited, near, unit, bench.whole)
    came = any(packed.values()) if packed else bool(items)
    return Measured(query, bench.case.name, figures, answer.confidence, came)
