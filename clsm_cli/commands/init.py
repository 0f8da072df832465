"""``clsm init``: make a store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NoNowOption,
    QuietOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import environment
from clsm_cli.errors import BadInputError
from clsm_cli.store import layout, zones

EXAMPLES = examples(
    "clsm init                        # in ~/.clsm/memory",
    "clsm init notes/memory --git",
    "clsm init --time-zone Europe/Amsterdam",
)


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Where; else --store, CLSM_STORE, ~/.clsm/memory."),
    ] = None,
    *,
    git: Annotated[
        bool, typer.Option("--git", help="Make it a git repository that syncs durably.")
    ] = False,
    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE", help="IANA zone of times without an offset; default: this machine's."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    store: Annotated[str | None, typer.Option(metavar="DIR", help="The same as DIR.")] = None,
    _now: NoNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make a new, empty memory store.

    A store that is already there stays as it is.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    values = environment()
    root = _root(folder, store, values)
    zone = time_zone or zones.system_zone(values)
    zones.check_zone(zone)
    is_new = layout.is_free(root) if dry_run else layout.create(root, zone)
    if git and not dry_run:
        make_repository(root)
    if not (dry_run and is_new):
        opened = layout.open_store(root.resolve(), values)
        root, zone, store_id = opened.root, opened.zone_name, opened.store_id
    else:
        root, store_id = root.resolve(), None
    if as_json:
        result = {"schema": "clsm.init/1", "store": root, "id": store_id, "created": is_new}
        printer.json({**result, "git": git, "time_zone": zone, "dry_run": dry_run})
        return
    state = ("would be made:" if dry_run else "made") if is_new else "is already there:"
    printer.lines([f"memory store {state} {root} (time zone {zone})"])
    if is_new and not dry_run:
        printer.warn("now take something in with: clsm ingest PATH, or clsm note TEXT")


def _root(folder: Path | None, store: str | None, values: dict[str, str]) -> Path:
    if folder is not None and store is not None and str(folder) != store:
        raise typer.BadParameter("give the folder once", param_hint="DIR and --store")
    named = str(folder) if folder is not None else store or values.get("CLSM_STORE")
    return Path(os.path.expanduser(named)) if named else layout.default_root(values)


def make_repository(root: Path) -> None:
    """``git init`` in the store, with git syncing everything it writes.

    By default git leaves that to the system, and a power cut can leave a repository unreadable.

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
