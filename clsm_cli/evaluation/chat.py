"""LoCoMo and GVD, in reading order: load, make stores, ask, rank by each system, measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.loaders import gvd, locomo
from clsm_cli.evaluation.ranking import runs, systems
from clsm_cli.evaluation.ranking.asking import OFF_TOPIC, ask_all
from clsm_cli.evaluation.ranking.without import ablations, abstention
from clsm_cli.evaluation.report import ChatReport, grouped, questions, row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.loaders.cases import Conversation
    from clsm_cli.evaluation.measures import Scored
    from clsm_cli.evaluation.ranking.asking import Asked
    from clsm_cli.evaluation.report import Row
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

    Floats = NDArray[np.float64]


def run_locomo(path: Path, shop: Workshop, engine: Engine, seed: int) -> ChatReport:
    """Evaluate recall on LoCoMo.

    Adversarial questions are ranked and shown as a category of their own; they count in no total
    and nothing is fitted to them.

    Args:
        path: Folder of conversations, or the one file of all.
        shop: Where stores are made.
        engine: Makes the vectors of questions.
        seed: Of the bootstrap and of the draw of off-topic questions.

    Raises:
        BadInputError: The set cannot be read.
    """
    data = locomo.load(path)
    answers = ask_all(data.conversations, shop, engine, seed, strangers=OFF_TOPIC)
    asked = answers.asked
    counted = [at for at, each in enumerate(asked) if each.question.category != locomo.ADVERSARIAL]
    learnable = [asked[at] for at in counted]
    shop.progress("scoring", 0, 2)
    unused = systems.unused(answers.weights)
    fitted = systems.leave_one_out(learnable, unused)
    compared = [*systems.baselines(), *systems.shipped(answers.weights)]
    compared += systems.refits(learnable, fitted, unused)
    scored = [measures.score(system, asked, measures.TURNS) for system in compared]
    shop.progress("scoring", 1, 2)
    shipped = next(each for each in scored if each.name == systems.CLSM)
    return ChatReport(
        dataset="locomo",
        data={
            **_sizes(data.conversations),
            "evidence_repaired": data.repaired,
            "evidence_unresolved": data.unresolved,
            "questions_dropped": list(data.dropped),
            "turns_not_in_store": answers.lost,
        },
        headline="recall@10",
        rows=_rows(scored, asked, counted, "recall@10", seed),
        weights=_weights(answers.weights, fitted),
        ablation=tuple(ablations(answers.weights, learnable, fitted, measures.TURNS)),
        abstention=abstention(answers, shipped),
        questions=questions(asked, scored),
    )


def run_gvd(path: Path, shop: Workshop, engine: Engine, seed: int) -> ChatReport:
    """Evaluate recall of days on GVD; see ``gvd.label`` for what counts as right.

    Args:
        path: Folder with the two English files.
        shop: Where stores are made.
        engine: Makes the vectors of questions.
        seed: Of the bootstrap.

    Raises:
        BadInputError: The set cannot be read.
    """
    data = gvd.load(path)
    answers = ask_all(data.conversations, shop, engine, seed, strangers=0)
    asked = answers.asked
    compared = [*systems.baselines(), *systems.shipped(answers.weights)]
    scored = [measures.score(system, asked, measures.DAYS) for system in compared]
    return ChatReport(
        dataset="gvd",
        data={
            **_sizes(data.conversations),
            **{f"labelled_{rule}": count for rule, count in data.rules.items()},
            "questions_unlabelled": list(data.unlabelled),
            "days_not_in_store": answers.lost,
        },
        headline="recall@1",
        rows=_rows(scored, asked, range(len(asked)), "recall@1", seed),
        weights=_weights(answers.weights, {}),
        ablation=tuple(ablations(answers.weights, asked, {}, measures.DAYS)),
        abstention=None,
        questions=questions(asked, scored),
    )


def _sizes(conversations: Sequence[Conversation]) -> dict[str, int | list[str]]:
    return {
        "conversations": len(conversations),
        "turns": sum(len(each.turns) for each in conversations),
        "questions": sum(len(each.questions) for each in conversations),
    }


def _rows(
    scored: Sequence[Scored],
    asked: Sequence[Asked],
    counted: Sequence[int],
    headline: str,
    seed: int,
) -> tuple[Row, ...]:
    clusters = [each.conversation for each in asked]
    categories = [each.question.category for each in asked]
    groups = {
        "category": grouped(categories, range(len(asked))),
        "conversation": grouped(clusters, counted),
    }
    return tuple(row(each, counted, clusters, groups, headline, seed) for each in scored)


def _weights(shipped: Sequence[float], fitted: Mapping[str, Floats]) -> dict[str, dict[str, float]]:
    """The shipped weights, and the fitted ones in the same size: only their ratios rank."""
    size = sum(map(abs, shipped))
    named = {"shipped": list(shipped)}
    for conversation, found in fitted.items():
        scale = size / (float(abs(found).sum()) or 1.0)
        named[f"without {conversation}"] = [round(float(each) * scale, 4) for each in found]
    return {name: dict(zip(runs.SIGNALS, values, strict=True)) for name, values in named.items()}
