"""``forget --source URL`` means what a tool brought from there, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ingesting import new_store, take

from clsm_cli.forgetting import selection
from clsm_cli.store.layout import Store

PAGE = "https://example.org/page"


def message(number: int, role: str, content: list[dict[str, Any]], **more: Any) -> str:
    at = f"2026-02-24T08:{number:02}:00+01:00"
    said = {"role": role, "content": content, **more}
    row = {"type": "message", "id": f"m{number}", "parentId": "x", "timestamp": at, "message": said}
    return json.dumps(row) + "\n"


def call(number: int, url: str, name: str = "web_fetch") -> str:
    part = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": {"url": url}}
    return message(number, "assistant", [part])


def result(number: int, text: str, name: str = "web_fetch") -> str:
    content = [{"type": "text", "text": text}]
    return message(number, "toolResult", content, toolName=name, toolCallId=f"c{number}")


def brought(store: Store, address: str) -> list[str]:
    held = selection.read_store(store, "2026-03-01T11:00:00Z").turns
    return sorted(held[key].turn.text for key in selection.tool_results_of(held.values(), address))


def test_the_call_and_its_result_go_together(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    rows = [
        '{"type":"session","version":4,"id":"main"}\n',
        call(1, f"{PAGE}#top"),
        call(2, "https://example.org/pages"),
        call(3, PAGE, "browse"),
        result(4, "what the page says"),
        result(5, "what the pages say"),
        result(6, "what the browser shows", "browse"),
        message(7, "assistant", [{"type": "text", "text": f"I read {PAGE} for you."}]),
    ]
    take(store, stdin="".join(rows).encode(), model=False)
    assert brought(store, PAGE) == [
        "what the browser shows",
        "what the page says",
        f'{{"url":"{PAGE}"}}',
        f'{{"url":"{PAGE}#top"}}',
    ]
    assert len(brought(store, "https://example.org/")) == 6
    assert brought(store, "https://example.com") == []
