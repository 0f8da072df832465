"""Growth probe: the same questions while the store grows tenfold with unrelated material."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import RandomDraw
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult, Series, Verdict
from clsm_cli.forgetting.archiving import Request, decay
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import collect_candidates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Query as Labelled
    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Retrieved
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

ABOUT = (
    "Forty facts in twenty sessions, then nine times as many turns about other people; consolidated"
    " and decayed at 1, 2, 5 and 10 times the size. The questions share few words with the facts,"
    " and those are everyday ones that what is added holds as well."
)
CRITERION = (
    "recall@10 at 10 times the size is at most 5 points below that at the first size, and at least"
    " 80 %"
)
LOSS, LEAST = 0.05, 0.8
SYSTEMS = (CLSM, BM25, MINILM)
SIZES = (1, 2, 5, 10)
FIRST = 10
"""Items of an answer that are looked at."""


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep, forget and ask, at each size.

    Raises:
        DiskError: The work folder cannot be written.
    """
    known = material.make_material(seed)
    parts = [known.turns, *_added(seed, len(known.turns))]
    benches = probe_questions.growing_benches(factory, engine, "growth", parts, run_night)
    queries = [fact.query for fact in known.facts]
    recalled: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    tokens: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for bench in benches:
        for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
            recalled[name].append(_recall(queries, answers))
            tokens[name].append(fmean(map(_tokens, answers)))
    figures = {
        name: {
            "recall@10 at 1x": row[0],
            "recall@10 at 10x": row[-1],
            "lost": row[0] - row[-1],
            "tokens at 1x": tokens[name][0],
            "tokens at 10x": tokens[name][-1],
        }
        for name, row in recalled.items()
    }
    figures[CLSM]["passages at 1x"] = _passages(benches[0], queries)
    figures[CLSM]["passages at 10x"] = _passages(benches[-1], queries)
    return ProbeResult(
        "growth",
        ABOUT,
        CRITERION,
        tuple(
            Verdict(name, found["lost"] <= LOSS and found["recall@10 at 10x"] >= LEAST, found)
            for name, found in figures.items()
        ),
        ("size", "recall@10"),
        tuple(
            Series(name, tuple(zip(map(float, SIZES), row, strict=True)))
            for name, row in recalled.items()
        ),
    )


def run_night(factory: StoreFactory, store: Store, now: datetime) -> None:
    """What a user's machine does: consolidate, then let fade what was not used."""
    probe_questions.consolidate(factory, store, now)
    decay(store, Request(now=now, explicit=True))


def _added(seed: int, turns: int) -> list[list[LabelledTurn]]:
    """What is added at each size after the first, about other people, session after session."""
    draw = RandomDraw(seed, "growth")
    people = [draw.name() for _ in range(5 * material.PEOPLE)]
    parts: list[list[LabelledTurn]] = []
    number, count = material.SESSIONS, turns
    for size in SIZES[1:]:
        part: list[LabelledTurn] = []
        while count + len(part) < size * turns:
            talk = draw.talk((), 2 * material.CHATTER, people)
            part += material.session_turns(number, material.START + number * material.EVERY, talk)
            number += 1
        count += len(part)
        parts.append(part)
    return parts


def _recall(queries: Sequence[Labelled], answers: Sequence[Retrieved]) -> float:
    return probe_questions.true_share(
        probe_questions.first_rank(answer.items, query.gold) <= FIRST
        for query, answer in zip(queries, answers, strict=True)
    )


def _tokens(answer: Retrieved) -> int:
    return sum(item.tokens for item in answer.items[:FIRST])


def _passages(bench: Bench, queries: Sequence[Labelled]) -> float:
    """Passages that clsm compares a question with, on average."""
    limits = bench.store.settings.recall
    asked = [Query(each.text, bench.time_of(each), limits.k, limits.budget) for each in queries]
    seen = collect_candidates(bench.store, asked, bench.engine, bench.factory.embedder)
    return fmean(each.passages for each in seen)
