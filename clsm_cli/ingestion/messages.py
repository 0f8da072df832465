"""Turns from messages of transcripts: what was said, tool calls, and tool results.

A tool call and its result are two independent turns, so a transcript gives the same turns wherever it is cut.
The only link is that results of calls that ran clsm are dropped; the ids of such calls are returned
(``Dropped.call``) for the next read.

Text that must not become memory is recognised here: clsm's own answers, and machine text that
``openclaw_messages`` knows. A recall that was read back as a statement would make every answer its own
evidence.
"""

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    RawTurn,
    Reading,
    TranscriptItem,
    label,
    parts_of,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.openclaw_messages import machine_text
from clsm_cli.model.episodes import Role, ToolCall
from clsm_cli.model.trust import Trust

NO_TEXT, NOT_TEXT = "no text", "part that is not text"
SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
"""Roles with the same name in most programs."""
# OpenClaw: src/agents/stream-message-shared.ts, tools/sessions-send-helpers.ts; src/auto-reply/tokens.ts
_SAYS_NOTHING = frozenset({"HEARTBEAT_OK", "NO_REPLY", "ANNOUNCE_SKIP", "REPLY_SKIP"})
_MAX_INPUT_BYTES = 2 << 10
_WEB_TOOLS = ("fetch", "web", "browse", "search", "http", "mail")
# Searches of the agent's own memory bring back its own notes, not the web.
_OWN_SEARCH = ("memory", "session", "file", "grep", "code")


def trust_of_tool(name: str) -> Trust | None:
    """``web`` for tools that fetch text of strangers; None keeps the trust of the role.

    >>> trust_of_tool("web_fetch"), trust_of_tool("gmail.read"), trust_of_tool("memory_search")
    ('web', 'web', None)
    """
    low = name.lower()
    if any(word in low for word in _OWN_SEARCH) and "web" not in low:
        return None
    return "web" if any(word in low for word in _WEB_TOOLS) else None


def compact(value: object) -> str:
    """Tool arguments as text: strings unchanged, anything else as JSON without blanks."""
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def command_of(given: object) -> str | None:
    """The shell command in tool arguments; a catalogue call nests them one level deeper."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return None
    command = given.get("command")
    if isinstance(command, list):
        return " ".join(word for word in command if isinstance(word, str))
    return command.strip() if isinstance(command, str) else command_of(given.get("arguments"))


def input_text(given: object, alone: frozenset[str] = frozenset()) -> str:
    """Tool arguments as text; only the command, if the others (``alone``) only say how to run it."""
    command = command_of(given)
    is_all = isinstance(given, dict) and given.keys() <= alone | {"command"}
    return command if command is not None and is_all else compact(given)


def tool_call(name: str, text: str | None, *, error: bool = False) -> ToolCall:
    """A tool call with its input cut to 2 KiB; the turn's own text stays whole.

    Cut between words: half a secret would not be recognised as one.
    """
    if text is not None and len(data := text.encode()) > _MAX_INPUT_BYTES:
        text = data[:_MAX_INPUT_BYTES].decode(errors="ignore")
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)] + "…"
    return ToolCall(name, text, error)


@dataclass(frozen=True, slots=True)
class Message:
    """Position and time of a message; its methods return the items it becomes."""

    session: str
    line: int
    time: str | None
    id: str | None = None
    end: int = 0  # its last line, if it has several

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
        lines, told_id = (self.line, self.end or self.line), part or self.id
        return RawTurn(self.session, speaker, role, text, self.time, *lines, told_id, tool, trust)

    def dropped(self, reason: str) -> Dropped:
        """The message as a dropped one."""
        return Dropped(reason, self.line)

    def spoken(self, role: Role, text: str, empty: str = NO_TEXT) -> TranscriptItem:
        """The turn of a person, the agent or the system; dropped if it is empty or machine text."""
        reason = machine_reason(role, text) or ("" if text.strip() else empty)
        return self.dropped(reason) if reason else self.turn(role, role, text)


class ToolReader:
    """Makes turns of tool calls and results; drops the results of calls that ran clsm.

    ``reading`` provides the ids of such calls in earlier inputs, and ``clean`` removes from a result
    what the program added to it. For ``alone`` see ``input_text``.
    """

    def __init__(
        self,
        reading: Reading,
        alone: frozenset[str] = frozenset(),
        clean: Callable[[str], str] = str,
    ) -> None:
        self._known = reading.known_clsm_calls
        self._alone = alone
        self._clean = clean
        self._calls: dict[str, set[str]] = {}

    def _calls_of(self, session: str) -> set[str]:
        if session not in self._calls:
            self._calls[session] = set(self._known(session))
        return self._calls[session]

    def call(
        self, message: Message, name: str, given: Any, call_id: str = "", part: str | None = None
    ) -> TranscriptItem:
        """The turn of a tool call."""
        calls = self._calls_of(message.session)
        if is_clsm_tool(name) or runs_clsm(command_of(given) or ""):
            calls |= {call_id} - {""}
            return Dropped("clsm call", message.line, message.session, call_id)
        calls.discard(call_id)  # ids such as "call_1" are reused
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
        """The turn of a tool result; each call that ran clsm has one result."""
        calls = self._calls_of(message.session)
        if is_clsms or call_id in calls or is_clsm_tool(name):
            calls.discard(call_id)
            return message.dropped("clsm result")
        text = text.strip("\n").rstrip()
        if not text:
            return message.dropped(NO_TEXT)
        call = tool_call(name, None, error=error)
        return message.turn(name, "tool", text, part, tool=call, trust=trust_of_tool(name))

    def parts(self, message: Message, parts: Iterable[dict[str, Any]]) -> Iterator[TranscriptItem]:
        """Yield the items of a message's parts other than text."""
        count = 0
        for part in parts:
            kind, name = text_or_empty(part.get("type")), label(part.get("name")) or "tool"
            count += kind in {"tool_use", "tool_result", "toolCall"}
            turn_id = f"{message.id}#{count}" if message.id else None
            if kind in {"tool_use", "toolCall"}:
                given = part.get("input", part.get("arguments"))
                yield self.call(message, name, given, label(part.get("id")) or "", turn_id)
            elif kind == "tool_result":
                call_id, error = label(part.get("tool_use_id")) or "", part.get("is_error") is True
                text = self._clean(text_of(parts_of(part.get("content"))))
                yield self.result(message, name, text, call_id, turn_id, error=error)
            elif kind != "text":
                yield message.dropped("thinking" if "thinking" in kind else NOT_TEXT)


