"""Recalled text that comes back is left out where its fence verifies, and else kept and told."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from ingesting import state_of, take

from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.ingest_report import Report
from clsm_cli.ingestion.jsonl_rows import RawDocument
from clsm_cli.ingestion.recalled_text import KEPT
from clsm_cli.store.layout import Store
from clsm_cli.text.fence_lines import KEY_BYTES, OPENING, seal

KEY = bytes(range(KEY_BYTES))
BLOCK = "\n".join(seal("r-1f", ["1. chat.jsonl:14", "   Mara: Juno is a cat."], KEY))
FORGED = BLOCK.replace("cat", "dog")
TIME = "2026-02-24T08:{:02}:00+01:00"


def key() -> bytes:
    return KEY


def row(text: str, minute: int = 1, **more: Any) -> dict[str, Any]:
    said = {"role": "user", "content": text, "session": "main", "timestamp": TIME.format(minute)}
    return {**said, **more}


def pipe(store: Store, *rows: dict[str, Any], **options: Any) -> Report:
    data = "".join(json.dumps(each) + "\n" for each in rows).encode()
    return take(store, stdin=data, **{"capture_only": True, "fence_key": key, **options})


def kept(store: Store) -> list[str]:
    """The texts of all turns, in the order of their keys' boxes and episodes."""
    state = state_of(store)
    boxes = [turn.text for box in state.waiting.values() for turn in box if hasattr(turn, "text")]
    return boxes + [turn.text for each in state.episodes.values() for turn in each.turns]


def left_out(report: Report) -> dict[str, int]:
    return dict(report.sources[0].dropped)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (f"{BLOCK}\n\nWho is Juno?", "Who is Juno?"),
        (f"Who is Juno?\n\n{BLOCK}\n", "Who is Juno?"),
        (f"Who is\n{BLOCK}\nJuno?", "Who is\n\nJuno?"),
        (f"Context: {BLOCK} Who is Juno?", "Context: Who is Juno?"),
        (f"{BLOCK}\n{BLOCK}\nWho is Juno?", "Who is Juno?"),
        ("Look:\r\n" + BLOCK.replace("\n", "\r\n"), "Look:"),
        ("Look:\n> " + BLOCK.replace("\n", " \n> "), "Look:"),
    ],
)
def test_a_block_in_a_message_is_left_out(store: Store, said: str, text: str) -> None:
    report = pipe(store, row(said))
    assert kept(store) == [text]
    assert left_out(report) == {"recalled block": said.count(OPENING)}
    assert report.problems == []


def test_a_turn_is_the_same_with_and_without_the_block(store: Store) -> None:
    pipe(store, row("Who is Juno?"))
    report = pipe(store, row(f"{BLOCK}\n\nWho is Juno?"))
    assert (report.sources[0].known, report.sources[0].added) == (1, 0)


def test_what_does_not_verify_is_kept_and_told_once_a_file(store: Store) -> None:
    said = f"{FORGED}\n{BLOCK}\n{FORGED}"
    report = pipe(store, row("Hello."), row(said, 2), row(FORGED, 3))
    assert kept(store) == ["Hello.", f"{FORGED}\n\n{FORGED}", FORGED]
    (problem,) = report.problems
    assert (problem.line, problem.reason) == (2, f"{KEPT} (3 times)")
    assert left_out(report) == {"recalled block": 1}


def test_the_key_is_asked_for_only_where_it_may_be_needed(store: Store) -> None:
    asked: list[int] = []

    def counting() -> bytes:
        asked.append(1)
        return KEY

    pipe(store, row("clsm-recall and <clsm-recalled>"), fence_key=counting)
    assert not asked
    pipe(store, row(BLOCK, 2), fence_key=counting)
    assert asked


def test_a_poll_behind_a_block_is_still_a_poll(store: Store) -> None:
    report = pipe(store, row(f"{BLOCK}\n[OpenClaw heartbeat poll]"))
    assert kept(store) == []
    assert left_out(report) == {"recalled block": 1, "heartbeat poll": 1}


def openclaw_rows(block: str) -> list[dict[str, Any]]:
    """An agent that is handed a block and writes it into a note with two tools."""
    write = {"path": "juno.md", "content": f"# Juno\n{block}\nShe purrs."}
    run = {"command": f"cat > juno.md <<EOF\n{block}\nEOF"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": f"{block}\n\nWho is Juno?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "id": "c1", "name": "write", "arguments": write},
                {"type": "toolCall", "id": "c2", "name": "exec", "arguments": run},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": "c2",
            "toolName": "exec",
            "content": [{"type": "text", "text": f"     1\tJuno\n{block}\n"}],
        },
    ]
    head = {"type": "session", "version": 4, "id": "main", "timestamp": TIME.format(0)}
    return [head] + [
        {"type": "message", "id": f"m{n}", "timestamp": TIME.format(n), "message": message}
        for n, message in enumerate(messages)
    ]


def test_calls_and_results_of_tools_lose_it_too(store: Store) -> None:
    report = pipe(store, *openclaw_rows(BLOCK))
    state = state_of(store)
    assert "Juno is a cat" not in repr(state)
    assert "She purrs." in repr(state)
    assert "cat > juno.md" in repr(state)
    assert left_out(report) == {"recalled block": 4}
    assert report.problems == []


def read_note(text: str) -> RawDocument:
    zone = ZoneInfo("Europe/Amsterdam")
    found = markdown.read(text.encode(), path="juno.md", zone=zone, fence_key=key)
    assert isinstance(found, RawDocument)
    return found


@pytest.mark.parametrize(
    "pasted",
    [
        BLOCK,
        "> " + BLOCK.replace("\n", "\n> "),
        "    " + BLOCK.replace("\n", "\n    "),
        BLOCK.replace("\n", "  \r\n"),
        f"{BLOCK}\n{BLOCK}",
    ],
)
def test_a_note_is_read_without_it_and_keeps_its_lines(pasted: str) -> None:
    note = read_note(f"# Pets\nBefore.\n{pasted}\nAfter.\n\n- one\n")
    height = pasted.count("\n") + 1
    assert [(block.text, block.line_start) for block in note.blocks] == [
        ("Before.", 2),
        ("After.", 3 + height),
        ("- one", 5 + height),
    ]
    assert note.recalled == pasted.count(OPENING)
    assert note.problems == ()
