"""``clsm eval``: how good recall is, measured."""

from __future__ import annotations

from typing import Any

import typer

from clsm_cli.commands import evaluate_label, evaluate_run, evaluate_shadow
from clsm_cli.commands.command_line import Common
from clsm_cli.commands.options import Command, command, examples

app = typer.Typer(
    help="How good recall is, measured.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples(
        "clsm eval                          # your own labelled set",
        "clsm eval label                    # make one",
        "clsm eval run ~/data/locomo10.json",
        "clsm eval shadow start --static MEMORY.md",
    ),
)


@app.callback()
@command()
def evaluate(context: typer.Context, *, common: Common) -> None:
    """How good recall is, measured: on your own labelled set, or on a public one.

    Alone it asks the queries of eval/queries.yaml in the store, and says how well clsm and plain
    searches answer them; "clsm eval label" makes that file.
    """
    if context.invoked_subcommand is None:
        evaluate_run.run(**common._asdict())


functions: tuple[Any, ...] = (evaluate_run.run, evaluate_label.label)
for function in functions:
    app.command(function.__name__, cls=Command, epilog=function.epilog)(function)
app.add_typer(evaluate_shadow.group, name="shadow")
