"""``clsm restore``: a store from a backup, or only the proof that there is one in it."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import machine_settings
from clsm_cli.commands.backup import backup_path
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import environment
from clsm_cli.commands.init import named_root
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun
from clsm_cli.errors import BadInputError
from clsm_cli.store import restoring

if TYPE_CHECKING:
    from clsm_cli.store.restoring import Restored


@command(
    "clsm restore /mnt/usb/memory.tar.gz --dry-run     # verify all of it; writes nothing",
    "clsm restore /mnt/usb/memory.tar.gz               # to ~/.clsm/memory, which must be empty",
    "clsm restore /mnt/usb/memory.tar.gz old-memory    # beside the one you have, to compare",
    no_effect=("now",),
    file=Option("", "FILE", "What clsm backup wrote."),
    folder=Option("", "[DIR]", "Where; else --store, CLSM_STORE, ~/.clsm/memory."),
    dry_run=DRY_RUN,
    store=Option("--store", "DIR", "The same as DIR."),
)
def restore(
    file: Path,
    folder: Path | None = None,
    *,
    dry_run: bool = False,
    store: str | None = None,
    common: Common,
) -> None:
    """Make a store from a backup, whole or not at all.

    Every byte is verified before anything appears; with --dry-run that is all. The folder must be
    new or empty. To get single files back, restore beside the store and copy them, or let git merge.
    What was forgotten after the backup is there again: forget it again, or copy tombstones/ from a
    newer store into this one.

    At the same path of the same machine the store keeps its device name; elsewhere it gets a new
    one, since the old machine may still be writing. If this machine takes its place, set CLSM_DEVICE
    to the old name: then open conversations and undo continue.
    """
    printer = common.printer()
    path = backup_path(file)
    values = environment()
    root = named_root(folder, store, values)
    if not path.is_file():
        reason = "is not a file" if path.exists() else "is not there"
        raise BadInputError(str(path), reason, "name what clsm backup wrote")
    done = restoring.restore(path.resolve(), root, values, printer.progress, dry_run=dry_run)
    printer.show(
        _mapping(done, path, dry_run=dry_run),
        _lines(done, path, dry_run=dry_run, verbose=common.verbose),
    )
    if not dry_run:
        printer.warn_all(
            [*machine_settings.misplaced_warnings(done.misplaced), *_next_steps(done, path)]
        )


def _lines(done: Restored, path: Path, *, dry_run: bool, verbose: bool) -> list[str]:
    from rich.filesize import decimal

    manifest = done.manifest
    lines = [f"{entry.sha256}  {entry.path}" for entry in manifest.files] if verbose else []
    what = (
        f"{count_noun(len(manifest.files), 'file')}, {decimal(manifest.size)}: store {manifest.store}"
        f" as {manifest.device} had it at {manifest.at}"
    )
    if dry_run:
        told = f"{path} is whole ({what})"
        return [*lines, told, f"it would be restored to {done.root}", "nothing was written"]
    return [*lines, f"restored  {done.root} ({what})"]


def _next_steps(done: Restored, path: Path) -> list[str]:
    root = quote(str(done.root))
    steps = [f"the first recall makes the index anew; look with: clsm status --store {root}"]
    old = done.manifest.device
    if not done.goes_on:
        again = f"CLSM_DEVICE={old} clsm restore {quote(str(path))} {root}"
        steps.append(
            f"here the store is written as {done.device}, since {old} may still write too; if it is"
            f" gone and this machine takes its place, move {root} away and run: {again}"
        )
    return steps


def _mapping(done: Restored, path: Path, *, dry_run: bool) -> dict[str, Any]:
    manifest = done.manifest
    return {
        "schema": "clsm.restore/1",
        "dry_run": dry_run,
        "path": path,
        "store": done.root,
        "id": manifest.store,
        "at": manifest.at,
        "files": len(manifest.files),
        "size": manifest.size,
        "device": done.device,
        "made_by": manifest.device,
        "warnings": machine_settings.misplaced_warnings(done.misplaced),
    }
