"""Claude Code transcripts: what becomes a turn, what is dropped and why, and no turn twice."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import Cli
from strategies import examples

from clsm_cli.ingestion import claude_transcripts
from clsm_cli.ingestion.jsonl_rows import Dropped, RawTurn, TranscriptItem, bounded_lines

HOME = ZoneInfo("Europe/Amsterdam")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
SESSION = "5d0e7c1a-41f5-4a5e-9d0e-0c8f6a2b7d11"


def read(data: bytes, calls: frozenset[str] = frozenset()) -> list[TranscriptItem]:
    lines = bounded_lines(io.BytesIO(data))
    return list(
        claude_transcripts.read(
            lines, path="a.jsonl", zone=HOME, now=NOW, known_clsm_calls=lambda _: calls
        )
    )


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


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


def turns(*rows: dict[str, Any]) -> list[RawTurn]:
    return [item for item in read(jsonl(*rows)) if isinstance(item, RawTurn)]


def reasons(*rows: dict[str, Any]) -> list[str]:
    return [item.reason for item in read(jsonl(*rows)) if isinstance(item, Dropped)]


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
    ("each", "reason"),
    [
        (row(1, "user", "Sum the files up.", isSidechain=True), "side chain"),
        (row(1, "user", "hello", isMeta=True), "meta row"),
        (row(1, "user", "We did this.", isCompactSummary=True), "summary"),
        (row(1, "user", "This session is being continued from a previous conversation"), "summary"),
        ({"type": "summary", "summary": "The gauge", "leafUuid": "u1"}, "summary row"),
        (row(1, "system", subtype="compact_boundary", content="Compacted"), "system row"),
        (row(1, "progress", data={"type": "hook_progress"}), "progress row"),
        ({"type": "file-history-snapshot", "messageId": "u1"}, "file-history-snapshot row"),
        ({"type": "something-new", "sessionId": SESSION}, "unknown row"),
        ({"type": "user", "sessionId": SESSION, "message": "text"}, "unknown row"),
        (row(1, "user", "<command-name>/clear</command-name>"), "command"),
        (row(1, "user", [text("<command-message>init</command-message>")]), "command"),
        (row(1, "user", "<local-command-stdout>ok</local-command-stdout>"), "command output"),
        (row(1, "user", "<bash-input>ls</bash-input>"), "command output"),
        (row(1, "user", "Caveat: The messages below were generated by the user"), "command output"),
        (row(1, "user", "[Request interrupted by user for tool use]"), "interruption"),
        (row(1, "user", "<system-reminder>Be brief.</system-reminder>"), "system reminder"),
        (row(1, "user", "<system-reminder>never closed"), "system reminder"),
        (row(1, "user", ""), "no text"),
        (row(1, "user", [{"type": "image", "source": {}}]), "part that is not text"),
        (row(1, "assistant", "Limit reached", isApiErrorMessage=True), "message of the program"),
        (
            row(1, "assistant", message={"model": "<synthetic>", "content": [text("None.")]}),
            "message of the program",
        ),
    ],
)
def test_what_nobody_said_is_dropped_with_a_reason(each: dict[str, Any], reason: str) -> None:
    assert turns(each) == []
    assert reasons(each) == [reason]


@pytest.mark.parametrize(
    "made",
    [call("t9", "Bash", command="cd boat && clsm recall gauge"), call("t9", "mcp__clsm__recall")],
)
def test_what_clsm_answered_is_not_taken_in(made: dict[str, Any]) -> None:
    asked, told = row(1, "assistant", [made]), row(2, "user", [result("t9", "broken since May")])
    assert turns(asked, told) == []
    assert reasons(asked, told) == ["clsm call:t9", "clsm result:t9"]
    dropped = read(jsonl(told), frozenset({"t9"}))  # the call came with an earlier input
    assert [getattr(item, "reason", None) for item in dropped] == ["clsm result:t9"]


@given(st.integers(min_value=0, max_value=len(TALK)))
@examples(20)
def test_a_cut_transcript_gives_the_same_turns(cut: int) -> None:
    whole = [(t.speaker, t.time, t.text, t.tool, t.trust) for t in turns(*TALK)]
    both = [*turns(*TALK[:cut]), *turns(*TALK[cut:])]
    assert [(t.speaker, t.time, t.text, t.tool, t.trust) for t in both] == whole


def test_a_tail_by_hook_and_the_whole_by_catch_up_is_one_turn_each(cli: Cli) -> None:
    clsm = (
        row(7, "assistant", [call("t3", "Bash", command="clsm recall gauge")]),
        row(8, "user", [result("t3", "a recalled secret")]),
    )
    whole = cli.folder / f"{SESSION}.jsonl"
    cli.ok("ingest", "-", "--capture", stdin=jsonl(*TALK[4:], clsm[0]))
    cli.ok("ingest", "-", "--capture", stdin=jsonl(clsm[1]))
    whole.write_bytes(jsonl(*TALK, *clsm))
    cli.ok("ingest", whole, "--capture")
    again = cli.ok("ingest", whole, "--capture", "--verbose").out
    assert "7 unchanged" in again
    captured = "".join(path.read_text("utf-8") for path in cli.store.glob("flow/test/inbox/*"))
    for turn in turns(*TALK):
        assert captured.count(json.dumps(turn.text)) >= 1
    assert captured.count("A new one costs 12 euro.") == 1
    assert "a recalled secret" not in captured
    cli.ok("ingest")
    assert cli.ok("recall", "float gauge mended", "--json").json["answered"]
