"""``clsm backup``: write the whole memory to one file; ``clsm restore``: restore or verify it."""

from pathlib import Path
from shlex import quote

from clsm_cli.commands import machine_settings
from clsm_cli.commands.command_line import DRY_RUN, Common, UsageError, environment, option
from clsm_cli.commands.init import named_root
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, fields
from clsm_cli.errors import BadInputError
from clsm_cli.model.clocks import utc_text
from clsm_cli.store import backups, restoring
from clsm_cli.store.restoring import Restored


@command(
    "clsm backup /mnt/usb/memory.tar.gz",
    'clsm backup "/mnt/usb/memory-$(date +%F).tar.gz"   # from cron, after consolidate',
    "clsm backup /mnt/usb/memory.tar.gz --force          # in place of the last one",
    "clsm restore /mnt/usb/memory.tar.gz --dry-run       # is it still whole?",
)
def backup(
    file: Path = option("FILE", "The file to write; it may not lie in the store."),
    *,
    force: bool = option("--force", "Replace the file if it is there."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Write the whole memory into one file, read back and checked.

    It contains everything that cannot be computed again: notes, episodes, open conversations,
    statements, graph, logs, tombstones, archive, quarantine, your labels, and what undo needs. The
    index and git's history are left out. The file appears whole or not at all, and the same memory
    at the same time gives the same bytes.

    It is compressed, not encrypted. It keeps what you forget later, so delete older backups after a
    forget.
    """
    path = backup_path(file)
    printer, opened, now = common.start()
    how = {"force": force, "dry_run": dry_run}
    made = backups.make_backup(opened, path, utc_text(now), printer.progress, **how)
    printer.warn_all(made.warnings)
    printer.warn_all(f"{each.path}: {each.reason}; it is not in it" for each in made.left_out)
    from rich.filesize import decimal

    files, size = made.manifest.files, made.manifest.size
    held = f"{count_noun(len(files), 'file')}, {decimal(size)}"
    lines = [f"{entry.sha256}  {entry.path}" for entry in files] if common.verbose else []
    if made.packed is None:
        lines += [f"{path} would hold {opened.root} ({held})", "nothing was written"]
    else:
        what = f"{decimal(made.packed)}, holds {opened.root} ({held}), read back and verified"
        lines.append(f"{path}  {what}")
    mapping = {"schema": "clsm.backup/1", "dry_run": dry_run, "path": path, "packed": made.packed}
    mapping |= {"store": opened.root, "id": made.manifest.store}
    mapping |= fields(made.manifest, "device at size")
    printer.show({**mapping, "files": len(files), "left_out": made.left_out}, lines)


def backup_path(file: Path) -> Path:
    """The absolute path of a backup file."""
    if str(file) in ("-", "."):
        raise UsageError("FILE", "a backup is verified as a file; name one")
    return file.expanduser()


@command(
    "clsm restore /mnt/usb/memory.tar.gz --dry-run     # verify all of it; writes nothing",
    "clsm restore /mnt/usb/memory.tar.gz               # to ~/.clsm/memory, which must be empty",
    "clsm restore /mnt/usb/memory.tar.gz old-memory    # beside the one you have, to compare",
    no_effect=("now",),
)
def restore(
    file: Path = option("FILE", "What clsm backup wrote."),
    folder: Path | None = option("[DIR]", "Where; else --store, CLSM_STORE, ~/.clsm/memory."),
    *,
    dry_run: bool = DRY_RUN,
    store: str | None = option("--store DIR", "The same as DIR."),
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
    from rich.filesize import decimal

    manifest = done.manifest
    lines = [f"{each.sha256}  {each.path}" for each in manifest.files] if common.verbose else []
    what = f"{count_noun(len(manifest.files), 'file')}, {decimal(manifest.size)}: store"
    what = f"({what} {manifest.store} as {manifest.device} had it at {manifest.at})"
    if dry_run:
        whole = f"{path} is whole {what}"
        place = done.in_the_way or f"it would be restored to {done.root}"
        lines += [whole, place, "nothing was written"]
    else:
        lines.append(f"restored  {done.root} {what}")
    warnings = [] if done.store is None else machine_settings.ignored_warnings(done.store)
    mapping = {"schema": "clsm.restore/1", "dry_run": dry_run, "path": path, "store": done.root}
    mapping |= {"id": manifest.store, "at": manifest.at, "files": len(manifest.files)}
    mapping |= {"size": manifest.size, "device": done.device, "made_by": manifest.device}
    mapping |= {"in_the_way": done.in_the_way} if dry_run else {}
    printer.show({**mapping, "warnings": warnings}, lines)
    if not dry_run:
        printer.warn_all([*warnings, *_next_steps(done, path)])


def _next_steps(done: Restored, path: Path) -> list[str]:
    root = quote(str(done.root))
    steps = [f"the first recall makes the index anew; look with: clsm status --store {root}"]
    old = done.manifest.device
    if not done.keeps_device:
        again = f"CLSM_DEVICE={old} clsm restore {quote(str(path))} {root}"
        steps.append(
            f"here the store is written as {done.device}, since {old} may still write too; if it is"
            f" gone and this machine takes its place, move {root} away and run: {again}"
        )
    return steps
