import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tables import table

from clsm_cli.commands import conversation
from clsm_cli.errors import BadInputError
from clsm_cli.text.fence_lines import KEY_BYTES, seal

NOW = datetime(2026, 2, 24, 12, 0, tzinfo=UTC)
DAMAGED = Path(__file__).parents[2] / "fixtures" / "damaged"
Read = Callable[..., conversation.Conversation]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def _read(
        content: str | bytes, name: str = "talk.jsonl", key: bytes | None = None
    ) -> conversation.Conversation:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return conversation.read(str(path), zone=UTC, now=NOW, fence_key=lambda: key)

    return _read


def _lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_messages_of_a_chat(read: Read) -> None:
    found = read(
        _lines(
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Is the barge insured?", "id": "m1"},
            {"role": "assistant", "content": [{"type": "text", "text": "Until May."}]},
            {"role": "tool", "tool": "web_fetch", "content": "A page."},
        )
    )
    assert found.messages == ("Is the barge insured?", "Until May.", "A page.")
    assert found.warnings == ()


def test_an_openclaw_transcript(read: Read) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "Which gauge is wet?"}]}
    stamp = "2026-02-24T08:00:00Z"
    found = read(
        _lines(
            {"type": "session", "version": 3, "id": "s1", "timestamp": stamp, "cwd": "/"},
            {"type": "message", "id": "a", "timestamp": stamp, "message": message},
        )
    )
    assert found.messages == ("Which gauge is wet?",)


def test_recalled_text_is_left_out_where_its_fence_verifies(read: Read) -> None:
    key = bytes(range(KEY_BYTES))
    block = "\n".join(seal("r-1", ["1. The barge leaks."], key))
    rows = _lines({"role": "user", "content": f"{block}\nAnd now?"})
    assert read(rows, key=key).messages == ("And now?",)
    assert "barge leaks" in read(rows).messages[0]
    assert read(f"{block}\n\nAnd now?\n", "now.md", key).messages == ("And now?",)


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"\x00\x01\x02\x03" * 64, "talk.txt", "binary file"),
        (b"a line\n" * 150_000, "talk.txt", "is larger than 1 MiB"),
        *table(__file__, "no conversation"),
    ],
)
def test_what_is_no_conversation_is_a_plain_error(
    read: Read, content: str | bytes, name: str, reason: str
) -> None:
    with pytest.raises(BadInputError, match=name) as error:
        read(content, name)
    assert error.value.reason.startswith(reason)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", sorted(DAMAGED.iterdir()), ids=lambda path: path.name)
def test_nothing_damaged_escapes_as_a_bug(path: Path) -> None:
    try:
        found = conversation.read(str(path), zone=UTC, now=NOW)
    except BadInputError:
        return
    assert all(map(str.strip, found.messages))
