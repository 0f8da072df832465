"""``clsm hook``: install and remove the OpenClaw plugin and the Claude Code hooks.

Both recall for each message, add context to a session, and capture conversations.
"""

import json
import os
import shlex
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any

from clsm_cli.commands import context, ingest, recall_command
from clsm_cli.commands.command_line import (
    DRY_RUN,
    Common,
    UsageError,
    chosen_root,
    environment,
    option,
    program,
)
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer
from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError, ClsmError, fault_text
from clsm_cli.integrations import claude_code_setup
from clsm_cli.integrations.openclaw import setup
from clsm_cli.integrations.openclaw.setup import PLUGIN, OpenClaw, Setting, plugin_files
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import without_surrogates

app = command_group("Put clsm into an agent, and take it out again.")
openclaw_app = command_group(
    "OpenClaw: put what memory knows into prompts, and store what is said."
)
claude_app = command_group("Claude Code: put context into every session, and store what was said.")
app.add_typer(openclaw_app, name="openclaw")
app.add_typer(claude_app, name="claude-code")
_RESTART = "restart the gateway if one is running: openclaw gateway restart"


class PluginState(NamedTuple):
    """clsm in an OpenClaw: two settings (None: unset), the plugin's folder and files."""

    openclaw: OpenClaw
    plugins: Any
    extra_paths: Any
    folder: Path
    files: dict[str, bytes]