ADVICE = "[clsm: advise the memory]"
"""Start of the task that ``clsm schedule install --adviser`` gives an agent at night."""
_BEFORE_ADVICE = 200  # characters that a scheduler puts before a task: names and the time
_COMMAND_ENDS = ";&|()`\n"  # characters that end a simple shell command
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
# Words before the program that is run.
_COMMAND_PREFIX = re.compile(
    r"!|\{|builtin|command|do|doas|else|env|exec|if|ionice|nice|nohup|pipx|run|setsid|stdbuf|sudo|then"
    r"|time|timeout|until|uv|uvx|watch|while|xargs|(?:ba|da|z|k|fi)?sh|(?:python|pypy)[\d.]*(?:\.exe)?"
)
_PROGRAM = re.compile(r"clsm(?:\.exe)?\Z")
_TOOL = re.compile(r"(?:\A|[^a-z0-9])clsm(?:\Z|[^a-z0-9])")
_OF_TOOL = re.compile(r"[\w./:-]+", re.ASCII)  # the characters that a tool's name may have (MCP)
_CORPUS = re.compile(r'"corpus\\*"\s*:\s*\\*"clsm\\*"')


def adviser_task(text: str) -> str | None:
    """The drop reason of clsm's own task for an agent; None for any other message."""
    return "task of the adviser" if ADVICE in text[: _BEFORE_ADVICE + len(ADVICE)] else None


def machine_reason(role: str, text: str) -> str | None:
    """The drop reason of a message that no person or agent wrote; None for a real one."""
    if role == "user":
        return adviser_task(text) or machine_text(text)
    if role == "assistant" and text.strip(" \t\r\n*_`.") in _SAYS_NOTHING:
        return "heartbeat reply"
    return None


def is_clsm_tool(name: str) -> bool:
    """Whether a tool is clsm itself, such as an MCP tool of its server."""
    return _OF_TOOL.fullmatch(name) is not None and _TOOL.search(name.lower()) is not None


def answers_from_clsm(text: str) -> bool:
    r"""Whether the result of a search over several memories contains a hit from clsm.

    OpenClaw's ``memory_search`` names the corpus of each hit; nested calls escape it once more.
    """
    return _CORPUS.search(text) is not None


def runs_clsm(command: str) -> bool:
    """Whether a shell command runs clsm anywhere: after ``cd``, in a pipe, in a subshell."""
    if "clsm" not in command:
        return False
    words: list[str] = []
    for word in [*_words(command), ";"]:
        if word and not word.strip(_COMMAND_ENDS):
            if _is_clsm(words):
                return True
            words = []
        else:
            words.append(word)
            # A command substitution in double quotes runs: "$(clsm recall x)".
            if any(map(runs_clsm, re.split(r"\$\(|`", word)[1:])):
                return True
    return False


def _words(command: str) -> Iterator[str]:
    """Yield the words of a command, and the marks that end a simple one; a syntax error ends it."""
    lexer = shlex.shlex(command.replace("\\\n", ""), posix=True, punctuation_chars=_COMMAND_ENDS)
    lexer.commenters, lexer.whitespace, lexer.whitespace_split = "", " \t\r", True
    with contextlib.suppress(ValueError):
        yield from lexer


def _is_clsm(words: list[str]) -> bool:
    """Whether a simple command runs clsm, after any prefix such as ``sudo``."""
    is_shell = False
    for place, word in enumerate(words):
        name, before = word.rsplit("/", 1)[-1], words[place - 1] if place else ""
        if _PROGRAM.match(name) or (before, word) == ("-m", "clsm_cli"):
            return True
        if is_shell and " " in word:  # bash -lc "…"
            return runs_clsm(word)
        is_shell = is_shell or name in _SHELLS
        is_option = bool(before) and (word.startswith("-") or word[:1].isdigit())
        is_option = is_option or before in {"-X", "-W"}
        if not (is_option or _ASSIGNMENT.match(word) or _COMMAND_PREFIX.fullmatch(name)):
            return False
    return False
