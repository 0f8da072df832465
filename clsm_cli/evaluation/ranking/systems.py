"""What is compared: baselines, the shipped weights, and weights fitted on other conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.ranking import fitting, runs
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.ranking.asking import Asked
    from clsm_cli.evaluation.ranking.runs import Run

    Floats = NDArray[np.float64]

BM25, COSINE, FUSION = "BM25", "MiniLM", "BM25 + MiniLM"
CLSM, CONTENT = "clsm", "clsm content"
REFIT, REFIT_CONTENT = "clsm refit", "refit content"
BM25_SHARE = 0.4


class System(NamedTuple):
    """A way to score candidates.

    Attributes:
        scores: A question's run and its conversation → float64 [candidates]; −inf for what is not
            returned.
    """

    name: str
    scores: Callable[[Run, str], Floats]


def baselines() -> list[System]:
    """Words alone, meaning alone, and both as most systems fuse them."""
    return [
        System(BM25, _words),
        System(COSINE, _meaning),
        System(FUSION, _fused),
    ]


def shipped(weights: Sequence[float]) -> list[System]:
    """The shipped weights as they are, and without the signals that suit chats between named people."""
    content = [
        0.0 if name in runs.NOT_CONTENT else weight
        for name, weight in zip(runs.SIGNALS, weights, strict=True)
    ]
    return [weighted(CLSM, weights), weighted(CONTENT, content)]


def weighted(name: str, weights: Sequence[float]) -> System:
    """Σ weight · signal."""
    import numpy as np

    column = np.asarray(weights, dtype=np.float64)
    return System(name, lambda run, _: run.signals @ column)


def above(floor: float, weights: Sequence[float]) -> System:
    """The shipped weights, without the answers that recall leaves out for want of confidence."""
    import numpy as np

    column = np.asarray(weights, dtype=np.float64)

    def scores(run: Run, _conversation: str) -> Floats:
        return np.where(run.confidence >= floor, run.signals @ column, -np.inf)

    return System(CLSM, scores)


def refit(name: str, fitted: dict[str, Floats]) -> System:
    """Each conversation with the weights that were fitted on the others."""
    return System(name, lambda run, conversation: run.signals @ fitted[conversation])


def leave_one_out(asked: Sequence[Asked], frozen: Sequence[str] = ()) -> dict[str, Floats]:
    """Weights for each conversation, fitted on the questions of all others.

    Args:
        asked: The questions to learn from.
        frozen: Names of signals that stay out.

    Returns:
        Conversation → weights in the order of ``runs.SIGNALS``; empty with one conversation.
    """
    samples = [(each.conversation, sample) for each in asked if (sample := _sample(each))]
    names = dict.fromkeys(name for name, _ in samples)
    places = [place for place, name in enumerate(runs.SIGNALS) if name in frozen]
    if len(names) < 2:
        return {}
    return {
        left_out: fitting.fit([sample for name, sample in samples if name != left_out], places)
        for left_out in names
    }


def unused(weights: Sequence[float]) -> tuple[str, ...]:
    """Names of the signals that clsm ships without a weight; a fit of it has none for them either."""
    pairs = zip(runs.SIGNALS, weights, strict=True)
    return tuple(name for name, weight in pairs if not weight)


def refits(
    asked: Sequence[Asked], fitted: dict[str, Floats], frozen: Sequence[str] = ()
) -> list[System]:
    """Fitted weights, of all signals and of those of content; none when nothing was fitted."""
    if not fitted:
        return []
    found = [refit(REFIT, fitted)]
    if runs.NOT_CONTENT.intersection(runs.SIGNALS):
        found.append(refit(REFIT_CONTENT, leave_one_out(asked, (*frozen, *runs.NOT_CONTENT))))
    return found


def _sample(asked: Asked) -> fitting.Sample | None:
    """The candidates of a question; None when none of them is gold."""
    gold = set(asked.gold)
    places = tuple(at for at, unit in enumerate(asked.run.units.tolist()) if unit in gold)
    return fitting.Sample(asked.run.signals, places) if places else None


def _words(run: Run, _conversation: str) -> Floats:
    import numpy as np

    return np.where(run.bm25 > 0, run.bm25, -np.inf)


def _meaning(run: Run, _conversation: str) -> Floats:
    import numpy as np

    return np.where(np.isnan(run.cosine), -np.inf, run.cosine)


def _fused(run: Run, _conversation: str) -> Floats:
    """Both brought to 0 … 1 over the candidates of the question."""
    import numpy as np

    fused: Floats = BM25_SHARE * _spread(run.bm25) + (1 - BM25_SHARE) * _spread(
        np.nan_to_num(run.cosine)
    )
    return fused


def _spread(values: Floats) -> Floats:
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    spread: Floats = (values - low) / ((high - low) or 1.0)
    return spread
