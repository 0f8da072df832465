"""``clsm eval``: how good recall is, measured."""

from __future__ import annotations

import typer

from clsm_cli.commands import (
    evaluate_calibrate,
    evaluate_label,
    evaluate_run,
    evaluate_shadow,
    evaluate_study,
)
from clsm_cli.commands.options import Command, Common, examples, takes_common

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
@takes_common()
def evaluate(context: typer.Context, *, common: Common) -> None:
    """How good recall is, measured: on your own labelled set, or on a public one.

    Alone it asks the queries of eval/queries.yaml in the store, and says how well clsm and plain
    searches answer them; "clsm eval label" makes that file.
    """
    if context.invoked_subcommand is None:
        evaluate_run.run([], **common._asdict())


for name, module, function in (
    ("run", evaluate_run, evaluate_run.run),
    ("study", evaluate_study, evaluate_study.study),
    ("label", evaluate_label, evaluate_label.label),
    ("calibrate", evaluate_calibrate, evaluate_calibrate.calibrate),
):
    app.command(name, cls=Command, epilog=module.EXAMPLES)(function)
app.add_typer(evaluate_shadow.group, name="shadow")
