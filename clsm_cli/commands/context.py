"""``clsm context``: what an agent reads at the start of a session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.commands import render_context
from clsm_cli.commands.command_line import COMMON, FORMAT, CommandLine, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.output import Printer
from clsm_cli.retrieval.briefing import Concepts, brief, make_item
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from clsm_cli.retrieval.briefing import Briefing, Item
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

BUDGET = 1500
"""Tokens unless others are asked for."""
WINDOW = 8192
"""Tokens of the smallest context window in common use: a share of it fits everywhere."""
SHARE = 30
"""Percent of the window that memory may take (CLS-M)."""
MAX_QUERY = 1 << 20
"""Characters of a query."""
_BUDGET = re.compile(r"(\d{1,9})([c%]?)")
COMMAND_LINE = CommandLine(
    options={
        "query": Option(
            "--query", "TEXT", "What the session is about: adds the concepts it activates."
        ),
        "session": Option(
            "--session",
            "ID",
            "A conversation that goes on: adds its decisions, open questions and statements.",
        ),
        "budget": Option(
            "--budget",
            "N",
            "Tokens at most, characters as Nc, or a part of the window as N%; default 1500, with"
            " --window 30%.",
        ),
        "window": Option(
            "--window",
            "N",
            "Tokens of the model's context window; default 8192.",
            int,
            least=1,
            most=1_000_000_000,
        ),
        "output": FORMAT,
        **COMMON,
    },
    help="""What to read at the start of a session.

    The open conversation, what is due, what was done, decided and found in the last weeks, open
    tasks, rules, people and projects: the most useful sentences for their length, as their authors
    wrote them, each with its place. What the agent reads anyway (SOUL.md, MEMORY.md, the notes of
    today and yesterday; setting context.loaded) is left out. It does not count as use of what it
    shows.
    """,
    examples=(
        "clsm context",
        "clsm context --format prompt --budget 3000c     # from a hook, before every turn",
        "clsm context --window 32768 --budget 30%",
        'clsm context --query "the gauge at the Leidsevaart"',
    ),
)


class Options(NamedTuple):
    """The options of ``clsm context``, as they were given; see its help."""

    query: str | None = None
    session: str | None = None
    budget: str | None = None
    window: int | None = None
    output: str | None = None
    common: Common = Common()


def run(options: Options) -> None:
    """Put together, and print."""
    printer, form = options.common.formatted(options.output)
    _print(printer, make_briefing(options, printer), form)


def make_briefing(options: Options, printer: Printer, engine: Engine | None = None) -> Briefing:
    """Put together what an agent reads."""
    limit, unit = _budget(options)
    query = None if options.query is None else _query_text(options.query)
    store = options.common.opened()
    now = options.common.time(store.zone)

    def concepts() -> Concepts:
        if query is None:
            return Concepts()
        return _concepts(store, query, now.isoformat(), printer, engine)

    session = _session(store, options.session)
    return brief(store, now, limit, unit, query=query, concepts=concepts, session=session)


def _session(store: Store, session: str | None) -> list[Item]:
    """What came out of a conversation; nothing where none was named, or none of that id is known."""
    if session is None:
        return []
    from clsm_cli.ingestion.describe import digest_session

    return [
        make_item(
            passage.id,
            kind,
            text,
            stream=passage.stream,
            trust=passage.trust,
            time=passage.time,
            path=passage.session if passage.path == "-" else passage.path,
            line=passage.line_start,
            about=passage.speaker,
            file=file,
            file_line=line,
        )
        for kind, text, passage, file, line in digest_session(store, session)
    ]


def _query_text(text: str) -> str:
    text = decode_words([text]).strip()
    if not text:
        raise UsageError("--query", "the query is empty; give it some words or leave it out")
    if len(text) > MAX_QUERY:
        raise UsageError(
            "--query", f"the query has {len(text)} characters; ask with at most {MAX_QUERY}"
        )
    return text


def _budget(options: Options) -> tuple[int, str]:
    window = WINDOW if options.window is None else options.window
    if options.budget is None:
        return (BUDGET if options.window is None else window * SHARE // 100), "tokens"
    match = _BUDGET.fullmatch(options.budget)
    if not match or (match[2] == "%" and int(match[1]) > 100):
        reason = (
            f"{options.budget!r} is no size; write 2000 for tokens, 3000c for characters or 30%"
            " for a part of --window"
        )
        raise UsageError("--budget", reason)
    if match[2] == "%":
        return window * int(match[1]) // 100, "tokens"
    return int(match[1]), "characters" if match[2] else "tokens"


def _concepts(
    store: Store, query: str, now: str, printer: Printer, engine: Engine | None
) -> Concepts:
    from clsm_cli.commands.engine import QueryEngine, embedder, offer_install
    from clsm_cli.retrieval.briefing_contents import activated_concepts

    offer_install(printer)
    return activated_concepts(
        store, query, now, engine or QueryEngine(), embedder(), printer.progress
    )


def _print(printer: Printer, found: Briefing, form: str) -> None:
    printer.warn_all(found.warnings)
    if form == "json":
        printer.json(render_context.context_mapping(found))
    elif form == "prompt":
        from clsm_cli.commands import fence_key

        key = None if found.is_empty else fence_key.obtain_key(printer.warn)
        printer.utf8(render_context.prompt_lines(found, key))
    else:
        printer.lines(render_context.context_lines(found))
    if found.is_empty:
        printer.warn(why_empty(found))


def why_empty(found: Briefing) -> str:
    """The sentence that says why a briefing is empty."""
    cut = len(found.budget.dropped)
    fits = f"none of {cut} items fits the budget; raise it with --budget"
    return fits if cut else "the memory has nothing to tell yet"
