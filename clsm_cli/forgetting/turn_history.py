"""What decay reads from the files: every turn with its episode's state, and the days that were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.forgetting.folding import day_of
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episodes, inbox, logs
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store

LOGS = ("feedback.jsonl", "review.jsonl", "runs.jsonl")
"""Logs of a machine, besides its recalls, that tell when something happened."""


class TurnRecord(NamedTuple):
    """A turn of an episode.

    Attributes:
        recorded: Day on which the store got it (UTC).
        is_settled: Its episode is consolidated as it stands, and nobody pinned it.
    """

    turn: Turn
    session: str
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
        stored = TurnRecord(turn, episode.session, episode.document, recorded, is_settled)
        other = found.get(turn.key)
        if other is not None:
            later = max(stored, other, key=lambda each: each.recorded)
            stored = later._replace(is_settled=is_settled and other.is_settled)
        found[turn.key] = stored


def recorded_days(
    store: Store, records: Iterable[Record], turns: Iterable[TurnRecord], recalled: Iterable[date]
) -> set[date]:
    """Every day on which some machine of the store wrote something down, by its own clock.

    ``recalled`` are days of folded uses and of this machine's log.
    """
    times: set[str] = {
        record.recorded_at
        for record in records
        if isinstance(record, (Statement, Edge, Document)) and record.recorded_at
    }
    for flow in store.flows():
        for name in LOGS if flow == store.flow else (*LOGS, *logs.ACTIVATIONS):
            times.update(_at(flow / name))
        for path in inbox.files(flow / "inbox"):
            times.update(item.recorded_at for item in inbox.read(path).turns)
    days = {found for time in times if (found := day(time)) is not None}
    return days | {each.recorded for each in turns} | {*recalled}


def _at(path: Path) -> Iterator[str]:
    for _, row in logs.rows(path)[0]:
        if isinstance(row.get("at"), str):
            yield row["at"]


def day(time: str | None, behind: Mapping[date, date] | None = None) -> date | None:
    """The day of a time in UTC, corrected by ``clock.clock_corrections``; None where it is none."""
    try:
        found = day_of(time) if time else None
    except (ValueError, OverflowError):
        return None
    return behind.get(found, found) if found is not None and behind else found
