"""Unanswerable: what was never said is refused, near the topic and off it; what was said is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import asking, material, recorded
from clsm_cli.evaluation.probes.asking import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.retrieved import Retrieved
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

ABOUT = (
    "Forty questions with an answer, forty about the same matters that nobody ever answered (near),"
    " and twenty of general knowledge (off). A ranking by words returns whatever shares one; that is"
    " no reason to believe that it holds the answer."
)
CRITERION = (
    "90 % of the questions with an answer get one, 90 % of those off the topic and half of those"
    " near it get nothing"
)
BARS = {"answered": 0.9, "refused off": 0.9, "refused near": 0.5}
SYSTEMS = (CLSM, BM25, MINILM)


def run(shop: Workshop, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    known = recorded.made(seed)
    bench = asking.bench(shop, engine, "unanswerable", known.turns)
    asked = {
        "answered": [fact.query for fact in known.facts],
        "near": [Query(f"near-{at}", fact.near) for at, fact in enumerate(known.facts)],
        "off": [Query(f"off-{at}", text) for at, text in enumerate(material.load("words")["off"])],
    }
    answers = {kind: asking.ask(bench, queries, SYSTEMS) for kind, queries in asked.items()}
    verdicts = []
    for name in SYSTEMS:
        has, near, off = (answers[kind][name] for kind in asked)
        figures = {
            "answered": asking.share(bool(answer.items) for answer in has),
            "refused near": asking.share(not answer.items for answer in near),
            "refused off": asking.share(not answer.items for answer in off),
            "auroc near": _auroc(has, near),
            "auroc off": _auroc(has, off),
        }
        verdicts.append(asking.verdict(name, figures, BARS))
    return ProbeResult("unanswerable", ABOUT, CRITERION, tuple(verdicts))


def _auroc(positive: Sequence[Retrieved], negative: Sequence[Retrieved]) -> float:
    return metrics.auroc(
        *([answer.confidence or 0.0 for answer in s] for s in (positive, negative))
    )
