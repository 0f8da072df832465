"""Where one episode ends and the next begins (Nemori §3.1.1; CMA §3.1).

``cut`` reads an open tail: the turns since the last cut, in order of arrival. It is called again
whenever turns arrive, so what it says about a place must never depend on where a call ended:

* the signs at a place read only the turns of the segment up to it;
* a boundary is final once a fixed number of turns after it is known (``_look_ahead``); a silence
  that is certain ends an episode at once, and nothing reaches across it;
* after a cut everything starts anew with the turns that remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.ingestion.signs import Beat, Segment, groups_of
from clsm_cli.scoring import evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.config import BoundarySettings

__all__ = ["Beat", "Cut", "cut", "peak_surprise"]


@dataclass(frozen=True, slots=True)
class Cut:
    """An episode that is final: the next ``length`` turns of the tail.

    Attributes:
        confidence: That there is a boundary after it; 1 where the input ended.
        reasons: Name of each sign that spoke for it → how strongly, 0 … 1.
        continues_next: The cap ended it, so the next episode goes on from it.
    """

    length: int
    confidence: float
    reasons: Mapping[str, float]
    continues_next: bool = False


def cut(tail: Sequence[Beat], *, ended: bool, settings: BoundarySettings) -> list[Cut]:
    """The episodes of ``tail`` that are final; what they do not cover stays open.

    Args:
        tail: Turns since the last cut, in order of arrival.
        ended: No turn will follow: nothing stays open.
        settings: See ``BoundarySettings``.

    The result for a longer tail begins with the result for a shorter one, and
    ``cut(tail) == first + cut(tail[first.length:])``.
    """
    groups = groups_of(tail)
    horizon = _cap(settings) + 1 + _look_ahead(settings)
    cuts: list[Cut] = []
    done = 0
    while done < len(groups):
        segment = Segment(groups[done : done + horizon], settings)
        found = _first(segment, ended=ended and done + horizon >= len(groups))
        if found is None:
            break
        place, reasons, capped = found
        start, done = groups[done].start, done + place
        end = groups[done].start if done < len(groups) else len(tail)
        confidence = round(evidence.combined(reasons.values()), 4)
        cuts.append(Cut(end - start, confidence, reasons, capped))
    return cuts


def peak_surprise(
    before: Sequence[Beat], episode: Sequence[Beat], settings: BoundarySettings
) -> float:
    """The largest surprise of a turn of ``episode``, in deviations of its window, at least 0.

    ``before`` are the turns that came before it in its session, as far as they should count: with
    the episode before this one, the turn that broke with its subject has its due.
    """
    if not episode:
        return 0.0
    groups = groups_of([*before, *episode])
    segment = Segment(groups, settings)
    first = sum(group.start < len(before) for group in groups)
    peaks = (segment.surprise(place) for place in range(first, len(groups)))
    return round(max([0.0, *peaks]), 4)  # only tools speak: there is no peak


def _least(settings: BoundarySettings) -> int:
    return max(1, settings.min_turns)


def _cap(settings: BoundarySettings) -> int:
    return max(_least(settings), settings.max_turns)


def _look_ahead(settings: BoundarySettings) -> int:
    """Turns after a place that settle it: to see its rivals, to move it, and a rest long enough."""
    return settings.refine + 2 * (_least(settings) - 1)


_Found = tuple[int, "dict[str, float]", bool]
"""A boundary: before which group of the segment, the signs for it, and whether the cap made it."""


def _first(segment: Segment, *, ended: bool) -> _Found | None:
    """The first boundary of the segment, if it is final.

    A silence that is certain is a wall: up to it, the tail has ended.
    """
    wall = segment.wall()
    length = segment.length if wall is None else wall
    found = _inside(segment, length, ended=ended or wall is not None)
    if found is None and wall is not None:
        return wall, segment.signs(wall), False
    if found is None and ended:
        return length, {"end": 1.0}, False
    return found


def _inside(segment: Segment, length: int, *, ended: bool) -> _Found | None:
    """The first boundary within ``length`` groups by signs short of certainty, or by the cap.

    Of places so near to each other that a segment between them would be too short, the surest
    counts. A rest shorter than ``min_turns`` joins what is before it, and a capped segment of an
    ended tail leaves it enough.
    """
    settings = segment.settings
    least, cap = _least(settings), _cap(settings)
    for place in range(least, min(cap, length - 1) + 1):
        if not segment.fires(place):
            continue
        known = min(length, place + 1 + _look_ahead(settings))
        if known <= place + _look_ahead(settings) and not ended:
            return None
        rivals = range(place, min(place + least, cap + 1, known - least + 1))
        if rivals:
            best = max(rivals, key=segment.confidence)
            moved = segment.refined(best, known, range(least, min(cap, known - least) + 1))
            if moved is not None:
                return moved, segment.signs(best), False
    if length >= cap + least or (ended and length > cap):
        place = min(cap, length - least)
        return place, segment.signs(place), True
    return None
