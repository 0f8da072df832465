"""Conversations for property tests: real-looking, with everything that makes a split hard."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

TOPICS = tuple(
    tuple(topic.splitlines())
    for topic in Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
)
RESULTS = ("total 12\nnotes.md\ntodo.md", "exit 0", "42 passed in 3.1s", "no matches")
GAPS = (1, 1, 2, 2, 3, 8, 20, 45, 130, 300, 1500)
"""Minutes between two turns."""
START = datetime(2026, 2, 10, 8, 30, tzinfo=UTC)


@dataclass(frozen=True, repr=False)
class Event:
    """One thing that happens in a conversation.

    Attributes:
        time: None for a message without time; a day where it is not ``exact``.
    """

    session: str
    kind: str
    speaker: str
    text: str
    time: datetime | None
    exact: bool = True
    number: int = 0

    def __repr__(self) -> str:
        when = "-" if self.time is None else f"{self.time:%d %H:%M}{'' if self.exact else ' (day)'}"
        return f"<{self.number} {self.session} {self.kind} {self.speaker} {when} {self.text[:20]}>"

    @property
    def is_untimed(self) -> bool:
        return self.kind in {"said", "tool"} and (self.time is None or not self.exact)

    @property
    def stamp(self) -> str | None:
        if self.time is None:
            return None
        return self.time.isoformat() if self.exact else self.time.date().isoformat()


@st.composite
def conversations(draw: st.DrawFn, *, most: int = 60, sessions: int = 3) -> list[Event]:
    """One to ``most`` events of one to ``sessions`` sessions, in the order of their arrival."""
    names = ["main", "agent:main/telegram", "ops"][: draw(st.integers(1, sessions))]
    has_untimed = draw(st.booleans())
    count = draw(st.one_of(st.integers(1, 12), st.integers(13, most)))
    clock, topic = START, draw(st.integers(0, 3))
    found: list[Event] = []
    for number in range(count):
        clock += timedelta(minutes=draw(st.sampled_from(GAPS)))
        if draw(st.integers(0, 7)) == 0:
            topic = draw(st.integers(0, 3))
        kinds = ["said"] * 9 + ["tool", "tool", "clsm", "reset", "heartbeat"]
        kind = draw(st.sampled_from(kinds))
        speaker = draw(st.sampled_from(["user", "assistant"]))
        text = draw(st.sampled_from(RESULTS if kind in {"tool", "clsm"} else TOPICS[topic]))
        untimed = has_untimed and kind in {"said", "tool"} and draw(st.booleans())
        found.append(
            Event(
                session=draw(st.sampled_from(names)),
                kind=kind,
                speaker=speaker,
                text=text,
                time=None if untimed and draw(st.booleans()) else clock,
                exact=not untimed,
                number=number,
            )
        )
    return found


def generic(event: Event, *, with_session: bool = True) -> list[bytes]:
    """The rows of an event in generic JSON lines."""
    row: dict[str, Any] = {"id": f"m{event.number}"}
    if event.stamp is not None:
        row["timestamp"] = event.stamp
    if with_session:
        row["session"] = event.session
    if event.kind == "reset":
        row["type"] = "reset"
    elif event.kind == "heartbeat":
        row |= {"role": "user", "content": "[OpenClaw heartbeat poll]"}
    elif event.kind == "said":
        row |= {"role": event.speaker, "content": event.text}
    else:
        command = "clsm recall tomatoes" if event.kind == "clsm" else "ls -l notes"
        row |= {"role": "tool", "content": event.text}
        row["tool"] = {"name": "exec", "input": command}
    return [json.dumps(row).encode() + b"\n"]


def header(session: str) -> bytes:
    row = {"type": "session", "version": 4, "id": session, "timestamp": START.isoformat()}
    return json.dumps(row).encode() + b"\n"


def openclaw(event: Event) -> list[bytes]:
    """The rows of an event in an OpenClaw transcript; a call and its result are two rows."""
    if event.kind == "reset":
        return [_row({"type": "reset", "timestamp": event.stamp, "parentId": None})]
    if event.kind == "heartbeat":
        return [_message(event, 0, "user", "[OpenClaw heartbeat poll]")]
    if event.kind == "said":
        return [_message(event, 0, event.speaker, [{"type": "text", "text": event.text}])]
    command = "cd x && clsm recall tomatoes" if event.kind == "clsm" else "ls -l notes"
    call = f"toolu_{event.session}_{event.number}"
    part = {"type": "toolCall", "id": call, "name": "exec", "arguments": {"command": command}}
    more = {"toolCallId": call, "toolName": "exec", "isError": False}
    return [
        _message(event, 0, "assistant", [part]),
        _message(event, 1, "toolResult", [{"type": "text", "text": event.text}], **more),
    ]


def _message(event: Event, second: int, role: str, content: Any, **more: Any) -> bytes:
    inner: dict[str, Any] = {"role": role, "content": content, **more}
    if event.time is not None:
        exact = event.time + timedelta(seconds=second)
        inner["timestamp"] = exact.timestamp() * 1000 if event.exact else event.stamp
    row = {"type": "message", "id": f"m{event.number}.{second}", "parentId": None}
    return _row({**row, "message": inner})


def _row(row: dict[str, Any]) -> bytes:
    return json.dumps(row).encode() + b"\n"
