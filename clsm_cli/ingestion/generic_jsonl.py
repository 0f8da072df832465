"""Conversations in generic JSON Lines: one message an object, the usual names of its fields.

``role`` or ``speaker``, ``content`` or ``text`` (a string, or a list of parts), ``timestamp``,
``time``, ``created_at`` or ``date``, and where known ``id``, ``session`` and ``tool``. A row whose
``type`` or ``event`` is an end mark ends the episode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    RawBreak,
    first_time,
    label,
    parts_of,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.messages import NO_TEXT, Message, input_text, tool_call, trust_of_tool
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, RowReader, TranscriptItem
    from clsm_cli.model.episodes import Role, ToolCall

_SESSION = ("session", "session_id", "conversation_id")
_TIME = ("timestamp", "time", "created_at", "date")
_END = frozenset({"end", "session_end", "reset"})
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}


def row_reader(about: Reading) -> RowReader:
    """Reads a row."""

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        time = first_time((row.get(key) for key in _TIME), about)
        session = next((name for key in _SESSION if (name := label(row.get(key)))), about.session)
        if text_or_empty(row.get("type")) in _END or text_or_empty(row.get("event")) in _END:
            yield RawBreak(session, time, line)
        else:
            yield _turn(row, Message(session, line, time, label(row.get("id"))))

    return read


def _turn(row: dict[str, Any], message: Message) -> TranscriptItem:
    tool = _tool(row.get("tool"))
    role, speaker = _who(row, tool)
    text = text_of(parts_of(row.get("content")) or parts_of(row.get("text")))
    if not text and tool:
        text = tool.input or ""
    reason = machine_talk(role, text) or ("" if text or tool else NO_TEXT)
    if tool and (is_clsm_tool(tool.name) or runs_clsm(tool.input or "")):
        reason = "clsm result"
    if reason:
        return message.dropped(reason)
    trust = trust_of_tool(tool.name) if tool and role == "tool" else None
    return message.turn(speaker, role, text, tool=tool, trust=trust)


def _who(row: dict[str, Any], tool: ToolCall | None) -> tuple[Role, str]:
    """Role and speaker; a role that is no role is the name of a person in a chat."""
    said_role, speaker = label(row.get("role")), label(row.get("speaker"))
    # "Ai" may well be a person, so a speaker counts as a role only when written as one.
    role = _ROLES.get(said_role.lower() if said_role else speaker or "")
    if role is None and tool:
        return "tool", speaker or tool.name
    if role is None:
        return "user", speaker or said_role or "user"
    return role, speaker or (tool.name if role == "tool" and tool else role)


def _tool(value: object) -> ToolCall | None:
    told = value if isinstance(value, dict) else {"name": value}
    name, given = label(told.get("name")), told.get("input")
    if name is None:
        return None
    text = None if given is None else input_text(given)
    return tool_call(name, text, error=bool(told.get("error")))
