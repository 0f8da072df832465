"""What each signal is worth, and whether confidence knows what the memory does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures, metrics
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.ranking import runs, systems
from clsm_cli.evaluation.report import Ablation, Abstention

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.measures import Ranking, Scored
    from clsm_cli.evaluation.ranking.asking import Answers, Asked
    from clsm_cli.evaluation.ranking.systems import System
    from clsm_cli.evaluation.report import Figures

    Measures = Mapping[str, Callable[[Ranking], float]]
    Floats = NDArray[np.float64]

ABLATED = ("recall@10", "ndcg@10", "tokens@1000", "recall@1", "recall@3")
"""Measures that an ablation shows, where the set has them."""
HEADLINE = "recall@10"
"""Measure of what the floor costs."""


def ablations(
    weights: Sequence[float],
    asked: Sequence[Asked],
    fitted: Mapping[str, Floats],
    of: Measures,
) -> Iterator[Ablation]:
    """Each signal that has weight taken out.

    Args:
        weights: The shipped ones.
        asked: Questions that count.
        fitted: Leave-one-out weights with all signals; empty: nothing is fitted anew.
        of: Measures of the set.
    """
    wanted = {name: of[name] for name in ABLATED if name in of}

    def figures(system: System) -> Figures:
        return measures.means(measures.score(system, asked, wanted), range(len(asked)))

    unused = systems.unused(weights)
    for place, signal in enumerate(runs.SIGNALS):
        if signal in unused:
            continue
        left = [0.0 if at == place else weight for at, weight in enumerate(weights)]
        again: Figures = {}
        if fitted:
            again = figures(systems.refit(signal, systems.leave_one_out(asked, [*unused, signal])))
        yield Ablation(signal, weights[place], figures(systems.weighted(signal, left)), again)


def abstention(answers: Answers, shipped: Scored) -> Abstention:
    """Confidence of answerable questions against those of the wrong person and off-topic ones.

    Args:
        answers: A LoCoMo set, asked.
        shipped: Its rankings by clsm as it is.
    """
    places = range(len(answers.asked))
    wrong = [at for at in places if answers.asked[at].question.category == locomo.ADVERSARIAL]
    right = sorted(set(places) - set(wrong))
    answerable = [answers.asked[at].run.confidence for at in right]
    adversarial = [answers.asked[at].run.confidence for at in wrong]
    system = systems.above(answers.floor, answers.weights)
    asked = [answers.asked[at] for at in right]
    kept = measures.score(system, asked, {HEADLINE: measures.TURNS[HEADLINE]})
    lost = shipped.values[HEADLINE][right].mean() - kept.values[HEADLINE].mean()
    return Abstention(
        answerable=len(right),
        adversarial=len(wrong),
        strangers=len(answers.off_topic),
        wrong_person=_auroc(answerable, adversarial),
        off_topic=_auroc(answerable, answers.off_topic),
        floor=answers.floor,
        silenced=_below(answerable, answers.floor),
        refused_adversarial=_below(adversarial, answers.floor),
        refused_off_topic=_below(answers.off_topic, answers.floor),
        recall_lost=float(lost),
    )


def _auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    return metrics.auroc(positive, negative) if positive and negative else None


def _below(values: Sequence[float], floor: float) -> float:
    return sum(value < floor for value in values) / max(1, len(values))
