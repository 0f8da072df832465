"""The files of the plugin, as they are put into OpenClaw: those of the package, the skill filled in."""

from __future__ import annotations

import json
import shlex
from importlib import resources
from typing import TYPE_CHECKING

from clsm_cli import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable

PLUGIN = "clsm"
"""The id of the plugin, which is the name of its folder too."""
_SKILL = "skills/clsm/SKILL.md"
_COMMANDS = {"recall": (), "note": ("--by", "agent"), "correct": (), "show": ()}
"""What the skill names, and how the agent is to run it."""
_DESCRIPTION = (
    "Long-term memory over all sessions. Before you answer about people, projects, dates,"
    ' decisions, preferences or anything said earlier, run: {recall} "words or a question"'
    ' (exec tool). To keep something: {note} "text".'
)


def plugin_files(program: Sequence[str], store: str) -> dict[str, bytes]:
    """Every file of the plugin by its path in the plugin's folder.

    Args:
        program: What runs clsm, without a search along PATH.
        store: The folder of the memory.
    """
    lines = {
        name: shlex.join([*program, name, "--store", store, *how])
        for name, how in _COMMANDS.items()
    }
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
