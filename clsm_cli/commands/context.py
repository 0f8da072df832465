"""``clsm context``: what an agent reads at the start of a session."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands import run_context
from clsm_cli.commands.options import (
    Common,
    examples,
    takes_common,
)

EXAMPLES = examples(
    "clsm context",
    "clsm context --format prompt --budget 3000c     # from a hook, before every turn",
    "clsm context --window 32768 --budget 30%",
    'clsm context --query "the gauge at the Leidsevaart"',
)


@takes_common()
def context(
    *,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="What the session is about: adds the concepts it activates."
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="A conversation that goes on: adds its decisions, open questions and statements.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Tokens at most, characters as Nc, or a part of the window as N%;"
            " default 1500, with --window 30%.",
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=run_context.MAX_WINDOW,
            metavar="N",
            help="Tokens of the model's context window; default 8192.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text, json, or prompt: a block for a language model that clsm itself will not"
            " take in again.",
        ),
    ] = None,
    common: Common,
) -> None:
    """What to read at the start of a session.

    The open conversation, what is due, what was done, decided and found in the last weeks, open
    tasks, rules, people and projects: the most useful sentences for their length, as their authors
    wrote them, each with its place. What the agent reads anyway (SOUL.md, MEMORY.md, the notes of
    today and yesterday; setting context.loaded) is left out. It does not count as use of what it
    shows.
    """
    options = run_context.Options(
        query=query,
        session=session,
        budget=budget,
        window=window,
        output=output,
        store=common.store,
        now=common.now,
        as_json=common.as_json,
        quiet=common.quiet,
        verbose=common.verbose,
    )
    run_context.run(options)
