"""The settings of OpenClaw that clsm needs: what is there, and what is to change. Plain data.

The names are those of OpenClaw's own documentation: plugins/hooks.md (``allowConversationAccess``,
without which no hook that sees a message is registered) and reference/memory-config.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.integrations.openclaw.plugin_files import PLUGIN
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAMS = ("identity", "projects", "tasks")
"""The folders of the store that hold topic files, for OpenClaw's own search."""


class Setting(NamedTuple):
    """A setting by its path, as it is (None: unset) and as it should be (None: removed)."""

    path: str
    before: Any
    after: Any


def changes(
    plugins: Any,
    extra_paths: Any,
    *,
    paths_at: str,
    program: Sequence[str],
    store: str,
) -> list[Setting]:
    """What is to be set, so that OpenClaw uses the memory; nothing where all is so already.

    Args:
        plugins: The setting ``plugins``, None when it is unset.
        extra_paths: The folders that OpenClaw searches besides its own, likewise.
        paths_at: The path of that setting, which another version has elsewhere.
        program: What runs clsm.
        store: The folder of the memory.
    """
    entry = entry_of(plugins)
    config = {"command": list(program), "store": store}
    folders = [f"{store}/{stream}" for stream in STREAMS]
    at = f"plugins.entries.{PLUGIN}"
    others = _others(extra_paths, entry)
    wanted = [
        Setting(f"{at}.enabled", entry.get("enabled"), True),
        Setting(
            f"{at}.hooks.allowConversationAccess",
            _part(entry, "hooks").get("allowConversationAccess"),
            True,
        ),
        Setting(f"{at}.config", entry.get("config"), config),
        Setting(paths_at, extra_paths, [*others, *folders]),
    ]
    return [setting for setting in wanted if setting.before != setting.after]


def removals(plugins: Any, extra_paths: Any, *, paths_at: str) -> list[Setting]:
    """What is to be taken out besides the plugin's own entry, which goes with the plugin."""
    others = _others(extra_paths, entry_of(plugins)) or None
    return [] if others == extra_paths else [Setting(paths_at, extra_paths, others)]


def entry_of(plugins: Any) -> dict[str, Any]:
    """The plugin's own settings; none when it is not installed."""
    found: dict[str, Any] = _part(_part(plugins, "entries"), PLUGIN)
    return found


def is_switched_off(plugins: Any) -> str | None:
    """Why OpenClaw would not load the plugin although it is installed; None when it would."""
    entry = entry_of(plugins)
    if entry.get("enabled") is False:
        return f"plugins.entries.{PLUGIN}.enabled is false"
    if _part(plugins, "enabled", True) is False:
        return "plugins.enabled is false"
    if PLUGIN in _part(plugins, "deny", []):
        return f"plugins.deny names {PLUGIN}"
    if _part(entry, "hooks").get("allowPromptInjection") is False:
        return f"plugins.entries.{PLUGIN}.hooks.allowPromptInjection is false"
    return None


def patch(settings: Sequence[Setting]) -> dict[str, Any]:
    """The settings as one object that is laid over the others; null removes.

    >>> patch([Setting("a.b", None, 1), Setting("a.c", 2, None)])
    {'a': {'b': 1, 'c': None}}
    """
    found: dict[str, Any] = {}
    for setting in settings:
        *way, last = setting.path.split(".")
        place = found
        for name in way:
            place = place.setdefault(name, {})
        place[last] = setting.after
    return found


def _others(extra_paths: Any, entry: dict[str, Any]) -> list[Any]:
    """The folders that are not those of the memory that was installed before."""
    old = _part(entry, "config").get("store")
    ours = [f"{old}/{stream}" for stream in STREAMS]
    return [path for path in extra_paths or [] if path not in ours]


def _part(value: Any, name: str, default: Any = None) -> Any:
    """A part of a setting; an empty object, or the default, where it is unset."""
    found = value.get(name) if isinstance(value, dict) else None
    if found is not None:
        return found
    return {} if default is None else default
