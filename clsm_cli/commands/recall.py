"""``clsm recall``: find it again."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands.options import (
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    chosen_store,
    current_time,
    examples,
    given,
)
from clsm_cli.commands.output import Printer

EXAMPLES = examples(
    "clsm recall delegation defect",
    'clsm recall --json "who is brian"',
    "clsm recall -k 3 -- --store is an option of what",
)
MAX_QUERY = 1 << 20
"""Characters of a query."""
MAX_ITEMS = 1000


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words or a question.")],
    *,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, max=MAX_ITEMS, metavar="N", help="Items at most; default 10."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Tokens of text at most; default 2000. Without -k it also lifts the limit of items.",
        ),
    ] = None,
    touch: Annotated[
        bool, typer.Option("--touch/--no-touch", help="Remember that these memories were used.")
    ] = True,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Find what the memory holds about something.

    The concepts come first, then the passages, best first, each with its source, date and score.
    """
    from clsm_cli.commands import engine, render_recall
    from clsm_cli.retrieval import recall as use_case

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    text = given(query).strip()
    if not text:
        raise typer.BadParameter("the query is empty; give it some words", param_hint="QUERY")
    if len(text) > MAX_QUERY:
        raise typer.BadParameter(
            f"the query has {len(text)} characters; ask with at most {MAX_QUERY}",
            param_hint="QUERY",
        )
    opened = chosen_store(store)
    engine.offer(printer)
    settings = opened.settings.recall
    asked = use_case.Query(
        text=text,
        now=current_time(now, opened.zone).isoformat(),
        k=k or (settings.k if budget is None else MAX_ITEMS),
        budget=settings.budget if budget is None else budget,
        touch=touch,
    )
    try:
        answer = use_case.recall(
            opened,
            asked,
            engine.embedder(),
            engine.encode_query,
            lambda done, total: printer.progress("making the index", done, total),
        )
    finally:
        printer.end_progress()
    printer.warn_all(answer.warnings)
    if as_json:
        printer.json(render_recall.answer_mapping(answer))
    elif printer.is_terminal:
        printer.rich(render_recall.answer_renderables(answer))
    else:
        printer.lines(render_recall.answer_lines(answer))
