"""Weights fitted to labelled questions: a conditional logit, solved by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RIDGE = 1e-3
"""Pull of the weights to 0 per question; keeps a signal that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about eight are needed."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The candidates of one question.

    Attributes:
        signals: float64 [candidates, signals].
        gold: Places of the candidates that answer it, at least one.
    """

    signals: Floats
    gold: tuple[int, ...]


def fit(samples: Sequence[Sample], frozen: Sequence[int] = ()) -> Floats:
    """The weights w under which gold candidates are likeliest to be chosen.

    Each question is a choice among its candidates x_i, p_i = exp(w·x_i) / Σ_j exp(w·x_j), and

        L(w) = Σ_questions mean_gold log p_g − ½ · ridge · questions · |w|²

    is concave, so Newton's method finds its one maximum whatever the start (McFadden 1974; as a
    ranking loss, ListNet's top-one likelihood, Cao et al. 2007). Its gradient is Σ (x̄_gold − E_p x),
    its Hessian −Σ Cov_p(x); exponents are shifted by their maximum.

    Args:
        samples: One a question.
        frozen: Signals whose weight stays 0.

    Returns:
        float64 [signals].

    >>> import numpy as np
    >>> steep = Sample(np.array([[1.0, 0.0], [0.0, 0.0]]), (0,))
    >>> weights = fit([steep] * 10)
    >>> bool(weights[0] > 1), float(weights[1])
    (True, 0.0)
    """
    import numpy as np

    width = samples[0].signals.shape[1]
    free = [at for at in range(width) if at not in set(frozen)]
    choices = _Choices(samples, free)
    weights = np.zeros(len(free))
    for _ in range(STEPS):
        gradient, curvature, value = choices.derivatives(weights)
        step = np.linalg.solve(curvature, gradient)
        while choices.value(weights + step) < value and np.abs(step).max() > 1e-9:
            step /= 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    found = np.zeros(width)
    found[free] = weights
    return found


class _Choices:
    """All samples as one table, so that a step is a few passes over it."""

    def __init__(self, samples: Sequence[Sample], columns: Sequence[int]) -> None:
        import numpy as np

        sizes = np.array([len(sample.signals) for sample in samples])
        self.table = np.concatenate([sample.signals[:, columns] for sample in samples])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.owner = np.repeat(np.arange(len(samples)), sizes)
        self.gold = np.stack(
            [sample.signals[list(sample.gold)][:, columns].mean(axis=0) for sample in samples]
        )
        self.ridge = RIDGE * len(samples)

    def _logs(self, weights: Floats) -> tuple[Floats, Floats]:
        """The log of Σ exp of each question, and the probability of every candidate."""
        import numpy as np

        scores = self.table @ weights
        highest = np.maximum.reduceat(scores, self.starts)
        shares = np.exp(scores - highest[self.owner])
        totals = np.add.reduceat(shares, self.starts)
        return np.log(totals) + highest, shares / totals[self.owner]

    def value(self, weights: Floats) -> float:
        logs, _ = self._logs(weights)
        return float((self.gold @ weights - logs).sum() - self.ridge / 2 * (weights @ weights))

    def derivatives(self, weights: Floats) -> tuple[Floats, Floats, float]:
        """Gradient, negated Hessian, and value."""
        import numpy as np

        logs, shares = self._logs(weights)
        weighted = self.table * shares[:, None]
        means = np.add.reduceat(weighted, self.starts)
        gradient = (self.gold - means).sum(axis=0) - self.ridge * weights
        curvature = weighted.T @ self.table - means.T @ means + self.ridge * np.eye(len(weights))
        value = (self.gold @ weights - logs).sum() - self.ridge / 2 * (weights @ weights)
        return gradient, curvature, float(value)
