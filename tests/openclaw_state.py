"""A state folder of OpenClaw as its gateway leaves it: the database of 2026.9, transcripts of 2026.7.

Tables and constraints are those that OpenClaw 2026.9.6 made, without the ones that clsm never reads;
so is the size from which on a row is zstd.
"""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backports import zstd

START = 1771917300000
LARGE = 2600
_SCHEMA = Path(__file__).with_suffix(".sql").read_text("utf-8")


def header(session: str) -> dict[str, Any]:
    return {"type": "session", "version": 4, "id": session, "timestamp": "2026-02-24T07:15:00Z"}


def message(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message row, a minute after the one before; its own stamp is a second late."""
    inner = {"role": role, "content": content, "timestamp": START + number * 60_000, **more}
    late = datetime.fromtimestamp((START + number * 60_000) / 1000 + 1, UTC).isoformat()
    return {
        "type": "message",
        "id": f"m{number}",
        "parentId": None,
        "timestamp": late,
        "message": inner,
    }


def tool_call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def calls(number: int, call_id: str, command: str) -> dict[str, Any]:
    return message(number, "assistant", [tool_call(call_id, "exec", {"command": command})])


def answers(
    number: int, call_id: str, text: str, tool: str = "exec", **more: Any
) -> dict[str, Any]:
    """What a command printed, or another tool gave."""
    parts = [{"type": "text", "text": text}]
    return message(number, "toolResult", parts, toolCallId=call_id, toolName=tool, **more)


def reset(number: int) -> dict[str, Any]:
    """The user said /new."""
    at = datetime.fromtimestamp((START + number * 60_000) / 1000, UTC).isoformat()
    return {"type": "reset", "id": f"r{number}", "timestamp": at, "reason": "new", "parentId": None}


def talk(session: str, count: int = 4) -> list[dict[str, Any]]:
    """A short conversation, one message of it large."""
    said = ["Where is the key?", "Under the blue pot.", "word " * LARGE, "That was long."]
    roles = ("user", "assistant")
    return [
        header(session),
        *(message(n, roles[n % 2], f"{said[n % 4]} {n}") for n in range(count)),
    ]


def database_of(state: Path, agent: str = "main") -> Path:
    return state / "agents" / agent / "agent" / "openclaw-agent.sqlite"


def write_rows(
    database: Path, session: str, rows: Sequence[dict[str, Any]], first: int = 0
) -> None:
    """Add rows to a conversation, as the gateway does: the large ones as zstd."""
    database.parent.mkdir(parents=True, exist_ok=True)
    is_new = not database.exists()
    connection = sqlite3.connect(database)
    with connection:
        if is_new:
            connection.executescript(_SCHEMA)
        connection.execute(
            "INSERT OR IGNORE INTO session_windows VALUES (?, ?)", (session, f"agent:{session}")
        )
        for seq, row in enumerate(rows, first):
            text = json.dumps(row)
            packed = zstd.compress(text.encode()) if len(text) > LARGE else None
            plain = None if packed else text
            values = (session, seq, plain, START, packed, len(text), "{}" if packed else None)
            connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    connection.close()


def change(database: Path, statement: str, *values: object) -> None:
    """Anything else that may happen to a database."""
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)
    connection.close()


def jsonl(rows: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def transcript_of(state: Path, session: str, agent: str = "main") -> Path:
    """The file of a conversation with 2026.7; its folder is made."""
    path = state / "agents" / agent / "sessions" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
