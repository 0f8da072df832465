"""OpenClaw session transcripts, versions 3 and 4: one JSON row a line, streamed.

A message of a person or the agent is one turn. A tool call and its result are two: the call comes
from the agent's row, the result from its own, and neither looks at the other, so that a transcript
cut between them anywhere gives the same turns. The one thing that needs both is to drop the result
of a call that ran clsm; the ids of such calls come out (``Dropped.reason``) for the next read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    RawBreak,
    RawTurn,
    Tally,
    check_items,
    label,
    parts_of,
    read_rows,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.noise import (
    answers_from_clsm,
    is_clsm_tool,
    machine_talk,
    runs_clsm,
    subagent_task,
    without_context,
)
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model.episodes import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import Line, TranscriptItem
    from clsm_cli.model.episodes import Role
    from clsm_cli.model.trust import Trust

CLSM_CALL, CLSM_RESULT = "clsm call:", "clsm result:"
"""``Dropped.reason`` of a call that runs clsm, or of its result, is this and the id of the call."""

_MAX_INPUT = 2 << 10
_ROWS = frozenset(
    {"session", "message", "reset", "compaction", "custom", "custom_message", "label"}
    | {"model_change", "thinking_level_change", "branch_summary", "session_info"}
)
_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_WEB_TOOLS = ("fetch", "web", "browse", "search", "http", "mail")
# Searches of the agent's own memory bring back its own notes, not the web.
_OWN_SEARCH = ("memory", "session", "file", "grep", "code")


def is_row(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of an OpenClaw transcript.

    >>> is_row({"type": "session", "version": 4, "id": "a"}), is_row({"role": "user"})
    (True, False)
    """
    kind = text_or_empty(row.get("type"))
    if kind == "message":
        return isinstance(row.get("message"), dict)
    return kind in _ROWS and ("version" in row or "parentId" in row)


def read(
    lines: Iterable[Line],
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str | None = None,
    known_clsm_calls: Callable[[str], Iterable[str]] = lambda _session: (),
) -> Iterator[TranscriptItem]:
    """The turns, breaks, dropped rows and problems of a transcript, in its order.

    Args:
        lines: From ``jsonl_rows.bounded_lines``.
        path: As it was given, for problems.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Used until a header row names the session; by default the path.
        known_clsm_calls: Gives, for a session, the ids of calls that ran clsm in earlier inputs and
            whose results may only come now: those of their ``CLSM_CALL``.
    """
    tally = Tally()
    reader = _Reader(session or path, zone, known_clsm_calls)
    items = _items(lines, path, reader, tally)
    return check_items(items, path=path, now=now, tally=tally)


def trust_of_tool(name: str) -> Trust | None:
    """``web`` for tools that bring in what strangers wrote; None leaves the trust of the role.

    >>> trust_of_tool("web_fetch"), trust_of_tool("gmail.read"), trust_of_tool("memory_search")
    ('web', 'web', None)
    """
    low = name.lower()
    if any(word in low for word in _OWN_SEARCH) and "web" not in low:
        return None
    return "web" if any(word in low for word in _WEB_TOOLS) else None


def compact(value: object) -> str:
    """Arguments of a tool as text: a string itself, anything else as JSON without blanks."""
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tool_call(name: str, text: str | None, *, error: bool = False) -> ToolCall:
    """A tool call whose input is cut within 2 KiB; the turn's own text stays whole.

    Cut between words: half a secret would no longer be known for one.
    """
    if text is not None and len(data := text.encode()) > _MAX_INPUT:
        text = data[:_MAX_INPUT].decode(errors="ignore")
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)] + "…"
    return ToolCall(name, text, error)


def _items(
    lines: Iterable[Line], path: str, reader: _Reader, tally: Tally
) -> Iterator[TranscriptItem]:
    for found in read_rows(lines, path=path, tally=tally):
        if isinstance(found, Problem):
            yield found
        else:
            yield from reader.row(found[1], found[0])


