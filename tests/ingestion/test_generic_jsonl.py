import json
from typing import Any

import pytest
import reading
from reading import dropped, jsonl, turns
from tables import table

from clsm_cli.ingestion.jsonl_rows import Problem, RawBreak, RawTurn, TranscriptItem
from clsm_cli.model.episodes import ToolCall

DAY = "2026-02-24T08:15:00+01:00"


def read(*rows: Any) -> list[TranscriptItem]:
    return reading.read("jsonl", jsonl(*rows))


def one(row: dict[str, Any]) -> RawTurn:
    return turns(read({"timestamp": DAY, **row}))[0]


@pytest.mark.parametrize(("row", "role", "speaker"), table(__file__, "who speaks"))
def test_who_speaks(row: str, role: str, speaker: str) -> None:
    turn = one({"text": "hello", **json.loads(row)})
    assert (turn.role, turn.speaker, turn.text) == (role, speaker, "hello")


@pytest.mark.parametrize("key", ["timestamp", "time", "created_at", "date"])
def test_when(key: str) -> None:
    (turn,) = turns(read({"text": "a", key: "2026-02-24 08:15"}))
    assert turn.time == DAY


def test_tools() -> None:
    turn = one({"tool": {"name": "web_fetch", "input": {"url": "x"}, "error": True}, "text": "t"})
    assert turn.tool == ToolCall("web_fetch", '{"url":"x"}', error=True)
    assert turn.trust == "web"
    assert one({"tool": {"name": "exec", "input": {"command": "ls"}}}).text == "ls"


def test_not_memory() -> None:
    items = read(
        {"role": "user", "text": "[OpenClaw heartbeat poll]"},
        {"role": "tool", "tool": {"name": "exec", "input": "clsm recall x"}, "text": "found"},
        {"role": "user"},
        {"role": "user", "text": " "},
    )
    assert dropped(items) == ["heartbeat poll", "clsm result", "no text", "no text"]


@pytest.mark.parametrize("row", [{"type": "end"}, {"event": "session_end"}, {"type": "reset"}])
def test_end_marks(row: dict[str, Any]) -> None:
    assert read({"session": "s", "time": DAY, **row}) == [RawBreak("s", DAY, 1)]


def test_missing_times_are_told_once() -> None:
    items = read(
        {"text": "a", "timestamp": "2026-02-24T08:15:00"},
        {"text": "b", "timestamp": "2026-02-23T08:15:00"},
        {"text": "c"},
        {"text": "d", "timestamp": "yesterday"},
        {"text": "e", "timestamp": "2068-01-01"},
    )
    assert len(turns(items)) == 5
    (problem,) = [item for item in items if isinstance(item, Problem)]
    assert problem.line == 3
    assert problem.reason == "no timestamp that can be read, kept without a time (2 times)"
