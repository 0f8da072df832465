"""``clsm log``: what changed in memory since the last consolidation; also the rendering of ``clsm list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands.environment import parse_time
from clsm_cli.commands.options import (
    Common,
    examples,
    takes_common,
)
from clsm_cli.commands.output import LinkedLine, location_text, plain
from clsm_cli.commands.render_history import local_time
from clsm_cli.commands.render_review import as_question, question_lines
from clsm_cli.consolidation.active_learning import WORTH
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.inspection import morning_report
from clsm_cli.store.topics import BOX_OF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from clsm_cli.inspection.lookup import QuestionSources
    from clsm_cli.inspection.morning_report import News, StatementLine
    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import ReviewItem

SHOWN = 20
"""Lines of a part that are shown unless more are asked for."""
BRIEF = 5
"""Lines of a report at the end of another one."""
LONGEST = 200
"""Characters of such a line."""
_PARTS = (
    ("changed", "Changed"),
    ("learnt", "Learnt"),
    ("done", "Done"),
    ("ended", "No longer true"),
    ("withdrawn", "Taken back"),
)


EXAMPLES = examples(
    "clsm log                          # since the last consolidation began",
    "clsm log --since 2026-02-20       # since that day",
    "clsm log --json                   # as data, for a report in the morning",
)


@takes_common()
def log(
    *,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="From then on; default: since the last consolidation began."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="Lines of each part at most.")
    ] = SHOWN,
    common: Common,
) -> None:
    """Say what memory learnt, changed and gave up, with sources.

    And what it wants to ask you. "Since" is about when it was recorded, not when it was true.
    """
    from clsm_cli.consolidation import review_queue
    from clsm_cli.inspection import morning_report
    from clsm_cli.inspection.lookup import question_sources

    printer = common.printer()
    opened = common.opened()
    moment = common.time(opened.zone)
    if since is not None:
        start = utc_text(parse_time(since, opened.zone, "--since"))
    else:
        start = morning_report.last_night(opened) or ""
    found = morning_report.news(opened, start, moment.isoformat())
    asked = [item for item in review_queue.list_items(opened, moment) if item.at >= start]
    told = question_sources(opened, asked)
    if common.as_json:
        printer.json(log_mapping(found, asked, told))
        return
    questions = [item for item in asked if item.reason != WORTH]
    printer.lines(log_lines(found, questions, told, opened.zone, limit))


def log_lines(
    found: News,
    questions: Sequence[ReviewItem],
    told: Mapping[str, QuestionSources],
    zone: tzinfo,
    limit: int,
) -> Iterator[str]:
    """The parts that have something, each newest first; a line a sentence."""
    yield f"since {local_time(found.since, zone)}" if found.since else "since the beginning"
    is_empty = True
    for name, title in _PARTS:
        lines: tuple[StatementLine, ...] = getattr(found, name)
        if lines:
            is_empty = False
            yield from ("", title)
            for line in lines[:limit]:
                yield from _line(line, zone)
            yield from _rest(len(lines), limit)
    if questions:
        is_empty = False
        yield from ("", "Unsure")
        for item in questions[:limit]:
            first, *rest = question_lines(item, told.get(item.id), zone)
            yield f"- {first.strip()} ({item.id})"
            yield from rest
        yield from _rest(len(questions), limit)
        yield "  decide with: clsm review"
    if is_empty:
        yield "nothing new"


def brief_lines(
    store: Store, since: str, now: datetime, *, only_changes: bool = False
) -> list[str]:
    """What became of memory since an instant, in ``BRIEF`` lines: what changed and ended first."""
    found = morning_report.news(store, since, now.isoformat())
    told = [
        *(f"changed: {_said(line)} (was: {_flat(line.before)})" for line in found.changed),
        *(f"no longer true: {_said(line)}" for line in found.ended),
    ]
    if not only_changes:
        told += [f"taken back: {_said(line)}" for line in found.withdrawn]
        told += [f"done: {_said(line)}" for line in found.done]
    told += [f"learnt: {_said(line)}" for line in found.learnt]
    if len(told) > BRIEF:
        told[BRIEF - 1 :] = [f"and {len(told) - BRIEF + 1} more: clsm log"]
    return [_cut(line) for line in told]


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _said(line: StatementLine) -> str:
    return _flat(line.text)


def log_mapping(
    found: News, asked: Sequence[ReviewItem], told: Mapping[str, QuestionSources]
) -> dict[str, Any]:
    """Schema ``clsm.log/1``."""
    return {
        "schema": "clsm.log/1",
        **plain(found),
        "unsure": [
            {
                "id": item.id,
                "reason": item.reason,
                "what": as_question(item).what,
                "sources": plain(told[item.id]),
            }
            for item in asked
        ],
    }


def held_lines(found: Sequence[StatementLine], zone: tzinfo, limit: int) -> Iterator[str]:
    """Statements as text, one a line."""
    for line in found[:limit]:
        yield from _line(line, zone)
    yield from _rest(len(found), limit)


def held_mapping(found: Sequence[StatementLine]) -> dict[str, Any]:
    """Schema ``clsm.list/1``."""
    return {"schema": "clsm.list/1", "statements": [plain(line) for line in found]}


def _line(line: StatementLine, zone: tzinfo) -> Iterator[str]:
    """A sentence, what it replaced, and its source."""
    times = f" until {local_time(line.until, zone)}" if line.until else ""
    before = f" (was: {_flat(line.before)})" if line.before else ""
    box = f"[{BOX_OF[line.state]}] " if line.state in BOX_OF else ""
    yield f"- {box}{_said(line)}{times}{before}"
    parts = (local_time(line.since, zone), location_text(line.file, line.line), line.id)
    where = [part for part in parts if part]
    yield LinkedLine(f"  {' · '.join(where)}", line.file, line.line)


def _rest(count: int, limit: int) -> Iterator[str]:
    if count > limit:
        yield f"  {count - limit} more: --limit {count}"
