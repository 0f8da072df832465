"""Transcripts with one JSON object per line: OpenClaw's (versions 3 and 4), Claude Code's, any other.

Each row is read on its own, so a transcript gives the same turns wherever it is cut. In an agent's
transcript, memory is only what a person and the agent said, and what tools did: the rest is bookkeeping,
asides of subagents, or text that the program wrote in the user's name.

Generic rows have ``role`` or ``speaker``, ``content`` or ``text`` (a string, or a list of parts),
``timestamp``, ``time``, ``created_at`` or ``date``, and optionally ``id``, ``session`` and ``tool``. A row
whose ``type`` or ``event`` is an end mark ends the episode.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import IO, Any

from clsm_cli.ingestion import messages, openclaw_messages
from clsm_cli.ingestion.jsonl_rows import (
    MAX_TEXT_BYTES,
    Dropped,
    RawBreak,
    RawTurn,
    Reading,
    RowReader,
    TranscriptItem,
    first_time,
    label,
    mapping,
    parts_of,
    read_whole,
    spoken_text,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.messages import NO_TEXT, SPOKEN, Message, ToolReader
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model.episodes import TRUST_ROLE, Role, ToolCall

_OPENCLAW_TYPES = frozenset(
    {"session", "message", "reset", "compaction", "custom", "custom_message", "label"}
    | {"model_change", "thinking_level_change", "branch_summary", "session_info"}
)
# Model of messages of the gateway in the agent's name, such as the answer to a command; with "openclawAbort", the
# agent's own text until it was stopped (src/gateway/server-methods/chat-transcript-inject.ts).
_INJECTED = "gateway-injected"
_FAILED = "[assistant turn failed before producing content]"  # src/agents/stream-message-shared.ts
_STARTED = "✅ New session started"  # what the gateway answers to /new
SESSION_NOTE = re.compile(
    r"# Session: (?P<day>\d{4}-\d\d-\d\d) [^\n]*\n\n- \*\*Session Key\*\*: [^\n]*\n"
    r"- \*\*Session ID\*\*: (?P<id>[^\n]*)\n"
)
"""The head of a note into which OpenClaw's hook session-memory copies the last messages of a session."""
_SAID = re.compile(
    r"^BEGIN_QUOTED_NOTES\n(?s:.*?)\nEND_QUOTED_NOTES$|^(user|assistant): ", re.MULTILINE
)
"""The start of a message; in notes that a message quotes, there is none."""
_OPENCLAW_RUN_KEYS = frozenset({"workdir", "cwd", "timeout", "yieldMs", "background", "pty"})


