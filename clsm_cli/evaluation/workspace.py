"""An agent's notes, in reading order: load the labels, make the store, ask, compare in pairs."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures, metrics, stores
from clsm_cli.evaluation.loaders import notes
from clsm_cli.evaluation.measures import Ranking
from clsm_cli.evaluation.ranking import runs, systems
from clsm_cli.evaluation.report import CueFigures, NotesReport, Pair, grouped, row
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.evaluation.loaders.notes import Cue
    from clsm_cli.evaluation.measures import Scored
    from clsm_cli.evaluation.report import Groups
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store

PASSAGES = "clsm passages"
"""The ranked passages before recall makes windows of them."""
CONCEPTS = 10
HEADLINE = "recall@10"
PAIRED = (HEADLINE, "tokens@1000")


def run_notes(path: Path, shop: Workshop, engine: Engine, seed: int) -> NotesReport:
    """Evaluate recall over an agent's notes and transcripts.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        shop: Where the store is made.
        engine: Makes the vectors of questions.
        seed: Of bootstrap and permutations.

    Raises:
        BadInputError: Labels or notes cannot be read.
    """
    labels = notes.load(path)
    store, now = stores.of_folders(shop, path, notes.FOLDERS)
    by_system, passages = _baselines(labels.cues, store, now, shop, engine)
    texts = [*(cue.text for cue in labels.cues), *labels.unanswerable, *labels.off_topic]
    answers = runs.answered(store, texts, shop.embedder, engine, now)
    confidences = [answer.confidence for answer in answers]
    known = len(labels.cues)
    near, far = known + len(labels.unanswerable), len(answers)
    answers = answers[:known]
    by_system[systems.CLSM] = [
        _ranking([memory.text for memory in answer.memories], cue.quotes)
        for answer, cue in zip(answers, labels.cues, strict=True)
    ]
    scored = [measures.measured(name, found, measures.QUOTES) for name, found in by_system.items()]
    concepts = [_concepts(answer, cue) for answer, cue in zip(answers, labels.cues, strict=True)]
    groups = _groups(labels.cues)
    everything = range(len(labels.cues))
    return NotesReport(
        data={
            "queries": len(labels.cues),
            "quotes": sum(len(cue.quotes) for cue in labels.cues),
            "unanswerable": len(labels.unanswerable),
            "off topic": len(labels.off_topic),
            "passages": passages,
        },
        headline=HEADLINE,
        rows=tuple(
            row(s, everything, [""] * len(everything), groups, HEADLINE, seed) for s in scored
        ),
        pairs=tuple(_pairs(scored, seed)),
        concepts={
            name: {key: fmean(concepts[at][key] for at in places) for key in concepts[0]}
            for named in ({"all": list(everything)}, *groups.values())
            for name, places in named.items()
        },
        near_topic=_auroc(confidences[:known], confidences[known:near]),
        off_topic=_auroc(confidences[:known], confidences[near:far]),
        queries=tuple(
            CueFigures(
                cue.id,
                cue.category,
                cue.difficulty,
                {each.name: float(each.values[HEADLINE][at]) for each in scored},
                concepts[at],
            )
            for at, cue in enumerate(labels.cues)
        ),
    )


def _auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    return metrics.auroc(positive, negative) if negative else None


def _baselines(
    cues: Sequence[Cue], store: Store, now: datetime, shop: Workshop, engine: Engine
) -> tuple[dict[str, list[Ranking]], int]:
    """The rankings of single passages by system, and how many passages there are."""
    shipped = runs.weights(store.settings.recall)
    compared = [*systems.baselines(), systems.weighted(PASSAGES, shipped)]
    found: dict[str, list[Ranking]] = {system.name: [] for system in compared}
    with runs.asking(store, lambda passage: passage.id, shop.embedder, engine, now) as asker:
        for number, cue in enumerate(cues):
            shop.progress("queries", number, len(cues))
            run = asker.ask(cue.text)
            for system in compared:
                units = run.units[measures.ordered(run, system.scores(run, ""))].tolist()
                found[system.name].append(_ranking([asker.texts[at] for at in units], cue.quotes))
        return found, len(asker.units)


def _ranking(texts: Sequence[str], quotes: Sequence[str]) -> Ranking:
    """Where the quotes stand in some items; white space does not count."""
    plain = [notes.single_blanks(text) for text in texts]
    places = [[at for at, text in enumerate(plain) if quote in text] for quote in quotes]
    return Ranking(places, [tokens.count_tokens(text) for text in texts], 0)


def _groups(cues: Sequence[Cue]) -> Groups:
    everything = range(len(cues))
    return {
        "category": grouped([cue.category for cue in cues], everything),
        "difficulty": grouped([cue.difficulty for cue in cues], everything),
    }


def _pairs(scored: Sequence[Scored], seed: int) -> Iterator[Pair]:
    """What recall gives against the baselines by words, and by words and meaning."""
    named = {each.name: each for each in scored}
    for against in (systems.BM25, systems.FUSION):
        for measure in PAIRED:
            gained = named[systems.CLSM].values[measure] - named[against].values[measure]
            listed = gained.tolist()
            yield Pair(
                measure=measure,
                against=against,
                difference=fmean(listed),
                interval=metrics.cluster_interval(listed, [""] * len(listed), seed),
                p=metrics.sign_flip(listed, seed),
            )


def _concepts(answer: Answer, cue: Cue) -> dict[str, float]:
    """Precision, recall, F1 and coverage of the first ten concepts; each gold one is found once."""
    returned = [
        notes.keys((each.id, each.label, *each.aliases)) for each in answer.concepts[:CONCEPTS]
    ]
    found = sum(any(not names.isdisjoint(gold) for names in returned) for gold in cue.concepts)
    precision, recall, f1 = metrics.precision_recall_f1(found, len(returned), len(cue.concepts))
    return {"precision": precision, "recall": recall, "f1": f1, "coverage": float(found > 0)}
