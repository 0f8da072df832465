"""Whose notes a folder holds, by what lies beside and above it: a vault's, an agent's, or a person's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Place = Literal["", "vault", "workspace"]
"""In which kind of folder a note lies, the nearest one; empty: in none that is known."""
WORKSPACE = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "MEMORY.md")
"""Files, any of which makes a folder the workspace of an agent (OpenClaw, Codex and others)."""
VAULT = ".obsidian"
"""Folder that makes the one that holds it a vault of Obsidian."""
_DIARY = "memory"


def of(folder: str) -> Place:
    """Where a folder lies, by itself and all folders above it.

    Args:
        folder: Absolute.
    """
    for above in upward(folder):
        if any(os.path.exists(os.path.join(above, name)) for name in WORKSPACE):
            return "workspace"
        if os.path.isdir(os.path.join(above, VAULT)):
            return "vault"
    return ""


def below(names: set[str], place: Place) -> Place:
    """Where the files of a folder lie, by their names and by where the folder lies."""
    if not names.isdisjoint(WORKSPACE):
        return "workspace"
    return "vault" if VAULT in names else place


def is_agents(folder: str, place: Place) -> bool:
    """Whether dated notes in a folder are an agent's: in a workspace, or in its ``memory/`` alone."""
    return place == "workspace" or (not place and os.path.basename(folder) == _DIARY)


def upward(folder: str) -> Iterator[str]:
    """A folder and all above it."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
