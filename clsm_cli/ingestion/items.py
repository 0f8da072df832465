"""What a reader gives: raw items of one input, in the order of the input, before any key is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clsm_cli.model.episodes import Role, ToolCall
    from clsm_cli.model.trust import Trust


@dataclass(frozen=True, slots=True)
class RawTurn:
    """One message as a transcript tells it; ``time`` as in ``model.episodes.Turn``."""

    session: str
    speaker: str
    role: Role
    text: str
    time: str | None
    line_start: int
    line_end: int
    foreign_id: str | None = None
    tool: ToolCall | None = None
    trust: Trust | None = None
    """Only where it is not the role's (``model.episodes.ROLE_TRUST``): a fetched page is web."""


@dataclass(frozen=True, slots=True)
class RawBreak:
    """The conversation ended or was reset here; what follows begins a new episode."""

    session: str
    time: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Not memory by design (a heartbeat poll, a checkpoint); counted by ``reason``.

    ``session`` only where a later input needs it (see ``openclaw``).
    """

    reason: str
    line: int
    session: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; the rest goes on.

    ``path`` as given, ``line`` from 1 or None when the whole file is meant.
    """

    path: str
    line: int | None
    reason: str


TranscriptItem = RawTurn | RawBreak | Dropped | Problem


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A paragraph, list item, table, quote or code block of a Markdown document."""

    text: str
    line_start: int
    line_end: int
    heading: tuple[str, ...]
    time: str | None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A Markdown document, cut into blocks; ``recalled`` counts what clsm itself had recalled."""

    title: str
    trust: Trust
    blocks: tuple[RawBlock, ...]
    problems: tuple[Problem, ...]
    recalled: int = 0
