"""Add the hooks of clsm to Claude Code's ``settings.json``, and remove them.

Pure functions on parsed JSON; https://code.claude.com/docs/en/hooks. All other settings and their
order are kept.
"""

import json
import re
from typing import Any

from clsm_cli.errors import BadInputError

EVENTS: dict[str, tuple[str | None, str]] = {
    "SessionStart": ("startup|clear|compact", "start"),
    "UserPromptSubmit": (None, "message"),
    "SessionEnd": (None, "capture"),
    "PreCompact": (None, "capture"),
}
"""Event → its matcher and its ``clsm hook claude-code`` command. A resumed session already has its
context."""
TIMEOUT = 10  # seconds after which Claude Code continues without the hook
_OURS = re.compile(r"(?:clsm|clsm_cli)\S* hook claude-code (?:start|message|capture)\b")
_MEND = "mend it, then run the same command again"


def parse(text: str, path: str) -> dict[str, Any]:
    """Parse settings; an empty file gives an empty object."""
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
    r"""Settings as JSON, indented like an earlier text.

    >>> render({"a": {"b": 1}}, '{\n    "a": {}\n}')
    '{\n    "a": {\n        "b": 1\n    }\n}\n'
    """
    indent = re.search(r"^([ \t]+)\S", like, re.MULTILINE)
    text = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"  # lone surrogates stay escaped


def installed_commands(settings: dict[str, Any]) -> dict[str, list[str]]:
    """Event → the command lines of clsm; an empty list if there are none."""
    hooks = settings.get("hooks", {})
    return {
        event: [hook["command"] for group in hooks.get(event, []) for hook in _split(group)[0]]
        for event in EVENTS
    }


def with_hooks(settings: dict[str, Any], program: str, options: str) -> dict[str, Any]:
    """Settings with each hook of clsm once; program and options are already shell-quoted."""
    wanted = {event: _group(event, program, options) for event in EVENTS}
    there = settings.get("hooks", {})
    ours = {event: [g for g in there.get(event, []) if _split(g)[0]] for event in EVENTS}
    if ours == {event: [group] for event, group in wanted.items()}:
        return settings
    found = without_hooks(settings)
    hooks = found.get("hooks", {})
    added = {event: [*hooks.get(event, []), group] for event, group in wanted.items()}
    return {**found, "hooks": {**hooks, **added}}


def without_hooks(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without the hooks of clsm, or groups and events that held only those."""
    if not any(installed_commands(settings).values()):
        return settings
    hooks: dict[str, Any] = {}
    for event, groups in settings["hooks"].items():
        kept = groups
        if event in EVENTS:
            kept = [left for group in groups if (left := _split(group)[1]) is not None]
        if kept or not groups:
            hooks[event] = kept
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    return {**settings, "hooks": hooks} if hooks else rest


def _group(event: str, program: str, options: str) -> dict[str, Any]:
    matcher, command = EVENTS[event]
    # Exit code 2 would block a compaction.
    line = f"{program} hook claude-code {command} {options} || true"
    hook = {"type": "command", "command": line, "timeout": TIMEOUT}
    return {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}


def _split(group: Any) -> tuple[list[dict[str, Any]], Any]:
    """The hooks of clsm in a group, and the group without them, None if that is empty."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    ours: list[Any] = []
    others: list[Any] = []
    for hook in hooks if isinstance(hooks, list) else []:
        line = hook.get("command") if isinstance(hook, dict) else None
        (ours if isinstance(line, str) and _OURS.search(line) else others).append(hook)
    if not ours:
        return [], group
    return ours, {**group, "hooks": others} if others else None
