"""``clsm log``: recent changes, or the review of a month; ``clsm list``: what is known now."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo
from typing import get_args

from clsm_cli.commands.command_line import (
    AS_OF,
    KNOWN_AT,
    Common,
    UsageError,
    option,
    parse_days,
    parse_start,
)
from clsm_cli.commands.options import command
from clsm_cli.commands.output import (
    LinkedLine,
    count_noun,
    fields,
    flat,
    location_text,
    plain,
    shorten,
)
from clsm_cli.commands.recall_command import view_of
from clsm_cli.commands.review import as_question, question_lines
from clsm_cli.consolidation.active_learning import STILL_WORTH, WORTH
from clsm_cli.curation import review_queue
from clsm_cli.inspection import morning_report
from clsm_cli.inspection.item_lookup import QuestionSources, question_sources
from clsm_cli.inspection.morning_report import News, PeriodReview, StatementLine
from clsm_cli.model.clocks import local_time, utc_text
from clsm_cli.model.graph import StatementKind
from clsm_cli.model.streams import STREAMS
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import ReviewItem
from clsm_cli.store.topics import BOX_OF
from clsm_cli.text.time import periods

DEFAULT_LIMIT = 20  # default lines of each part
KINDS: tuple[str, ...] = get_args(StatementKind)
BRIEF_LINES = 5  # lines of a short report inside another one
MAX_BRIEF_LINE = 200  # characters of a line of a short report
_ENDED = {"done": "Done", "ended": "No longer true"}
_PARTS = {
    "changed": "Changed",
    "learnt": "Learnt",
    **_ENDED,
    "withdrawn": "Taken back",
    "rewritten": "Changed in documents",
}

_TASK_PARTS = {"done": "Done", "open": "Not done yet", "ended": "No longer true"}
_PERIOD_PARTS = {"decided": "Decided", "learnt": "Learnt", **_TASK_PARTS, "told": "Also told"}


@command(
    "clsm log                          # since the last consolidation began",
    "clsm log --since 2026-02-20       # since that day; also yesterday, 12h, '2 weeks'",
    "clsm log --month 2026-03          # what March was about, decided, learnt, done",
    "clsm log --week 2026-W11          # the same of a week",
    "clsm log --json                   # as data, for a report in the morning",
)
def log(
    *,
    since: str | None = option(
        "--since TIME",
        'From then on: a time, a day in words ("last week"), or how long ago (12h, 3d);'
        " default: since the last consolidation began.",
    ),
    month: str | None = option(
        "--month MONTH",
        'Instead: what a month was about, by when it was true: 2026-03, "last month".',
    ),
    week: str | None = option(
        "--week WEEK", 'The same of a week: 2026-W11, "week 11", "last week".'
    ),
    limit: int = option(
        "--limit -n N", "Lines of each part at most.", least=1, default=DEFAULT_LIMIT
    ),
    common: Common,
) -> None:
    """Say what memory learnt, changed and gave up, with sources.

    And what it wants to ask you. "Since" is about when it was recorded, not when it was true.
    """
    printer, opened, moment = common.start()
    if period := _period(month, week, since, moment):
        seen = morning_report.review_period(opened, *period, moment.isoformat())
        mapping = {"schema": "clsm.log-period/1", **plain(seen)}
        printer.show(mapping, _period_lines(seen, opened.zone, limit))
        return
    if since is not None:
        start = utc_text(parse_start(since, moment, opened.zone))
    else:
        start = next(reversed(morning_report.nights(opened, moment.isoformat())), "")
    found = morning_report.news(opened, start, moment.isoformat())
    asked = [item for item in review_queue.list_items(opened, moment) if item.at >= start]
    sources = question_sources(opened, asked)
    unsure = [
        {**fields(item, "id reason"), "what": as_question(item).what, "sources": sources[item.id]}
        for item in asked
    ]
    questions = [item for item in asked if item.reason not in (WORTH, STILL_WORTH)]
    lines = _log_lines(found, questions, sources, opened.zone, limit)
    printer.show({"schema": "clsm.log/1", **plain(found), "unsure": unsure}, lines)


def _period(
    month: str | None, week: str | None, since: str | None, now: datetime
) -> tuple[str, tuple[date, date]] | None:
    """Name of the chosen month or week, its first day, and the day after its last.

    >>> from datetime import datetime
    >>> name, (first, until) = _period(None, "last week", None, datetime(2026, 3, 18)) or ()
    >>> name, str(first), str(until)
    ('2026-W11', '2026-03-09', '2026-03-16')
    """
    said = month if month is not None else week
    if said is None:
        return None
    unit, form, like = (
        ("week", "%G-W%V", "2026-W11") if month is None else ("month", "%Y-%m", "2026-03")
    )
    if (month, week, since).count(None) < 2:
        raise UsageError(f"--{unit}", "name one of --month, --week and --since")
    with suppress(UsageError, ValueError):  # the day after 9999-12-31 is none
        first, until = map(date.fromordinal, parse_days(said, now, f"--{unit}"))
        if (first, until) == periods.unit(unit, first):
            return f"{first:{form}}", (first, until)
    raise UsageError(f"--{unit}", f"{said!r} is no {unit}; write it like {like}")


def _period_lines(seen: PeriodReview, zone: tzinfo, limit: int) -> Iterator[str]:
    if seen.is_empty:
        yield f"nothing consolidated for {seen.period}"
        return
    episodes = count_noun(seen.episodes, "episode")
    yield f"{seen.period}: {seen.first} to {seen.last}, {episodes}"
    for gist in seen.gists:
        yield from ("", *gist.text.split("\n"))
        yield f"  {location_text(gist.file, gist.line)} · {gist.id}"
    yield from _part_lines(seen, _PERIOD_PARTS, zone, limit)


def _part_lines(
    found: News | PeriodReview, titles: dict[str, str], zone: tzinfo, limit: int
) -> Iterator[str]:
    for name, title in titles.items():
        if lines := getattr(found, name):
            yield from ("", title, *_statement_lines(lines, zone, limit))


def _log_lines(
    found: News,
    questions: Sequence[ReviewItem],
    sources: Mapping[str, QuestionSources],
    zone: tzinfo,
    limit: int,
) -> Iterator[str]:
    yield f"since {local_time(found.since, zone)}" if found.since else "since the beginning"
    yield from _part_lines(found, _PARTS, zone, limit)
    if questions:
        yield from ("", "Unsure")
        for item in questions[:limit]:
            what, *rest = question_lines(item, sources.get(item.id), zone)
            yield f"- {what.strip()} ({item.id})"
            yield from rest
        yield from _more_line(len(questions), limit)
        yield "  decide with: clsm review"
    elif not any(found[1:]):
        yield "nothing new"


def brief_lines(
    store: Store, since: str, now: datetime, *, only_changes: bool = False
) -> list[str]:
    """Changes since an instant, in at most ``BRIEF_LINES`` lines: changed and ended statements first."""
    found = morning_report.news(store, since, now.isoformat())
    lines = [
        *(f"changed: {flat(line.text)} (was: {flat(line.before)})" for line in found.changed),
        *(f"no longer true: {flat(line.text)}" for line in found.ended),
    ]
    if not only_changes:
        lines += [f"taken back: {flat(line.text)}" for line in found.withdrawn]
        lines += [f"done: {flat(line.text)}" for line in found.done]
    lines += [f"learnt: {flat(line.text)}" for line in found.learnt]
    if len(lines) > BRIEF_LINES:
        lines[BRIEF_LINES - 1 :] = [f"and {len(lines) - BRIEF_LINES + 1} more: clsm log"]
    return [shorten(line, MAX_BRIEF_LINE) for line in lines]


def _statement_lines(found: Sequence[StatementLine], zone: tzinfo, limit: int) -> Iterator[str]:
    for line in found[:limit]:
        times = f" until {local_time(line.until, zone)}" if line.until else ""
        before = f" (was: {flat(line.before)})" if line.before else ""
        box = f"[{BOX_OF[line.state]}] " if line.state in BOX_OF else ""
        yield f"- {box}{flat(line.text)}{times}{before}"
        yield LinkedLine.of(line, line.since, zone, line.id, indent=2)
    yield from _more_line(len(found), limit)


def _more_line(count: int, limit: int) -> Iterator[str]:
    if count > limit:
        yield f"  {count - limit} more: --limit {count}"


@command(
    "clsm list                         # all statements that hold, newest first",
    "clsm list --stream tasks          # of one stream",
    "clsm list --kind preference       # of one kind",
    "clsm list --about Mara -n 10      # about somebody or something",
    "clsm list --as-of 2026-02-15      # what was true on that day",
)
def list_command(
    *,
    stream: str | None = option(
        "--stream STREAM", f"Only one stream: {', '.join(STREAMS)}.", choices=STREAMS
    ),
    kind: str | None = option("--kind KIND", f"Only one kind: {', '.join(KINDS)}.", choices=KINDS),
    about: str | None = option("--about NAME", "Only about this, by any of its names."),
    limit: int = option("--limit -n N", "Lines at most.", least=1, default=DEFAULT_LIMIT),
    as_of: str | None = AS_OF,
    known_at: str | None = KNOWN_AT,
    common: Common,
) -> None:
    """List what is known to be true now, or was at another time, newest first."""
    if about is not None and not about.strip():
        raise UsageError("--about", "is empty; name somebody or something")
    printer, opened, now = common.start()
    view = view_of(opened, now, as_of, known_at)
    found = morning_report.valid_statements(opened, view, stream, kind, about)
    lines = _statement_lines(found, opened.zone, limit)
    printer.show({"schema": "clsm.list/1", "statements": found}, lines)
    if not found:
        printer.warn("nothing of that is held")
