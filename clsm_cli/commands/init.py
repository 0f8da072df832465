"""``clsm init``: make a store; ``clsm merge-driver``: what git runs to join its files."""

import os
from pathlib import Path

import typer

from clsm_cli.commands.command_line import DRY_RUN, Common, environment, option
from clsm_cli.commands.options import command
from clsm_cli.startup import zones
from clsm_cli.store import git_setup, joining, layout


@command(
    "clsm init                        # in ~/.clsm/memory",
    "clsm init notes/memory --git",
    "clsm init --time-zone Europe/Amsterdam",
    no_effect=("now",),
)
def init(
    folder: Path | None = option("[DIR]", "Where; else --store, CLSM_STORE, ~/.clsm/memory."),
    *,
    git: bool = option("--git", "Make it a git repository that merges and syncs durably."),
    time_zone: str | None = option(
        "--time-zone ZONE", "IANA zone of times without an offset; default: this machine's."
    ),
    dry_run: bool = DRY_RUN,
    store: str | None = option("--store DIR", "The same as DIR."),
    common: Common,
) -> None:
    """Make a new, empty memory store.

    An existing store stays as it is. With --git it becomes a repository, unless it lies in one, and
    this clone learns how to merge: run it once in every clone.
    """
    printer = common.printer()
    values = environment()
    root = named_root(folder, store, values)
    zone = time_zone or zones.system_zone(values)
    zones.check_zone(zone)
    is_new = layout.can_create(root) if dry_run else layout.create(root, zone)
    changes = git_setup.set_up(root.resolve()) if git and not dry_run else None
    root, store_id = root.resolve(), None
    if not (dry_run and is_new):
        opened = layout.open_store(root, values)
        zone, store_id = opened.zone_name, opened.store_id
    state = ("would be made:" if dry_run else "made") if is_new else "is already there:"
    lines = [f"memory store {state} {root} (time zone {zone})"]
    if changes is not None:
        how = "is set up" if any(changes) else "was set up already"
        lines.append(f"git {how}: merging, durable writes; nothing is committed")
    result = {"schema": "clsm.init/1", "store": root, "id": store_id, "created": is_new}
    printer.show({**result, "git": git, "time_zone": zone, "dry_run": dry_run}, lines)
    if is_new and not (dry_run or common.as_json):
        printer.warn("now take something in with: clsm ingest PATH, or clsm note TEXT")


def named_root(folder: Path | None, store: str | None, values: dict[str, str]) -> Path:
    """The folder of a new store: as given, else CLSM_STORE, else ~/.clsm/memory."""
    if folder is not None and store is not None and str(folder) != store:
        raise typer.BadParameter("give the folder once", param_hint="DIR and --store")
    named = str(folder) if folder is not None else store or values.get("CLSM_STORE")
    return Path(os.path.expanduser(named)) if named else layout.default_root(values)


@command(
    "clsm merge-driver %O %A %B %P     # merge.clsm.driver, set by clsm init --git",
    no_effect=("store", "now"),
)
def merge_driver(
    base: Path = option("BASE", "What both sides began with."),
    ours: Path = option("OURS", "Our version; the result goes there."),
    theirs: Path = option("THEIRS", "Their version."),
    path: Path = option("PATH", "Of the file in the repository."),
    *,
    common: Common,  # noqa: ARG001
) -> None:
    """Join two versions of a file of a store; git runs this.

    Records are joined by id, logs by line, statements by item. Ends with 1, and writes nothing,
    where a version cannot be read.
    """
    if not joining.merge(base, ours, theirs, path):
        raise typer.Exit(1)
