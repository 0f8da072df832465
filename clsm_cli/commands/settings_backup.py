"""Back up another program's settings file before it is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.commands.environment import current_time
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path


def back_up(path: Path, data: bytes, now: str | None) -> Path:
    """Copy a file's content to ``NAME.TIME.bak`` and return that path."""
    stamp = current_time(now).strftime("%Y%m%dT%H%M%S")
    copy = path.with_name(f"{path.name}.{stamp}.bak")
    atomic.put(copy, data)
    return copy
