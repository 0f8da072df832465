"""What a briefing needs of the whole store, read from the index: who, the rules, the tasks, the last days.

It depends on neither the time nor a query, so it is kept in a file until the store changes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.trust import TRUST_ORDER, UNTRUSTED
from clsm_cli.retrieval.briefing import Contents, Item, Past, item, mood
from clsm_cli.store import episodes, logs, statements
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.recent import recent
from clsm_cli.text import timex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.model.episodes import Episode
    from clsm_cli.model.graph import Statement
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

MOST = 200
"""Items of a section that are kept: nobody reads more rules at the start of a session."""
MOST_EPISODES = 64
"""Episodes that are looked at for the last day."""
RULES = ("preference", "convention", "correction", "workflow")
"""Kinds of statements that say how to do things."""
IDENTITY_FILES = ("soul.md", "identity.md", "user.md")
"""Notes that say who is who, in the order in which they are read (OpenClaw's workspace)."""
DAY = 86_400


def collect(store: Store, until: datetime | None = None) -> Contents:
    """Read the contents from the index, which is brought up to date if the lock is free.

    Args:
        store: Whose.
        until: Leave out episodes that start later; None: the newest are wanted.
    """
    with open_index(store, None) as opened:
        index = opened.index
        current = _statements(store, index)
        identity = [s for s in current if s.stream == "identity" and s.kind not in RULES]
        rules = [s for s in current if s.kind in RULES]
        tasks = [s for s in current if s.kind == "task" and s.state in ("open", "blocked")]
        who = [_of_statement(index, s) for s in _best(identity)] or _identity_files(index)
        return Contents(
            identity=tuple(who[:MOST]),
            rules=tuple(_of_statement(index, s) for s in _best(rules)),
            tasks=tuple(_of_statement(index, s) for s in sorted(tasks, key=_by_due)[:MOST]),
            episodes=tuple(_past(store, index, until)),
            warnings=tuple(_problems(index)),
        )


def _statements(store: Store, index: Index) -> list[Statement]:
    """The current ones, with what a person changed in the Markdown since."""
    forgotten = logs.forgotten(store)
    records = records_of(index.connection, "statement", forgotten)
    found = statements.load(store, {record.id: record for record in records}, now="")
    return [s for s in found.values() if s.is_current and s.text]


def _best(found: Iterable[Statement]) -> list[Statement]:
    """Pinned and most trusted first, then what rests on most, then the newest."""
    newest = sorted(found, key=_since, reverse=True)
    newest.sort(key=lambda s: (not s.pinned, -TRUST_ORDER.index(s.trust), -len(s.sources)))
    return newest[:MOST]


def _since(statement: Statement) -> tuple[str, str]:
    return (statement.valid_from or statement.recorded_at or "", statement.id)


def _by_due(task: Statement) -> tuple[str, bool, tuple[int, ...], str]:
    """The earliest due first, without a day last; then what can be done, then the newest."""
    newest_first = tuple(-ord(sign) for sign in _since(task)[0])
    return (task.due or "~", task.state == "blocked", newest_first, task.id)


def _of_statement(index: Index, statement: Statement) -> Item:
    places = [p for p in index.by_key(statement.id) if p.key == statement.id]
    told = next((p.time for key in statement.sources for p in index.by_key(key) if p.time), None)
    is_dated = told is not None and statement.due is None and timex.counts_from_day(statement.text)
    return item(
        statement.id,
        statement.kind,
        statement.text,
        stream=statement.stream,
        trust=statement.trust,
        time=told if is_dated else statement.valid_from or statement.recorded_at,
        path=places[0].path if places else "",
        line=places[0].line_start if places else 0,
        state=statement.state,
        due=statement.due,
        is_dated=is_dated,
    )


def _identity_files(index: Index) -> list[Item]:
    """The blocks of the notes that say who is who, where nothing is consolidated yet."""
    notes = [
        (IDENTITY_FILES.index(name), record)
        for record in records_of(index.connection, "document", frozenset())
        if isinstance(record, Document)
        and (name := PurePath(record.path).name.lower()) in IDENTITY_FILES
    ]
    return [
        item(
            passage.id,
            "block",
            passage.text.removeprefix("- "),
            stream="identity",
            trust=passage.trust,
            time=passage.time,
            path=passage.path,
            line=passage.line_start,
        )
        for _, record in sorted(notes, key=lambda note: (note[0], note[1].id))
        for block in record.blocks
        for passage in index.by_key(block.key)
        if passage.key == block.key and passage.current and passage.trust not in UNTRUSTED
    ]


def _past(store: Store, index: Index, until: datetime | None) -> Iterator[Past]:
    """The episodes of the last day before the newest, and that one, newest first."""
    stamp = None if until is None else f"{until.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    files = dict(reversed(recent(index.connection, MOST_EPISODES, stamp)))
    found = []
    for episode_id, path in reversed(files.items()):
        record = index.record(episode_id)
        if isinstance(record, EpisodeRecord):
            try:
                episode = episodes.read(store.root / path)
            except DamagedStoreError:
                continue  # the index names it among the problems
            # Nobody asked for it, so what only pages and tools told has no place here.
            if not all(turn.trust in UNTRUSTED for turn in episode.turns):
                found.append(_of_episode(episode, record, store))
    found.sort(key=lambda past: (-past.at, past.whole.id))
    newest = max((past.end for past in found), default=0)
    yield from (past for past in found if past is found[0] or past.end > newest - DAY)


def _of_episode(episode: Episode, record: EpisodeRecord, store: Store) -> Past:
    start, end, at = _span(episode, store)

    def part(kind: str, text: str) -> Item:
        return item(
            episode.id,
            kind,
            text,
            stream="flow",
            trust=episode.trust,
            time=episode.start,
            path=episode.turns[0].path,
            line=episode.turns[0].line_start,
        )

    told = ": ".join(text for text in (record.title, record.narrative) if text)
    asked = [question.text for question in record.open_questions if not question.answered_by]
    return Past(
        start=start,
        end=end,
        at=at,
        whole=part("episode", told),
        details=tuple(
            part(kind, text)
            for kind, text in (
                ("episode", record.title),
                ("mood", mood(record.valence)),
                *(("question", text) for text in asked),
                *(("decision", text) for text in record.decisions),
                ("narrative", record.narrative),
            )
            if text
        ),
    )


def _span(episode: Episode, store: Store) -> tuple[int, int, int]:
    """Start, end and place in time of a dated episode, in seconds since 1970.

    A bare date is the whole day, and in time it comes before what was said on that day.
    """
    start, _ = _interval(episode.start or "", store)
    last, end = _interval(episode.end or episode.start or "", store)
    return start, end, last


def _interval(time: str, store: Store) -> tuple[int, int]:
    moment = datetime.fromisoformat(time)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=store.zone)
    until = moment + timedelta(days=1) if len(time) == len("2026-02-24") else moment
    return int(moment.timestamp()), int(until.timestamp())


def _problems(index: Index) -> Sequence[str]:
    problems = list(index.problems())
    if not problems:
        return ()
    path, line, reason = problems[0]
    where = path if line is None else f"{path}, line {line}"
    more = f" (and {len(problems) - 1} more places)" if len(problems) > 1 else ""
    return (f"{where}: {reason}{more}; the rest was read. See: clsm status",)
