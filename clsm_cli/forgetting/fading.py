"""Which turns and statements to archive, so that the first pass of recall skips them.

There is no state between runs. The archive follows from the records, the folded uses and the day, so it
does not matter how often, or on which machine, it is computed. The module has the traces, then reading
the files, then the check of the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from math import ceil

from clsm_cli.errors import DamagedStoreError
from clsm_cli.forgetting import folding
from clsm_cli.forgetting.folding import FoldedLog
from clsm_cli.model.clocks import day_of
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, Episode, EpisodeRecord, Turn
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.streams import STREAMS, Stream
from clsm_cli.scoring import retention
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episode_files, ledger, logs
from clsm_cli.store.jsonlines import LineProblem
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens

UsedOn = Mapping[str, tuple[date, ...]]  # id → days on which it was recalled, on any machine


class Trace(NamedTuple):
    """What decay needs to know of a turn or statement."""

    id: str
    kind: str  # ``turn`` or ``block``, or the kind of the statement
    stream: Stream
    text: str
    tokens: int
    recorded: date | None  # day it was recorded; None if unknown
    used: tuple[date, ...] = ()  # days it was recalled, none after today
    kept: str = ""  # why it is never archived; "" if it may be

    @property
    def last(self) -> date:
        """The day of its last use; recording counts as a use."""
        return max([self.recorded or date.min, *self.used])

    def retention(self, today: date) -> float:
        """Its retention on a day, 0 … 1."""
        return retention.retention((today - self.last).days, self._stability)

    @property
    def since(self) -> date:
        """The first day with a retention below the threshold, if it is not used again."""
        days = retention.days_until(retention.ARCHIVE_RETENTION, self._stability)
        return days_later(self.last, days)

    @property
    def _stability(self) -> float:
        return retention.stability(retention.STREAM_DAYS[self.stream], len(self.used))


class StreamState(NamedTuple):
    """How many of a stream's turns and statements are archived."""

    items: int
    archived: int
    tokens: int
    archived_tokens: int
    most: float  # maximum archived share of the tokens, 0 … 1
    kept: int  # items below the threshold that stay because of ``most``


class StreamShare(NamedTuple):
    """The archived traces of a stream, first faded first."""

    faded: tuple[Trace, ...]
    state: StreamState


def days_later(day: date, days: float) -> date:
    """The day after ``days``, rounded up; at most the last day of the calendar.

    >>> str(days_later(date(2026, 2, 24), 99.0000001)), str(days_later(date(2026, 2, 24), 1.5))
    ('2026-06-03', '2026-02-26')
    """
    whole = ceil(round(days, 6))
    return day + timedelta(min(whole, (date.max - day).days))


def archived_shares(found: Iterable[Trace], today: date) -> dict[Stream, StreamShare]:
    """The archived traces of each stream.

    A stream keeps its survival ratio of all its tokens; first faded, first archived.
    """
    by_stream: dict[Stream, list[Trace]] = {stream: [] for stream in STREAMS}
    for trace in found:
        by_stream[trace.stream].append(trace)
    return {stream: _share(stream, group, today) for stream, group in by_stream.items()}


def _share(stream: Stream, group: list[Trace], today: date) -> StreamShare:
    total = sum(trace.tokens for trace in group)
    below = [trace for trace in group if not trace.kept and trace.since <= today]
    below.sort(key=lambda trace: (trace.since, trace.id))
    most = 1 - retention.SURVIVAL[stream]
    sums = [*accumulate(trace.tokens for trace in below)]
    chosen = sum(tokens <= most * total for tokens in sums)
    state = StreamState(
        items=len(group),
        archived=chosen,
        tokens=total,
        archived_tokens=sums[chosen - 1] if chosen else 0,
        most=round(most, 4),
        kept=len(below) - chosen,
    )
    return StreamShare(tuple(below[:chosen]), state)


