"""``clsm backup``: the whole memory in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import UsageError
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, fields
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.store import backups

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store


@command(
    "clsm backup /mnt/usb/memory.tar.gz",
    'clsm backup "/mnt/usb/memory-$(date +%F).tar.gz"   # from cron, after consolidate',
    "clsm backup /mnt/usb/memory.tar.gz --force          # in place of the last one",
    "clsm restore /mnt/usb/memory.tar.gz --dry-run       # is it still whole?",
    file=Option("", "FILE", "The file to write; it may not lie in the store."),
    force=Option("--force", "", "Replace the file if it is there."),
    dry_run=DRY_RUN,
)
def backup(file: Path, *, force: bool = False, dry_run: bool = False, common: Common) -> None:
    """Write the whole memory into one file, read back and checked.

    It contains everything that cannot be computed again: notes, episodes, open conversations,
    statements, graph, logs, tombstones, archive, quarantine, your labels, and what undo needs. The
    index and git's history are left out. The file appears whole or not at all, and the same memory
    at the same time gives the same bytes.

    It is compressed, not encrypted. It keeps what you forget later, so delete older backups after a
    forget.
    """
    printer = common.printer()
    path = backup_path(file)
    opened = common.opened()
    at = utc_text(common.time(opened.zone))
    made = backups.make_backup(
        opened, path, at, end_begun_run, printer.progress, force=force, dry_run=dry_run
    )
    printer.warn_all(made.warnings)
    printer.warn_all(f"{each.path}: {each.reason}; it is not in it" for each in made.left_out)
    printer.show(
        _mapping(made, path, opened, dry_run=dry_run),
        _lines(made, path, opened, verbose=common.verbose),
    )


def backup_path(file: Path) -> Path:
    """The path of a backup, as it was given."""
    if str(file) in ("-", "."):
        raise UsageError("FILE", "a backup is verified as a file; name one")
    return file.expanduser()


def _lines(made: backups.BackupResult, path: Path, store: Store, *, verbose: bool) -> list[str]:
    from rich.filesize import decimal

    held = f"{count_noun(len(made.manifest.files), 'file')}, {decimal(made.manifest.size)}"
    lines = [f"{entry.sha256}  {entry.path}" for entry in made.manifest.files] if verbose else []
    if made.packed is None:
        return [*lines, f"{path} would hold {store.root} ({held})", "nothing was written"]
    told = f"{path}  {decimal(made.packed)}, holds {store.root} ({held}), read back and verified"
    return [*lines, told]


def _mapping(
    made: backups.BackupResult, path: Path, store: Store, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "schema": "clsm.backup/1",
        "dry_run": dry_run,
        "path": path,
        "packed": made.packed,
        "store": store.root,
        "id": made.manifest.store,
        **fields(made.manifest, "device at size"),
        "files": len(made.manifest.files),
        "left_out": made.left_out,
    }
