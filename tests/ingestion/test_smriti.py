"""Sessions of Smriti: what was written is read, whatever it looks like."""

import re
from pathlib import Path

import pytest
import reading
from hypothesis import given
from hypothesis import strategies as st
from ingesting import state_of, take
from reading import dropped, told, turns

from clsm_cli.ingestion import exports
from clsm_cli.ingestion.jsonl_rows import Problem, TranscriptItem
from clsm_cli.store.layout import Store

Tool = tuple[str, str, str, bool]

_FRONT = """\
---
id: session-2026-03-01-ab12
title: "The \\"roof\\""
created: 2026-03-01T08:00:00.000Z
updated: 2026-03-01T09:00:00.000Z
agent: chitragupta
model: m
project: /home/pi
parent: null
branch: null
tags: []
totalCost: 0
totalTokens: 12
---
"""


def written(*turns: tuple[str, str, list[Tool]]) -> str:
    """A session as Smriti's own writer makes it (packages/smriti/src/markdown-writer.ts)."""
    parts = [_FRONT]
    for number, (role, text, tools) in enumerate(turns, 1):
        parts += [f"## Turn {number} — {role} (agent: a, model: m)\n", _escaped(text)]
        parts += [""] if tools else []
        for name, given_, result, is_error in tools:
            parts += [f"### Tool: {name}\n", "**Input:**", "```json", given_, "```\n"]
            parts += ["<details>", f"<summary>{'Error' if is_error else 'Result'}</summary>\n"]
            parts += ["```", result, "```\n", "</details>", ""]
        parts.append("")
    footer = "*Session session-2026-03-01-ab12 | chitragupta | m | Cost: $0.0000 | Tokens: 12*\n"
    return "\n".join([*parts, "---\n", footer])


def _escaped(text: str) -> str:
    text = re.sub(r"^(## Turn \d+|---$)", r"\\\1", text, flags=re.MULTILINE)
    return text.replace("</details>", "\\</details>")


def read(text: str) -> list[TranscriptItem]:
    return reading.read("smriti", text, path="s.md")


def test_a_tool_call_a_rule_and_a_fake_heading() -> None:
    """The acceptance test of the format: all of it comes back as it was said."""
    said = "Look at this:\n---\n## Turn 7 — assistant\n</details>\n### Tool: none\nThat was it."
    result = "## Turn 9 — user\n```\nnot the end\n```\n### Tool: fake\n---\n</details>\ndone"
    looked = ("assistant", "I look.", [("grep", '{"pattern": "oak"}', result, False)])
    items = read(written(("user", said, []), looked, ("user", "Thank you.", [])))
    assert told(items) == [
        ("user", "user", said),
        ("assistant", "assistant", "I look."),
        ("grep", "tool", '{"pattern":"oak"}'),
        ("grep", "tool", result),
        ("user", "user", "Thank you."),
    ]
    found = turns(items)
    assert {turn.session for turn in found} == {"session-2026-03-01-ab12"}
    assert {turn.time for turn in found} == {"2026-03-01"}
    assert [turn.foreign_id for turn in found] == ["1", "2", "2#1", "2#1r", "3"]


def test_errors_and_what_clsm_said() -> None:
    calls = [
        ("bash", '{"command": "clsm recall oak"}', "The oak board is 12 cm.", False),
        ("bash", '{"command": "ls /nowhere"}', "no such folder", True),
        ("mcp__clsm__recall", "{}", "It is 12 cm.", False),
    ]
    items = read(written(("assistant", "Let me see.", calls)))
    assert told(items)[1:] == [("bash", "tool", "ls /nowhere"), ("bash", "tool", "no such folder")]
    errors = [turn.tool.error for turn in turns(items) if turn.tool]
    assert errors == [False, True]
    assert dropped(items) == ["clsm call", "clsm result"] * 2


_MARKS = ("---", "## Turn 3 — user", "### Tool: x", "```", "</details>", "# Title", "\\---x")
_LINE = st.sampled_from([*_MARKS, "plain", ""])
_TEXT = st.lists(_LINE, min_size=1, max_size=6).map("\n".join).map(lambda t: t.strip("\n"))


@given(st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=4))
def test_a_round_trip(pairs: list[tuple[str, str]]) -> None:
    """Any text, and any result that does not end as a result does."""
    turns = [
        (("user", "assistant")[n % 2], text or "a", [("t", '{"a": 1}', result or "r", False)])
        for n, (text, result) in enumerate(pairs)
    ]
    if any("```\n</details>" in r or "```\n\n</details>" in r for _, _, [(_, _, r, _)] in turns):
        return
    expected = []
    for role, text, [(name, _, result, _)] in turns:
        expected += [(role, role, text), (name, "tool", '{"a":1}'), (name, "tool", result)]
    assert [(s, r, t.strip("\n")) for s, r, t in told(read(written(*turns)))] == [
        (s, r, t.strip("\n").rstrip()) for s, r, t in expected
    ]


def test_a_session_that_grows_is_read_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "session-2026-03-01-ab12.md"
    turns: list[tuple[str, str, list[Tool]]] = [("user", "Yes.", []), ("assistant", "Good.", [])]
    path.write_text(written(*turns), encoding="utf-8")
    assert take(store, path, capture_only=True).sources[0].added == 2
    path.write_text(written(*turns, ("user", "Yes.", [])), encoding="utf-8")
    tally = take(store, path, capture_only=True).sources[0]
    assert (tally.added, tally.known) == (1, 2)
    assert len(state_of(store).keys()) == 3


@pytest.mark.parametrize("text", ["", "---", "---\nid: a\n---", "## Turn 1 — user"])
def test_damaged_sessions_are_read_as_far_as_they_go(text: str) -> None:
    assert turns(read(text)) == []


def test_a_session_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MAX_TEXT_BYTES", 100)
    assert read("x" * 200) == [Problem("s.md", None, "larger than 0 MiB")]


def test_the_input_of_a_tool_that_is_no_json() -> None:
    items = read(written(("assistant", "So.", [("t", "{not json", "r", False)])))
    assert told(items)[1] == ("t", "tool", "{not json")
