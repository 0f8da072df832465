"""Conversations in generic JSON Lines: one message an object, the usual names of its fields.

``role`` or ``speaker``, ``content`` or ``text`` (a string, or a list of parts), ``timestamp``,
``time``, ``created_at`` or ``date``, and where known ``id``, ``session`` and ``tool``. A row whose
``type`` or ``event`` is an end mark ends the episode.
"""

from __future__ import annotations

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
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm
from clsm_cli.ingestion.openclaw_transcripts import compact, tool_call, trust_of_tool
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import Line, TranscriptItem
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


def read(
    lines: Iterable[Line],
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str,
) -> Iterator[TranscriptItem]:
    """The turns, breaks, dropped rows and problems of a file, in its order.

    Args:
        lines: From ``jsonl_rows.bounded_lines``.
        path: As it was given, for problems.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of rows that name none.
    """
    tally = Tally()
    items = _items(lines, path, zone, session, tally)
    return check_items(items, path=path, now=now, tally=tally)


def _items(
    lines: Iterable[Line], path: str, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    for found in read_rows(lines, path=path, tally=tally):
        if isinstance(found, Problem):
            yield found
            continue
        line, row = found
        time = next((at for key in _TIME if (at := normalise(row.get(key), zone))), None)
        named = next((name for key in _SESSION if (name := label(row.get(key)))), session)
        if text_or_empty(row.get("type")) in _END or text_or_empty(row.get("event")) in _END:
            yield RawBreak(named, time, line)
        else:
            yield _turn(row, named, time, line)


def _turn(row: dict[str, Any], session: str, time: str | None, line: int) -> TranscriptItem:
    tool = _tool(row.get("tool"))
    role, speaker = _who(row, tool)
    text = text_of(parts_of(row.get("content")) or parts_of(row.get("text")))
    if not text and tool:
        text = tool.input or ""
    reason = machine_talk(role, text) or ("" if text or tool else "no text")
    if tool and (is_clsm_tool(tool.name) or runs_clsm(tool.input or "")):
        reason = "clsm result"
    if reason:
        return Dropped(reason, line)
    return RawTurn(
        session=session,
        speaker=speaker,
        role=role,
        text=text,
        time=time,
        line_start=line,
        line_end=line,
        foreign_id=label(row.get("id")),
        tool=tool,
        trust=trust_of_tool(tool.name) if tool and role == "tool" else None,
    )


def _who(row: dict[str, Any], tool: ToolCall | None) -> tuple[Role, str]:
    """Role and speaker; a role that is no role is the name of a person in a chat.

    >>> _who({"speaker": "Caroline"}, None), _who({"role": "Human", "speaker": "Mel"}, None)
    (('user', 'Caroline'), ('user', 'Mel'))
    >>> _who({"role": "assistant"}, None)
    ('assistant', 'assistant')
    """
    said_role, speaker = label(row.get("role")), label(row.get("speaker"))
    # "Ai" may well be a person, so a speaker counts as a role only when written as one.
    role = _ROLES.get(said_role.lower() if said_role else speaker or "")
    if role is None and tool:
        return "tool", speaker or tool.name
    if role is None:
        return "user", speaker or said_role or "user"
    return role, speaker or (tool.name if role == "tool" and tool else role)


def _tool(value: object) -> ToolCall | None:
    if isinstance(value, dict):
        name = label(value.get("name"))
        if name is None:
            return None
        text = value.get("input")
        given = None if text is None else _command_or_json(text)
        return tool_call(name, given, error=bool(value.get("error")))
    name = label(value)
    return tool_call(name, None) if name else None


def _command_or_json(value: object) -> str:
    command = value.get("command") if isinstance(value, dict) and len(value) == 1 else None
    return compact(command if isinstance(command, str) else value)
