"""What each signal is worth: taken out, the weights of all others fitted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import compare, measures
from clsm_cli.evaluation.asked import Measured
from clsm_cli.evaluation.ranking import rankers, runs, weighing
from clsm_cli.evaluation.result import Ablated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.ranking.asking import Asked
    from clsm_cli.evaluation.ranking.weighing import Weights

ABOUT = {
    "bm25": "words in common",
    "maxsim": "late interaction with the passage and the one before it",
    "context": "the same with the one after it too",
    "episode": "words and meaning of the group it stands in",
    "participant": "whether it is by the person who is asked about",
    "date": "whether it was told at, or speaks of, the time that is asked about",
    "temporal": "whether it speaks of a time, where the question asks for one",
    "question": "whether it is a question itself",
    "fact": "whether it states the fact that is asked for",
    "echo": "late interaction with the turn before alone",
    "names": "how many names it mentions",
    "session": "the best passage of its conversation",
    "meaning": "cosine to a question that asks for several things or names no speaker",
    "outdated": "whether all that was learnt from it has passed, where the question asks for now",
    "graph": "a concept in common with one of the best that says the rest",
    "literal": "words that the model does not know, as they are written",
}
"""Each signal in a few words; ``retrieval.signals.Signals`` says it in full."""


def ablated(asked: Sequence[Asked], seed: int) -> list[Ablated]:
    """``clsm refit`` without each signal that has a weight, against ``clsm refit`` with all.

    The other weights are fitted anew without it, so what another signal can stand in for is not lost.

    Args:
        asked: All cases of a set.
        seed: Of the bootstrap.

    Returns:
        A row for each; none where nothing can be left out to fit on the others.
    """
    whole = weighing.leave_one_out(asked)
    if not whole:
        return []
    names = [name for name in runs.SIGNALS if name not in weighing.unused(asked)]
    with_all = _measured(asked, whole)
    return [
        _row(asked, name, with_all, _measured(asked, weighing.leave_one_out(asked, [name])), seed)
        for name in names
    ]


def _row(
    asked: Sequence[Asked],
    name: str,
    with_all: Sequence[Measured],
    left: Sequence[Measured],
    seed: int,
) -> Ablated:
    headline = asked[0].bench.dataset.headline
    cases = [each.bench.case.name for each in asked for query, _ in each.pairs() if query.gold]
    found = compare.pair(left, with_all, headline, cases, seed)
    difference, interval, p = found or (0.0, (0.0, 0.0), 1.0)
    return Ablated(
        mechanism=f"signal {name} (others fitted anew)",
        about=ABOUT[name],
        figures=compare.means(left, range(len(left))),
        difference=difference,
        interval=interval,
        p=p,
    )


def _measured(asked: Sequence[Asked], weights: Weights) -> list[Measured]:
    """The queries with evidence, one case after the other; no reach is taken."""
    found = []
    for each, ranked in zip(asked, rankers.by(asked, weights), strict=True):
        bench = each.bench
        setting = measures.Setting(bench.dataset.unit, bench.dataset.k, bench.whole)
        for query, retrieved in zip(each.queries, ranked, strict=True):
            if query.gold:
                figures = measures.figures(query, retrieved, None, setting)
                found.append(Measured(figures, (), (), retrieved.confidence, is_answered=True))
    return found
