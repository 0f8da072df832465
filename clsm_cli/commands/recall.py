"""``clsm recall``: search the memory."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands import completion, run_recall
from clsm_cli.commands.options import (
    Common,
    examples,
    takes_common,
)
from clsm_cli.commands.recall_options import KINDS, STREAMS

EXAMPLES = examples(
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


@takes_common()
def recall(
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY...", help="Words or a question; - reads them from standard input."
        ),
    ] = None,
    *,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", min=1, max=run_recall.MAX_ITEMS, metavar="N", help="Items at most; default 10."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Tokens of text at most, or characters as Nc; default 2000. Without -k it also"
            " lifts the limit of items.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Only these memories: passage, statement or gist.",
            autocompletion=completion.words(*KINDS),
        ),
    ] = None,
    stream: Annotated[
        str | None,
        typer.Option(
            metavar="STREAM",
            help="Only from one stream: identity, projects, tasks or flow.",
            autocompletion=completion.words(*STREAMS),
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only what a project's topic holds or what mentions its name.",
            autocompletion=completion.topics,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only from one conversation, or one note by its path."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help='Only from this day on: 2026-02-24, "last week", yesterday.'
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only up to this day, itself included.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="What was true then: other facts are left out. A day or a time.",
        ),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="What was known then: nothing recorded later counts."),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="P",
            help="Leave out what is less likely than this to be relevant; 0 returns everything.",
        ),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The current conversation (- is standard input): what the query points back at, and"
            " part of the answer.",
        ),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Answer only if the message needs memory at all.")
    ] = False,
    explore: Annotated[
        bool,
        typer.Option("--explore", help="Sample the weights learnt from feedback, to learn more."),
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Answer every line {"id": 1, "query": "..."} of a file (- is standard input) with'
            " one JSON object a line.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=completion.words("text", "json", "prompt"),
            help="text, json, or prompt: a block for a language model that clsm itself will not"
            " take in again.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each item ranked where it did.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 10 when nothing is relevant.")
    ] = False,
    touch: Annotated[
        bool, typer.Option("--touch/--no-touch", help="Remember that these memories were used.")
    ] = True,
    common: Common,
) -> None:
    """Find what the memory holds about something.

    The concepts come first, then the memories, best first, each with its source, date and score.
    Nothing relevant is no error: the answer is empty.
    """
    options = run_recall.Options(
        query=tuple(query or ()),
        k=k,
        budget=budget,
        kind=kind,
        stream=stream,
        project=project,
        session=session,
        since=since,
        until=until,
        as_of=as_of,
        known_at=known_at,
        min_score=min_score,
        context=context,
        gate=gate,
        explore=explore,
        batch=batch,
        output=output,
        explain=explain,
        exit_code=exit_code,
        touch=touch,
        store=common.store,
        now=common.now,
        as_json=common.as_json,
        quiet=common.quiet,
        verbose=common.verbose,
    )
    run_recall.run(options)
