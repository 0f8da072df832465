"""Claude Code session transcripts: one JSON row a line, ``~/.claude/projects/*/*.jsonl``, streamed.

A row is looked at by itself, as in ``openclaw``, so that a transcript cut anywhere gives the same
turns: a result does not tell the name of its tool, and is said by ``tool``. Only what a person and
the agent told each other, and what tools did, is memory; the rest of the rows is bookkeeping, asides
of subordinate agents, or text that the program wrote in a person's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    RawTurn,
    Tally,
    check_items,
    label,
    parts_of,
    read_rows,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.noise import is_clsm_tool, runs_clsm
from clsm_cli.ingestion.openclaw_transcripts import CLSM_CALL, CLSM_RESULT, compact, tool_call
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import Line, TranscriptItem
    from clsm_cli.model.episodes import Role
    from clsm_cli.model.trust import Trust

_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_OTHER = frozenset(
    {"summary", "system", "progress", "attachment", "queue-operation", "last-prompt"}
    | {"file-history-snapshot", "custom-title", "ai-title", "agent-name", "tag", "mode"}
    | {"permission-mode", "pr-link"}
)
_NAMING = ("sessionId", "leafUuid", "messageId")
_SYNTHETIC = "<synthetic>"
"""The model of what the program says in the agent's name."""
_SUMMARY = "This session is being continued from a previous conversation"
# What the program writes in a person's name: the head of the text, and why it is dropped.
_WRAPPERS = (
    (("<command-name>", "<command-message>", "<command-args>"), "command"),
    (("<local-command-", "Caveat: The messages below were generated"), "command output"),
    (("<bash-input>", "<bash-stdout>", "<bash-stderr>"), "command output"),
    (("<task-notification>",), "notification"),
    (("[Request interrupted by user",), "interruption"),
    ((_SUMMARY,), "summary"),
)
# One left open runs to the end.
_REMINDERS = re.compile(
    r"<(system-reminder|user-prompt-submit-hook|ide_opened_file|ide_selection|ide_diagnostics)>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_HOW = frozenset({"command", "description", "timeout", "run_in_background"})


def is_row(row: dict[str, Any]) -> bool:
    """Whether a JSON object is a row of a Claude Code transcript.

    >>> is_row({"type": "user", "sessionId": "a", "message": {"role": "user"}})
    True
    >>> is_row({"type": "summary", "leafUuid": "a"}), is_row({"type": "user", "text": "hi"})
    (True, False)
    """
    kind = text_or_empty(row.get("type"))
    if kind in _SPOKEN:
        return isinstance(row.get("message"), dict) and "sessionId" in row
    return kind in _OTHER and any(name in row for name in _NAMING)


def read(
    lines: Iterable[Line],
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str | None = None,
    known_clsm_calls: Callable[[str], Iterable[str]] = lambda _session: (),
) -> Iterator[TranscriptItem]:
    """The turns, dropped rows and problems of a transcript, in its order; see ``openclaw_transcripts.read``."""
    tally = Tally()
    reader = _Reader(session or path, zone, known_clsm_calls)
    items = _items(lines, path, reader, tally)
    return check_items(items, path=path, now=now, tally=tally)


def _items(
    lines: Iterable[Line], path: str, reader: _Reader, tally: Tally
) -> Iterator[TranscriptItem]:
    for found in read_rows(lines, path=path, tally=tally):
        if isinstance(found, Problem):
            yield found
        else:
            yield from reader.row(found[1], found[0])


@dataclass(frozen=True, slots=True)
class _Message:
    line: int
    session: str
    time: str | None
    id: str | None
    role: Role
    parts: list[dict[str, Any]]


@dataclass(slots=True)
class _Reader:
    """What must be known between rows: which calls ran clsm, by session."""

    session: str
    zone: tzinfo
    known_clsm_calls: Callable[[str], Iterable[str]]
    clsm_calls: dict[str, set[str]] = field(default_factory=dict)

    def row(self, row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        kind = text_or_empty(row.get("type"))
        message = row.get("message")
        reason = _not_said(row, kind, message)
        if reason is not None or not isinstance(message, dict):
            yield Dropped(reason or "unknown row", line)
            return
        base = _Message(
            line=line,
            session=label(row.get("sessionId")) or self.session,
            time=normalise(row.get("timestamp"), self.zone),
            id=label(row.get("uuid")),
            role=_SPOKEN[kind],
            parts=parts_of(message.get("content")),
        )
        if not base.parts or any(part.get("type") == "text" for part in base.parts):
            yield self.spoken(base)
        yield from self.other_parts(base, row.get("toolUseResult"))

    def spoken(self, base: _Message) -> TranscriptItem:
        whole = text_of(part for part in base.parts if part.get("type") == "text")
        text = _REMINDERS.sub("", whole).strip() if base.role == "user" else whole
        reason = _wrapped(text) if base.role == "user" else None
        if reason is None and not text:
            reason = "system reminder" if whole else "no text"
        if reason:
            return Dropped(reason, base.line)
        return _turn(base, base.role, base.role, text, base.id)

    def other_parts(self, base: _Message, told: object) -> Iterator[TranscriptItem]:
        count = 0
        for part in base.parts:
            kind = text_or_empty(part.get("type"))
            if kind in {"tool_use", "tool_result"}:
                count += 1
                turn_id = f"{base.id}#{count}" if base.id else None
                yield (
                    self.call(base, part, turn_id)
                    if kind == "tool_use"
                    else self.result(base, part, turn_id, told)
                )
            elif kind != "text":
                thinking = kind in {"thinking", "redacted_thinking"}
                yield Dropped("thinking" if thinking else "part that is not text", base.line)

    def call(self, base: _Message, part: dict[str, Any], turn_id: str | None) -> TranscriptItem:
        name = label(part.get("name")) or "tool"
        given: Any = part.get("input")
        command = _command(given)
        call_id = label(part.get("id")) or ""
        if is_clsm_tool(name) or (command is not None and runs_clsm(command)):
            self.calls(base.session).update({call_id} - {""})
            return Dropped(CLSM_CALL + call_id, base.line, base.session)
        text = command if command is not None and given.keys() <= _HOW else compact(given)
        return _turn(base, name, "tool", text, turn_id, tool=name, given=text)

    def result(
        self, base: _Message, part: dict[str, Any], turn_id: str | None, told: object
    ) -> TranscriptItem:
        call_id = label(part.get("tool_use_id")) or ""
        calls = self.calls(base.session)
        if call_id in calls:
            calls.discard(call_id)
            return Dropped(CLSM_RESULT + call_id, base.line, base.session)
        text = _REMINDERS.sub("", text_of(parts_of(part.get("content")))).strip("\n").rstrip()
        if not text:
            return Dropped("no text", base.line)
        error = part.get("is_error") is True
        trust: Trust | None = "web" if _is_web(told) else None
        return _turn(base, "tool", "tool", text, turn_id, tool="tool", error=error, trust=trust)

    def calls(self, session: str) -> set[str]:
        if session not in self.clsm_calls:
            self.clsm_calls[session] = set(self.known_clsm_calls(session))
        return self.clsm_calls[session]


def _not_said(row: dict[str, Any], kind: str, message: object) -> str | None:
    """Why a row is no message of a person or the agent; None for one that is."""
    if kind not in _SPOKEN:
        return f"{kind} row" if kind in _OTHER else "unknown row"
    if row.get("isSidechain") is True:
        return "side chain"
    if row.get("isCompactSummary") is True:
        return "summary"
    if row.get("isMeta") is True:
        return "meta row"
    is_synthetic = isinstance(message, dict) and message.get("model") == _SYNTHETIC
    if is_synthetic or row.get("isApiErrorMessage") is True:
        return "message of the program"
    return None


def _wrapped(text: str) -> str | None:
    """Why a text is the program's, and not a person's.

    >>> _wrapped("<command-name>/clear</command-name>"), _wrapped("What does <command-name> do?")
    ('command', None)
    """
    return next((reason for heads, reason in _WRAPPERS if text.startswith(heads)), None)


def _command(given: Any) -> str | None:
    command = given.get("command") if isinstance(given, dict) else None
    return command.strip() if isinstance(command, str) else None


def _is_web(told: object) -> bool:
    """Whether the program's own record of a result is that of a fetched page or a search."""
    return isinstance(told, dict) and ("url" in told or {"query", "results"} <= told.keys())


def _turn(
    base: _Message,
    speaker: str,
    role: Role,
    text: str,
    turn_id: str | None,
    *,
    tool: str | None = None,
    given: str | None = None,
    error: bool = False,
    trust: Trust | None = None,
) -> RawTurn:
    return RawTurn(
        session=base.session,
        speaker=speaker,
        role=role,
        text=text,
        time=base.time,
        line_start=base.line,
        line_end=base.line,
        foreign_id=turn_id,
        tool=None if tool is None else tool_call(tool, given, error=error),
        trust=trust,
    )
