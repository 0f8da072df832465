"""The conversations of this machine as they were held: sittings, each apart by a long silence.

An agent whose one conversation never ends still sits down to it anew every day, and loads its files
anew. So a conversation is cut where the silence is one that ends an episode
(``boundary.gap_certain``), and each part is looked at by itself.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeGuard

from clsm_cli.errors import DamagedStoreError
from clsm_cli.ingestion.times import instant
from clsm_cli.records import NamedTuple
from clsm_cli.store import episodes, inbox, logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from clsm_cli.model.episodes import Episode, Turn
    from clsm_cli.store.layout import Store

SPEAKING = ("user", "assistant")
"""Roles whose words are the conversation; what a tool printed may be the very file that was loaded."""


class Sitting(NamedTuple):
    """A conversation between two long silences.

    Attributes:
        start: When its first turn was said; if nobody knows, when the store got it.
        turns: What was said, in order.
        keys: Of all its turns, those of tools too.
        is_over: Whether nothing more is to come.
    """

    start: datetime
    turns: tuple[Turn, ...]
    keys: frozenset[str]
    is_over: bool

    @property
    def first(self) -> str:
        """Key of its first turn, which names it."""
        return self.turns[0].key


class Undated(NamedTuple):
    """A turn, block or episode without an exact time.

    Attributes:
        day: Bare date; None: it has none.
        recorded_at: When the store first got it, UTC.
    """

    day: str | None
    recorded_at: str


class Told(NamedTuple):
    """What the store was told.

    Attributes:
        sittings: The newest first.
        undated: What has no exact time, by key or id.
    """

    sittings: tuple[Sitting, ...]
    undated: dict[str, Undated]


class _Heard(NamedTuple):
    turn: Turn
    at: datetime
    recorded_at: str
    is_open: bool


def read(store: Store, since: str, now: datetime) -> Told:
    """The sittings that this machine took in since a time.

    Args:
        store: Where; a file that cannot be read is passed over, ``clsm status`` names it.
        since: UTC, as ``recorded_at`` is written.
        now: What is still open and was silent for long by now is over.
    """
    heard: dict[str, dict[str, _Heard]] = {}
    undated: dict[str, Undated] = {}
    forgotten = logs.forgotten(store)
    for flow in store.flows():
        for episode in _episodes(flow, forgotten):
            _note(undated, episode.id, episode.start, episode.recorded_at)
            for turn in episode.turns:
                _note(undated, turn.key, turn.time, episode.recorded_at)
            if flow == store.flow and episode.document is None:
                of_session = heard.setdefault(episode.session, {})
                for turn in episode.turns:
                    _hear(of_session, turn, episode.recorded_at, is_open=episode.capped)
    for path in inbox.files(store.inbox):
        for item in inbox.read(path, forgotten).turns:
            _note(undated, item.turn.key, item.turn.time, item.recorded_at)
            of_session = heard.setdefault(item.session, {})
            _hear(of_session, item.turn, item.recorded_at, is_open=True)
    silence = timedelta(minutes=store.settings.boundary.gap_certain)
    found = [
        sitting
        for of_session in heard.values()
        for part in _parts((h for h in of_session.values() if h.recorded_at >= since), silence)
        if (sitting := _sitting(part, now - silence)) is not None
    ]
    found.sort(key=lambda sitting: (sitting.start, sitting.first), reverse=True)
    return Told(tuple(found), undated)


def _episodes(flow: Path, forgotten: frozenset[str]) -> Iterator[Episode]:
    for path in episodes.files(flow):
        try:
            episode = episodes.without(episodes.read(path), forgotten)
        except DamagedStoreError:
            continue
        if episode is not None:
            yield episode


def _is_exact(time: str | None) -> TypeGuard[str]:
    """Whether a time is an instant, and no bare date."""
    return time is not None and len(time) > len("2026-02-24")


def _note(undated: dict[str, Undated], name: str, time: str | None, recorded_at: str) -> None:
    if not _is_exact(time):
        first = undated.get(name, Undated(time, recorded_at)).recorded_at
        undated[name] = Undated(time, min(first, recorded_at))


def _hear(heard: dict[str, _Heard], turn: Turn, recorded_at: str, *, is_open: bool) -> None:
    """Add a turn to its conversation; without an exact time it was said with the one before it."""
    at = instant(turn.time) if _is_exact(turn.time) else None
    if at is None:
        last = next(reversed(heard.values()), None)
        at = last.at if last is not None else datetime.fromisoformat(recorded_at)
    heard[turn.key] = _Heard(turn, at, recorded_at, is_open)


def _parts(heard: Iterable[_Heard], silence: timedelta) -> Iterator[list[_Heard]]:
    """Turns by time, cut where nobody spoke for long."""
    part: list[_Heard] = []
    for each in sorted(heard, key=lambda each: each.at):
        if part and each.at - part[-1].at >= silence:
            yield part
            part = []
        part.append(each)
    if part:
        yield part


def _sitting(part: list[_Heard], silent_since: datetime) -> Sitting | None:
    """A part as a sitting; None where nobody speaks."""
    turns = tuple(h.turn for h in part if h.turn.role in SPEAKING and h.turn.text.strip())
    if not turns:
        return None
    return Sitting(
        start=part[0].at,
        turns=turns,
        keys=frozenset(h.turn.key for h in part),
        is_over=not part[-1].is_open or part[-1].at <= silent_since,
    )
