"""``clsm eval``: how good recall is, measured."""

import typer

from clsm_cli.commands import evaluate_run, evaluate_shadow
from clsm_cli.commands.options import Command, examples

app = typer.Typer(
    help="How good recall is, measured.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples(
        "clsm eval run ~/data/locomo10.json",
        "clsm eval shadow start --static MEMORY.md",
    ),
)
app.command("run", cls=Command, epilog=vars(evaluate_run.run)["epilog"])(evaluate_run.run)
app.add_typer(evaluate_shadow.group, name="shadow")
