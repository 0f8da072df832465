"""Claude Code session transcripts: one JSON row a line, ``~/.claude/projects/*/*.jsonl``, streamed.

A row is looked at by itself, so a result does not tell the name of its tool, and is said by ``tool``.
Only what a person and the agent told each other, and what tools did, is memory; the rest of the rows
is bookkeeping, asides of subordinate agents, or text that the program wrote in a person's name.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    RawTurn,
    label,
    mapping,
    parts_of,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.messages import NO_TEXT, Message, ToolReader
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, RowReader, TranscriptItem
    from clsm_cli.model.episodes import Role

_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_OTHER = frozenset(
    {"summary", "system", "progress", "attachment", "queue-operation", "last-prompt"}
    | {"file-history-snapshot", "custom-title", "ai-title", "agent-name", "tag", "mode"}
    | {"permission-mode", "pr-link"}
)
_NAMING = ("sessionId", "leafUuid", "messageId")
_SYNTHETIC = "<synthetic>"
"""The model of what the program says in the agent's name."""
# What the program writes in a person's name: the head of the text, and why it is dropped.
_WRAPPERS = (
    (("<command-name>", "<command-message>", "<command-args>"), "command"),
    (("<local-command-", "Caveat: The messages below were generated"), "command output"),
    (("<bash-input>", "<bash-stdout>", "<bash-stderr>"), "command output"),
    (("<task-notification>",), "notification"),
    (("[Request interrupted by user",), "interruption"),
    (("This session is being continued from a previous conversation",), "summary"),
)
_MARKS = (("isSidechain", "side chain"), ("isCompactSummary", "summary"), ("isMeta", "meta row"))
# One left open runs to the end.
_REMINDERS = re.compile(
    r"<(system-reminder|user-prompt-submit-hook|ide_opened_file|ide_selection|ide_diagnostics)>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_HOW = frozenset({"description", "timeout", "run_in_background"})


def is_row(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of a Claude Code transcript."""
    kind = text_or_empty(row.get("type"))
    if kind in _SPOKEN:
        return isinstance(row.get("message"), dict) and "sessionId" in row
    return kind in _OTHER and any(name in row for name in _NAMING)


def row_reader(about: Reading) -> RowReader:
    """Reads a row."""
    tools = ToolReader(about, _HOW)

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        kind, told = text_or_empty(row.get("type")), mapping(row.get("message"))
        if reason := _not_said(row, kind, told):
            yield Dropped(reason, line)
            return
        session = label(row.get("sessionId")) or about.session
        time = normalise(row.get("timestamp"), about.zone)
        message = Message(session, line, time, label(row.get("uuid")))
        parts = parts_of(told.get("content"))
        if not parts or any(part.get("type") == "text" for part in parts):
            yield _spoken(message, _SPOKEN[kind], parts)
        is_web = _is_web(row.get("toolUseResult"))

        def result(part: dict[str, Any], turn_id: str | None) -> TranscriptItem:
            call_id, error = label(part.get("tool_use_id")) or "", part.get("is_error") is True
            text = _REMINDERS.sub("", text_of(parts_of(part.get("content"))))
            item = tools.result(message, "tool", text, call_id, turn_id, error=error)
            return replace(item, trust="web") if is_web and isinstance(item, RawTurn) else item

        yield from tools.parts(message, parts, result)

    return read


def _spoken(message: Message, role: Role, parts: list[dict[str, Any]]) -> TranscriptItem:
    whole = text_of(part for part in parts if part.get("type") == "text")
    text = _REMINDERS.sub("", whole).strip() if role == "user" else whole
    reason = _wrapped(text) if role == "user" else None
    if reason is None and not text:
        reason = "system reminder" if whole else NO_TEXT
    return message.dropped(reason) if reason else message.turn(role, role, text)


def _not_said(row: dict[str, Any], kind: str, message: dict[str, Any]) -> str | None:
    """Why a row is no message of a person or the agent; None for one that is."""
    if kind not in _SPOKEN:
        return f"{kind} row" if kind in _OTHER else "unknown row"
    for mark, reason in _MARKS:
        if row.get(mark) is True:
            return reason
    if message.get("model") == _SYNTHETIC or row.get("isApiErrorMessage") is True:
        return "message of the program"
    return None if message else "unknown row"


def _wrapped(text: str) -> str | None:
    """Why a text is the program's, and not a person's."""
    return next((reason for heads, reason in _WRAPPERS if text.startswith(heads)), None)


def _is_web(told: object) -> bool:
    """Whether the program's own record of a result is that of a fetched page or a search."""
    return isinstance(told, dict) and ("url" in told or {"query", "results"} <= told.keys())
