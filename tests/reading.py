"""What the readers of transcripts and notes make of some bytes."""

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from clsm_cli.ingestion import jsonl_rows, markdown, sources
from clsm_cli.ingestion.detection import Format

HOME = ZoneInfo("Europe/Amsterdam")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def read(
    form: Format,
    data: bytes | str,
    *,
    path: str = "a.jsonl",
    now: datetime = NOW,
    calls: Iterable[str] = (),
    **more: Any,
) -> list[jsonl_rows.TranscriptItem]:
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    about = jsonl_rows.Reading(path, HOME, now, "s0", known_clsm_calls=lambda _: calls, **more)
    with sources.SourceFile(path, path, form, stream).items(about) as items:
        return list(items)


def note(data: bytes | str, path: str = "note.md", **more: Any) -> jsonl_rows.RawDocument:
    """A Markdown note that can be read."""
    data = data.encode() if isinstance(data, str) else data
    found = markdown.read(data, path=path, zone=HOME, **more)
    assert isinstance(found, jsonl_rows.RawDocument)
    return found


def jsonl(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def turns(items: Iterable[Any]) -> list[jsonl_rows.RawTurn]:
    return [item for item in items if isinstance(item, jsonl_rows.RawTurn)]


def told(items: Iterable[Any]) -> list[tuple[str, str, str]]:
    return [(turn.speaker, turn.role, turn.text) for turn in turns(items)]


def dropped(items: Iterable[Any]) -> list[str]:
    return [item.reason for item in items if isinstance(item, jsonl_rows.Dropped)]


def problems(items: Iterable[Any]) -> list[str]:
    return [item.reason for item in items if isinstance(item, jsonl_rows.Problem)]
