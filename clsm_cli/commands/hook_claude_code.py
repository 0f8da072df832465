"""``clsm hook claude-code``: context at the start of a session, recall for a message, capture at its end."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import context, ingest, recall_command
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import chosen_root, program
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer
from clsm_cli.commands.settings_backup import back_up
from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError, ClsmError
from clsm_cli.integrations import claude_code_setup
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGET = "1500"
"""Tokens of the context at a session's start."""
RECALLED, RECALL_BUDGET = 8, "500"
"""Memories put before a message, and tokens that they and the facts may have; as with OpenClaw."""
LONGEST = 2000
"""Characters of a message that are asked whole; of a longer one both ends, as the middle is pasted."""
MAX_EVENT = 1 << 20
"""Bytes of what Claude Code tells a hook."""

app = command_group("Claude Code: put context into every session, and store what was said.")
PROJECT = Option(
    "--project", "", "In .claude/settings.json of this folder, not in your own settings."
)


@command(
    "clsm hook claude-code install --dry-run   # the change, as a diff",
    "clsm hook claude-code install",
    "clsm hook claude-code install --project --store notes/memory",
    group=app,
    project=PROJECT,
    dry_run=DRY_RUN,
)
def install(*, project: bool = False, dry_run: bool = False, common: Common) -> None:
    """Put the hooks into Claude Code's settings.json, each once.

    A session then starts with what clsm context tells, a message comes with what memory knows of it,
    and what was said is written down before it is compacted and when it ends. The old file is kept
    beside the new one; all else in it stays.
    """
    printer = common.printer()
    options = f"--store {shlex.quote(str(chosen_root(common.store)))}"
    path = _settings_path(project=project)
    before = _read(path)
    settings = claude_code_setup.parse(before or "", str(path))
    after = claude_code_setup.with_hooks(settings, shlex.join(program()), options)
    text = before if after is settings else claude_code_setup.render(after, before or "")
    _change(printer, path, before, text, now=common.now, dry_run=dry_run, done="installed")


@command(
    "clsm hook claude-code uninstall",
    group=app,
    no_effect=("store",),
    project=PROJECT,
    dry_run=DRY_RUN,
)
def uninstall(*, project: bool = False, dry_run: bool = False, common: Common) -> None:
    """Take the hooks of clsm out of settings.json again; all else in it stays."""
    printer = common.printer()
    path = _settings_path(project=project)
    before = _read(path)
    settings = claude_code_setup.parse(before or "", str(path))
    after = claude_code_setup.without_hooks(settings)
    text = before if after is settings else claude_code_setup.render(after, before or "")
    _change(printer, path, before, text, now=common.now, dry_run=dry_run, done="removed")


@command("clsm hook claude-code status", group=app, no_effect=("store", "now"), project=PROJECT)
def status(*, project: bool = False, common: Common) -> None:
    """Say which hooks of clsm stand in settings.json."""
    printer = common.printer()
    path = _settings_path(project=project)
    found = claude_code_setup.installed_commands(
        claude_code_setup.parse(_read(path) or "", str(path))
    )
    if common.as_json:
        told = {"schema": "clsm.hook-status/1", "path": str(path), "hooks": found}
        printer.json({**told, "installed": all(found.values())})
        return
    lines = [f"{event}: {', '.join(found[event]) or 'not installed'}" for event in found]
    printer.lines([str(path), *lines])


@command("clsm hook claude-code start", group=app, hidden=True)
def start(*, common: Common) -> None:
    """Print the context of a session; Claude Code runs this.

    After a compaction it begins with what came out of the session so far.

    What goes wrong is said on standard error and never fails the session.
    """
    event = _event()
    session = event.get("session_id") if event.get("source") == "compact" else None
    known = session if isinstance(session, str) else None
    with _quiet(common) as quiet:
        context.run(context.Options(session=known, budget=BUDGET, output="prompt", common=quiet))


