"""``clsm hook openclaw``: the plugin that recalls before a turn and writes down after it."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.command_line import DRY_RUN, Common
from clsm_cli.commands.environment import environment, program
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer
from clsm_cli.commands.settings_backup import back_up
from clsm_cli.config import MAX_FILE
from clsm_cli.integrations.openclaw import setup
from clsm_cli.integrations.openclaw.setup import PLUGIN, OpenClaw, plugin_files
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.integrations.openclaw.setup import Setting

app = command_group("OpenClaw: put what memory knows into prompts, and store what is said.")
_RESTART = "restart the gateway if one is running: openclaw gateway restart"


class PluginState(NamedTuple):
    """What there is of clsm in an OpenClaw: two settings (None: unset), and the plugin's folder."""

    plugins: Any
    extra_paths: Any
    folder: Path
    files: dict[str, bytes]


@command(
    "clsm hook openclaw install --dry-run   # every file and setting",
    "clsm hook openclaw install",
    "clsm hook openclaw install --store ~/notes/memory",
    group=app,
    dry_run=DRY_RUN,
)
def install(*, dry_run: bool = False, common: Common) -> None:
    """Put the plugin and its settings into OpenClaw; a second time changes nothing.

    OpenClaw itself copies the files and checks the settings. The old settings are kept beside the
    new ones.
    """
    printer = common.printer()
    root = str(common.opened().root)
    openclaw = _openclaw(printer)
    found = _found(openclaw)
    wanted = plugin_files(program(), root)
    files = {name: data for name, data in wanted.items() if found.files.get(name) != data}
    gone = sorted(found.files.keys() - wanted.keys())
    changes = setup.changes(
        found.plugins,
        found.extra_paths,
        paths_at=openclaw.extra_paths,
        program=program(),
        store=root,
    )
    backup = None
    if not dry_run and (files or gone or changes):
        backup = _backup(openclaw, common.now)
        if files or gone:
            _put(openclaw, wanted)
        openclaw.change(setup.patch(changes))
    _tell(printer, found.folder, [*files, *gone], changes, backup, dry_run=dry_run)


@command(
    "clsm hook openclaw uninstall --dry-run",
    "clsm hook openclaw uninstall",
    group=app,
    no_effect=("store",),
    dry_run=DRY_RUN,
)
def uninstall(*, dry_run: bool = False, common: Common) -> None:
    """Take the plugin and its settings out of OpenClaw again; the memory stays as it is."""
    printer = common.printer()
    openclaw = _openclaw(printer)
    found = _found(openclaw)
    changes = setup.removals(found.plugins, found.extra_paths, paths_at=openclaw.extra_paths)
    is_there = bool(found.files or setup.entry_of(found.plugins))
    backup = None
    if not dry_run and (is_there or changes):
        backup = _backup(openclaw, common.now)
        if is_there:
            openclaw.uninstall()
            entry = setup.Setting(f"plugins.entries.{PLUGIN}", None, None)  # it leaves a stump
            openclaw.change(setup.patch([*changes, entry]))
        else:
            openclaw.change(setup.patch(changes))
    if is_there:
        at, old = f"plugins.entries.{PLUGIN}", setup.entry_of(found.plugins)
        changes = [*changes, setup.Setting(at, old, None)]
    _tell(printer, found.folder, sorted(found.files), changes, backup, dry_run=dry_run)


@command("clsm hook openclaw status", group=app, no_effect=("store", "now"))
def status(*, common: Common) -> None:
    """Say whether OpenClaw has the plugin of this clsm, and with which memory."""
    printer = common.printer()
    openclaw = _openclaw(printer)
    found = _found(openclaw)
    config = setup.entry_of(found.plugins).get("config") or {}
    command, store = config.get("command") or [], config.get("store")
    wanted = plugin_files(command, store) if command and store else {}
    state = {
        "openclaw": openclaw.version,
        "folder": str(found.folder),
        "installed": bool(found.files),
        "current": bool(found.files) and found.files == wanted,
        "off": setup.is_switched_off(found.plugins),
        "command": command,
        "runs": bool(command) and os.access(command[0], os.X_OK),
        "store": store,
        "searched": found.extra_paths or [],
    }
    if common.as_json:
        printer.json({"schema": "clsm.hook-openclaw-status/1", **state})
        return
    printer.lines(_told(state))


def _told(state: Mapping[str, Any]) -> list[str]:
    lines = [f"OpenClaw: {state['openclaw']}", f"folder: {state['folder']}"]
    if not state["installed"]:
        return [*lines, "plugin: not installed; install it with: clsm hook openclaw install"]
    again = "not that of this clsm; renew it with: clsm hook openclaw install"
    lines.append(f"plugin: {'installed' if state['current'] else again}")
    if state["off"]:
        lines.append(f"switched off: {state['off']}")
    lost = "" if state["runs"] else " (cannot be run)"
    lines.append(f"command: {shlex.join(state['command'])}{lost}")
    lines.append(f"memory: {state['store']}")
    return lines


def _openclaw(printer: Printer) -> OpenClaw:
    found = OpenClaw(environment())
    if not found.is_known:
        printer.warn(f"{found.version} is no version that clsm knows; it is taken for the newest")
    return found


def _found(openclaw: OpenClaw) -> PluginState:
    home = os.environ.get("OPENCLAW_STATE_DIR") or os.path.expanduser("~/.openclaw")
    folder = Path(home) / "extensions" / PLUGIN
    files = {
        str(path.relative_to(folder)): atomic.read(path, MAX_FILE) or b""
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    plugins, extra_paths = openclaw.setting("plugins"), openclaw.setting(openclaw.extra_paths)
    return PluginState(plugins, extra_paths, folder, files)


def _backup(openclaw: OpenClaw, now: str | None) -> Path | None:
    """A copy of OpenClaw's settings beside them; None when it has none yet."""
    path = Path(os.path.expanduser(openclaw.settings_file()))
    old = atomic.read(path, MAX_FILE)
    return None if old is None else back_up(path, old, now)


def _put(openclaw: OpenClaw, files: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory(prefix="clsm-") as scratch:
        folder = Path(scratch) / PLUGIN
        for name, data in files.items():
            atomic.make_folder((folder / name).parent)
            atomic.put(folder / name, data)
        openclaw.install(folder)


def _tell(
    printer: Printer,
    folder: Path,
    files: list[str],
    changes: list[Setting],
    backup: Path | None,
    *,
    dry_run: bool,
) -> None:
    if printer.as_json:
        printer.json(
            {
                "schema": "clsm.hook-openclaw/1",
                "folder": str(folder),
                "files": files,
                "settings": [change._asdict() for change in changes],
                "backup": None if backup is None else str(backup),
                "dry_run": dry_run,
            }
        )
        return
    if not files and not changes:
        printer.lines(["nothing to change"])
        return
    printer.lines([str(folder / name) for name in files])
    printer.lines([f"{c.path}: {_shown(c.before)} -> {_shown(c.after)}" for c in changes])
    if backup is not None:
        printer.lines([f"the old settings are {backup}"])
    if not dry_run:
        printer.warn(_RESTART)


def _shown(value: Any) -> str:
    import json

    return "unset" if value is None else json.dumps(value, ensure_ascii=False)
