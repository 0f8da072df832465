"""``clsm merge-driver``: what git runs to join a file that both sides changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clsm_cli.commands.options import Command, examples
from clsm_cli.store.joining import merge

EXAMPLES = examples("clsm merge-driver %O %A %B %P     # merge.clsm.driver, set by clsm init --git")

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("merge-driver", cls=Command, epilog=EXAMPLES, hidden=True)
def merge_driver(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="What both sides began with.")],
    ours: Annotated[
        Path, typer.Argument(metavar="OURS", help="Our version; the result goes there.")
    ],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="Their version.")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Of the file in the repository.")],
) -> None:
    """Join two versions of a file of a store; git runs this.

    Records are joined by id, logs by line, statements by item. Ends with 1, and writes nothing,
    where a version cannot be read.
    """
    if not merge(base, ours, theirs, path):
        raise typer.Exit(1)