def turn_trace(
    episode: Episode, turn: Turn, document: Document | None, *, is_settled: bool
) -> Trace:
    """The trace of a turn, or of a block; ``document`` is that which still has the block."""
    is_living = document is not None and turn.time is None  # in a file that its owner maintains
    why = "" if is_settled else "not consolidated, or pinned"
    if document is not None and (turn.trust == "user" or document.pinned):
        why = why or "stands in a note of yours"
    kind = "turn" if episode.document is None else "block"
    stream: Stream = "projects" if is_living else "flow"
    recorded = day(episode.recorded_at)
    return Trace(turn.key, kind, stream, turn.text, count_tokens(turn.text), recorded, (), why)


def statement_trace(row: Statement) -> Trace:
    """The trace of a statement."""
    recorded = day(row.recorded_at)
    reasons = {
        "no longer current": not row.is_current,
        "identity": row.stream == "identity",
        "pinned": row.pinned,
        "a task that is not done": row.state in ("open", "blocked"),
        "nobody knows since when it is here": recorded is None,
    }
    why = next((why for why, holds in reasons.items() if holds), "")
    return Trace(row.id, row.kind, row.stream, row.text, count_tokens(row.text), recorded, (), why)


def with_use(trace: Trace, used: UsedOn, today: date, behind: Mapping[date, date]) -> Trace:
    """A trace with its days of use and the day it was recorded; days after ``today`` count as today."""
    days = tuple(sorted({min(day, today) for day in used.get(trace.id, ())}))
    first = trace.recorded and min(behind.get(trace.recorded, trace.recorded), today)
    return trace._replace(recorded=first, used=days)


class Survey(NamedTuple):
    """What decay reads from a store; ``behind``: see ``clock_corrections``."""

    clock: Clock
    before: logs.Archived
    folded: FoldedLog
    traces: list[Trace]
    problems: tuple[LineProblem, ...]
    behind: Mapping[date, date]


def survey_store(
    store: Store,
    records: Mapping[str, Record],
    statements: Mapping[str, Statement],
    now: datetime,
    *,
    is_explicit: bool,
) -> Survey:
    """Read episodes and logs, without model or index; write nothing."""
    forgotten = logs.load_tombstones(store)
    today = now.astimezone(UTC).date()
    before = logs.read_archived(store.flow)
    folded = folding.fold_log(store, forgotten)
    used, torn = _used(store, folded, forgotten)
    turns, unread = read_turns(store, records, forgotten)
    ledgers = [ledger.entries(flow) for flow in store.flows()]
    days = [[found for run in ran if (found := day(run.at)) is not None] for ran in ledgers]
    known = (*folded.logged.values(), *used.values(), *days)
    stamps = {each.recorded for each in turns.values() if each.recorded}.union(*known)
    behind: dict[date, date] = {}  # if two machines correct one day, the later correction
    for one in days:
        for wrong, least in clock_corrections(one, today).items():
            behind[wrong] = max(least, behind.get(wrong, least))
    every = (*turns.values(), *map(statement_trace, statements.values()))
    traces = [with_use(each, used, today, behind) for each in every]
    return Survey(
        check_clock(today, stamps, before.as_of, is_explicit=is_explicit),
        before,
        folded,
        sorted(traces, key=lambda trace: trace.id),
        (*before.problems, *folded.problems, *torn, *unread),
        behind,
    )


def _used(
    store: Store, own: FoldedLog, forgotten: frozenset[str]
) -> tuple[UsedOn, list[LineProblem]]:
    """Id → days of use: those folded by other machines and all of this one."""
    uses, problems = {*own.uses}, []
    for flow in store.flows():
        if flow != store.flow:
            found, torn, _ = folding.read_folded(flow, forgotten)
            uses |= found.keys()
            problems += torn
    return {name: tuple(days) for name, days in grouped(sorted(uses)).items()}, problems