@dataclass(slots=True)
class _Reader:
    """What must be known between rows: the session, and which calls ran clsm."""

    session: str
    zone: tzinfo
    known_clsm_calls: Callable[[str], Iterable[str]]
    clsm_calls: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.clsm_calls = set(self.known_clsm_calls(self.session))

    def row(self, row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        kind = text_or_empty(row.get("type"))
        message = row.get("message") if kind == "message" else None
        if not kind and "role" in row:  # a hook gives the messages without their rows
            message = row
        if isinstance(message, dict):
            yield from self.message(row, message, line)
        elif kind == "session":
            self.session = label(row.get("id")) or self.session
            self.clsm_calls.update(self.known_clsm_calls(self.session))
        elif kind == "reset":
            yield RawBreak(self.session, self.time(row.get("timestamp")), line)
        else:
            yield Dropped(f"{kind} row" if kind in _ROWS else "unknown row", line)

    def message(
        self, row: dict[str, Any], message: dict[str, Any], line: int
    ) -> Iterator[TranscriptItem]:
        role = text_or_empty(message.get("role"))
        stamp = message.get("timestamp")
        time = self.time(stamp, row.get("timestamp"))
        base = _Message(line, time, label(row.get("id")), message, parts_of(message.get("content")))
        if message.get("excludeFromContext") or role == "custom":
            yield Dropped("custom message", line)
        elif role == "toolResult":
            yield self.result(base)
        elif role in _SPOKEN:
            if not base.parts or any(part.get("type") == "text" for part in base.parts):
                yield self.spoken(base, _SPOKEN[role])
            yield from self.other_parts(base)
        else:
            yield Dropped("message of an unknown role", line)

    def spoken(self, base: _Message, role: Role) -> TranscriptItem:
        whole = text_of(part for part in base.parts if part.get("type") == "text")
        text = without_context(whole)
        provenance = base.message.get("provenance")
        reason = machine_talk(role, text)
        if reason is None and isinstance(provenance, dict):
            heartbeat = provenance.get("sourceTool") == "heartbeat"
            internal = provenance.get("kind") == "internal_system"
            reason = ("heartbeat poll" if heartbeat else "internal message") if internal else None
        if reason is None and not text:
            reason = "internal context" if whole else "no text"
        if reason:
            return Dropped(reason, base.line)
        speaker = (_sender(base.message) if role == "user" else None) or role
        # Another session of the agent's asks in a person's place; of a sub-agent, without telling so.
        is_relayed = isinstance(provenance, dict) and provenance.get("kind") == "inter_session"
        task = subagent_task(text) if role == "user" else None
        trust: Trust | None = "agent" if is_relayed or task is not None else None
        return self.turn(base, speaker, role, text if task is None else task, trust=trust)

    def other_parts(self, base: _Message) -> Iterator[TranscriptItem]:
        calls = 0
        for part in base.parts:
            kind = text_or_empty(part.get("type"))
            if kind == "toolCall":
                calls += 1
                yield self.call(base, part, calls)
            elif kind != "text":
                thinking = kind in {"thinking", "redacted_thinking"}
                yield Dropped("thinking" if thinking else "part that is not text", base.line)

    def call(self, base: _Message, part: dict[str, Any], count: int) -> TranscriptItem:
        name = label(part.get("name")) or "tool"
        arguments = part.get("arguments")
        command = _command(arguments)
        call_id = label(part.get("id")) or ""
        if is_clsm_tool(name) or (command is not None and runs_clsm(command)):
            self.clsm_calls |= {call_id} - {""}
            return Dropped(CLSM_CALL + call_id, base.line, self.session)
        self.clsm_calls.discard(call_id)  # ids such as "call_1" come again
        text = command if command is not None and _only_runs(arguments) else compact(arguments)
        turn_id = f"{base.id}#{count}" if base.id else None
        return self.turn(base, name, "tool", text, tool=tool_call(name, text), turn_id=turn_id)

    def result(self, base: _Message) -> TranscriptItem:
        name = label(base.message.get("toolName")) or "tool"
        call_id = label(base.message.get("toolCallId")) or ""
        if is_clsm_tool(name) or call_id in self.clsm_calls:
            self.clsm_calls.discard(call_id)
            return Dropped(CLSM_RESULT + call_id, base.line, self.session)
        text = text_of(base.parts)
        if answers_from_clsm(text):
            return Dropped(CLSM_RESULT + call_id, base.line, self.session)
        if not text:
            return Dropped("no text", base.line)
        tool = tool_call(name, None, error=base.message.get("isError") is True)
        return self.turn(base, name, "tool", text, tool=tool, trust=trust_of_tool(name))

    def turn(
        self,
        base: _Message,
        speaker: str,
        role: Role,
        text: str,
        *,
        tool: ToolCall | None = None,
        trust: Trust | None = None,
        turn_id: str | None = None,
    ) -> RawTurn:
        return RawTurn(
            session=self.session,
            speaker=speaker,
            role=role,
            text=text,
            time=base.time,
            line_start=base.line,
            line_end=base.line,
            foreign_id=turn_id or base.id,
            tool=tool,
            trust=trust,
        )

    def time(self, *stamps: object) -> str | None:
        """The first stamp that is a time: a message's own comes before its row's."""
        return next((time for stamp in stamps if (time := normalise(stamp, self.zone))), None)


@dataclass(frozen=True, slots=True)
class _Message:
    line: int
    time: str | None
    id: str | None
    message: dict[str, Any]
    parts: list[dict[str, Any]]


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


def _command(arguments: object) -> str | None:
    """The shell command in the arguments of a tool; a catalogue call holds them one level down."""
    if not isinstance(arguments, dict):
        return None
    command = arguments.get("command")
    if isinstance(command, list):
        return " ".join(word for word in command if isinstance(word, str))
    if isinstance(command, str):
        return command.strip()
    inner = arguments.get("arguments")
    return _command(inner)


def _only_runs(arguments: object) -> bool:
    """Whether the command is all there is to tell, beside how it was run."""
    how = {"command", "workdir", "cwd", "timeout", "yieldMs", "background", "pty"}
    return isinstance(arguments, dict) and arguments.keys() <= how
