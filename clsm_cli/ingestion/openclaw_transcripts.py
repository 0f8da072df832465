"""OpenClaw session transcripts, versions 3 and 4: one JSON row a line, streamed.

A message of a person or the agent is one turn; a tool call comes from the agent's row, its result
from its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import Dropped, RawBreak, label, parts_of, text_of, text_or_empty
from clsm_cli.ingestion.messages import CLSM_RESULT, NO_TEXT, Message, ToolReader
from clsm_cli.ingestion.noise import (
    answers_from_clsm,
    is_clsm_tool,
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
    """Whether a JSON object is a row of an OpenClaw transcript.

    >>> is_row({"type": "session", "version": 4, "id": "a"}), is_row({"role": "user"})
    (True, False)
    """
    kind = text_or_empty(row.get("type"))
    if kind == "message":
        return isinstance(row.get("message"), dict)
    return kind in _ROWS and ("version" in row or "parentId" in row)


def row_reader(about: Reading) -> RowReader:
    """Reads a row; a header names the session of those behind it."""
    return _Reader(about).row


class _Reader:
    def __init__(self, about: Reading) -> None:
        self.session = about.session
        self.zone = about.zone
        self.tools = ToolReader(about, _HOW)
        self.tools.meet(self.session)

    def row(self, row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        kind = text_or_empty(row.get("type"))
        message = row.get("message") if kind == "message" else None
        if not kind and "role" in row:  # a hook gives the messages without their rows
            message = row
        if isinstance(message, dict):
            yield from self.message(row, message, line)
        elif kind == "session":
            self.session = label(row.get("id")) or self.session
            self.tools.meet(self.session)
        elif kind == "reset":
            yield RawBreak(self.session, normalise(row.get("timestamp"), self.zone), line)
        else:
            yield Dropped(f"{kind} row" if kind in _ROWS else "unknown row", line)

    def message(
        self, row: dict[str, Any], told: dict[str, Any], line: int
    ) -> Iterator[TranscriptItem]:
        role, stamps = text_or_empty(told.get("role")), (told, row)  # a message's own comes first
        times = (normalise(each.get("timestamp"), self.zone) for each in stamps)
        message = Message(self.session, line, next(filter(None, times), None), label(row.get("id")))
        parts = parts_of(told.get("content"))
        if told.get("excludeFromContext") or role == "custom":
            yield message.dropped("custom message")
        elif role == "toolResult":
            yield self.result(message, told, text_of(parts))
        elif role in _SPOKEN:
            if not parts or any(part.get("type") == "text" for part in parts):
                yield _spoken(message, _SPOKEN[role], told, parts)
            yield from self.other_parts(message, parts)
        else:
            yield message.dropped("message of an unknown role")

    def other_parts(
        self, message: Message, parts: list[dict[str, Any]]
    ) -> Iterator[TranscriptItem]:
        count = 0
        for part in parts:
            kind = text_or_empty(part.get("type"))
            if kind == "toolCall":
                count += 1
                name, call_id = label(part.get("name")) or "tool", label(part.get("id")) or ""
                given, turn_id = part.get("arguments"), message.part(count)
                yield self.tools.call(message, name, given, call_id, turn_id)
            elif kind != "text":
                yield message.dropped("thinking" if "thinking" in kind else "part that is not text")

    def result(self, message: Message, told: dict[str, Any], text: str) -> TranscriptItem:
        name = label(told.get("toolName")) or "tool"
        call_id = label(told.get("toolCallId")) or ""
        if self.tools.is_of_clsm(call_id) or is_clsm_tool(name) or answers_from_clsm(text):
            return Dropped(CLSM_RESULT + call_id, message.line, message.session)
        return message.gave(name, text, error=told.get("isError") is True)


def _spoken(
    message: Message, role: Role, told: dict[str, Any], parts: list[dict[str, Any]]
) -> TranscriptItem:
    whole = text_of(part for part in parts if part.get("type") == "text")
    text = without_context(whole)
    provenance = told.get("provenance")
    provenance = provenance if isinstance(provenance, dict) else {}
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
    extra = message.get("__openclaw")
    for source in (message, extra if isinstance(extra, dict) else {}):
        sender = source.get("sender")
        name = sender.get("name") if isinstance(sender, dict) else sender
        found = label(source.get("senderName")) or (label(name) if isinstance(name, str) else None)
        if found:
            return found
    return None
