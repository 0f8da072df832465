"""Presets side by side, in reading order: one consolidated memory, each retrieval asked, pairs."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics, stores
from clsm_cli.evaluation.loaders import notes
from clsm_cli.evaluation.presets_report import PresetRow, PresetsReport, QueryRow
from clsm_cli.evaluation.report import Pair, grouped
from clsm_cli.retrieval import presets
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.evaluation.loaders.notes import Cue
    from clsm_cli.evaluation.report import Figures
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store

DEFAULT = "default"
CONCEPTS = 10
"""Concepts of an answer that are looked at (CLS-M: top_k)."""
PAIRED = ("f1", "quotes")


def run_presets(path: Path, shop: Workshop, engine: Engine, seed: int) -> PresetsReport:
    """Ask every query of a labelled memory with each preset and with the default.

    All read the same consolidated store; items and budget are the default's.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        shop: Where the store is made.
        engine: Makes the vectors of queries; open.
        seed: Of bootstrap and permutations.

    Raises:
        BadInputError: Labels or notes cannot be read.
        RefusedError: A run would withdraw much at once.
    """
    cues = notes.load(path).cues
    made = stores.of_folders(shop, path, notes.FOLDERS)
    store = stores.consolidated(shop, made)
    measured = {
        name: [_measured(answer, cue) for answer, cue in zip(answers, cues, strict=True)]
        for name, answers in _asked(cues, store, made.now, shop, engine)
    }
    return PresetsReport(
        data={
            "queries": len(cues),
            "gold concepts": sum(len(cue.concepts) for cue in cues),
            "quotes": sum(len(cue.quotes) for cue in cues),
        },
        rows=tuple(_row(name, measured, cues) for name in measured),
        pairs=tuple(_pairs(measured, seed)),
        queries=tuple(
            QueryRow(
                cue.id, cue.category, {name: rows[at]["f1"] for name, rows in measured.items()}
            )
            for at, cue in enumerate(cues)
        ),
    )


def _asked(
    cues: Sequence[Cue], store: Store, now: datetime, shop: Workshop, engine: Engine
) -> Iterator[tuple[str, list[Answer]]]:
    """What the default answers to each query, then each preset."""
    settings = store.settings.recall
    queries = [Query(cue.text, now.isoformat(), settings.k, settings.budget) for cue in cues]
    systems: list[tuple[str, str | None]] = [(DEFAULT, None), *((n, n) for n in presets.PRESETS)]
    for number, (name, preset) in enumerate(systems):
        shop.progress("presets", number, len(systems))
        asked = [query._replace(preset=preset) for query in queries]
        yield name, list(recall(store, asked, engine, shop.embedder))


def _measured(answer: Answer, cue: Cue) -> Figures:
    """One answer against its labels; each gold concept and each quote is found once."""
    concepts = answer.concepts[:CONCEPTS]
    first = [notes.keys((each.id, each.label, *each.aliases)) for each in concepts]
    found = sum(any(not names.isdisjoint(gold) for names in first) for gold in cue.concepts)
    precision, recall, f1 = metrics.precision_recall_f1(found, len(first), len(cue.concepts))
    read = [notes.single_blanks(memory.text) for memory in answer.memories]
    quoted = sum(any(quote in text for text in read) for quote in cue.quotes)
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "coverage": float(found > 0),
        "concepts": float(len(first)),
        "quotes": quoted / len(cue.quotes),
        "tokens": float(sum(memory.tokens for memory in answer.memories)),
    }


def _row(name: str, measured: dict[str, list[Figures]], cues: Sequence[Cue]) -> PresetRow:
    rows = measured[name]
    everything = range(len(cues))
    groups = {"all": list(everything), **grouped([cue.category for cue in cues], everything)}
    figures = {
        group: {measure: fmean(rows[at][measure] for at in places) for measure in rows[0]}
        for group, places in groups.items()
    }
    own = figures["all"]["f1"]
    return PresetRow(
        name=name,
        figures=figures,
        covered=sum(row["coverage"] > 0 for row in rows),
        ratio=fmean(row["f1"] for row in measured[DEFAULT]) / own if own else None,
    )


def _pairs(measured: dict[str, list[Figures]], seed: int) -> Iterator[Pair]:
    """What the default gives more than each preset, query by query."""
    for name, rows in measured.items():
        for measure in PAIRED if name != DEFAULT else ():
            pairs = zip(measured[DEFAULT], rows, strict=True)
            gained = [ours[measure] - theirs[measure] for ours, theirs in pairs]
            yield Pair(
                measure=measure,
                against=name,
                difference=fmean(gained),
                interval=metrics.cluster_interval(gained, [""] * len(gained), seed),
                p=metrics.sign_flip(gained, seed),
            )
