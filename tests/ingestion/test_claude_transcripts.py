"""Claude Code transcripts: what becomes a turn, what is dropped and why, and no turn twice."""

import json
from typing import Any

import pytest
import reading
from hypothesis import given
from hypothesis import strategies as st
from reading import dropped, jsonl
from strategies import examples
from tables import table

from clsm_cli.ingestion.jsonl_rows import RawTurn

SESSION = "5d0e7c1a-41f5-4a5e-9d0e-0c8f6a2b7d11"


def row(number: int, kind: str, content: Any = None, **more: Any) -> dict[str, Any]:
    """A row as Claude Code 2.1 writes it."""
    base: dict[str, Any] = {
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/mara/boat",
        "sessionId": SESSION,
        "version": "2.1.17",
        "gitBranch": "main",
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": f"2026-02-24T07:{number:02}:00.123Z",
    }
    if content is not None:
        base["message"] = {"role": kind, "content": content}
    return {**base, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str, **given_: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given_}


def result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def turns(*rows: dict[str, Any]) -> list[RawTurn]:
    return reading.turns(reading.read("claude-code", jsonl(*rows)))


def reasons(*rows: dict[str, Any]) -> list[str]:
    return dropped(reading.read("claude-code", jsonl(*rows)))


TALK = (
    row(0, "user", "Is the float gauge mended?"),
    row(1, "assistant", [{"type": "thinking", "thinking": "Look it up."}]),
    row(2, "assistant", [text("I shall look."), call("t1", "Bash", command="cat gauge.md")]),
    row(3, "user", [result("t1", [text("broken since May")], is_error=True)]),
    row(4, "assistant", [call("t2", "WebFetch", url="https://a.example", prompt="price?")]),
    row(5, "user", [result("t2", "12 euro")], toolUseResult={"url": "https://a.example"}),
    row(6, "assistant", [text("No. A new one costs 12 euro.")]),
)


def test_what_was_said_and_done_becomes_turns() -> None:
    found = [(t.speaker, t.role, t.text, t.tool and t.tool.name, t.trust) for t in turns(*TALK)]
    assert found == [
        ("user", "user", "Is the float gauge mended?", None, None),
        ("assistant", "assistant", "I shall look.", None, None),
        ("Bash", "tool", "cat gauge.md", "Bash", None),
        ("tool", "tool", "broken since May", "tool", None),
        ("WebFetch", "tool", '{"url":"https://a.example","prompt":"price?"}', "WebFetch", None),
        ("tool", "tool", "12 euro", "tool", "web"),
        ("assistant", "assistant", "No. A new one costs 12 euro.", None, None),
    ]
    first, *_, failed = turns(*TALK)[:4]
    assert (first.session, first.foreign_id, first.line_start) == (SESSION, "u0", 1)
    assert first.time == "2026-02-24T08:00:00.123+01:00"
    assert failed.tool is not None
    assert failed.tool.error
    assert reasons(*TALK) == ["thinking"]


@pytest.mark.parametrize(
    ("reason", "each"),
    [
        *(
            (why, {**row(1, kind), **json.loads(more)})
            for why, kind, more in table(__file__, "rows")
        ),
        *((why, json.loads(other)) for why, other in table(__file__, "other rows")),
    ],
)
def test_what_nobody_said_is_dropped_with_a_reason(reason: str, each: dict[str, Any]) -> None:
    assert turns(each) == []
    assert reasons(each) == [reason]


@pytest.mark.parametrize(
    "made",
    [call("t9", "Bash", command="cd boat && clsm recall gauge"), call("t9", "mcp__clsm__recall")],
)
def test_what_clsm_answered_is_not_taken_in(made: dict[str, Any]) -> None:
    asked, told = row(1, "assistant", [made]), row(2, "user", [result("t9", "broken since May")])
    assert turns(asked, told) == []
    assert reasons(asked, told) == ["clsm call", "clsm result"]
    found = reading.read("claude-code", jsonl(told), calls={"t9"})  # called in an earlier input
    assert dropped(found) == ["clsm result"]
    assert len(found) == 1


@given(st.integers(min_value=0, max_value=len(TALK)))
@examples(20)
def test_a_cut_transcript_gives_the_same_turns(cut: int) -> None:
    whole, *parts = (
        [(t.speaker, t.time, t.text, t.tool, t.trust) for t in turns(*rows)]
        for rows in (TALK, TALK[:cut], TALK[cut:])
    )
    assert [*parts[0], *parts[1]] == whole
