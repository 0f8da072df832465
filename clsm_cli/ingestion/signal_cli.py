"""What signal-cli receives, one JSON object a line: ``signal-cli --output=json receive``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    RawTurn,
    Tally,
    check_items,
    label,
    read_rows,
    text_or_empty,
)
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import Line, TranscriptItem


def is_row(row: dict[str, Any]) -> bool:
    """Whether a row is an envelope of signal-cli.

    >>> is_row({"envelope": {"source": "+3161", "dataMessage": {}}, "account": "+3162"})
    True
    """
    envelope = row.get("envelope")
    return isinstance(envelope, dict) and ("source" in envelope or "sourceNumber" in envelope)


def read(
    lines: Iterable[Line], *, path: str, zone: tzinfo, now: datetime, session: str
) -> Iterator[TranscriptItem]:
    """The turns, dropped rows and problems of a file, in its order.

    A conversation is a group, or the other one's number. What the owner sent comes as a copy from
    another device; the words of all others are trusted as an agent's are.

    Args:
        lines: From ``jsonl_rows.bounded_lines``.
        path: As it was given.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of what names neither.
    """
    tally = Tally()
    items = _items(read_rows(lines, path=path, tally=tally), zone, session)
    return check_items(items, path=path, now=now, tally=tally)


def _items(
    rows: Iterable[tuple[int, dict[str, Any]] | Problem], zone: tzinfo, session: str
) -> Iterator[TranscriptItem]:
    for found in rows:
        if isinstance(found, Problem):
            yield found
        else:
            line, row = found
            yield _item(_mapping(row.get("envelope")), line, zone, session)


def _item(envelope: dict[str, Any], line: int, zone: tzinfo, session: str) -> TranscriptItem:
    sent = _mapping(_mapping(envelope.get("syncMessage")).get("sentMessage"))
    received = _mapping(envelope.get("dataMessage"))
    message = sent or received
    text = text_or_empty(message.get("message")).strip("\n").rstrip()
    if not text:
        return Dropped("line by the app", line)
    source = label(envelope.get("source")) or label(envelope.get("sourceNumber"))
    speaker = label(envelope.get("sourceName")) or source or "unknown"
    group = label(_mapping(message.get("groupInfo")).get("groupId"))
    other = (
        (label(sent.get("destination")) or label(sent.get("destinationNumber"))) if sent else source
    )
    return RawTurn(
        session=f"signal {group or other}" if group or other else session,
        speaker=speaker,
        role="user",
        text=text,
        time=normalise(message.get("timestamp") or envelope.get("timestamp"), zone),
        line_start=line,
        line_end=line,
        trust=None if sent else "agent",
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
