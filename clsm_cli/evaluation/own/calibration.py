"""Calibrate the confidence floor of a store on a person's own labelled queries.

A floor refuses queries that have no answer and silences some that have one. Chosen is the largest
floor below which the confidence of a further answerable query falls with a probability of at most 1
in 50. A set of one's own is small: of 30 queries the least sure one says little of the least sure to
come. So the lower tail is taken to be exponential, as far below a threshold as tails mostly are
(peaks over threshold: Pickands 1975; Coles, An Introduction to Statistical Modeling of Extreme
Values, 2001, ch. 4). With the n logits of the confidences in ascending order x₁ … xₙ, the k = n/5
lowest below the threshold u = xₖ₊₁ and h the mean of u − x₁ … u − xₖ,

    P(x < u − y) = k/n · e^(−y/h),  so the floor is σ(u − h · ln(k / (n · 0.02))),

but no more than 1 in 50 of the queries at hand may fall below it. Queries without an answer take no
part in the choice, so the share of them that is refused is an honest estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, log
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.loaders import queries as loader
from clsm_cli.evaluation.own import sheet
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, front_matter, layout, runs
from clsm_cli.store.front_matter import MAX_FRONT_MATTER
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

NAME = "recall.floor"
SILENCED = 0.02
"""Share of answerable queries that may be silenced."""
TAIL = 0.2
"""Share of them that shows how the lower tail runs."""
LEAST_ANSWERABLE = 20
LEAST_NEGATIVE = 10
"""Queries below which nothing is chosen: one of five negatives more or less is a fifth."""
GRID = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Floors that are shown besides."""
_NEAREST = 0.001
"""How near to 0 and 1 a confidence is taken, as the logits of those have no end."""


class Point(NamedTuple):
    """What a floor does."""

    floor: float
    refused: int
    silenced: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """A floor, and what it rests on.

    Attributes:
        before: The floor that is set; ``after``: the one that is chosen.
        points: Floors in ascending order, those two among them.
        answerable: Queries with an answer; ``negative``: without one.
        auroc: Probability that an answerable query has more confidence than one that is not.
        notes: What is wrong with the labels.
        run: Id in the ledger; None: nothing was written.
    """

    before: float
    after: float
    points: tuple[Point, ...]
    answerable: int
    negative: int
    auroc: float
    notes: tuple[str, ...]
    run: str | None = None


def calibrate(store: Store, factory: StoreFactory, engine: Engine) -> Calibration:
    """Choose a floor on the labels of a store; nothing is written.

    It is asked at the time that is the factory's ``now``, with an open engine.

    Raises:
        BadInputError: The labels are not what they must be.
        RefusedError: There are too few of them, or they are of another store.
    """
    path = sheet.labels_path(store)
    _check_store(store)
    dataset = loader.load(path, store.root)
    asked = dataset.cases[0].queries
    with_answer = [query for query in asked if not query.negative]
    without = [query for query in asked if query.negative]
    _check_number(str(path), len(with_answer), len(without))
    sure, unsure = (
        [each.confidence or 0.0 for each in sheet.answers(store, queries, factory, engine)]
        for queries in (with_answer, without)
    )
    before = store.settings.recall.floor
    after = choose_floor(sure)
    shown = sorted({*GRID, before, after})
    return Calibration(
        before=before,
        after=after,
        points=tuple(Point(f, _below(unsure, f), _below(sure, f)) for f in shown),
        answerable=len(with_answer),
        negative=len(without),
        auroc=metrics.auroc(sure, unsure),
        notes=dataset.notes,
    )


def apply(store: Store, found: Calibration, now: datetime) -> str | None:
    """Write the floor into ``clsm.yaml``; a run that can be undone.

    The id of the run; None where the floor is that already.

    Raises:
        RefusedError: The file is written in a way that cannot be changed, or was changed meanwhile.
        LockedError: Another clsm kept the lock.
        DiskError: The operating system refused.
    """
    if found.after == found.before:
        return None
    path = store.root / layout.CONFIG_NAME
    with locked(store.root, store.settings.store.lock_wait):
        end_begun_run(store)
        data = atomic.read(path, MAX_FRONT_MATTER) or b""
        made = front_matter.with_setting(data, NAME, found.after, path)
        writes = [runs.Put(path, made, read_as=atomic.sha256(data))]
        line = runs.apply(store, "eval calibrate", utc_text(now), writes, whole=True)
    return line.id if line else None


def choose_floor(sure: Sequence[float]) -> float:
    """The floor for some confidences of answerable queries, 0 … 1, in steps of 0.001.

    >>> choose_floor([0.5] * 30)
    0.5
    >>> choose_floor([0.1] * 6 + [0.5] * 24)  # u = 0, h = ln 9, so 1 / (1 + 9^(ln 10))
    0.006
    """
    if len(sure) < 2:
        return 0.0
    values = sorted(sure)
    low = max(1, int(TAIL * len(values)))
    threshold = _logit(values[low])
    mean = fmean(threshold - _logit(value) for value in values[:low])
    depth = mean * log(max(1.0, low / (len(values) * SILENCED)))
    bound = 1 / (1 + exp(depth - threshold))
    return floor(1000 * min(bound, values[int(SILENCED * len(values))]) + 1e-9) / 1000


def _logit(value: float) -> float:
    near = min(max(value, _NEAREST), 1 - _NEAREST)
    return log(near / (1 - near))


def _below(values: Sequence[float], least: float) -> int:
    return sum(value < least for value in values)


def _check_store(store: Store) -> None:
    path, read = sheet.labels_path(store), sheet.read_labels(store)
    named = loader.named_store(path, read)
    if read.store and named is not None and named.resolve() != store.root.resolve():
        reason = f"its labels are of another store, {read.store}"
        raise RefusedError(str(path), reason, "label queries of this one with: clsm eval label")
    known = sheet.name_lookup(store)
    ids = [name for row in read.rows for name in row.memories]
    odd = sum(known.piece(name) is None for name in ids)
    if odd > 1 and 2 * odd > len(ids):
        reason = f"{odd} of the {len(ids)} memories that it names are not in this store"
        raise RefusedError(str(path), reason, "label queries of this one with: clsm eval label")


def _check_number(name: str, answerable: int, negative: int) -> None:
    missing = [
        f"{least - count} more that {what}"
        for count, least, what in (
            (answerable, LEAST_ANSWERABLE, "have an answer"),
            (negative, LEAST_NEGATIVE, "have none"),
        )
        if count < least
    ]
    if missing:
        reason = f"has too few queries to set a floor by: it needs {' and '.join(missing)}"
        raise RefusedError(name, reason, "label more with: clsm eval label")
