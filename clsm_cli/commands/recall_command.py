"""``clsm recall``: search the memory; one query, or with ``--batch`` a file of them.

A batch file has one JSON object per line: ``{"id": …, "query": …, "as_of": …}``.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.commands import render_recall
from clsm_cli.commands.command_line import (
    FORMAT,
    MAX_QUERY,
    Common,
    UsageError,
    command_line,
    named_text,
    option,
    parse_budget,
    parse_days,
    parse_moment,
    query_text,
)
from clsm_cli.commands.engine import QueryEngine, embedder, offer_install
from clsm_cli.commands.output import Printer
from clsm_cli.config import MAX_MESSAGE
from clsm_cli.errors import BadInputError, NothingRelevantError
from clsm_cli.model.streams import STREAMS
from clsm_cli.retrieval import recall
from clsm_cli.retrieval.question import Query
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.inspection.fact_history import View
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

MAX_ITEMS = 1000
MAX_BATCH = 32 << 20  # maximum bytes of a batch file
_LONGER = "ask with some words of it"


class Options(NamedTuple):
    """Find what the memory holds about something.

    The concepts come first, then the memories, best first, each with its source, date and score.
    Nothing relevant is no error: the answer is empty.
    """

    query: tuple[str, ...] = option(
        "QUERY...", "Words or a question; - reads them from standard input.", default=()
    )
    k: int | None = option("-k N", "Items at most; default 10.", int, least=1, most=MAX_ITEMS)
    budget: str | None = option(
        "--budget N",
        "Tokens of text at most, or characters as Nc; default 2000. Without -k it also lifts the"
        " limit of items.",
    )
    kind: str | None = option(
        "--kind KIND",
        "Only these memories: passage, statement or gist.",
        choices=("passage", "statement", "gist"),
    )
    stream: str | None = option(
        "--stream STREAM",
        "Only from one stream: identity, projects, tasks or flow.",
        choices=STREAMS,
    )
    project: str | None = option(
        "--project NAME", "Only what a project's topic holds or what mentions its name."
    )
    session: str | None = option(
        "--session ID", "Only from one conversation, or one note by its path."
    )
    since: str | None = option(
        "--since TIME", 'Only from this day on: 2026-02-24, "last week", yesterday.'
    )
    until: str | None = option("--until TIME", "Only up to this day, itself included.")
    as_of: str | None = option(
        "--as-of TIME", "What was true then: other facts are left out. A day or a time."
    )
    known_at: str | None = option(
        "--known-at TIME", "What was known then: nothing recorded later counts."
    )
    min_score: float | None = option(
        "--min-score P",
        "Leave out what is less likely than this to be relevant; 0 returns everything.",
        float,
        least=0,
        most=1,
    )
    context: str | None = option(
        "--context FILE",
        "The current conversation (- is standard input): what the query points back at.",
    )
    gate: bool = option("--gate", "Answer only if the message needs memory at all.")
    explore: bool = option("--explore", "Sample the weights learnt from feedback, to learn more.")
    batch: str | None = option(
        "--batch FILE",
        'Answer every line {"id": 1, "query": "..."} of a file (- is standard input) with one'
        " JSON object a line.",
    )
    output: str | None = FORMAT
    explain: bool = option("--explain", "Say why each item ranked where it did.")
    exit_code: bool = option("--exit-code", "End with 10 when nothing is relevant.")
    touch: bool = option(
        "--touch/--no-touch", "Remember that these memories were used.", default=True
    )
    common: Common = Common()


COMMAND_LINE = command_line(
    Options,
    "clsm recall delegation defect",
    'clsm recall --json "who is brian"',
    'clsm recall --since "last week" --kind statement what does Mara want',
    'clsm recall --as-of 2026-02-15 "how often does the heartbeat come"',
    "clsm recall --format prompt --budget 800 heartbeat",
    'clsm recall --gate --context chat.jsonl "and the second one?"',
    "clsm recall --batch questions.jsonl > answers.jsonl",
    "clsm recall -k 3 -- --store is an option of what",
    "wl-paste | clsm recall -",
)


def run(options: Options) -> None:
    """Answer and print."""
    printer, form = options.common.formatted(options.output)
    if options.batch is not None:
        _run_batch(options, printer)
        return
    if options.query == ("-",):
        if options.context == "-":
            raise UsageError("--context", "standard input has the query; name a file")
        options = options._replace(query=(named_text("-", MAX_QUERY, _LONGER),))
    found = answer(options, printer)
    _print(printer, found, form, explain=options.explain)
    if not found.answered:
        if options.exit_code:
            raise NothingRelevantError
        is_cut = found.confidence > 0 and not found.budget.dropped and options.min_score is None
        printer.warn(why_empty(found) + ("; --min-score 0 shows what is nearest" if is_cut else ""))


def answer(options: Options, printer: Printer, engine: Engine | None = None) -> Answer:
    """Answer one query, and log that the memories were used."""
    text = query_text(options.query, "QUERY")
    store = options.common.opened()
    offer_install(printer)
    now = options.common.time(store.zone)
    query = _query_of(store, options, text, now)
    if options.context is not None:
        from clsm_cli.commands import conversation, fence_key

        key = fence_key.key_reader(printer.warn)
        read = conversation.read(options.context, zone=store.zone, now=now, fence_key=key)
        printer.warn_all(read.warnings)
        query = query._replace(current=read.messages)
    (found,) = _answers(store, [query], printer, engine)
    if options.touch and found.answered:
        recall.touch(store, found)
    return found


def why_empty(found: Answer) -> str:
    """Why an answer is empty, as a sentence."""
    if found.budget.dropped:
        return "nothing that was found fits the budget"
    return "no memory is needed" if found.route == "none" else "nothing relevant was found"


def _answers(
    store: Store, queries: list[Query], printer: Printer, engine: Engine | None = None
) -> Iterator[Answer]:
    progress = partial(printer.progress, "making the index")
    return recall.recall(store, queries, engine or QueryEngine(), embedder(), progress)


def _print(printer: Printer, found: Answer, form: str, *, explain: bool) -> None:
    printer.warn_all(found.warnings)
    if form == "json":
        printer.json(render_recall.answer_mapping(found))
    elif form == "prompt":
        from clsm_cli.commands import fence_key

        key = fence_key.obtain_key(printer.warn) if found.answered else None
        printer.utf8(render_recall.prompt_lines(found, key))
    elif printer.is_terminal:
        printer.rich(render_recall.answer_renderables(found, explain=explain))
    else:
        printer.lines(render_recall.answer_lines(found, explain=explain))


def _run_batch(options: Options, printer: Printer) -> None:
    if options.query:
        raise UsageError("--batch", "the queries come from the file; leave out QUERY")
    if options.context is not None:
        raise UsageError("--batch", "its questions belong to no conversation; leave out --context")
    if options.output in ("text", "prompt"):
        raise UsageError("--batch", "its answers are JSON; leave out --format")
    store = options.common.opened()
    now = options.common.time(store.zone)
    name = "standard input" if options.batch == "-" else options.batch
    lines = named_text(options.batch or "", MAX_BATCH, "name a file of queries").split("\n")
    rows = [
        (number, *_batch_row(line, number, store, options, now))
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    queries = [asked for _, _, asked in rows if isinstance(asked, Query)]
    if rows and not queries:
        reason = f"no line is a question; the first {rows[0][2]}"
        raise BadInputError(str(name), reason, 'give lines like {"query": "who is Ada?"}')
    answers = _answers(store, queries, printer)
    said: set[str] = set()
    for number, row_id, asked in rows:
        if isinstance(asked, str):
            problem = f"{name}, line {number}: {asked}; the others were answered"
            printer.warn(problem)
            printer.json({"id": row_id, "error": problem})
            continue
        found = next(answers)
        printer.warn_all(text for text in found.warnings if text not in said)
        said.update(found.warnings)
        printer.json({"id": row_id, **render_recall.answer_mapping(found)})


def _batch_row(
    line: str, number: int, store: Store, options: Options, now: datetime
) -> tuple[str | int, Query | str]:
    """The id of a line, else its number; and its query, or the error."""
    if len(line) > MAX_MESSAGE:
        return number, f"longer than {MAX_MESSAGE >> 20} MiB"
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return number, "is no JSON"
    if not isinstance(value, dict) or not isinstance(value.get("id", number), str | int):
        return number, "must be an object whose 'id' is a string or a number"
    row_id, text, as_of = value.get("id", number), value.get("query"), value.get("as_of")
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_QUERY:
        return row_id, f"'query' must be text of 1 to {MAX_QUERY} characters"
    try:
        as_of = parse_moment(None if as_of is None else str(as_of), now, store.zone, "as_of")
    except UsageError:
        return row_id, "'as_of' must be a day or time like 2026-02-24"
    query = _query_of(store, options, text.strip().encode("utf-8", "replace").decode(), now)
    return row_id, query._replace(as_of=as_of or query.as_of)


def _query_of(store: Store, options: Options, text: str, now: datetime) -> Query:
    settings = store.settings.recall
    budget, unit = (None, "tokens") if options.budget is None else parse_budget(options.budget)
    chosen = Filters(options.kind, options.stream, options.project, options.session)
    if options.since is not None:
        chosen = chosen._replace(first=parse_days(options.since, now, "--since")[0])
    if options.until is not None:
        chosen = chosen._replace(until=parse_days(options.until, now, "--until")[1])
    return Query(
        text=text,
        now=now.isoformat(),
        k=options.k or (settings.k if budget is None else MAX_ITEMS),
        budget=settings.budget if budget is None else budget,
        unit=unit,
        min_score=options.min_score,
        filters=chosen if any(chosen) else None,
        as_of=parse_moment(options.as_of, now, store.zone, "--as-of"),
        known_at=parse_moment(options.known_at, now, store.zone, "--known-at", at_end=True),
        is_gated=options.gate,
        with_facts=options.output == "prompt",
        seed=text if options.explore else None,
    )


def view_of(store: Store, now: datetime, as_of: str | None, known_at: str | None) -> View:
    """The view of ``history``, ``list`` and ``graph``, with times parsed as in ``recall``."""
    from clsm_cli.inspection.fact_history import View

    return View(
        now.isoformat(),
        parse_moment(as_of, now, store.zone, "--as-of"),
        parse_moment(known_at, now, store.zone, "--known-at", at_end=True),
    )
