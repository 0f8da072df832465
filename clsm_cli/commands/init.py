"""``clsm init``: make a store."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from clsm_cli.commands.options import (
    JsonOption,
    QuietOption,
    VerboseOption,
    environment,
)
from clsm_cli.commands.output import Printer
from clsm_cli.errors import BadInputError
from clsm_cli.store import layout

EXAMPLES = """\
Examples: clsm init (makes ~/.clsm/memory); clsm init notes/memory --git;
clsm init --time-zone Europe/Amsterdam
"""


def init(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where; default ~/.clsm/memory.")
    ] = None,
    *,
    git: Annotated[
        bool, typer.Option("--git", help="Make it a git repository that syncs durably.")
    ] = False,
    time_zone: Annotated[
        str | None,
        typer.Option(help="IANA zone of times without an offset; default: this machine's."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make a new, empty memory store. A store that is already there stays as it is."""
    values = environment()
    root = (folder or layout.default_root(values)).expanduser()
    zone = time_zone or layout.system_zone(values)
    layout.check_zone(zone)
    is_new = layout.create(root, zone)
    store = layout.open_store(root.resolve(), values)
    if git:
        make_repository(store.root)
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    if as_json:
        result = {"store": str(store.root), "id": store.store_id, "created": is_new, "git": git}
        printer.json(result)
        return
    state = "made" if is_new else "is already there:"
    printer.lines([f"memory store {state} {store.root} (time zone {store.zone_name})"])


def make_repository(root: Path) -> None:
    """``git init`` in the store; git syncs everything it writes (by default a power cut can
    leave a repository unreadable).

    Raises:
        BadInputError: git is missing or refuses.
    """
    settings = ["-c", "core.hooksPath=/dev/null"]
    commands = [["init", "--quiet"], ["config", "core.fsync", "all"]]
    for command in commands:
        try:
            subprocess.run(
                ["git", *settings, *command], cwd=root, check=True, capture_output=True, text=True
            )
        except FileNotFoundError:
            raise BadInputError(
                "git", "is not installed", "install it or leave out --git"
            ) from None
        except subprocess.CalledProcessError as error:
            reason = error.stderr.strip().splitlines()[-1] if error.stderr else "git failed"
            raise BadInputError(str(root), reason, "mend that or leave out --git") from None
