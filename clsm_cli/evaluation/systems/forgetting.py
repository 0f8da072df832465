"""MemoryBank's forgetting curve, a baseline of the evaluation alone; nothing is ever deleted.

MemoryBank (Zhong et al. 2023, §3.3) keeps a memory with probability R = e^(−t / S), t days after it
was last recalled; its strength S begins at 1, and each recall adds 1 and sets t to 0. In its code t
is divided by 5, and what was meant as e^(−t / 5S) is written ``exp(-t / 5*S)``, which is e^(−t · S / 5):
there a memory is forgotten the faster the more often it was recalled. Both are here. Instead of a
draw at random a memory is forgotten once R is below ½.
"""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.evaluation.systems.meaning import cosines, nearest
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.systems.baseline import Rank, Ranked
    from clsm_cli.evaluation.systems.pool import Pool

    Floats = NDArray[np.float64]
    Curve = Callable[[Floats, Floats], Floats]
    """Whole days since the last recall, and strengths → shares that are retained."""

RECALLED = 6
"""Memories that a message recalls, and that are returned for a query (the code's top k)."""
LEAST = 0.5
"""Retention below which a memory is forgotten."""
SCALE = 5
"""Days, of the curve (the code's)."""


class Traces(NamedTuple):
    """How well passages are remembered.

    Attributes:
        days: float64 [passages], of the last recall, or else on which it was told, as a proleptic
            ordinal; inf for an undated one, which is as fresh as on its first day.
        strengths: float64 [passages], 1 and the times it was recalled.
    """

    days: Floats
    strengths: Floats


def intended(days: Floats, strengths: Floats) -> Floats:
    """R = e^(−t / 5S).

    >>> import numpy as np
    >>> intended(np.array([10.0, 10.0]), np.array([1.0, 4.0])).round(3).tolist()
    [0.135, 0.607]
    """
    import numpy as np

    return np.exp(-days / (SCALE * strengths))


def as_coded(days: Floats, strengths: Floats) -> Floats:
    """R = e^(−t · S / 5).

    >>> import numpy as np
    >>> as_coded(np.array([2.0, 2.0]), np.array([1.0, 4.0])).round(3).tolist()
    [0.67, 0.202]
    """
    import numpy as np

    return np.exp(-days * strengths / SCALE)


def memorybank(pool: Pool, curve: Curve) -> Rank:
    """Passages that are not forgotten, by the cosine of MiniLM.

    What was said is replayed first: each message of a user recalls the six nearest passages that
    were said before it and were not forgotten by then; notes recall nothing. Without recalls both
    curves are the same. Queries leave no trace, so their order says nothing.
    """
    return partial(_rank, pool, curve, replayed(pool, curve))


def _rank(pool: Pool, curve: Curve, traces: Traces, text: str, at: str) -> Ranked:
    import numpy as np

    kept = remembered(traces, day_of(at), curve)
    return nearest(np.where(kept, cosines(pool, text), np.float32(np.nan)))


def remembered(traces: Traces, today: float, curve: Curve) -> NDArray[np.bool_]:
    """Which passages are still remembered on a day; bool [passages]."""
    import numpy as np

    return curve(np.maximum(0, today - traces.days), traces.strengths) >= LEAST


def replayed(pool: Pool, curve: Curve) -> Traces:
    """What is left of each passage after all that was said; see ``memorybank``."""
    import numpy as np

    traces = Traces(
        np.array([day_of(passage.time) for passage in pool.passages], np.float64),
        np.ones(len(pool.passages)),
    )
    spoken = [
        (passage.time, place)
        for place, passage in enumerate(pool.passages)
        if passage.time and passage.document is None
    ]
    is_said = np.zeros(len(pool.passages), np.bool_)
    for time, place in sorted(spoken):
        if pool.passages[place].role == "user":
            today = day_of(time)
            held = np.flatnonzero(is_said & remembered(traces, today, curve))
            near = nearest(np.einsum("ij,j->i", pool.vectors[held], pool.vectors[place]))
            recalled = held[list(near.places[:RECALLED])]
            traces.days[recalled] = today
            traces.strengths[recalled] += 1
        is_said[place] = True
    return traces


def day_of(time: str | None) -> float:
    """The day of an ISO time as a proleptic ordinal; inf without one.

    >>> day_of("0001-01-03T10:00:00+00:00"), day_of(None)
    (3.0, inf)
    """
    return float(date.fromisoformat(time[:10]).toordinal()) if time else float("inf")
