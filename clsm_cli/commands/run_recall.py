"""What ``clsm recall`` does once its options are read: one query, or with ``--batch`` a file of them.

A batch file has one JSON object a line: ``{"id": …, "query": …, "as_of": …}``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import render_recall
from clsm_cli.commands.engine import QueryEngine, embedder, offer_install
from clsm_cli.commands.environment import (
    UsageError,
    chosen_store,
    current_time,
    decode_words,
    standard_input,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.recall_options import MAX_ITEMS, MAX_QUERY, Options, query_of, text_of
from clsm_cli.config import MAX_MESSAGE
from clsm_cli.errors import BadInputError, DiskError, NothingRelevantError
from clsm_cli.retrieval import recall
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.dialogue_context import DialogueTurn
    from clsm_cli.retrieval.query import Query
    from clsm_cli.store.layout import Store

__all__ = ["MAX_ITEMS", "Options", "answer", "node_activation", "run", "why_empty"]

_LONGER = "ask with some words of it"
FORMATS = ("text", "json", "prompt")


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
    if options.query == ("-",):
        if options.context == "-":
            raise UsageError("--context", "standard input has the query; name a file")
        options = options._replace(query=(standard_input(MAX_QUERY, _LONGER),))
    found = answer(options, printer)
    _print(printer, found, form, explain=options.explain)
    if not found.answered:
        if options.exit_code:
            raise NothingRelevantError
        is_cut = found.confidence > 0 and options.min_score is None
        printer.warn(why_empty(found) + ("; --min-score 0 shows what is nearest" if is_cut else ""))


def answer(options: Options, printer: Printer, engine: Engine | None = None) -> Answer:
    """Answer one question, and remember that the memories were used.

    Args:
        options: As given; ``batch`` has no effect.
        printer: Told the progress.
        engine: One that stays open between questions; by default a new one.

    Raises:
        UsageError: An option cannot be used as it was given.
        ClsmError: As the store or the disk will have it.
    """
    text = text_of(options)
    store = chosen_store(options.store)
    offer_install(printer)
    now = current_time(options.now, store.zone)
    query = query_of(store, options, text, now)
    if options.context is not None:
        query = query._replace(current=_conversation(options.context, store, now, printer))
    (found,) = _answers(store, [query], printer, engine)
    if options.touch and found.answered:
        recall.touch(store, found)
    return found


def why_empty(found: Answer) -> str:
    """The sentence that says why there is no answer."""
    return "no memory is needed" if found.route == "none" else "nothing relevant was found"


def _format(options: Options) -> str:
    form = options.output or ("json" if options.as_json else "text")
    if form not in FORMATS:
        raise UsageError("--format", f"{form!r} is no format; use one of: {', '.join(FORMATS)}")
    if options.as_json and form != "json":
        raise UsageError("--format", f"--json and --format {form} exclude each other")
    return form


def _conversation(
    path: str, store: Store, now: datetime, printer: Printer
) -> tuple[DialogueTurn, ...]:
    """The messages of ``--context``."""
    from clsm_cli.commands import conversation, fence_key

    read = conversation.read(
        path, zone=store.zone, now=now, fence_key=fence_key.key_reader(printer.warn)
    )
    printer.warn_all(read.warnings)
    return read.turns


def _answers(
    store: Store, queries: list[Query], printer: Printer, engine: Engine | None = None
) -> Iterator[Answer]:
    progress = printer.progress
    try:
        yield from recall.recall(
            store,
            queries,
            engine or QueryEngine(),
            embedder(),
            lambda done, total: progress("making the index", done, total),
        )
    finally:
        printer.end_progress()


def node_activation(store: Store, options: Options, printer: Printer) -> dict[str, float]:
    """What a question gives to the nodes of the graph, those on the way included; never a use."""
    text = decode_words(options.query)
    if not text.strip():
        raise UsageError("--query", "it is empty; give it some words")
    query = query_of(store, options, text, current_time(options.now, store.zone))
    (told,) = _answers(store, [query], printer)
    printer.warn_all(told.warnings)
    found: dict[str, float] = {}
    for concept in told.concepts:
        for node in concept.path:
            found[node] = max(found.get(node, 0.0), concept.activation)
    return found


def _print(printer: Printer, found: Answer, form: str, *, explain: bool) -> None:
    printer.warn_all(found.warnings)
    if form == "json":
        printer.json(render_recall.answer_mapping(found))
    elif form == "prompt":
        from clsm_cli.commands import fence_key, render_prompt

        key = fence_key.obtain_key(printer.warn) if found.answered else None
        printer.utf8(render_prompt.prompt_lines(found, key))
    elif printer.is_terminal:
        printer.rich(render_recall.answer_renderables(found, explain=explain))
    else:
        printer.lines(render_recall.answer_lines(found, explain=explain))


def _run_batch(options: Options, printer: Printer) -> None:
    """Answer every line of a file; an error takes the place of its answer."""
    if options.query:
        raise UsageError("--batch", "the queries come from the file; leave out QUERY")
    if options.context is not None:
        raise UsageError("--batch", "its questions belong to no conversation; leave out --context")
    if options.output in ("text", "prompt"):
        raise UsageError("--batch", "its answers are JSON; leave out --format")
    store = chosen_store(options.store)
    now = current_time(options.now, store.zone)
    rows = read_batch(options.batch or "", MAX_QUERY)
    queries = [
        query._replace(as_of=row.as_of or query.as_of)
        for row in rows
        if row.problem is None
        for query in (query_of(store, options, row.query, now),)
    ]
    answers = _answers(store, queries, printer)
    said: set[str] = set()
    for row in rows:
        if row.problem is not None:
            printer.warn(row.problem)
            printer.json({"id": row.id, "error": row.problem})
            continue
        found = next(answers)
        printer.warn_all(text for text in found.warnings if text not in said)
        said.update(found.warnings)
        printer.json({"id": row.id, **render_recall.answer_mapping(found)})


class BatchRow(NamedTuple):
    """One line.

    Attributes:
        id: As it was given, else the number of the line.
        query: The words.
        as_of: Day or time the question is asked from.
        problem: Why it cannot be answered; None if it can.
    """

    id: Any
    query: str = ""
    as_of: str | None = None
    problem: str | None = None


def read_batch(path: str, longest: int) -> list[BatchRow]:
    """The lines of a file; blank ones are left out.

    Args:
        path: Of the file; ``-`` is standard input.
        longest: Characters of a query.

    Raises:
        BadInputError: There is no such file.
        DiskError: It cannot be read.
    """
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            lines = sys.stdin.buffer.readlines()
        else:
            with open(os.path.expanduser(path), "rb") as file:
                lines = file.readlines()
    except (FileNotFoundError, IsADirectoryError):
        raise BadInputError(path, "no such file", "name a file of queries") from None
    except OSError as error:
        raise DiskError(path, error.strerror or str(error)) from error
    return [
        _row(line, number, name, longest) for number, line in enumerate(lines, 1) if line.strip()
    ]


def _row(line: bytes, number: int, name: str, longest: int) -> BatchRow:
    def bad(row_id: Any, reason: str) -> BatchRow:
        return BatchRow(
            row_id, problem=f"{name}, line {number}: {reason}; the others were answered"
        )

    if len(line) > MAX_MESSAGE:
        return bad(number, f"longer than {MAX_MESSAGE >> 20} MiB")
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return bad(number, "is no JSON")
    if not isinstance(value, dict) or not isinstance(value.get("id", number), str | int):
        return bad(number, "must be an object whose 'id' is a string or a number")
    row_id, query, as_of = value.get("id", number), value.get("query"), value.get("as_of")
    if not isinstance(query, str) or not 0 < len(query.strip()) <= longest:
        return bad(row_id, f"'query' must be text of 1 to {longest} characters")
    if as_of is not None and not _is_time(as_of):
        return bad(row_id, "'as_of' must be a day or time like 2026-02-24")
    return BatchRow(row_id, query.strip().encode("utf-8", "replace").decode(), as_of)


def _is_time(value: Any) -> bool:
    from datetime import datetime

    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True
