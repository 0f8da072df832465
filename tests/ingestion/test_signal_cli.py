"""What signal-cli receives: who said what in which group, and what the owner sent from elsewhere."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

from clsm_cli.ingestion import signal_cli
from clsm_cli.ingestion.detection import detect
from clsm_cli.ingestion.jsonl_rows import Dropped, RawTurn, bounded_lines

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AT = 1771917300000


def row(**told: Any) -> dict[str, Any]:
    return {
        "envelope": {"source": "+31", "sourceName": "Tom", "timestamp": AT, **told},
        "account": "+32",
    }


def test_messages_of_a_chat_and_of_a_group() -> None:
    rows = [
        row(dataMessage={"timestamp": AT, "message": "The oak is cut."}),
        row(typingMessage={"action": "STARTED"}),
        row(dataMessage={"timestamp": AT, "message": "Hello all", "groupInfo": {"groupId": "g="}}),
        row(
            sourceName="Mara",
            syncMessage={
                "sentMessage": {"destination": "+31", "timestamp": AT, "message": "Thanks"}
            },
        ),
        row(dataMessage={"message": None, "reaction": {"emoji": "👍"}}),
    ]
    data = "".join(json.dumps(each) + "\n" for each in rows).encode()
    assert detect(data) == "signal"
    lines = bounded_lines(io.BytesIO(data))
    found = list(signal_cli.read(lines, path="s.jsonl", zone=UTC, now=NOW, session="s"))
    turns = [item for item in found if isinstance(item, RawTurn)]
    assert [(t.session, t.speaker, t.text, t.trust, t.line_start) for t in turns] == [
        ("signal +31", "Tom", "The oak is cut.", "agent", 1),
        ("signal g=", "Tom", "Hello all", "agent", 3),
        ("signal +31", "Mara", "Thanks", None, 4),
    ]
    assert turns[0].time == "2026-02-24T07:15:00+00:00"
    assert [item.line for item in found if isinstance(item, Dropped)] == [2, 5]
