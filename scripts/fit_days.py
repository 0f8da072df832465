"""Fit the weights by which a day without a year is placed (``text/time/placement.py``).

Run ``python -m scripts.fit_days``. It writes ``clsm_cli/text/time/placement.bin`` and beside it ``placement.json``
with the digest of the labels and the figures.

Writers who had not seen the program said of days in their sentences where they lie; plain lines and the samples
of the tests are examples, too (``fixtures/labels/told_days.tsv``). Each figure is of a writer who was left out
of its fit.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from clsm_cli.text.time import ahead, expressions, placement
from scripts.fitting import layers
from scripts.join_labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TOLD = LABELS / "told_days.tsv"
WRITERS = "abc"
AGAIN = 6.0
"""Times that the samples of the tests count: what was placed once must stay placed."""
DECAY, ROUNDS, RATE = 2.5, 150, 0.05
"""Weight of ½ Σ w²; steps over all examples; the rate at first."""
FAR, FAR_WEIGHT = (30, 90, 150, 210, 270, 330), 0.5
"""Each day of a month is an example a second time, so many days away: writers tell of near ones, but words that
place a day do so however far away it is.
"""
_YEARLY = 300  # days between two occurrences, at least
UNCLEAR = placement.Chances(1 / 3, 1 / 3, 0, 1 / 3)
"""What an unclear day may be."""


class Day(NamedTuple):
    """A day of a text without its year, where ``label`` says that it lies; ``writer`` is who wrote it."""

    writer: str
    at: date
    label: str
    language: str
    day: str
    text: str


class Reading(NamedTuple):
    """A day as the program reads it: its offsets, its next occurrence, and the last one."""

    start: int
    end: int
    coming: date
    last: date


class Example(NamedTuple):
    """The places of a day's weights, its label, and how much it counts."""

    places: list[int]
    label: str
    weight: float


def told() -> list[Day]:
    """The days of the writers."""
    rows = (row.split("\t") for row in TOLD.read_text("utf-8").split("\n") if row and row[0] != "#")
    return [Day(writer, date.fromisoformat(at), *rest) for writer, at, *rest in rows]


def readings(text: str, at: date) -> Iterator[Reading]:
    """The days of a text without a year, as the program finds them."""
    sides = [expressions.find_expressions(text, at, direction=side) for side in ("plan", "past")]
    for coming, last in zip(*sides, strict=False):
        if coming.kind == "plan" and (coming.start, last.kind) == (last.start, "past"):
            yield Reading(coming.start, coming.end, coming.first, last.first)
    yield from (Reading(*each) for each in ahead.numbered_days(text, at))


@cache
def reading(day: Day) -> Reading | None:
    """The reading of a labelled day: the one that has most of it."""
    start = day.text.index(day.day)
    end = start + len(day.day)
    met = [
        (min(end, each.end) - max(start, each.start), each) for each in readings(day.text, day.at)
    ]
    most, found = max(met, default=(0, None), key=lambda each: each[0])
    return found if most > 0 else None


def examples(days: Iterable[Day]) -> Iterator[Example]:
    """The days that the program reads, those of months twice."""
    read = ((day, found) for day in days if (found := reading(day)))
    for place, (day, found) in enumerate(read):
        coming, gone = (found.coming - day.at).days, (day.at - found.last).days
        count = AGAIN if day.writer == "tests" else 1.0
        yield Example(slots(day, found, (coming, gone)), day.label, count)
        if coming + gone > _YEARLY:
            far = FAR[place % len(FAR)]
            places = slots(day, found, (far, coming + gone - far))
            yield Example(places, day.label, FAR_WEIGHT * count)


@cache
def slots(day: Day, found: Reading, away: tuple[int, int]) -> list[int]:
    """The places of the weights of a day."""
    names = placement.day_features(day.text, found.start, found.end, away)
    return sorted(placement.slots(names))


def fitted(days: Sequence[Day]) -> bytes:
    """The weights of a softmax regression over the days that the program reads."""
    places, labels, weighed = zip(*examples(days), strict=True)
    ends = np.cumsum([0, *map(len, places)])
    ones = np.ones(ends[-1])
    table = csr_matrix((ones, np.concatenate(places), ends), (len(places), placement.SLOTS))
    wanted = np.array([UNCLEAR if label == "unclear" else _sure(label) for label in labels])
    counts = np.array(weighed)[:, None]

    def errors(scores: Any) -> Any:
        chances = np.exp(scores - scores.max(1, keepdims=True))
        return counts * (chances / chances.sum(1, keepdims=True) - wanted)

    weights, offset = layers(
        table, len(UNCLEAR), errors, hidden=0, decay=DECAY, rounds=ROUNDS, rate=RATE
    )
    weights[[*placement.slots([placement.EVERY])]] += offset
    limits = np.iinfo(np.int8)
    whole = np.rint(weights.T * placement.SCALE).clip(limits.min, limits.max)
    return bytes(whole.astype(np.int8).tobytes())


def _sure(label: str) -> placement.Chances:
    return placement.Chances(*(float(kind == label) for kind in placement.Chances._fields))


def use(weights: bytes) -> None:
    """Let the program read these weights."""
    Path(placement.WEIGHTS).write_bytes(weights)
    placement.stored_weights.cache_clear()


def outcomes(day: Day) -> tuple[str, str]:
    """What becomes of a labelled day as a time of a text, and as a day to be reminded of.

    ``right``, ``invented``, or ``open``: nothing is said of it. A yearly day may be told when it comes.
    """
    found = reading(day)
    if found is None:
        return "unread", "unread"
    told_times = expressions.find_expressions(day.text, day.at)
    placed = [each for each in told_times if each.start == found.start and each.certain]
    time = "open"
    meant = {"ahead": found.coming, "behind": found.last}.get(day.label)
    for each in placed:
        time = "right" if each.first == meant else "invented"
    if ahead.day_ahead(day.text, day.at) != found.coming.isoformat():
        return time, "open"
    return time, {"ahead": "right", "recurs": "yearly"}.get(day.label, "invented")


def figures(days: Sequence[Day]) -> dict[str, dict[str, int]]:
    """Of days in English, by label: how many are read, and what is said of them."""
    counts: dict[str, Counter[str]] = {}
    for day in days:
        if day.language == "en":
            time, reminder = outcomes(day)
            count = counts.setdefault(day.label, Counter())
            count.update(("days", f"time {time}", f"reminder {reminder}"))
    return {label: dict(sorted(count.items())) for label, count in sorted(counts.items())}


def main() -> None:
    """Measure with each writer left out, then fit on all."""
    days = told()
    left_out = {}
    for writer in WRITERS:
        use(fitted([day for day in days if day.writer != writer]))
        left_out[writer] = figures([day for day in days if day.writer == writer])
        print(writer, left_out[writer], flush=True)
    use(fitted(days))
    about = {"labels": hashlib.sha256(TOLD.read_bytes()).hexdigest()[:16], "left out": left_out}
    text = json.dumps(about, indent=1) + "\n"
    Path(placement.WEIGHTS).with_suffix(".json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
