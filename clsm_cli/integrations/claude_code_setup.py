"""Add the hooks of clsm to Claude Code's ``settings.json``, and remove them.

Plain data in, plain data out; https://code.claude.com/docs/en/hooks. Whatever else stands in the
file stays, in its order.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS: dict[str, tuple[str | None, str]] = {
    "SessionStart": ("startup|clear|compact", "start"),
    "UserPromptSubmit": (None, "message"),
    "SessionEnd": (None, "capture"),
    "PreCompact": (None, "capture"),
}
"""Event → its matcher, and the command of ``clsm hook claude-code`` that it runs. A session that is
resumed has its context already."""
TIMEOUT = 10
"""Seconds after which Claude Code goes on without."""
_OURS = re.compile(r"(?:clsm|clsm_cli)\S* hook claude-code (?:start|message|capture)\b")
_MEND = "mend it, then run the same command again"


def parse(text: str, path: str) -> dict[str, Any]:
    """The settings in a file; none in an empty one."""
    if not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(path, f"is not JSON ({error.msg})", _MEND, line=error.lineno) from None
    except RecursionError:
        raise BadInputError(path, "is nested too deeply", _MEND) from None
    if not isinstance(settings, dict):
        raise BadInputError(path, "is not a JSON object", _MEND)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise BadInputError(path, "'hooks' is not a JSON object", _MEND)
    for event in EVENTS:
        if not isinstance(hooks.get(event, []), list):
            raise BadInputError(path, f"'hooks.{event}' is not a list", _MEND)
    return settings


def render(settings: dict[str, Any], like: str) -> str:
    r"""The text of a file, indented as it was.

    >>> render({"a": {"b": 1}}, '{\n    "a": {}\n}')
    '{\n    "a": {\n        "b": 1\n    }\n}\n'
    """
    indent = re.search(r"^([ \t]+)\S", like, re.MULTILINE)
    return json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def installed_commands(settings: dict[str, Any]) -> dict[str, list[str]]:
    """The command lines of clsm by event; an event without one has an empty list."""
    hooks = settings.get("hooks", {})
    return {
        event: [hook["command"] for group in hooks.get(event, []) for hook in _ours(group)]
        for event in EVENTS
    }


def with_hooks(settings: dict[str, Any], program: str, options: str) -> dict[str, Any]:
    """The settings with the hooks of clsm, each once; program and options are quoted for a shell."""
    wanted = {event: _group(event, program, options) for event in EVENTS}
    there = settings.get("hooks", {})
    if all(
        [group for group in there.get(event, []) if _ours(group)] == [wanted[event]]
        for event in EVENTS
    ):
        return settings
    found = without_hooks(settings)
    hooks = {**found.get("hooks", {})}
    for event, group in wanted.items():
        hooks[event] = [*hooks.get(event, []), group]
    return {**found, "hooks": hooks}


def without_hooks(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without the hooks of clsm, and without what only they had needed."""
    if not any(installed_commands(settings).values()):
        return settings
    hooks: dict[str, Any] = {}
    for event, groups in settings["hooks"].items():
        if event not in EVENTS:
            hooks[event] = groups
            continue
        kept = list(_without_ours(groups))
        if kept or not groups:
            hooks[event] = kept
    found = {**settings, "hooks": hooks}
    if not hooks:
        del found["hooks"]
    return found


def _group(event: str, program: str, options: str) -> dict[str, Any]:
    matcher, command = EVENTS[event]
    # Exit code 2 would stop a compaction; nothing here is worth that.
    line = f"{program} hook claude-code {command} {options} || true"
    hook = {"type": "command", "command": line, "timeout": TIMEOUT}
    return {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}


def _ours(group: Any) -> list[dict[str, Any]]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return [hook for hook in hooks if _is_ours(hook)] if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None


def _without_ours(groups: list[Any]) -> Iterator[Any]:
    """The groups without the hooks of clsm; not those in which nothing is left."""
    for group in groups:
        if not _ours(group):
            yield group
        elif left := [hook for hook in group["hooks"] if not _is_ours(hook)]:
            yield {**group, "hooks": left}
