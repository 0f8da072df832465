"""What decay reads from the files: every turn with its episode's state; and whether the clock can be right."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.forgetting.folding import day_of
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episodes, logs
from clsm_cli.store.jsonlines import LineProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store


class TurnRecord(NamedTuple):
    """A turn of an episode.

    Attributes:
        recorded: Day on which the store got it (UTC).
        is_settled: Its episode is consolidated as it stands, and nobody pinned it.
    """

    turn: Turn
    document: str | None
    recorded: date
    is_settled: bool


def read_turns(
    store: Store, records: Mapping[str, Record], forgotten: frozenset[str]
) -> tuple[dict[str, TurnRecord], list[LineProblem]]:
    """Every turn by key, and the episode files that cannot be read.

    Of a turn that two machines hold the later copy counts, and it is settled where both are.
    """
    found: dict[str, TurnRecord] = {}
    problems: list[LineProblem] = []
    for path in (path for flow in store.flows() for path in episodes.files(flow)):
        try:
            _read(path, records, forgotten, found)
        except DamagedStoreError as error:
            problems.append(LineProblem(path, error.line, error.reason))
    return found, problems


def _read(
    path: Path,
    records: Mapping[str, Record],
    forgotten: frozenset[str],
    found: dict[str, TurnRecord],
) -> None:
    data = atomic.read(path, episodes.MAX_EPISODE)
    if data is None:
        return
    episode = episodes.parse(data, path)
    if logs.is_forgotten(episode.id, forgotten):
        return
    recorded = day(episode.recorded_at)
    if recorded is None:
        raise DamagedStoreError(path, None, "does not say when it was recorded")
    record = records.get(episode.id)
    is_settled = (
        isinstance(record, EpisodeRecord)
        and record.stage == "consolidated"
        and record.digest == atomic.sha256(data)[:12]
        and not record.pinned
    )
    for turn in episode.turns:
        if logs.is_forgotten(turn.key, forgotten):
            continue
        stored = TurnRecord(turn, episode.document, recorded, is_settled)
        other = found.get(turn.key)
        if other is not None:
            later = max(stored, other, key=lambda each: each.recorded)
            stored = later._replace(is_settled=is_settled and other.is_settled)
        found[turn.key] = stored


def day(time: str | None, behind: Mapping[date, date] | None = None) -> date | None:
    """The day of a time in UTC, corrected by ``clock_corrections``; None where it is none."""
    try:
        found = day_of(time) if time else None
    except (ValueError, OverflowError):
        return None
    return behind.get(found, found) if found is not None and behind else found


AHEAD = 60
"""Days by which the clock may be ahead of the newest day that the store knows."""
BEHIND = 1
"""Days by which it may be behind."""


class Clock(NamedTuple):
    """What day it is, and whether that can be.

    Attributes:
        today: As the clock has it (UTC).
        newest: The newest day that is reached from a known one; None for a store without any.
        future: Days beyond both, in order; what is stamped so counts as today.
    """

    today: date
    newest: date | None
    is_believed: bool
    future: tuple[date, ...]


def clock_corrections(days: Iterable[date], today: date) -> dict[date, date]:
    """Days that a clock gave which was behind, each with the day that it was at least.

    A machine writes its ledger in the order of time, so a run was not made before the one above it:
    what a night in "1970" wrote down is as old as what was written before that night.

    Args:
        days: Of a machine's runs, in the order of its ledger.
        today: In UTC; days after it tell nothing, they may be a wrong clock's own.

    >>> days = [date(2026, 3, 1), date(1970, 1, 1), date(2068, 1, 1), date(2026, 3, 2)]
    >>> {str(day): str(least) for day, least in clock_corrections(days, date(2026, 4, 1)).items()}
    {'1970-01-01': '2026-03-01'}
    """
    found: dict[date, date] = {}
    least = date.min
    for day in days:
        if day + timedelta(BEHIND) < least:
            found[day] = least
        elif day <= today:
            least = max(least, day)
    return found


def check_clock(today: date, stamps: Iterable[date], known: date | None, *, is_told: bool) -> Clock:
    """Compare the clock with the days that the store wrote down.

    Args:
        today: As the clock, or the user, has it (UTC).
        stamps: Days on which something was recorded or logged.
        known: A day that was believed before; None takes the oldest stamp.

    >>> from datetime import date
    >>> days = [date(2026, 2, 24), date(2026, 3, 10), date(2068, 1, 1)]
    >>> clock = check_clock(date(2026, 4, 1), days, None, is_told=False)
    >>> str(clock.newest), clock.is_believed, [str(day) for day in clock.future]
    ('2026-03-10', True, ['2068-01-01'])

    61 days later, two days back, and said by the user:

    >>> [check_clock(day, days, None, is_told=told).is_believed for day, told in
    ...  [(date(2026, 5, 10), False), (date(2026, 3, 8), False), (date(2026, 5, 10), True)]]
    [False, False, True]
    """
    days = sorted(set(stamps))
    newest = known if known is not None else min(days, default=None)
    for day in days:
        if newest is not None and newest < day <= newest + timedelta(AHEAD):
            newest = day
    if newest is None:
        return Clock(today, None, True, ())
    is_near = newest - timedelta(BEHIND) <= today <= newest + timedelta(AHEAD)
    future = tuple(day for day in days if day > max(today, newest))
    return Clock(today, newest, is_told or is_near, future)
