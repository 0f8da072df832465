"""Cosines of a query to int8 vectors, exact whatever the order of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def cosines(
    vectors: npt.NDArray[np.int8],
    scales: npt.NDArray[np.float32],
    query: npt.NDArray[np.float32],
) -> npt.NDArray[np.float64]:
    """Cosine of a unit query q to every row v = scale · d, with d in −127 … 127.

    q is split into two int8 parts, q = s · (127 · hi + lo) with |hi| ≤ 127 and |lo| ≤ 63, so

        cos = scale · s · (127 · Σ hi_i d_i + Σ lo_i d_i).

    Every product and partial sum is a whole number below 384 · 127 · 127 < 2²⁴ and so exact in
    float32: the result does not depend on where a row lies, on threads or on the processor's
    order of adding. Quantising q so costs less than 1e-4 of cosine.

    Args:
        vectors: int8 [n, d].
        scales: float32 [n].
        query: float32 [d], unit length.

    Returns:
        float64 [n].

    >>> import numpy as np
    >>> rows = np.array([[127, 0], [0, 127]], dtype=np.int8)
    >>> cosines(rows, np.full(2, 1 / 127, np.float32), np.array([1, 0], np.float32)).round(6)
    array([1., 0.])
    """
    import numpy as np

    step = float(np.abs(query).max()) / (127 * 127) or 1.0
    whole = np.rint(query / step)
    high = np.rint(whole / 127)
    parts = np.stack([high, whole - 127 * high], axis=1).astype(np.float32)
    sums = (vectors.astype(np.float32) @ parts).astype(np.float64)
    products: npt.NDArray[np.float64] = (sums[:, 0] * 127 + sums[:, 1]) * step
    return products * scales.astype(np.float64)
