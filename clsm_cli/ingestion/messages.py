"""Messages of transcripts as turns: what was said, what a tool was asked for, and what it gave.

A tool call and its result are two turns: neither looks at the other, so that a transcript cut between
them anywhere gives the same turns. The one thing that needs both is to drop the result of a call that
ran clsm; the ids of such calls come out (``Dropped.reason``) for the next read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import Dropped, RawTurn
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm
from clsm_cli.model.episodes import ToolCall

if TYPE_CHECKING:
    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem
    from clsm_cli.model.episodes import Role
    from clsm_cli.model.trust import Trust

CLSM_CALL, CLSM_RESULT = "clsm call:", "clsm result:"
"""``Dropped.reason`` of a call that runs clsm, or of its result, is this and the id of the call."""
NO_TEXT = "no text"
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


def command_or_json(given: object) -> str:
    """Arguments of a tool as text; a command that is all of them as it is."""
    command = given.get("command") if isinstance(given, dict) and len(given) == 1 else None
    return compact(command if isinstance(command, str) else given)


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

    def part(self, count: int) -> str | None:
        """The id of one of its parts."""
        return f"{self.id}#{count}" if self.id else None

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

    def called(self, tool: str, text: str, part: str | None) -> TranscriptItem:
        """What a tool was asked for; clsm's own answers are no memory."""
        if is_clsm_tool(tool) or runs_clsm(text):
            return self.dropped("clsm call")
        return self.turn(tool, "tool", text, part, tool=tool_call(tool, text))

    def gave(
        self, tool: str, text: str, part: str | None = None, *, error: bool = False
    ) -> TranscriptItem:
        """What a tool gave."""
        if is_clsm_tool(tool):
            return self.dropped("clsm result")
        text = text.strip("\n").rstrip()
        if not text:
            return self.dropped(NO_TEXT)
        call = tool_call(tool, None, error=error)
        return self.turn(tool, "tool", text, part, tool=call, trust=trust_of_tool(tool))


class ToolReader:
    """What a reader must know between messages: which calls ran clsm, whose results are dropped.

    Args:
        about: Gives the ids of such calls in earlier inputs.
        alone: Arguments beside a command that tell only how it is run: such a call is its command.
    """

    def __init__(self, about: Reading, alone: frozenset[str]) -> None:
        self._known = about.known_clsm_calls
        self._alone = alone | {"command"}
        self._met: set[str] = set()
        self._calls: set[str] = set()

    def meet(self, session: str) -> None:
        """A message of a session comes."""
        if session not in self._met:
            self._met.add(session)
            self._calls.update(self._known(session))

    def call(
        self, message: Message, name: str, given: Any, call_id: str, part: str | None
    ) -> TranscriptItem:
        """The turn of a call."""
        command = _command(given)
        if is_clsm_tool(name) or (command is not None and runs_clsm(command)):
            self._calls |= {call_id} - {""}
            return Dropped(CLSM_CALL + call_id, message.line, message.session)
        self._calls.discard(call_id)  # ids such as "call_1" come again
        if command is None or not given.keys() <= self._alone:
            command = compact(given)
        return message.turn(name, "tool", command, part, tool=tool_call(name, command))

    def is_of_clsm(self, call_id: str) -> bool:
        """Whether a result is that of a call that ran clsm; each has one."""
        is_known = call_id in self._calls
        self._calls.discard(call_id)
        return is_known


def _command(given: object) -> str | None:
    """The shell command in the arguments of a tool; a catalogue call holds them one level down."""
    if not isinstance(given, dict):
        return None
    command = given.get("command")
    if isinstance(command, list):
        return " ".join(word for word in command if isinstance(word, str))
    return command.strip() if isinstance(command, str) else _command(given.get("arguments"))
