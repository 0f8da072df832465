"""OpenClaw session transcripts, versions 3 and 4: one JSON row a line, streamed.

A message of a person or the agent is one turn; a tool call comes from the agent's row, its result
from its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    RawBreak,
    first_time,
    label,
    mapping,
    parts_of,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.messages import NO_TEXT, NOT_TEXT, Message, ToolReader
from clsm_cli.ingestion.noise import (
    answers_from_clsm,
    machine_talk,
    subagent_task,
    without_context,
)
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, RowReader, TranscriptItem
    from clsm_cli.model.episodes import Role
    from clsm_cli.model.trust import Trust

_ROWS = frozenset(
    {"session", "message", "reset", "compaction", "custom", "custom_message", "label"}
    | {"model_change", "thinking_level_change", "branch_summary", "session_info"}
)
_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_HOW = frozenset({"workdir", "cwd", "timeout", "yieldMs", "background", "pty"})


def is_row(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of an OpenClaw transcript."""
    kind = text_or_empty(row.get("type"))
    if kind == "message":
        return isinstance(row.get("message"), dict)
    return kind in _ROWS and ("version" in row or "parentId" in row)


def row_reader(about: Reading) -> RowReader:
    """Reads a row; a header names the session of those behind it."""
    tools, session = ToolReader(about, _HOW), about.session

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        nonlocal session
        kind = text_or_empty(row.get("type"))
        told = row.get("message") if kind == "message" else None
        if not kind and "role" in row:  # a hook gives the messages without their rows
            told = row
        if isinstance(told, dict):
            stamps = (told.get("timestamp"), row.get("timestamp"))  # a message's own comes first
            time = first_time(stamps, about)
            yield from _message(Message(session, line, time, label(row.get("id"))), told, tools)
        elif kind == "session":
            session = label(row.get("id")) or session
        elif kind == "reset":
            yield RawBreak(session, normalise(row.get("timestamp"), about.zone), line)
        else:
            yield Dropped(f"{kind} row" if kind in _ROWS else "unknown row", line)

    return read


def _message(message: Message, told: dict[str, Any], tools: ToolReader) -> Iterator[TranscriptItem]:
    role, parts = text_or_empty(told.get("role")), parts_of(told.get("content"))
    if told.get("excludeFromContext") or role == "custom":
        yield message.dropped("custom message")
    elif role == "toolResult":
        text, name = text_of(parts), label(told.get("toolName")) or "tool"
        yield tools.result(
            message,
            name,
            text,
            label(told.get("toolCallId")) or "",
            error=told.get("isError") is True,
            is_clsms=answers_from_clsm(text),
        )
    elif role in _SPOKEN:
        if not parts or any(part.get("type") == "text" for part in parts):
            yield _spoken(message, _SPOKEN[role], told, parts)
        yield from tools.parts(message, parts, lambda _part, _id: message.dropped(NOT_TEXT))
    else:
        yield message.dropped("message of an unknown role")


def _spoken(
    message: Message, role: Role, told: dict[str, Any], parts: list[dict[str, Any]]
) -> TranscriptItem:
    whole = text_of(part for part in parts if part.get("type") == "text")
    text, provenance = without_context(whole), mapping(told.get("provenance"))
    reason = machine_talk(role, text)
    if reason is None and provenance.get("kind") == "internal_system":
        is_poll = provenance.get("sourceTool") == "heartbeat"
        reason = "heartbeat poll" if is_poll else "internal message"
    if reason is None and not text:
        reason = "internal context" if whole else NO_TEXT
    if reason:
        return message.dropped(reason)
    speaker = (_sender(told) if role == "user" else None) or role
    # Another session of the agent's asks in a person's place; of a sub-agent, without telling so.
    task = subagent_task(text) if role == "user" else None
    is_relayed = provenance.get("kind") == "inter_session" or task is not None
    trust: Trust | None = "agent" if is_relayed else None
    return message.turn(speaker, role, text if task is None else task, trust=trust)


def _sender(message: dict[str, Any]) -> str | None:
    """The name of who wrote, where a channel tells it."""
    for source in (message, mapping(message.get("__openclaw"))):
        sender = source.get("sender")
        name = sender.get("name") if isinstance(sender, dict) else sender
        found = label(source.get("senderName")) or (label(name) if isinstance(name, str) else None)
        if found:
            return found
    return None
