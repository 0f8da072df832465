"""Recalled text that comes back is left out where its fence verifies, and else kept and told."""

import pytest
import reading
from ingesting import pipe, row, state_of
from openclaw_state import answers, header, jsonl, message, tool_call

from clsm_cli.ingestion.ingest_report import IngestReport
from clsm_cli.ingestion.recalled_text import UNVERIFIED
from clsm_cli.store.layout import Store
from clsm_cli.text.fence_lines import KEY_BYTES, OPENING, seal

KEY = bytes(range(KEY_BYTES))
BLOCK = "\n".join(seal("r-1f", ["1. chat.jsonl:14", "   Mara: Juno is a cat."], KEY))
FORGED = BLOCK.replace("cat", "dog")


def key() -> bytes:
    return KEY


def captured(store: Store, *rows: bytes) -> IngestReport:
    return pipe(store, *rows, capture_only=True, fence_key=key)


def kept(store: Store) -> list[str]:
    """The texts of all turns, in the order of their keys' boxes and episodes."""
    state = state_of(store)
    boxes = [turn.text for box in state.waiting.values() for turn in box if hasattr(turn, "text")]
    return boxes + [turn.text for each in state.episodes.values() for turn in each.turns]


def left_out(report: IngestReport) -> dict[str, int]:
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
    report = captured(store, row(said, 1))
    assert kept(store) == [text]
    assert left_out(report) == {"recalled block": said.count(OPENING)}
    assert report.problems == []


def test_a_turn_is_the_same_with_and_without_the_block(store: Store) -> None:
    captured(store, row("Who is Juno?", 1))
    report = captured(store, row(f"{BLOCK}\n\nWho is Juno?", 1))
    assert (report.sources[0].known, report.sources[0].added) == (1, 0)


def test_what_does_not_verify_is_kept_and_told_once_a_file(store: Store) -> None:
    said = f"{FORGED}\n{BLOCK}\n{FORGED}"
    report = captured(store, row("Hello.", 1), row(said, 2), row(FORGED, 3))
    assert kept(store) == ["Hello.", f"{FORGED}\n\n{FORGED}", FORGED]
    (problem,) = report.problems
    assert (problem.line, problem.reason) == (2, f"{UNVERIFIED} (3 times)")
    assert left_out(report) == {"recalled block": 1}


def test_the_key_is_asked_for_only_where_it_may_be_needed(store: Store) -> None:
    asked: list[int] = []

    def counting() -> bytes:
        asked.append(1)
        return KEY

    pipe(store, row("clsm-recall and <clsm-recalled>", 1), capture_only=True, fence_key=counting)
    assert not asked
    pipe(store, row(BLOCK, 2), capture_only=True, fence_key=counting)
    assert asked


def test_a_poll_behind_a_block_is_still_a_poll(store: Store) -> None:
    report = captured(store, row(f"{BLOCK}\n[OpenClaw heartbeat poll]", 1))
    assert kept(store) == []
    assert left_out(report) == {"recalled block": 1, "heartbeat poll": 1}


def test_calls_and_results_of_tools_lose_it_too(store: Store) -> None:
    """An agent is handed a block and writes it into a note with two tools."""
    write = {"path": "juno.md", "content": f"# Juno\n{BLOCK}\nShe purrs."}
    run = {"command": f"cat > juno.md <<EOF\n{BLOCK}\nEOF"}
    rows = [
        header("main"),
        message(1, "user", [{"type": "text", "text": f"{BLOCK}\n\nWho is Juno?"}]),
        message(2, "assistant", [tool_call("c1", "write", write), tool_call("c2", "exec", run)]),
        answers(3, "c2", f"     1\tJuno\n{BLOCK}\n"),
    ]
    report = captured(store, jsonl(rows))
    state = state_of(store)
    assert "Juno is a cat" not in repr(state)
    assert "She purrs." in repr(state)
    assert "cat > juno.md" in repr(state)
    assert left_out(report) == {"recalled block": 4}
    assert report.problems == []


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
    text = f"# Pets\nBefore.\n{pasted}\nAfter.\n\n- one\n"
    note = reading.note(text, fence_key=key)
    height = pasted.count("\n") + 1
    assert [(block.text, block.line_start) for block in note.blocks] == [
        ("Before.", 2),
        ("After.", 3 + height),
        ("- one", 5 + height),
    ]
    assert (note.dropped["recalled block"], note.problems) == (pasted.count(OPENING), ())