@command("clsm hook claude-code message", group=app, hidden=True)
def message(*, common: Common) -> None:
    """Print what belongs to the message that standard input names; Claude Code runs this.

    Nothing for small talk. What goes wrong is said on standard error and never fails the message.
    """
    said = _event().get("prompt")
    if not isinstance(said, str) or not said.strip():
        return
    if len(said) > LONGEST:
        said = f"{said[: LONGEST // 2]}\n{said[-LONGEST // 2 :]}"
    asked = recall_command.Options((said,), RECALLED, RECALL_BUDGET, gate=True, output="prompt")
    with _quiet(common) as quiet:
        recall_command.run(asked._replace(common=quiet))


@command("clsm hook claude-code capture", group=app, hidden=True)
def capture(*, common: Common) -> None:
    """Write down the transcript that standard input names; Claude Code runs this.

    What goes wrong is said on standard error and never fails the session; the next ingest of the
    transcripts catches up.
    """
    with _quiet(common) as quiet:
        path = _transcript()
        ingest.run(ingest.Options((path,), form="claude-code", capture=True, common=quiet))


@contextmanager
def _quiet(common: Common) -> Iterator[Common]:
    """Common options of a quiet run; what goes wrong in it is said on standard error alone."""
    try:
        yield common._replace(as_json=False, quiet=True)
    except ClsmError as error:
        Printer(quiet=common.quiet).warn(str(error))


def _event() -> dict[str, Any]:
    """What Claude Code tells on standard input; nothing where it is no JSON object."""
    by_hand = sys.stdin is None or sys.stdin.isatty()
    data = b"" if by_hand else sys.stdin.buffer.read(MAX_EVENT)
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _transcript() -> str:
    path = _event().get("transcript_path")
    if not isinstance(path, str) or not path.strip():
        raise BadInputError(
            "standard input",
            "names no transcript_path",
            "this command is for Claude Code; by hand: clsm ingest ~/.claude/projects",
        )
    path = os.path.expanduser(path)
    if not os.path.isfile(path):  # a folder would be walked
        raise BadInputError(path, "is no transcript", "it is read at the next event, if it comes")
    return path


def _settings_path(*, project: bool) -> Path:
    """The file itself, wherever a link leads to it: a link is not replaced."""
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    folder = Path(".claude") if project else Path(own)
    return Path(os.path.realpath(folder / "settings.json"))


def _read(path: Path) -> str | None:
    """The text of the file; None when there is none."""
    data = atomic.read(path, MAX_FILE)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        reason, next_step = "is not UTF-8", "mend it, then run the same command again"
        raise BadInputError(str(path), reason, next_step) from None


def _change(
    printer: Printer,
    path: Path,
    before: str | None,
    after: str | None,
    *,
    now: str | None,
    dry_run: bool,
    done: str,
) -> None:
    """Write the new file beside a copy of the old one, or show how it would differ."""
    backup = None
    is_new = before != after
    if is_new and not dry_run:
        old = None if before is None else before.encode()
        if old is not None:
            backup = back_up(path, old, now)
        read_as = None if old is None else atomic.sha256(old)
        mode = atomic.FILE_MODE if old is None else stat.S_IMODE(path.stat().st_mode)
        atomic.put(path, (after or "").encode(), read_as=read_as)
        path.chmod(mode)  # of a project it is shared
    if printer.as_json:
        told: dict[str, Any] = {"schema": "clsm.hook/1", "path": str(path), "changed": is_new}
        printer.json({**told, "backup": backup and str(backup), "dry_run": dry_run})
    elif not is_new:
        printer.lines([f"{path}: nothing to change"])
    elif dry_run:
        from difflib import unified_diff

        diff = unified_diff(
            (before or "").splitlines(),
            (after or "").splitlines(),
            str(path),
            str(path),
            lineterm="",
        )
        printer.lines(diff)
    else:
        kept = f"; the old file is {backup}" if backup else ""
        printer.lines([f"{path}: {done}{kept}"])