def read_turns(
    store: Store, records: Mapping[str, Record], forgotten: frozenset[str]
) -> tuple[dict[str, Trace], list[LineProblem]]:
    """The trace of every turn by key, and the unreadable episode files.

    If two machines have a turn, the later copy counts; it is settled if both are.
    """
    documents = (record for record in records.values() if isinstance(record, Document))
    documents_of = {block.key: each for each in documents for block in each.blocks}
    found: dict[str, Trace] = {}
    problems: list[LineProblem] = []
    for path in episode_files.all_files(store):
        try:
            data = atomic.read(path, episode_files.MAX_EPISODE) or b""
            episode = episode_files.parse(data, path)
            if day(episode.recorded_at) is None:
                raise DamagedStoreError(path, None, "does not say when it was recorded")
        except DamagedStoreError as error:
            problems.append(LineProblem(path, error.line, error.reason))
            continue
        is_settled = _is_settled(records.get(episode.id), data)
        left = episode_files.without_forgotten(episode, forgotten)
        for turn in left.turns if left is not None else ():
            own = turn_trace(episode, turn, documents_of.get(turn.key), is_settled=is_settled)
            other = found.get(turn.key, own)
            later = max(own, other, key=lambda each: each.recorded or date.min)
            found[turn.key] = later._replace(kept=own.kept or other.kept)
    return found, problems


def _is_settled(record: Record | None, data: bytes) -> bool:
    """Whether an episode is consolidated, unchanged since, and not pinned."""
    return (
        isinstance(record, EpisodeRecord)
        and record.stage == "consolidated"
        and record.digest == atomic.sha256(data)[:12]
        and not record.pinned
    )


def day(time: str | None, behind: Mapping[date, date] | None = None) -> date | None:
    """The UTC day of a time, corrected by ``clock_corrections``; None if invalid."""
    found = day_of(time, UTC)
    return behind.get(found, found) if found is not None and behind else found


MAX_AHEAD = 60  # days that the clock may be ahead of the store's newest known day
MAX_BEHIND = 1  # days that it may be behind


class Clock(NamedTuple):
    """The current day, and whether it is plausible."""

    today: date  # by the clock (UTC)
    newest: date | None  # the newest plausible day in the store; None if it has no days
    is_believed: bool
    future: tuple[date, ...]  # days after ``today`` and ``newest``; they count as today


def clock_corrections(days: Iterable[date], today: date) -> dict[date, date]:
    """Days from a clock that was behind → the earliest day possible.

    A ledger is chronological, so no run is older than the one above it: a run dated "1970" counts as
    of the day of the run before it. ``days`` are in ledger order; those after today are ignored.

    >>> days = [date(2026, 3, 1), date(1970, 1, 1), date(2068, 1, 1), date(2026, 3, 2)]
    >>> {str(day): str(least) for day, least in clock_corrections(days, date(2026, 4, 1)).items()}
    {'1970-01-01': '2026-03-01'}
    """
    found: dict[date, date] = {}
    least = date.min
    for day in days:
        if day + timedelta(MAX_BEHIND) < least:
            found[day] = least
        elif day <= today:
            least = max(least, day)
    return found


def check_clock(
    today: date, stamps: Iterable[date], known: date | None, *, is_explicit: bool
) -> Clock:
    """Compare ``today``, by the clock or the user (UTC), with the days recorded in the store.

    ``known`` is a day accepted earlier; None takes the oldest of the ``stamps``.

    >>> days = [date(2026, 2, 24), date(2026, 3, 10), date(2068, 1, 1)]
    >>> clock = check_clock(date(2026, 4, 1), days, None, is_explicit=False)
    >>> str(clock.newest), clock.is_believed, [str(day) for day in clock.future]
    ('2026-03-10', True, ['2068-01-01'])

    61 days ahead, two days behind, and given by the user:

    >>> [check_clock(day, days, None, is_explicit=is_given).is_believed for day, is_given in
    ...  [(date(2026, 5, 10), False), (date(2026, 3, 8), False), (date(2026, 5, 10), True)]]
    [False, False, True]
    """
    days = sorted(set(stamps))
    newest = known if known is not None else min(days, default=None)
    for day in days:
        if newest is not None and newest < day <= newest + timedelta(MAX_AHEAD):
            newest = day
    if newest is None:
        return Clock(today, None, True, ())
    is_near = newest - timedelta(MAX_BEHIND) <= today <= newest + timedelta(MAX_AHEAD)
    future = tuple(day for day in days if day > max(today, newest))
    return Clock(today, newest, is_explicit or is_near, future)
