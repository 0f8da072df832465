"""Where one episode ends and the next begins (Nemori §3.1.1; CMA §3.1).

``split_episodes`` reads an open tail: the turns since the last cut, in order of arrival. It runs again
whenever turns arrive, so its result at a place must not depend on where a call ended:

* the signs at a place use only the turns of the segment up to it;
* a boundary is final once a fixed number of turns after it is known (``_look_ahead``); a certain gap ends an
  episode at once, and nothing reaches across it;
* after a cut everything starts anew with the remaining turns.

The signs of a boundary come first, read turn by turn (``scoring.boundary_evidence`` turns them into numbers),
then the cuts. Tool turns belong to the turn before them, and are neither counted nor compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.scoring import boundary_evidence, modularity
from clsm_cli.scoring.boundary_evidence import WordModel, deviations, turn_surprise
from clsm_cli.text.language_data import pattern
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import numpy as np

    from clsm_cli.config import BoundarySettings
    from clsm_cli.model.episodes import Role

CONTEXT_TURNS = 3  # turns before a place to compare a turn with (TextTiling's block)
MIN_HISTORY = 3  # turns of a segment before coherence and surprise have a baseline
MARKER_EVIDENCE, CLOSING_EVIDENCE = 0.6, 0.6  # of a discourse marker and of a farewell
EDGE_CHARS = 200  # characters at the start or end of a turn in which markers and farewells count
WORD_CHARS = 2000  # characters of a turn whose words count: slightly more than its vector covers
EXPLICIT_CONFIDENCE = 0.5  # of gap, marker and farewell, from which the boundary is not moved


@dataclass(frozen=True, slots=True, eq=False)
class TurnFeatures:
    """The features of one turn; ``vector`` is a unit vector of its text."""

    text: str
    role: Role
    time: datetime | None
    vector: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """A turn and the tool turns after it; ``start``: index in the tail, ``active``: last known time."""

    head: TurnFeatures
    start: int
    active: datetime | None


def group_turns(tail: Sequence[TurnFeatures]) -> list[Group]:
    """The tail by conversational turns; leading tool turns belong to the first one."""
    heads = [i for i, turn in enumerate(tail) if turn.role != "tool"] or [0][: len(tail)]
    groups = []
    for start, head, end in zip([0, *heads[1:]], heads, [*heads[1:], len(tail)], strict=False):
        times = [turn.time for turn in tail[start:end] if turn.time is not None]
        groups.append(Group(tail[head], start, times[-1] if times else None))
    return groups


class Segment:
    """The groups from the last cut on, and the signs of a boundary before each of them.

    Attributes:
        signs: Evidence for a boundary at each place, by name, 0 to 1.
        surprises: Surprise of each turn, in deviations above the mean of its window.
    """

    def __init__(self, groups: list[Group], settings: BoundarySettings) -> None:
        self.settings = settings
        self.length = len(groups)
        self._groups = groups
        self.signs: list[dict[str, float]] = [{}]
        self.surprises = [0.0]
        self._clock = groups[0].active
        self._words = WordModel()
        self._vectors: list[np.ndarray[Any, Any]] = []
        self._coherence: list[float] = []
        self._past: list[float] = []
        self._learn(groups[0].head)
        for place in range(1, len(groups)):
            self._read(place)

    def confidence(self, place: int) -> float:
        """Combined confidence of the signs."""
        return boundary_evidence.combine(self.signs[place].values())

    def is_boundary(self, place: int) -> bool:
        """Whether the signs suffice for a boundary."""
        return self.confidence(place) > self.settings.confidence

    def certain_gap(self) -> int | None:
        """The first certain gap: no boundary moves across it and no turns join."""
        certain = (place for place, signs in enumerate(self.signs) if signs.get("gap", 0.0) >= 1.0)
        return None if self.settings.confidence >= 1.0 else next(certain, None)

    def refined(self, place: int, known: int, allowed: range) -> int | None:
        """``place``, moved to where modularity best splits the ``known`` groups; None if the subject stays.

        The latter is ``modularity.is_confirmed``. An explicit boundary does not move: a gap, a marker or a
        farewell is exact.
        """
        explicit = (self.signs[place].get(name, 0.0) for name in ("gap", "marker", "closing"))
        if boundary_evidence.combine(explicit) >= EXPLICIT_CONFIDENCE:
            return place
        a = modularity.affinity([group.head.vector for group in self._groups[:known]])
        reach = self.settings.refine
        near = range(max(allowed.start, place - reach), min(allowed.stop, place + reach + 1))
        best = modularity.best_split(a, place, near)
        return best if modularity.is_confirmed(a, best) else None

    def _read(self, place: int) -> None:
        before, now = self._groups[place - 1].head, self._groups[place].head
        self._clock = self._groups[place - 1].active or self._clock
        signs = {
            "gap": _gap(self._clock, now.time, self.settings),
            "marker": MARKER_EVIDENCE
            * bool(pattern("boundaries.marker").match(now.text[:EDGE_CHARS])),
            "closing": CLOSING_EVIDENCE * (_closes(before) and not _closes(now)),
            **self._shift(now),
        }
        self.signs.append({name: round(e, 4) for name, e in signs.items() if e > 0.0})
        self._learn(now)

    def _shift(self, now: TurnFeatures) -> dict[str, float]:
        """Coherence and surprise of a turn against the previous turns; both enter the baseline."""
        import numpy as np

        self.surprises.append(0.0)
        if not _has_words(now) or not self._vectors:
            return {}
        coherence = cosine(now.vector, np.mean(self._vectors[-CONTEXT_TURNS:], axis=0))
        novelty = 1.0 - cosine(now.vector, np.mean(self._vectors, axis=0))
        surprise = turn_surprise(self._words.bits(stems(now.text[:WORD_CHARS])), novelty)
        z = deviations(surprise, self._past[-max(1, self.settings.window) :])
        self._past.append(surprise)
        self.surprises[-1] = z
        past = self._coherence.copy()
        self._coherence.append(coherence)
        if len(self._vectors) < MIN_HISTORY:
            return {}
        return {
            "coherence": boundary_evidence.coherence_evidence(coherence, past),
            "surprise": boundary_evidence.surprise_evidence(z, self.settings.gamma),
        }

    def _learn(self, now: TurnFeatures) -> None:
        if _has_words(now):
            self._words.learn(stems(now.text[:WORD_CHARS]))
            self._vectors.append(now.vector)


def _gap(before: datetime | None, now: datetime | None, settings: BoundarySettings) -> float:
    if before is None or now is None:
        return 0.0
    silence = now - before
    try:
        new_day = (now - silence).date() != now.date()  # both on the later turn's calendar
    except OverflowError:  # year 1 or 9999 in another zone
        new_day = False
    return boundary_evidence.gap_evidence(silence.total_seconds() / 60.0, new_day, settings)


def _has_words(turn: TurnFeatures) -> bool:
    return any(c.isalnum() for c in turn.text)


def _closes(turn: TurnFeatures) -> bool:
    return pattern("boundaries.closing").search(turn.text[-EDGE_CHARS:]) is not None


def cosine(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Cosine of two vectors; 0 if one of them is zero."""
    import numpy as np

    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class ClosedEpisode:
    """A final episode: the next ``length`` turns of the tail.

    ``continues_next``: the maximum length ended it, so the next one continues it.
    """

    length: int
    continues_next: bool = False


