"""The fast store: turns, episodes and living documents (docs/format.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from clsm_cli.model.trust import TRUST_ORDER, Trust

Role = Literal["user", "assistant", "tool", "system"]
Stage = Literal["pending", "consolidated"]

ROLE_TRUST: dict[Role, Trust] = {
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "system": "agent",
}
TRUST_ROLE: dict[Trust, Role] = {
    "user": "user",
    "agent": "assistant",
    "tool": "tool",
    "web": "tool",
}
"""Role of a document's blocks, by its trust; strangers' text counts as tool output."""


def lowest_trust(values: list[Trust]) -> Trust:
    """The least trusted of ``values``; ``user`` if there are none.

    >>> lowest_trust(["user", "tool", "agent"])
    'tool'
    """
    return min(values, key=TRUST_ORDER.index, default="user")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the agent, or its result."""

    name: str
    input: str | None = None
    error: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, or one block of a living document.

    ``origin``: real path of its file, ``~`` for the home folder; "" if ``path`` or the session has it.
    """

    key: str  # 12 hex digits, see ``ids.turn_key``
    speaker: str  # A name, or the role if no name is known; ``""`` for blocks
    role: Role
    text: str
    time: str | None = None  # ISO 8601 with offset, or a bare date (the whole day), or None
    path: str = "-"  # the ingested file, as it was given (``-`` for standard input)
    line_start: int = 0  # first line in that file, from 1
    line_end: int = 0
    foreign_id: str | None = None
    trust: Trust = "user"
    tool: ToolCall | None = None
    heading: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """An immutable sequence of turns: one file under ``flow/<device>/episodes/``.

    ``start``: time of the first dated turn (with its offset). If it is ``capped``, its length ended it,
    not a boundary: the next episode continues it.
    """

    id: str
    session: str  # its conversation, or the origin of its document
    turns: tuple[Turn, ...]
    recorded_at: str  # when the store recorded it (UTC)
    start: str | None = None
    end: str | None = None
    participants: tuple[str, ...] = ()
    trust: Trust = "user"
    document: str | None = None  # id of the living document that the blocks belong to
    previous: str | None = None  # the episode before it in the same session, in order of arrival
    continues: str | None = None  # the previous episode, if there is no boundary between the two
    capped: bool = False


@dataclass(frozen=True, slots=True)
class EndMark:
    """The end of a conversation, or a break in it (``/new``), after the turn ``after``."""

    session: str
    after: str
    time: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The position of a current block in its living document."""

    key: str
    line_start: int
    line_end: int
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that was asked, and the turn that answered it, if any."""

    text: str
    answered_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    """Data derived from an episode; a line of a graph shard.

    Attributes:
        novelty: 1 − cosine to the episode before it in its session, 0 … 1; 1 for the first.
        mentions: Node id → keys of the turns that mention it.
        digest: Of its file when it was consolidated; if it differs, the episode is pending again.
    """

    id: str
    rev: tuple[int, str]
    title: str = ""
    narrative: str = ""
    topic: str = ""
    valence: float = 0.0  # sentiment of the words, −1 … 1
    novelty: float = 0.0
    surprise: float = 0.0  # largest turn surprise, in standard deviations of its session so far
    decisions: tuple[str, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    mentions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stage: Stage = "pending"
    digest: str = ""
    pinned: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A living document: its current blocks, and its former ones.

    ``blocks`` lists the current blocks; ``closed`` maps a former block to the time when it was removed
    and the key of the block that replaced it.
    """

    id: str
    rev: tuple[int, str]
    origin: str = ""  # real path of the document, with ``~`` for the home folder
    path: str = ""  # the path as it was given at the last ingest
    sha256: str = ""  # digest of the file at the last ingest
    recorded_at: str = ""
    blocks: tuple[Block, ...] = ()
    closed: dict[str, tuple[str, str]] = field(default_factory=dict)
    pinned: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
