"""The history of facts and edges as JSON, as a table for a pipe, and as time lines for a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import count_noun, linked, location_text, plain
from clsm_cli.commands.tables import Table, table_lines
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from rich.console import RenderableType

    from clsm_cli.inspection.fact_history import History, Subject, Thread, Version, View

BAR = 24
"""Cells of a time line."""
LONGEST = 60
"""Characters of a value in a table."""
HEADINGS = (
    "value",
    "true from",
    "true until",
    "believed from",
    "believed until",
    "state",
    "source",
    "id",
)
_STYLES = {"current": "bold green", "future": "cyan", "ended": "", "superseded": "dim"}


def mapping(found: Sequence[History], view: View) -> dict[str, Any]:
    """Schema ``clsm.history/1``."""
    return {
        "schema": "clsm.history/1",
        "now": view.now,
        "as_of": view.as_of,
        "known_at": view.known_at,
        "found": [
            {
                "wanted": each.wanted,
                "threads": [_thread_mapping(thread) for thread in each.threads],
                "subjects": plain(each.subjects),
            }
            for each in found
        ],
    }


def _thread_mapping(thread: Thread) -> dict[str, Any]:
    versions = [each._asdict() for each in thread.versions]
    for each in versions:
        del each["begin"], each["end"]
    return {**plain(thread), "versions": plain(versions)}


def lines(found: Iterable[History], zone: tzinfo) -> list[str]:
    """A table for each thread, a blank line between two."""
    return table_lines(_tables(found, zone))


def _tables(found: Iterable[History], zone: tzinfo) -> list[Table]:
    tables = []
    for each in found:
        for thread in each.threads:
            rows = tuple(_row(version, zone) for version in thread.versions)
            tables.append(Table(_title(thread), HEADINGS, rows))
        if each.subjects:
            subjects = tuple(_subject(subject) for subject in each.subjects)
            tables.append(Table(_asked(each), ("subject", "versions"), subjects))
    return tables


def _row(version: Version, zone: tzinfo) -> tuple[str, ...]:
    times = (version.valid_from, version.valid_until, version.recorded_at, version.superseded_at)
    shown = (local_time(time, zone) for time in times)
    return (_short(version.value), *shown, version.state, _place(version), version.id)


def _subject(subject: Subject) -> tuple[str, ...]:
    return subject.label, str(subject.versions)


def _title(thread: Thread) -> str:
    return " · ".join(part for part in (thread.label, thread.type) if part) or "about nothing named"


def _asked(found: History) -> str:
    return f"{found.wanted} is no subject; these have most of that name"


def local_time(time: str | None, zone: tzinfo) -> str:
    """A time by the store's clock, to the minute; a bare date as it is.

    >>> from datetime import UTC
    >>> local_time("2026-02-20T08:15:00Z", UTC), local_time("2026-02-20", UTC), local_time(None, UTC)
    ('2026-02-20 08:15', '2026-02-20', '')
    """
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return time or ""
    if len(time or "") == len("2026-02-20"):
        return str(time)
    moment = moment.astimezone(zone) if moment.tzinfo else moment
    return f"{moment:%Y-%m-%d %H:%M}"


def _place(version: Version) -> str:
    return location_text(version.file, version.line)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"


class _Span(NamedTuple):
    """What the time lines of a thread show, in seconds since 1970."""

    first: float
    last: float


def renderables(found: Iterable[History], now: datetime) -> list[RenderableType]:
    """For a person: a time line for each version, and below it what it says of both clocks."""
    from rich.padding import Padding
    from rich.text import Text

    shown: list[RenderableType] = []
    for each in found:
        for thread in each.threads:
            span = _span(thread, now.timestamp())
            shown.append(Text(safe(_title(thread)), style="bold"))
            if span is not None:
                shown.append(Text(_axis(span, now), style="dim"))
            for version in thread.versions:
                style = _STYLES.get(version.state, "dim strike")
                line = Text(
                    f"{validity_bar(version, span)} " if span is not None else "", style=style
                )
                shown.append(line.append(safe(f"{version.state}  {version.value}")))
                style = linked("dim", version.file, version.line)
                details = Text("\n".join(map(safe, _details(version, now))), style=style)
                shown.append(Padding(details, (0, 0, 0, 2)))
            shown.append(Text(""))
        if each.subjects:
            shown.append(Text(safe(_asked(each)), style="bold"))
            for subject in each.subjects:
                count = count_noun(subject.versions, "version")
                shown.append(Text(safe(f"  {subject.label}  ({count})")))
    return shown


def _span(thread: Thread, now: float) -> _Span | None:
    """From the first change to the last, or to now; None where nothing has a date."""
    versions = thread.versions
    times = [t for each in versions for t in (each.begin, each.end) if t is not None]
    span = _Span(min([*times, now]), max([*times, now]))
    return span if times and span.first < span.last else None


def _axis(span: _Span, now: datetime) -> str:
    first, last = (datetime.fromtimestamp(each, now.tzinfo).date() for each in span)
    return f"{first}{last!s:>{BAR - len(str(first))}}"


def validity_bar(version: Version, span: _Span) -> str:
    """The part of a span in which a version was true; lighter where it is believed no longer.

    What was true at all has at least one cell.
    """
    width = (span.last - span.first) / BAR
    begin = span.first if version.begin is None else version.begin
    end = span.last if version.end is None else version.end
    if version.begin is not None and version.end is not None and end <= begin:
        return "·" * BAR
    first = min(BAR - 1, max(0, round((begin - span.first) / width)))
    until = min(BAR, max(first + 1, round((end - span.first) / width)))
    cell = "█" if version.state in ("current", "future", "ended") else "░"
    return "·" * first + cell * (until - first) + "·" * (BAR - until)


def _details(version: Version, now: datetime) -> list[str]:
    """Both clocks on one line; its source and id on the next."""
    zone = now.tzinfo
    assert zone is not None
    pairs = (
        ("true", version.valid_from, version.valid_until),
        ("believed", version.recorded_at, version.superseded_at),
    )
    clocks = []
    for word, start, end in pairs:
        said = [f"from {local_time(start, zone)}"] if start else []
        said += [f"until {local_time(end, zone)}"] if end else []
        clocks += [" ".join([word, *said])] if said else []
    places = [each for each in (_place(version), version.id) if each]
    return [" · ".join(parts) for parts in (clocks, places) if parts]
