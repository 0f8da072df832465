"""Where exactly a boundary lies: the split of the turns around it that groups them best.

Q = 1/2m Σ_ij (A_ij − k_i k_j / 2m) δ(c_i, c_j)     (Newman 2004; CMA §3.1.2, after EM-LLM)

A is the affinity of two turns, k_i = Σ_j A_ij, 2m = Σ_i k_i, and δ is 1 for turns on the same side
of the split. CMA takes attention for A; without a language model it is similarity that fades with
distance: A_ij = max(0, cos) · e^(−|i−j|/8), A_ii = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

REACH = 8.0
"""Turns over which affinity falls to 1/e: about the length of an episode (own choice)."""
CONFIRMED = 0.06
"""Gain of Q below which a split is no change of subject. LoCoMo: a quarter of the joints of two
unrelated talks lie below 0.08, half of the places within one talk below 0.05."""


def affinity(vectors: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The matrix A of unit ``vectors``, one for each turn, in their order.

    >>> import numpy as np
    >>> a = affinity([np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([-1.0, 0.0])])
    >>> a.round(4).tolist()  # e^(-1/8) between the first two
    [[0.0, 0.8825, 0.0], [0.8825, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    import numpy as np

    x = np.asarray(vectors, dtype=np.float64)
    a: np.ndarray[Any, Any] = np.maximum(0.0, x @ x.T) * _fading(len(x))
    return a


def _fading(n: int) -> np.ndarray[Any, Any]:
    """The affinity of ``n`` turns that all say the same: e^(−|i−j|/8), 0 on the diagonal."""
    import numpy as np

    places = np.arange(n)
    fading: np.ndarray[Any, Any] = np.exp(-np.abs(places[:, None] - places[None, :]) / REACH)
    np.fill_diagonal(fading, 0.0)
    return fading


def split_quality(a: np.ndarray[Any, Any], at: int) -> float:
    """Q of the two communities [0, at) and [at, n).

    With L and R the sums of A inside the two sides and K_L, K_R their sums of k, the definition
    reduces to Q = (L + R)/2m − (K_L² + K_R²)/(2m)²; no affinity at all gives 0.

    >>> import numpy as np
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> split_quality(two_pairs, 2)  # all inside (1), each side half of the degrees (-1/2)
    0.5
    >>> split_quality(two_pairs, 3)  # 2/4 inside, degrees 3 and 1: 1/2 - 10/16
    -0.125
    """
    total = float(a.sum())
    if total <= 0.0:
        return 0.0
    inside = float(a[:at, :at].sum() + a[at:, at:].sum())
    left = float(a[:at].sum())
    return inside / total - (left**2 + (total - left) ** 2) / total**2


def best_split(a: np.ndarray[Any, Any], at: int, candidates: Sequence[int]) -> int:
    """The candidate with the highest Q; ``at`` itself unless another one is better.

    Q therefore never falls. Ties go to the nearest, then to the earlier place.

    >>> import numpy as np
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> best_split(two_pairs, 3, range(1, 4))
    2
    """
    ranked = ((split_quality(a, place), -abs(place - at), -place) for place in {at, *candidates})
    return -max(ranked)[2]


def confirms(a: np.ndarray[Any, Any], at: int) -> bool:
    """Whether a split groups the turns better than their distance alone would.

    Affinity fades, so even turns that all say the same split with Q > 0. What the subject adds is
    the gain Q(A) − Q(A of equal turns), which must reach ``CONFIRMED``.

    >>> import numpy as np
    >>> one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> confirms(affinity([one] * 4), 2), confirms(affinity([one, one, other, other]), 2)
    (False, True)
    """
    return split_quality(a, at) - split_quality(_fading(len(a)), at) >= CONFIRMED