@command(
    "clsm hook openclaw install --dry-run   # every file and setting",
    "clsm hook openclaw install",
    "clsm hook openclaw install --store ~/notes/memory",
    group=openclaw_app,
)
def openclaw_install(*, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Put the plugin and its settings into OpenClaw; a second time changes nothing.

    OpenClaw itself copies the files and checks the settings. The old settings are kept beside the
    new ones.
    """
    root = str(common.opened().root)
    found = _plugin_state(common)
    wanted = plugin_files(program(), root)
    files = [name for name, data in wanted.items() if found.files.get(name) != data]
    files += sorted(found.files.keys() - wanted.keys())
    old, paths_at = (found.plugins, found.extra_paths), found.openclaw.extra_paths
    changes = setup.changes(*old, paths_at=paths_at, program=program(), store=root)

    def put() -> None:
        with tempfile.TemporaryDirectory(prefix="clsm-") as scratch:
            folder = Path(scratch) / PLUGIN
            for name, data in wanted.items():
                atomic.put(folder / name, data)
            found.openclaw.install(folder)

    _apply(common, found, files, changes, put if files else None, dry_run=dry_run)


@command(
    "clsm hook openclaw uninstall --dry-run",
    "clsm hook openclaw uninstall",
    group=openclaw_app,
    no_effect=("store",),
)
def openclaw_uninstall(*, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Take the plugin and its settings out of OpenClaw again; the memory stays as it is."""
    found = _plugin_state(common)
    paths_at, entry = found.openclaw.extra_paths, setup.entry_of(found.plugins)
    changes = setup.removals(found.plugins, found.extra_paths, paths_at=paths_at)
    remove = None
    if found.files or entry:
        remove = found.openclaw.uninstall
        # OpenClaw leaves an empty entry.
        changes.append(Setting(f"plugins.entries.{PLUGIN}", entry, None))
    _apply(common, found, sorted(found.files), changes, remove, dry_run=dry_run)


@command("clsm hook openclaw status", group=openclaw_app, no_effect=("store", "now"))
def openclaw_status(*, common: Common) -> None:
    """Say whether OpenClaw has the plugin of this clsm, and with which memory."""
    found = _plugin_state(common)
    config = setup.entry_of(found.plugins).get("config") or {}
    command, store = config.get("command") or [], config.get("store")
    wanted = plugin_files(command, store) if command and store else {}
    state = {
        "openclaw": found.openclaw.version,
        "folder": found.folder,
        "installed": bool(found.files),
        "current": bool(found.files) and found.files == wanted,
        "off": setup.is_switched_off(found.plugins),
        "command": command,
        "runs": bool(command) and os.access(command[0], os.X_OK),
        "store": store,
        "searched": found.extra_paths or [],
    }
    common.printer().show({"schema": "clsm.hook-openclaw-status/1", **state}, _state_lines(state))


def _state_lines(state: Mapping[str, Any]) -> Iterator[str]:
    yield f"OpenClaw: {state['openclaw']}"
    yield f"folder: {state['folder']}"
    if not state["installed"]:
        yield "plugin: not installed; install it with: clsm hook openclaw install"
        return
    again = "not that of this clsm; renew it with: clsm hook openclaw install"
    yield f"plugin: {'installed' if state['current'] else again}"
    if state["off"]:
        yield f"switched off: {state['off']}"
    yield f"command: {shlex.join(state['command'])}{'' if state['runs'] else ' (cannot be run)'}"
    yield f"memory: {state['store']}"


def _plugin_state(common: Common) -> PluginState:
    openclaw = OpenClaw(environment())
    if not openclaw.is_known:
        warning = f"{openclaw.version} is no version that clsm knows; it is taken for the newest"
        common.printer().warn(warning)
    home = os.environ.get("OPENCLAW_STATE_DIR") or os.path.expanduser("~/.openclaw")
    folder = Path(home) / "extensions" / PLUGIN
    files = {
        str(path.relative_to(folder)): atomic.read(path, MAX_FILE) or b""
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    plugins, extra_paths = openclaw.setting("plugins"), openclaw.setting(openclaw.extra_paths)
    return PluginState(openclaw, plugins, extra_paths, folder, files)


def back_up(path: Path, data: bytes, common: Common) -> Path:
    """Back up another program's settings to ``NAME.TIME.bak`` before a change."""
    copy = path.with_name(f"{path.name}.{common.time():%Y%m%dT%H%M%S}.bak")
    atomic.put(copy, data)
    return copy


def _apply(
    common: Common,
    found: PluginState,
    files: list[str],
    changes: list[Setting],
    act: Callable[[], None] | None,
    *,
    dry_run: bool,
) -> None:
    """Back up the settings, let OpenClaw act on its files, change the settings, and report."""
    backup = None
    if not dry_run and (files or changes):
        path = Path(os.path.expanduser(found.openclaw.settings_file()))
        old = atomic.read(path, MAX_FILE)
        backup = None if old is None else back_up(path, old, common)
        if act is not None:
            act()
        found.openclaw.change(setup.patch(changes))
    lines = [str(found.folder / name) for name in files]
    lines += [f"{c.path}: {_value_text(c.before)} -> {_value_text(c.after)}" for c in changes]
    lines += [f"the old settings are {backup}"] if backup else []
    mapping = {"schema": "clsm.hook-openclaw/1", "folder": found.folder, "files": files}
    mapping |= {"settings": [change._asdict() for change in changes], "backup": backup}
    printer = common.printer()
    printer.show({**mapping, "dry_run": dry_run}, lines or ["nothing to change"])
    if lines and not (dry_run or printer.as_json):
        printer.warn(_RESTART)


def _value_text(value: Any) -> str:
    return "unset" if value is None else json.dumps(value, ensure_ascii=False)


RECALL_ITEMS, RECALL_BUDGET = 8, "500"
"""Maximum memories added to a message, and tokens of these and the facts; as in the OpenClaw plugin."""
MAX_WHOLE_QUERY = 2000
"""Longest message (characters) used whole as a query; of a longer one both ends, as the middle is
usually pasted."""
MAX_EVENT = 1 << 20  # maximum bytes of an event from Claude Code

PROJECT = option("--project", "In .claude/settings.json of this folder, not in your own settings.")


@command(
    "clsm hook claude-code install --dry-run   # the change, as a diff",
    "clsm hook claude-code install",
    "clsm hook claude-code install --project --store notes/memory",
    group=claude_app,
)
def claude_install(*, project: bool = PROJECT, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Put the hooks into Claude Code's settings.json, each once.

    A session then starts with what clsm context tells, a message comes with what memory knows of it,
    and what was said is written down before it is compacted and when it ends. The old file is kept
    beside the new one; all else in it stays.
    """
    options = f"--store {shlex.quote(str(chosen_root(common.store)))}"

    def added(settings: dict[str, Any]) -> dict[str, Any]:
        return claude_code_setup.with_hooks(settings, shlex.join(program()), options)

    _change(common, added, "installed", project=project, dry_run=dry_run)


@command("clsm hook claude-code uninstall", group=claude_app, no_effect=("store",))
def claude_uninstall(*, project: bool = PROJECT, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Take the hooks of clsm out of settings.json again; all else in it stays."""
    _change(common, claude_code_setup.without_hooks, "removed", project=project, dry_run=dry_run)


@command("clsm hook claude-code status", group=claude_app, no_effect=("store", "now"))
def claude_status(*, project: bool = PROJECT, common: Common) -> None:
    """Say which hooks of clsm stand in settings.json."""
    path = _settings_path(project=project)
    settings = claude_code_setup.parse(_read(path) or "", str(path))
    found = claude_code_setup.installed_commands(settings)
    mapping = {"schema": "clsm.hook-status/1", "path": path, "hooks": found}
    lines = [f"{event}: {', '.join(found[event]) or 'not installed'}" for event in found]
    common.printer().show({**mapping, "installed": all(found.values())}, [str(path), *lines])


@command("clsm hook claude-code start", group=claude_app, hidden=True)
def claude_start(*, common: Common) -> None:
    """Print the context of a session; Claude Code runs this.

    What was told in its folder comes first, after a compaction what came out of it so far.

    What goes wrong is said on standard error and never fails the session.
    """
    event = _event()
    session = event.get("session_id") if event.get("source") == "compact" else None
    known = session if isinstance(session, str) else None
    places = event.get("cwd"), os.path.dirname(str(event.get("transcript_path") or ""))
    here = tuple(place for place in places if place and isinstance(place, str))
    with _quiet(common) as quiet:
        context.run(context.Options(session=known, output="prompt", common=quiet, here=here))


@command("clsm hook claude-code message", group=claude_app, hidden=True)
def claude_message(*, common: Common) -> None:
    """Print what belongs to the message that standard input names; Claude Code runs this.

    Nothing for small talk. What goes wrong is said on standard error and never fails the message.
    """
    said = _event().get("prompt")
    if not isinstance(said, str) or not said.strip():
        return
    if len(said) > MAX_WHOLE_QUERY:
        said = f"{said[: MAX_WHOLE_QUERY // 2]}\n{said[-MAX_WHOLE_QUERY // 2 :]}"
    asked = recall_command.Options((said,), RECALL_ITEMS, RECALL_BUDGET, gate=True, output="prompt")
    with _quiet(common) as quiet:
        recall_command.run(asked._replace(common=quiet))


@command("clsm hook claude-code capture", group=claude_app, hidden=True)
def claude_capture(*, common: Common) -> None:
    """Write down the transcript that standard input names; Claude Code runs this.

    What goes wrong is said on standard error and never fails the session; the next ingest of the
    transcripts catches up.
    """
    with _quiet(common) as quiet:
        path = _transcript()
        ingest.run(ingest.Options((path,), form="claude-code", capture=True, common=quiet))


@contextmanager
def _quiet(common: Common) -> Iterator[Common]:
    """Common options of a quiet run; errors in it are only printed to standard error."""
    try:
        yield common._replace(as_json=False, quiet=True)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # not even a bug may fail a session
        is_expected = isinstance(error, ClsmError | UsageError)
        reason = str(error) if is_expected else f"clsm itself failed ({fault_text(error)})"
        Printer(quiet=common.quiet).warn(reason)


def _event() -> dict[str, Any]:
    by_hand = sys.stdin is None or sys.stdin.isatty()
    data = b"" if by_hand else sys.stdin.buffer.read(MAX_EVENT)
    with suppress(ValueError, RecursionError):
        event = without_surrogates(json.loads(data))
        return event if isinstance(event, dict) else {}
    return {}


def _transcript() -> str:
    path = _event().get("transcript_path")
    if not isinstance(path, str) or not path.strip():
        raise BadInputError(
            "standard input",
            "names no transcript_path",
            "this command is for Claude Code; by hand: clsm ingest ~/.claude/projects",
        )
    path = os.path.expanduser(path)
    if not os.path.isfile(path):  # ingest would walk a folder
        raise BadInputError(path, "is no transcript", "it is read at the next event, if it comes")
    return path


def _settings_path(*, project: bool) -> Path:
    """Path of the settings, with links resolved, so that a link is not replaced."""
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    folder = Path(".claude") if project else Path(own)
    return Path(os.path.realpath(folder / "settings.json"))


def _read(path: Path) -> str | None:
    data = atomic.read(path, MAX_FILE)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        reason, next_step = "is not UTF-8", "mend it, then run the same command again"
        raise BadInputError(str(path), reason, next_step) from None


def _change(
    common: Common,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    done: str,
    *,
    project: bool,
    dry_run: bool,
) -> None:
    printer, path = common.printer(), _settings_path(project=project)
    before = _read(path)
    settings = claude_code_setup.parse(before or "", str(path))
    changed = change(settings)
    is_new = changed is not settings
    after = claude_code_setup.render(changed, before or "") if is_new else ""
    backup = None
    if is_new and not dry_run:
        old = None if before is None else before.encode()
        mode = atomic.FILE_MODE if old is None else stat.S_IMODE(path.stat().st_mode)
        backup = None if old is None else back_up(path, old, common)
        atomic.put(path, after.encode(), read_as=None if old is None else atomic.sha256(old))
        path.chmod(mode)  # a project's settings are shared
    lines: Iterable[str] = [f"{path}: nothing to change"]
    if is_new and dry_run:
        texts = (before or "").splitlines(), after.splitlines()
        lines = unified_diff(*texts, str(path), str(path), lineterm="")
    elif is_new:
        lines = [f"{path}: {done}{f'; the old file is {backup}' if backup else ''}"]
    mapping = {"schema": "clsm.hook/1", "path": path, "changed": is_new, "backup": backup}
    printer.show({**mapping, "dry_run": dry_run}, lines)
