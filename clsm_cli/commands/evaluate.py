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
        "clsm eval shadow --static MEMORY.md",
    ),
)
for name, function in (("run", evaluate_run.run), ("shadow", evaluate_shadow.shadow)):
    app.command(name, cls=Command, epilog=vars(function)["epilog"])(function)