def split_episodes(
    tail: Sequence[TurnFeatures], *, ended: bool, settings: BoundarySettings
) -> list[ClosedEpisode]:
    """The final episodes of ``tail``, the turns since the last cut; unless it ended, the rest stays open.

    The result for a longer tail begins with the result for a shorter one, and
    those after the first episode are those of ``tail[first.length:]``.
    """
    groups = group_turns(tail)
    horizon = _max_turns(settings) + 1 + _look_ahead(settings)
    cuts: list[ClosedEpisode] = []
    done = 0
    while done < len(groups):
        segment = Segment(groups[done : done + horizon], settings)
        found = _first_boundary(segment, ended=ended and done + horizon >= len(groups))
        if found is None:
            break
        place, capped = found
        start, done = groups[done].start, done + place
        end = groups[done].start if done < len(groups) else len(tail)
        cuts.append(ClosedEpisode(end - start, capped))
    return cuts


def peak_surprise(
    before: Sequence[TurnFeatures], episode: Sequence[TurnFeatures], settings: BoundarySettings
) -> float:
    """The largest surprise of a turn of ``episode``, in deviations of its window, at least 0.

    ``before`` are the turns before it in its session that count: with the previous episode included, a turn
    that changes the subject gets its full surprise.
    """
    if not episode:
        return 0.0
    groups = group_turns([*before, *episode])
    segment = Segment(groups, settings)
    first = sum(group.start < len(before) for group in groups)
    return round(max([0.0, *segment.surprises[first:]]), 4)  # only tools speak: there is no peak


def _min_turns(settings: BoundarySettings) -> int:
    return max(1, settings.min_turns)


def _max_turns(settings: BoundarySettings) -> int:
    return max(_min_turns(settings), settings.max_turns)


def _look_ahead(settings: BoundarySettings) -> int:
    """Turns after a place that make it final: for rivals, for moving it, and for a long enough rest."""
    return settings.refine + 2 * (_min_turns(settings) - 1)


_Boundary = tuple[int, bool]  # the group after a boundary, and whether the maximum length caused it


def _first_boundary(segment: Segment, *, ended: bool) -> _Boundary | None:
    """The first boundary of the segment, if it is final.

    Up to a certain gap, the tail has ended.
    """
    wall = segment.certain_gap()
    length = segment.length if wall is None else wall
    found = _boundary_within(segment, length, ended=ended or wall is not None)
    if found is None and wall is not None:
        return wall, False
    if found is None and ended:
        return length, False
    return found


def _boundary_within(segment: Segment, length: int, *, ended: bool) -> _Boundary | None:
    """The first boundary within ``length`` groups, by signs short of certainty or by the maximum length.

    Among places that are too near to each other for a segment between them, the most confident wins. A rest
    shorter than ``min_turns`` joins the segment before it, and a cut at the maximum length of an ended tail
    leaves that many turns.
    """
    settings = segment.settings
    least, cap = _min_turns(settings), _max_turns(settings)
    for place in range(least, min(cap, length - 1) + 1):
        if not segment.is_boundary(place):
            continue
        known = min(length, place + 1 + _look_ahead(settings))
        if known <= place + _look_ahead(settings) and not ended:
            return None
        rivals = range(place, min(place + least, cap + 1, known - least + 1))
        if rivals:
            best = max(rivals, key=segment.confidence)
            moved = segment.refined(best, known, range(least, min(cap, known - least) + 1))
            if moved is not None:
                return moved, False
    if length >= cap + least or (ended and length > cap):
        return min(cap, length - least), True
    return None
