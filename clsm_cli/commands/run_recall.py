"""What ``clsm recall`` does once its options are read, by Typer or by the fast path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.commands import render_recall
from clsm_cli.commands.engine import QueryEngine, embedder, offer
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import UsageError, chosen_store, current_time, given
from clsm_cli.errors import NothingRelevantError
from clsm_cli.retrieval import recall as use_case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.recall import Query
    from clsm_cli.store.index.filters import Filters
    from clsm_cli.store.layout import Store

MAX_QUERY = 1 << 20
"""Characters of a query."""
MAX_ITEMS = 1000
FORMATS = ("text", "json", "prompt")
KINDS = ("passage", "statement", "gist")
STREAMS = ("identity", "projects", "tasks", "flow")
_BUDGET = re.compile(r"(\d{1,9})(c?)")


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
    min_score: float | None = None
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


def run(options: Options) -> None:
    """Answer, and print.

    Raises:
        UsageError: An option cannot be used as it was given; nothing was printed.
        NothingRelevantError: There is no answer, and ``--exit-code`` was given.
        ClsmError: As the store or the disk will have it.
    """
    form = _format(options)
    printer = Printer(as_json=form == "json", quiet=options.quiet, verbose=options.verbose)
    if options.batch is not None:
        _run_batch(options, printer)
        return
    text = _query_text(options)
    store = chosen_store(options.store)
    offer(printer)
    now = current_time(options.now, store.zone)
    query = _query(store, options, text, now)
    (answer,) = _answers(store, [query], printer)
    if options.touch and answer.answered:
        use_case.touch(store, answer)
    _print(printer, answer, form, explain=options.explain)
    if not answer.answered:
        if options.exit_code:
            raise NothingRelevantError
        printer.warn("nothing relevant was found")


def _format(options: Options) -> str:
    form = options.output or ("json" if options.as_json else "text")
    if form not in FORMATS:
        raise UsageError("--format", f"{form!r} is no format; use one of: {', '.join(FORMATS)}")
    if options.as_json and form != "json":
        raise UsageError("--format", f"--json and --format {form} exclude each other")
    return form


def _query_text(options: Options) -> str:
    text = given(options.query).strip()
    if not text:
        raise UsageError("QUERY", "the query is empty; give it some words")
    if len(text) > MAX_QUERY:
        raise UsageError(
            "QUERY", f"the query has {len(text)} characters; ask with at most {MAX_QUERY}"
        )
    return text


def _query(store: Store, options: Options, text: str, now: datetime) -> Query:
    settings = store.settings.recall
    budget, unit = _budget(options.budget)
    return use_case.Query(
        text=text,
        now=now.isoformat(),
        k=options.k or (settings.k if budget is None else MAX_ITEMS),
        budget=settings.budget if budget is None else budget,
        unit=unit,
        min_score=options.min_score,
        filters=_filters(options, now),
    )


def _budget(given_budget: str | None) -> tuple[int | None, str]:
    if given_budget is None:
        return None, "tokens"
    match = _BUDGET.fullmatch(given_budget)
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

    from clsm_cli.text import timex

    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        found = timex.find(text, now)
        if len(found) == 1:
            return found[0].first.toordinal(), found[0].until.toordinal()
        reason = f'{text!r} is no day; write it like 2026-02-24, yesterday or "last week"'
        raise UsageError(option, reason) from None
    return day.toordinal(), day.toordinal() + 1


def _answers(store: Store, queries: list[Query], printer: Printer) -> Iterator[Answer]:
    progress = printer.progress
    try:
        yield from use_case.recall(
            store,
            queries,
            QueryEngine(),
            embedder(),
            lambda done, total: progress("making the index", done, total),
        )
    finally:
        printer.end_progress()


def _print(printer: Printer, answer: Answer, form: str, *, explain: bool) -> None:
    printer.warn_all(answer.warnings)
    if form == "json":
        printer.json(render_recall.answer_mapping(answer))
    elif form == "prompt":
        from clsm_cli.commands import fence_key, render_prompt

        key = fence_key.obtain(printer.warn) if answer.answered else None
        printer.utf8(render_prompt.prompt_lines(answer, key))
    elif printer.is_terminal:
        printer.rich(render_recall.answer_renderables(answer, explain=explain))
    else:
        printer.lines(render_recall.answer_lines(answer, explain=explain))


def _run_batch(options: Options, printer: Printer) -> None:
    """Answer every line of a file; what is wrong with one is said in its own place."""
    from clsm_cli.commands import batch

    if options.query:
        raise UsageError("--batch", "the queries come from the file; leave out QUERY")
    if options.output in ("text", "prompt"):
        raise UsageError("--batch", "its answers are JSON; leave out --format")
    store = chosen_store(options.store)
    now = current_time(options.now, store.zone)
    rows = batch.read(options.batch or "", MAX_QUERY)
    queries = [
        _query(store, options, row.query, now)._replace(as_of=row.as_of)
        for row in rows
        if row.problem is None
    ]
    answers = _answers(store, queries, printer)
    said: set[str] = set()
    for row in rows:
        if row.problem is not None:
            printer.warn(row.problem)
            printer.json({"id": row.id, "error": row.problem})
            continue
        answer = next(answers)
        printer.warn_all(text for text in answer.warnings if text not in said)
        said.update(answer.warnings)
        printer.json({"id": row.id, **render_recall.answer_mapping(answer)})