def is_openclaw(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of an OpenClaw transcript."""
    kind = text_or_empty(row.get("type"))
    if kind == "message":
        return isinstance(row.get("message"), dict)
    return kind in _OPENCLAW_TYPES and ("version" in row or "parentId" in row)


def openclaw_reader(reading: Reading) -> RowReader:
    """A reader of rows; a header row names the session of the rows after it."""
    tools, session = ToolReader(reading, _OPENCLAW_RUN_KEYS), reading.session

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        nonlocal session
        kind = text_or_empty(row.get("type"))
        data = row.get("message") if kind == "message" else None
        if not kind and "role" in row:  # a hook passes messages without their rows
            data = row
        if isinstance(data, dict):
            stamps = (data.get("timestamp"), row.get("timestamp"))  # a message's own comes first
            message = Message(session, line, first_time(stamps, reading), label(row.get("id")))
            yield from _openclaw_message(message, data, tools)
        elif kind == "session":
            session = label(row.get("id")) or session
        elif kind == "reset":
            yield RawBreak(session, normalise(row.get("timestamp"), reading.zone), line)
        else:
            yield Dropped(f"{kind} row" if kind in _OPENCLAW_TYPES else "unknown row", line)

    return read


def session_note_items(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the items of a session note; one of a session that is known is a copy.

    As OpenClaw's src/hooks/bundled/session-memory/handler.ts writes it: of a message no more than its role.
    """
    text = read_whole(stream, MAX_TEXT_BYTES).replace("\r\n", "\n").replace("\0", "")
    head = SESSION_NOTE.match(text)
    if head is None or reading.knows_session(head["id"]):
        yield Dropped("copy of a known session" if head else "no session note", 1)
        return
    starts = [found for found in _SAID.finditer(text, head.end()) if found[1]]
    ends = [*(found.start() for found in starts[1:]), len(text)]
    for said, end in zip(starts, ends, strict=False):
        whole = text[said.end() : end].rstrip()
        line = 1 + text.count("\n", 0, said.start())
        message = Message(reading.session, line, head["day"], end=line + whole.count("\n"))
        yield from _openclaw_spoken(message, SPOKEN[said[1]], {}, whole)
    yield RawBreak(reading.session, head["day"], text.count("\n"))


def _openclaw_message(
    message: Message, data: dict[str, Any], tools: ToolReader
) -> Iterator[TranscriptItem]:
    role, parts = text_or_empty(data.get("role")), parts_of(data.get("content"))
    if data.get("excludeFromContext") or role == "custom":
        yield message.dropped("custom message")
    elif role == "toolResult":
        text, name = text_of(parts), label(data.get("toolName")) or "tool"
        call_id, error = label(data.get("toolCallId")) or "", data.get("isError") is True
        is_clsms = messages.answers_from_clsm(text)
        yield tools.result(message, name, text, call_id, error=error, is_clsms=is_clsms)
    elif role in SPOKEN:
        if (whole := spoken_text(parts)) is not None:
            yield from _openclaw_spoken(message, SPOKEN[role], data, whole)
        # Tool results are rows of their own here: a result inside a message is not one.
        yield from tools.parts(message, (p for p in parts if p.get("type") != "tool_result"))
    else:
        yield message.dropped("message of an unknown role")


def _openclaw_spoken(
    message: Message, role: Role, data: dict[str, Any], whole: str
) -> Iterator[TranscriptItem]:
    if reason := _openclaw_drop_reason(role, data, whole):
        yield message.dropped(reason)
    elif role == "user":
        yield from _openclaw_user(message, data, whole)
    else:
        text = openclaw_messages.without_context(whole)
        yield message.spoken(role, text, "internal context" if whole else NO_TEXT)


def _openclaw_drop_reason(role: Role, data: dict[str, Any], text: str) -> str | None:
    """Why a message is a program's, by its metadata; None if its text must decide."""
    if role == "user":
        provenance = mapping(data.get("provenance"))
        if provenance.get("kind") != "internal_system":
            return messages.adviser_task(text)
        is_poll = provenance.get("sourceTool") == "heartbeat"
        by_text = messages.machine_reason(role, text)
        return by_text or ("heartbeat poll" if is_poll else "internal message")
    is_injected = data.get("model") == _INJECTED and "openclawAbort" not in data
    is_told = text == _FAILED or text.startswith(_STARTED)
    is_programs = role == "assistant" and (is_injected or is_told)
    return "message of the program" if is_programs else None


def _openclaw_user(message: Message, data: dict[str, Any], whole: str) -> Iterator[TranscriptItem]:
    """Yield the parts of a user message; only the first has the id of the message."""
    is_relayed = mapping(data.get("provenance")).get("kind") == "inter_session"
    for number, part in enumerate(openclaw_messages.parts(whole, is_relayed=is_relayed)):
        if part.dropped or not part.text.strip():
            yield message.dropped(part.dropped or NO_TEXT)
            continue
        role = TRUST_ROLE[part.trust or "user"]
        speaker = part.speaker if part.trust else _sender(data) or part.speaker
        part_id = f"{message.id}.{number}" if message.id and number else None
        yield message.turn(speaker or role, role, part.text, part_id, trust=part.trust)


def _sender(message: dict[str, Any]) -> str | None:
    for source in (message, mapping(message.get("__openclaw"))):
        sender = source.get("sender")
        name = sender.get("name") if isinstance(sender, dict) else sender
        found = label(source.get("senderName")) or (label(name) if isinstance(name, str) else None)
        if found:
            return found
    return None


_CLAUDE_OTHER_TYPES = frozenset(
    {"summary", "system", "progress", "attachment", "queue-operation", "last-prompt"}
    | {"file-history-snapshot", "custom-title", "ai-title", "agent-name", "tag", "mode"}
    | {"permission-mode", "pr-link"}
)
"""Rows other than messages."""
_CLAUDE_ID_KEYS = ("sessionId", "leafUuid", "messageId")
_SYNTHETIC = "<synthetic>"  # model of messages that the program writes in the agent's name
# Text that the program writes in the user's name: its start, and the drop reason.
_WRAPPERS = (
    (("<command-name>", "<command-message>", "<command-args>"), "command"),
    (("<local-command-", "Caveat: The messages below were generated"), "command output"),
    (("<bash-input>", "<bash-stdout>", "<bash-stderr>"), "command output"),
    (("<task-notification>",), "notification"),
    (("[Request interrupted by user",), "interruption"),
    (("This session is being continued from a previous conversation",), "summary"),
)
_FLAGS = (("isSidechain", "side chain"), ("isCompactSummary", "summary"), ("isMeta", "meta row"))
# An unclosed one runs to the end.
_REMINDERS = re.compile(
    r"<(system-reminder|user-prompt-submit-hook|ide_opened_file|ide_selection|ide_diagnostics)>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_CLAUDE_RUN_KEYS = frozenset({"description", "timeout", "run_in_background"})


def is_claude_code(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of a Claude Code transcript."""
    kind = text_or_empty(row.get("type"))
    if kind in {"user", "assistant"}:
        return isinstance(row.get("message"), dict) and "sessionId" in row
    return kind in _CLAUDE_OTHER_TYPES and any(name in row for name in _CLAUDE_ID_KEYS)


def claude_code_reader(reading: Reading) -> RowReader:
    """A reader of rows; results do not name their tool, so their speaker is ``tool``."""
    tools = ToolReader(reading, _CLAUDE_RUN_KEYS, partial(_REMINDERS.sub, ""))

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        kind, data = text_or_empty(row.get("type")), mapping(row.get("message"))
        if reason := _claude_drop_reason(row, kind, data):
            yield Dropped(reason, line)
            return
        session = label(row.get("sessionId")) or reading.session
        time = normalise(row.get("timestamp"), reading.zone)
        message = Message(session, line, time, label(row.get("uuid")))
        parts = parts_of(data.get("content"))
        if (whole := spoken_text(parts)) is not None:
            yield _claude_spoken(message, SPOKEN[kind], whole)
        # The program's own record shows whether a result is a fetched page or a search.
        record = mapping(row.get("toolUseResult"))
        is_web = "url" in record or {"query", "results"} <= record.keys()
        for item in tools.parts(message, parts):
            yield replace(item, trust="web") if is_web and isinstance(item, RawTurn) else item

    return read


def _claude_spoken(message: Message, role: Role, whole: str) -> TranscriptItem:
    if role != "user":
        return message.turn(role, role, whole) if whole else message.dropped(NO_TEXT)
    text = _REMINDERS.sub("", whole).strip()
    reason = next((reason for heads, reason in _WRAPPERS if text.startswith(heads)), None)
    if reason is None and not text:
        reason = "system reminder" if whole else NO_TEXT
    return message.dropped(reason) if reason else message.turn(role, role, text)


def _claude_drop_reason(row: dict[str, Any], kind: str, message: dict[str, Any]) -> str | None:
    """Why a row is no message of a person or the agent; None if it is one."""
    if kind not in {"user", "assistant"}:
        return f"{kind} row" if kind in _CLAUDE_OTHER_TYPES else "unknown row"
    for mark, reason in _FLAGS:
        if row.get(mark) is True:
            return reason
    if message.get("model") == _SYNTHETIC or row.get("isApiErrorMessage") is True:
        return "message of the program"
    return None if message else "unknown row"


_SESSION_KEYS = ("session", "session_id", "conversation_id")
_TIME_KEYS = ("timestamp", "time", "created_at", "date")
_END_MARKS = frozenset({"end", "session_end", "reset"})
_ROLES: dict[str, Role] = {
    **SPOKEN,
    **dict.fromkeys(("human",), "user"),
    **dict.fromkeys(("agent", "ai", "model"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    "developer": "system",
}


def generic_reader(reading: Reading) -> RowReader:
    """A reader of generic rows."""

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        time = first_time((row.get(key) for key in _TIME_KEYS), reading)
        names = (label(row.get(key)) for key in _SESSION_KEYS)
        session = next(filter(None, names), reading.session)
        if not _END_MARKS.isdisjoint(text_or_empty(row.get(key)) for key in ("type", "event")):
            yield RawBreak(session, time, line)
        else:
            yield _generic_turn(row, Message(session, line, time, label(row.get("id"))))

    return read


def _generic_turn(row: dict[str, Any], message: Message) -> TranscriptItem:
    tool = _tool(row.get("tool"))
    role, speaker = _role_and_speaker(row, tool)
    text = text_of(parts_of(row.get("content")) or parts_of(row.get("text")))
    if not text and tool:
        text = tool.input or ""
    reason = messages.machine_reason(role, text) or ("" if text or tool else NO_TEXT)
    if tool and (messages.is_clsm_tool(tool.name) or messages.runs_clsm(tool.input or "")):
        reason = "clsm result"
    if reason:
        return message.dropped(reason)
    trust = messages.trust_of_tool(tool.name) if tool and role == "tool" else None
    return message.turn(speaker, role, text, tool=tool, trust=trust)


def _role_and_speaker(row: dict[str, Any], tool: ToolCall | None) -> tuple[Role, str]:
    """Role and speaker; an unknown role is the name of a person in a chat."""
    said_role, speaker = label(row.get("role")), label(row.get("speaker"))
    # "Ai" may be a person, so a speaker counts as a role only in lower case.
    role = _ROLES.get(said_role.lower() if said_role else speaker or "")
    if role is None and tool:
        return "tool", speaker or tool.name
    if role is None:
        return "user", speaker or said_role or "user"
    return role, speaker or (tool.name if role == "tool" and tool else role)


def _tool(value: object) -> ToolCall | None:
    data = value if isinstance(value, dict) else {"name": value}
    name, given = label(data.get("name")), data.get("input")
    if name is None:
        return None
    text = None if given is None else messages.input_text(given)
    return messages.tool_call(name, text, error=bool(data.get("error")))
