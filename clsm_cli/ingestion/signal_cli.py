"""What signal-cli receives, one JSON object a line: ``signal-cli --output=json receive``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import label, mapping, text_or_empty
from clsm_cli.ingestion.messages import Message
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, RowReader, TranscriptItem


def is_row(row: dict[str, Any]) -> bool:
    """Whether a row is an envelope of signal-cli.

    >>> is_row({"envelope": {"source": "+3161", "dataMessage": {}}, "account": "+3162"})
    True
    """
    envelope = mapping(row.get("envelope"))
    return "source" in envelope or "sourceNumber" in envelope


def row_reader(about: Reading) -> RowReader:
    """Reads a row.

    A conversation is a group, or the other one's number. What the owner sent comes as a copy from
    another device; the words of all others are trusted as an agent's are.
    """

    def read(row: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        envelope = mapping(row.get("envelope"))
        sent = mapping(mapping(envelope.get("syncMessage")).get("sentMessage"))
        told = sent or mapping(envelope.get("dataMessage"))
        source = label(envelope.get("source")) or label(envelope.get("sourceNumber"))
        to = label(sent.get("destination")) or label(sent.get("destinationNumber"))
        other = label(mapping(told.get("groupInfo")).get("groupId")) or (to if sent else source)
        time = normalise(told.get("timestamp") or envelope.get("timestamp"), about.zone)
        message = Message(f"signal {other}" if other else about.session, line, time)
        text = text_or_empty(told.get("message")).strip("\n").rstrip()
        speaker = label(envelope.get("sourceName")) or source or "unknown"
        if text:
            yield message.turn(speaker, "user", text, trust=None if sent else "agent")
        else:
            yield message.dropped("line by the app")

    return read
