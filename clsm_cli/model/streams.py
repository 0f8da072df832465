"""The four streams of a store."""

from __future__ import annotations

from typing import Literal

Stream = Literal["identity", "projects", "tasks", "flow"]
STREAMS: tuple[Stream, ...] = ("identity", "projects", "tasks", "flow")
