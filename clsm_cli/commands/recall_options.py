"""Turn the options of ``clsm recall`` into a query, and a past time into a view of the store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.retrieval.query import Query
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.inspection.fact_history import View
    from clsm_cli.store.index.filters import Filters
    from clsm_cli.store.layout import Store

MAX_QUERY = 1 << 20
"""Characters of a query."""
MAX_ITEMS = 1000
KINDS = ("passage", "statement", "gist")
STREAMS = ("identity", "projects", "tasks", "flow")
_BUDGET = r"(\d{1,9})(c?)"  # text: compiled where it is used, which is seldom


class Options(NamedTuple):
    """The options of ``clsm recall``, as they were given; see its help."""

    query: tuple[str, ...]
    k: int | None = None
    budget: str | None = None
    kind: str | None = None
    stream: str | None = None
    project: str | None = None
    session: str | None = None
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    known_at: str | None = None
    min_score: float | None = None
    context: str | None = None
    gate: bool = False
    explore: bool = False
    batch: str | None = None
    output: str | None = None
    explain: bool = False
    exit_code: bool = False
    touch: bool = True
    store: str | None = None
    now: str | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


def text_of(options: Options) -> str:
    """The words of the query.

    Raises:
        UsageError: There are none, or far too many.
    """
    text = decode_words(options.query).strip()
    if not text:
        raise UsageError("QUERY", "the query is empty; give it some words")
    if len(text) > MAX_QUERY:
        raise UsageError(
            "QUERY", f"the query has {len(text)} characters; ask with at most {MAX_QUERY}"
        )
    return text


def query_of(store: Store, options: Options, text: str, now: datetime) -> Query:
    """What is asked with some words.

    Raises:
        UsageError: An option cannot be used as it was given.
    """
    settings = store.settings.recall
    budget, unit = _budget(options.budget)
    return Query(
        text=text,
        now=now.isoformat(),
        k=options.k or (settings.k if budget is None else MAX_ITEMS),
        budget=settings.budget if budget is None else budget,
        unit=unit,
        min_score=options.min_score,
        filters=_filters(options, now),
        as_of=_moment(options.as_of, store, now, "--as-of"),
        known_at=_end(_moment(options.known_at, store, now, "--known-at"), store),
        is_gated=options.gate,
        seed=text if options.explore else None,
    )


def view_of(store: Store, now: datetime, as_of: str | None, known_at: str | None) -> View:
    """The times that ``history``, ``list`` and ``graph`` look from, read as ``recall`` reads them.

    Raises:
        UsageError: One is not a time.
    """
    from clsm_cli.inspection.fact_history import View

    return View(
        now.isoformat(),
        _moment(as_of, store, now, "--as-of"),
        _end(_moment(known_at, store, now, "--known-at"), store),
    )


def _moment(text: str | None, store: Store, now: datetime, option: str) -> str | None:
    """A day as its date, whatever words name it; a time with its offset."""
    if text is None:
        return None
    if "T" in text or ":" in text:
        from clsm_cli.commands.environment import parse_time

        return parse_time(text, store.zone, option).isoformat()
    days = _day(text, now, option)
    assert days is not None
    if days[1] - days[0] != 1:
        raise UsageError(option, f"{text!r} is more than one day; name one day or a time")
    from datetime import date

    return date.fromordinal(days[0]).isoformat()


def _end(moment: str | None, store: Store) -> str | None:
    """A day as its last instant: records are dated in UTC, and what came that day was known then."""
    if moment is None or "T" in moment:
        return moment
    from clsm_cli.model.clocks import end_of_day

    return end_of_day(moment, store.zone)


def _budget(given_budget: str | None) -> tuple[int | None, str]:
    if given_budget is None:
        return None, "tokens"
    match = re.fullmatch(_BUDGET, given_budget)
    if not match:
        reason = f"{given_budget!r} is no size; write 800 for tokens or 3000c for characters"
        raise UsageError("--budget", reason)
    return int(match[1]), "characters" if match[2] else "tokens"


def _filters(options: Options, now: datetime) -> Filters | None:
    _check_choice("--kind", options.kind, KINDS)
    _check_choice("--stream", options.stream, STREAMS)
    first = _day(options.since, now, "--since")
    last = _day(options.until, now, "--until")
    named = (options.kind, options.stream, options.project, options.session)
    if first is None and last is None and not any(named):
        return None
    from clsm_cli.store.index.filters import Filters

    return Filters(
        kind=options.kind,
        stream=options.stream,
        project=options.project,
        session=options.session,
        first=first[0] if first else None,
        until=last[1] if last else None,
    )


def _check_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UsageError(option, f"{value!r} is none of: {', '.join(choices)}")


def _day(text: str | None, now: datetime, option: str) -> tuple[int, int] | None:
    """The days that a text means, as ordinals: first, and the one after the last."""
    if text is None:
        return None
    from datetime import date

    from clsm_cli.text.time import expressions

    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        found = expressions.find_expressions(text, now)
        if len(found) == 1:
            return found[0].first.toordinal(), found[0].until.toordinal()
        reason = f'{text!r} is no day; write it like 2026-02-24, yesterday or "last week"'
        raise UsageError(option, reason) from None
    return day.toordinal(), day.toordinal() + 1
