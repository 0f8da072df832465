"""Messages of transcripts as turns: what was said, what a tool was asked for, and what it gave.

A tool call and its result are two turns: neither looks at the other, so that a transcript cut between
them anywhere gives the same turns. The one thing that needs both is to drop the result of a call that
ran clsm; the ids of such calls come out (``Dropped.reason``) for the next read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import Dropped, RawTurn, label, text_or_empty
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm
from clsm_cli.model.episodes import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem
    from clsm_cli.model.episodes import Role
    from clsm_cli.model.trust import Trust

    ResultReader = Callable[[dict[str, Any], str | None], TranscriptItem]

CLSM_CALL, CLSM_RESULT = "clsm call:", "clsm result:"
"""``Dropped.reason`` of a call that runs clsm, or of its result, is this and the id of the call."""
NO_TEXT, NOT_TEXT = "no text", "part that is not text"
_MAX_INPUT = 2 << 10
_WEB_TOOLS = ("fetch", "web", "browse", "search", "http", "mail")
# Searches of the agent's own memory bring back its own notes, not the web.
_OWN_SEARCH = ("memory", "session", "file", "grep", "code")


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


def command_of(given: object) -> str | None:
    """The shell command in the arguments of a tool; a catalogue call holds them one level down."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return None
    command = given.get("command")
    if isinstance(command, list):
        return " ".join(word for word in command if isinstance(word, str))
    return command.strip() if isinstance(command, str) else command_of(given.get("arguments"))


def input_text(given: object, alone: frozenset[str] = frozenset()) -> str:
    """Arguments of a tool as text; a command as it is, if they hold nothing else.

    Args:
        alone: Arguments beside a command that tell only how it is run.
    """
    command = command_of(given)
    is_all = isinstance(given, dict) and given.keys() <= alone | {"command"}
    return command if command is not None and is_all else compact(given)


def tool_call(name: str, text: str | None, *, error: bool = False) -> ToolCall:
    """A tool call whose input is cut within 2 KiB; the turn's own text stays whole.

    Cut between words: half a secret would no longer be known for one.
    """
    if text is not None and len(data := text.encode()) > _MAX_INPUT:
        text = data[:_MAX_INPUT].decode(errors="ignore")
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)] + "…"
    return ToolCall(name, text, error)


@dataclass(frozen=True, slots=True)
class Message:
    """Where and when a message stands; its methods give what it becomes."""

    session: str
    line: int
    time: str | None
    id: str | None = None
    end: int = 0
    """Its last line, where it has several."""

    def turn(
        self,
        speaker: str,
        role: Role,
        text: str,
        part: str | None = None,
        *,
        tool: ToolCall | None = None,
        trust: Trust | None = None,
    ) -> RawTurn:
        """A turn of the message, or of one of its parts."""
        return RawTurn(
            session=self.session,
            speaker=speaker,
            role=role,
            text=text,
            time=self.time,
            line_start=self.line,
            line_end=self.end or self.line,
            foreign_id=part or self.id,
            tool=tool,
            trust=trust,
        )

    def dropped(self, reason: str) -> Dropped:
        """What is no memory."""
        return Dropped(reason, self.line)

    def said(self, role: Role, text: str, empty: str = NO_TEXT) -> TranscriptItem:
        """What a person, the agent or the system said."""
        reason = machine_talk(role, text) or ("" if text.strip() else empty)
        return self.dropped(reason) if reason else self.turn(role, role, text)


class ToolReader:
    """Turns of tools; it knows which calls ran clsm, whose results are dropped.

    Args:
        about: Gives the ids of such calls in earlier inputs.
        alone: See ``input_text``.
    """

    def __init__(self, about: Reading, alone: frozenset[str] = frozenset()) -> None:
        self._known = about.known_clsm_calls
        self._alone = alone
        self._calls: dict[str, set[str]] = {}

    def _calls_of(self, session: str) -> set[str]:
        if session not in self._calls:
            self._calls[session] = set(self._known(session))
        return self._calls[session]

    def call(
        self, message: Message, name: str, given: Any, call_id: str = "", part: str | None = None
    ) -> TranscriptItem:
        """What a tool was asked for."""
        calls = self._calls_of(message.session)
        if is_clsm_tool(name) or runs_clsm(command_of(given) or ""):
            calls |= {call_id} - {""}
            return Dropped(CLSM_CALL + call_id, message.line, message.session)
        calls.discard(call_id)  # ids such as "call_1" come again
        text = input_text(given, self._alone)
        return message.turn(name, "tool", text, part, tool=tool_call(name, text))

    def result(
        self,
        message: Message,
        name: str,
        text: str,
        call_id: str = "",
        part: str | None = None,
        *,
        error: bool = False,
        is_clsms: bool = False,
    ) -> TranscriptItem:
        """What a tool gave; each call that ran clsm has one result."""
        calls = self._calls_of(message.session)
        if is_clsms or call_id in calls or is_clsm_tool(name):
            calls.discard(call_id)
            return Dropped(CLSM_RESULT + call_id, message.line, message.session)
        text = text.strip("\n").rstrip()
        if not text:
            return message.dropped(NO_TEXT)
        call = tool_call(name, None, error=error)
        return message.turn(name, "tool", text, part, tool=call, trust=trust_of_tool(name))

    def parts(
        self, message: Message, parts: Iterable[dict[str, Any]], read_result: ResultReader
    ) -> Iterator[TranscriptItem]:
        """What the parts of a message become that are no text."""
        count = 0
        for part in parts:
            kind = text_or_empty(part.get("type"))
            count += kind in {"tool_use", "tool_result", "toolCall"}
            turn_id = f"{message.id}#{count}" if message.id else None
            if kind in {"tool_use", "toolCall"}:
                name, call_id = label(part.get("name")) or "tool", label(part.get("id")) or ""
                given = part.get("input", part.get("arguments"))
                yield self.call(message, name, given, call_id, turn_id)
            elif kind == "tool_result":
                yield read_result(part, turn_id)
            elif kind != "text":
                yield message.dropped("thinking" if "thinking" in kind else NOT_TEXT)
