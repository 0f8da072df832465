"""OpenClaw's plugin files, the settings that clsm needs, and the ``openclaw`` program, which sets them.

The names are those of OpenClaw's own documentation: plugins/hooks.md (``allowConversationAccess``,
without which no hook that sees a message is registered) and reference/memory-config.md.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from clsm_cli import __version__
from clsm_cli.errors import BadInputError
from clsm_cli.integrations.other_program import OtherProgram
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.layout import TOPIC_STREAMS

PLUGIN = "clsm"  # the id of the plugin, which is the name of its folder too
_SKILL = "skills/clsm/SKILL.md"
_COMMANDS = {"recall": (), "note": ("--by", "agent"), "correct": (), "show": ()}
"""What the skill names, and how the agent is to run it."""
_DESCRIPTION = (
    "Long-term memory over all sessions. Before you answer about people, projects, dates,"
    ' decisions, preferences or anything said earlier, run: {recall} "words or a question"'
    ' (exec tool). To keep something: {note} "text".'
)


class Setting(NamedTuple):
    """A setting by its path, as it is (None: unset) and as it should be (None: removed)."""

    path: str
    before: Any
    after: Any


def changes(
    plugins: Any, extra_paths: Any, *, paths_at: str, program: Sequence[str], store: str
) -> list[Setting]:
    """What is to be set, so that OpenClaw uses the memory; nothing where all is so already.

    A setting that is unset is None; ``extra_paths`` lies at ``paths_at``, which another version has elsewhere.
    """
    entry = entry_of(plugins)
    config = {"command": list(program), "store": store}
    folders = [f"{store}/{stream}" for stream in TOPIC_STREAMS]
    at = f"plugins.entries.{PLUGIN}"
    others = _others(extra_paths, entry)
    access = _part(entry, "hooks").get("allowConversationAccess")
    wanted = [
        Setting(f"{at}.enabled", entry.get("enabled"), True),
        Setting(f"{at}.hooks.allowConversationAccess", access, True),
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
    return _part(_part(plugins, "entries"), PLUGIN)  # type: ignore[no-any-return]


def is_switched_off(plugins: Any) -> str | None:
    """Why OpenClaw would not load the plugin although it is installed; None when it would."""
    entry, at = entry_of(plugins), f"plugins.entries.{PLUGIN}"
    is_injected = _part(entry, "hooks").get("allowPromptInjection")
    reasons = {
        f"{at}.enabled is false": entry.get("enabled") is False,
        "plugins.enabled is false": _part(plugins, "enabled", True) is False,
        f"plugins.deny names {PLUGIN}": PLUGIN in _part(plugins, "deny", []),
        f"{at}.hooks.allowPromptInjection is false": is_injected is False,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


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
    ours = [f"{old}/{stream}" for stream in TOPIC_STREAMS]
    return [path for path in extra_paths or [] if path not in ours]


def _part(value: Any, name: str, default: Any = None) -> Any:
    found = value.get(name) if isinstance(value, dict) else None
    if found is not None:
        return found
    return {} if default is None else default


_PROGRAM = "openclaw"
TIMEOUT = 180  # seconds; a call takes one to seven on a fast machine
OLDEST = (2026, 7)  # the oldest version that was tried
_MOVED = (2026, 8)  # first with ``memory.search``, and with consent for what a plugin may do
_VERSION = re.compile(r"\b(\d{4})\.(\d{1,2})\.(\d+)")
_UNSET = "Config path is valid but unset"


class OpenClaw:
    """An installed OpenClaw; its methods raise BadInputError where it refuses or cannot be read."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Find it along PATH, and ask for its version, which must not be too old."""
        self._other = OtherProgram(environment, TIMEOUT, "see also: openclaw doctor")
        program = self._other.path(_PROGRAM)
        if program is None:
            next_step = "install it with: npm install -g openclaw, or add its folder to PATH"
            raise BadInputError(_PROGRAM, "is not on the PATH", next_step)
        self.version = self._other.run(_PROGRAM, "--version").strip()
        found = _VERSION.search(self.version)
        self.is_known = found is not None
        """Whether the version could be told; another is taken for the newest."""
        release = (int(found[1]), int(found[2])) if found else _MOVED
        self._is_old = release < _MOVED
        where = "agents.defaults.memorySearch" if self._is_old else "memory.search"
        self.extra_paths = f"{where}.extraPaths"
        """The path of the setting with the folders that are searched besides the workspace."""
        if release < OLDEST:
            reason = f"is {self.version}, which is too old"
            raise BadInputError(program, reason, "upgrade: npm install -g openclaw")

    def settings_file(self) -> str:
        """The path of its settings."""
        return self._other.run(_PROGRAM, "config", "file").strip().splitlines()[-1]

    def setting(self, path: str) -> Any:
        """A setting, secrets left out; None when it is unset."""
        done = self._other.start(_PROGRAM, "config", "get", path, "--json")
        text = done.stdout or done.stderr
        if done.returncode != 0:
            if _UNSET in text or "not found" in text:
                return None
            raise self._other.failure((_PROGRAM, "config"), text)
        try:
            return json.loads(text)
        except ValueError:
            raise self._other.failure((_PROGRAM, "config"), text) from None

    def change(self, patch: Mapping[str, Any]) -> None:
        """Lay a patch over the settings, checked by OpenClaw itself; all of it or nothing."""
        self._other.run(_PROGRAM, "config", "patch", "--stdin", stdin=json.dumps(patch))

    def install(self, folder: Path) -> None:
        """Put a plugin in, over one of the same id."""
        consent = [] if self._is_old else ["--accept-capabilities"]
        self._other.run(_PROGRAM, "plugins", "install", str(folder), "--force", *consent)

    def uninstall(self) -> None:
        """Take the plugin and its entry in the settings out."""
        self._other.run(_PROGRAM, "plugins", "uninstall", PLUGIN, "--force")


def plugin_files(program: Sequence[str], store: str) -> dict[str, bytes]:
    """Every file of the plugin by its path in the plugin's folder."""
    lines = {n: shlex.join([*program, n, "--store", store, *how]) for n, how in _COMMANDS.items()}
    found = dict(_shipped(resources.files(__package__) / "plugin", ""))
    skill = found[_SKILL].decode()
    # JSON is YAML: a path with a colon or a quote in it stays one string.
    described = json.dumps(_DESCRIPTION.format(**lines), ensure_ascii=False)
    for name, text in {**lines, "description": described}.items():
        skill = skill.replace("{{" + name + "}}", text)
    package = json.loads(found["package.json"])
    text = json.dumps({**package, "version": __version__}, indent=2, ensure_ascii=False)
    return {**found, _SKILL: skill.encode(), "package.json": f"{text}\n".encode()}


def _shipped(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _shipped(entry, f"{path}{entry.name}/")
        elif not entry.name.endswith(".d.ts"):  # for the type checker
            yield path + entry.name, entry.read_bytes()
