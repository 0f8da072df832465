"""Valid statements, newest first; what changed since a time, or became true in a month."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import get_args

from clsm_cli.inspection.fact_history import Facts, View, earliest, place_of, version
from clsm_cli.inspection.item_lookup import ResolvedTime, times_of
from clsm_cli.model.clocks import has_begun, on_clock, seconds, span
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Statement, StatementKind
from clsm_cli.model.grouping import grouped
from clsm_cli.scoring.salience import most_salient
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import ledger, night_log
from clsm_cli.store.index import evidence_queries, session_queries
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.text import period_parts
from clsm_cli.text.plain import to_plain

_DEFAULT_KINDS = frozenset(get_args(StatementKind)) - {"gist"}
"""Default kinds of a list: a gist only repeats other statements."""


class StatementLine(NamedTuple):
    """A statement as a line of a list."""

    id: str
    kind: str
    stream: str
    text: str
    state: str | None
    since: str | None  # when it became true, else was recorded; for a done task, when it was done
    until: str | None
    before: str  # the text it replaced, or ""
    source: str | None  # as in ``fact_history.Version``
    file: str
    line: int
    times: tuple[ResolvedTime, ...] = ()  # its certain ones; only from ``valid_statements``


class News(NamedTuple):
    """Changes of statements recorded since an instant, each part newest first.

    ``ended``: no longer true, without a successor; ``rewritten``: changed lines of documents that no
    statement covers.
    """

    since: str
    changed: tuple[StatementLine, ...]
    learnt: tuple[StatementLine, ...]
    done: tuple[StatementLine, ...]
    ended: tuple[StatementLine, ...]
    withdrawn: tuple[StatementLine, ...]
    rewritten: tuple[StatementLine, ...]


class PeriodReview(NamedTuple):
    """A month or week, by when things became true; all parts but the last are newest first."""

    period: str  # as ``2026-03`` or ``2026-W11``
    first: str
    last: str
    episodes: int
    gists: tuple[StatementLine, ...]  # of the month, from its last consolidation; a week has none
    decided: tuple[StatementLine, ...]  # or corrected, and the decisions that episodes report
    learnt: tuple[StatementLine, ...]  # what else became true then and still is
    done: tuple[StatementLine, ...]  # tasks done then; ``open``: tasks recorded then and not done
    open: tuple[StatementLine, ...]
    ended: tuple[StatementLine, ...]
    told: tuple[StatementLine, ...]  # openings of the other episodes, the most salient first

    @property
    def is_empty(self) -> bool:
        """Whether no episode of that time was consolidated."""
        return not self.episodes and not any(self[4:])


def nights(store: Store, now: str) -> list[str]:
    """Starts of this machine's consolidations until now that were not undone, in order.

    A run dated later than now had a wrong clock. A run without work counts only if it is of a later
    day, so that an agent's half-hourly attempts do not empty the news.
    """

    def is_over(at: str) -> bool:
        return seconds(at, store.zone) <= seconds(now, store.zone)

    entries = [
        entry
        for entry in ledger.entries(store.flow)
        if entry.command == "consolidate" and is_over(entry.at)
    ]
    found = sorted(e.at for e in entries if e.undone_by is None)
    quiet = night_log.read(store).good
    days = {on_clock(entry.at, store.zone)[:10] for entry in entries}
    if found and quiet and is_over(quiet) and on_clock(quiet, store.zone)[:10] > max(days):
        found.append(quiet)
    return found


def news(store: Store, since: str, now: str) -> News:
    """Changes of statements since a time; the store is only read."""
    facts = Facts(store, now)
    rows = facts.statements
    start = seconds(since, store.zone)

    def is_late(time: str | None) -> bool:
        return time is not None and seconds(time, store.zone) >= start

    fresh = [row for row in rows.values() if is_late(row.recorded_at) and row.kind != "gist"]
    heirs = [row for row in fresh if row.is_current and row.supersedes in rows]
    replaced = {rows[str(row.supersedes)].text for row in heirs}
    seen = {row.id for row in heirs}
    over = nights(store, now)
    night = max((at for at in over if at < since), default=None)
    done = _done(facts, night)
    seen.update(row.id for row in done)
    learnt = [row for row in fresh if row.is_current and row.id not in seen]
    ended = [row for row in fresh if row.valid_until and row.superseded_at is None]
    gone = [row for row in rows.values() if row.withdrawn and is_late(row.superseded_at)]
    lost = ([row for row in each if row.text not in replaced] for each in (ended, gone))
    parts = (heirs, learnt, done, *lost)
    with open_index(store, None) as opened:
        found = [_lines(facts, part, opened.index) for part in parts]
        return News._make(
            (since, *found, _rewritten(facts, (night, next(reversed(over), None)), opened.index))
        )


def _rewritten(
    facts: Facts, between: tuple[str | None, str | None], index: Index
) -> tuple[StatementLine, ...]:
    """Changed lines of documents ingested after a night, up to another."""
    zone = facts.store.zone
    begin, end = (seconds(each, zone) for each in between)
    closed = {
        old: (went, new)
        for each in facts.records(Document).values()
        for old, (went, new) in each.closed.items()
        if new and begin < seconds(went, zone) <= end
    }
    keys = sorted({key for old, (_, new) in closed.items() for key in (old, new)})
    turns = evidence_queries.turns_by_key(index.connection, keys)
    texts = [row.text for row in facts.statements.values()]
    found = []
    for went, new, old in sorted(((*each, old) for old, each in closed.items()), reverse=True):
        if old not in turns or new not in turns:
            continue
        for line, before in rewritten_lines(turns[old].text, turns[new].text):
            if not any(line in text or before in text for text in texts):
                place = place_of(index, earliest(index, [new]), new)
                at = (None, went, None, before, *place)
                found.append(StatementLine(new, "passage", "flow", line, *at))
    return tuple(found)


_LABELLED = re.compile(r"([^\s:|][^:|]{0,40}):\s+(\S.*)")
_TASK = re.compile(r"\s*[-*+]\s+\[.\]\s")


def rewritten_lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    r"""Pairs (new, old) of lines with the same label and another value in two versions of a block.

    A label precedes a colon, or is the first cell of a table row.

    >>> list(rewritten_lines("- Rent: 900\n- Dog: Rex", "- Rent: 950\n- Dog: Rex\n- Cat: Mia"))
    [('Rent: 950', 'Rent: 900')]
    >>> list(rewritten_lines("| Gate | 4 |", "| Gate | 7 |"))
    [('Gate: 7', 'Gate: 4')]
    """
    before = _values(old)
    for label, value in _values(new).items():
        if before.get(label, value) != value:
            yield f"{label}: {value}", f"{label}: {before[label]}"


def _values(text: str) -> dict[str, str]:
    """Label → value of lines with both, if the label is unique."""
    found: dict[str, str] = {}
    twice = set()
    for line in text.splitlines():
        if _TASK.match(line):
            continue
        first, *cells = [to_plain(each).strip() for each in line.strip().strip("|").split("|")]
        match = _LABELLED.fullmatch(first)
        label, value = match.groups() if match and not cells else (first, ", ".join(cells))
        if label in found:
            twice.add(label)
        if label and value:
            found[label] = value
    return {label: value for label, value in found.items() if label not in twice}


def review_period(store: Store, period: str, days: tuple[date, date], now: str) -> PeriodReview:
    """Review a month or week of a store, which is only read."""
    facts = Facts(store, now)
    rows = facts.statements
    begin, end = (seconds(day.isoformat(), store.zone) for day in days)

    def is_inside(time: str | None) -> bool:
        return begin <= seconds(time, store.zone) < end

    current = [row for row in rows.values() if row.is_current and row.kind != "gist"]
    period_rows = [row for row in current if is_inside(row.done_at or row.valid_from)]
    with open_index(store, None) as opened:
        index = opened.index
        inside, began = _episodes(facts, index, is_inside)
        numbers = (day.toordinal() for day in days)
        turns = session_queries.trusted_on_days(index.connection, *numbers)
        keys = grouped((turn.episode, turn.key) for turn in turns)
        parts = period_parts.sort_period(period_rows, inside, keys)

        def lines(chosen: Iterable[Statement]) -> tuple[StatementLine, ...]:
            return _lines(facts, chosen, index)

        def of_episode(record: EpisodeRecord, text: str, kind: str) -> StatementLine:
            begin = earliest(index, keys.get(record.id, [])[-1:])
            at = (None, began[record.id], None, "", *place_of(index, begin, record.id))
            return StatementLine(record.id, kind, "flow", text, *at)

        return PeriodReview(
            period,
            days[0].isoformat(),
            (days[1] - timedelta(days=1)).isoformat(),
            len(inside),
            lines(row for row in rows.values() if row.kind == "gist" and row.value == period),
            (
                *lines(parts.decisions),
                *(of_episode(each, text, "decision") for each, text in parts.reported_decisions),
            ),
            lines(parts.facts),
            lines(parts.done),
            lines(parts.open),
            lines(r for r in rows.values() if r.superseded_at is None and is_inside(r.valid_until)),
            tuple(
                of_episode(each, period_parts.first_sentence(each), "episode")
                for each in most_salient(
                    parts.others, ((turn.episode, turn.is_by_user) for turn in turns)
                )
            ),
        )


def _episodes(
    facts: Facts, index: Index, is_inside: Callable[[str | None], bool]
) -> tuple[list[EpisodeRecord], dict[str, str | None]]:
    """Consolidated episodes whose start is inside, latest first, and the start of every episode."""
    files = evidence_queries.episode_files(index.connection)
    began = {each: file.start for each, file in files.items()}
    inside = [
        record
        for record in facts.records(EpisodeRecord).values()
        if record.stage == "consolidated"
        if is_inside(began.get(record.id))
    ]
    inside.sort(key=lambda each: (began[each.id] or "", each.id), reverse=True)
    return inside, began


def _done(facts: Facts, night: str | None) -> list[Statement]:
    """Tasks marked done since a night began, so that only a later run read it.

    A day counts by its noon, so that what was done then is news of one night.
    """
    zone = facts.store.zone
    start = seconds(night, zone)
    done = (row for row in facts.statements.values() if row.state == "done" and row.is_current)
    times = ((row, span(row.done_at, zone)) for row in done)
    return [row for row, time in times if time and sum(t.timestamp() for t in time) / 2 >= start]


def valid_statements(
    store: Store,
    view: View,
    stream: str | None = None,
    kind: str | None = None,
    about: str | None = None,
) -> tuple[StatementLine, ...]:
    """The statements that hold in a view, newest first; the store is only read.

    Raises:
        BadInputError: No node or statement has the name ``about``.
    """
    facts = Facts(store, view.now)
    meant = facts.statements
    if about is not None:
        nodes, meant = facts.about(about)
        if not meant and not nodes & facts.nodes.keys():
            raise facts.missing(about, "nothing of this store is called so")
    kinds = {kind} if kind else _DEFAULT_KINDS
    chosen = []
    for row in filter(view.holds, meant.values()):
        if stream in (None, row.stream) and row.kind in kinds:
            # A task done later was still open then.
            is_early = view.at and row.done_at and not has_begun(row.done_at, view.at)
            then = replace(row, state="open", done_at=None) if is_early else row
            chosen += [then] if then.state != "done" else []
    with open_index(store, None) as opened:
        found = _lines(facts, chosen, opened.index)
    rows, zone = {row.id: row for row in chosen}, store.zone
    return tuple(line._replace(times=times_of(rows[line.id], line.text, zone)) for line in found)


def _lines(facts: Facts, chosen: Iterable[Statement], index: Index) -> tuple[StatementLine, ...]:
    found = []
    for row in chosen:
        old = facts.before(row)
        told = version(row, row.text, index, facts.now, old)
        since = row.done_at or row.valid_from or row.recorded_at
        before = old.text if old is not None else ""
        about = (row.id, row.kind, row.stream, row.text, row.state, since, row.valid_until)
        found.append(StatementLine(*about, before, told.source, told.file, told.line))
    zone = facts.store.zone
    found.sort(key=lambda each: (-seconds(each.since, zone), each.file, each.line, each.id))
    return tuple(found)
