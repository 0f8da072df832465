"""What Telegram Desktop exports as JSON: ``result.json``, one chat or all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.exports import LARGEST, parse_json
from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    RawTurn,
    Tally,
    check_items,
    label,
    text_or_empty,
)
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import TranscriptItem

NAME = "result.json"
_TYPES = (
    b"personal_chat|bot_chat|saved_messages|private_group|private_supergroup|public_supergroup"
    b"|private_channel|public_channel"
)
_IS_EXPORT = re.compile(rb'"type":\s*"(?:' + _TYPES + rb')"|"personal_information":\s*\{')


def is_export(head: bytes) -> bool:
    """Whether a JSON document is such an export, by its first bytes.

    >>> is_export(b'{"name": "Tom", "type": "personal_chat", "id": 7, "messages": [')
    True
    >>> is_export(b'{"name": "Tom", "type": "person"}')
    False
    """
    return head.lstrip().startswith(b"{") and _IS_EXPORT.search(head) is not None


def read(
    stream: BinaryIO, *, path: str, zone: tzinfo, now: datetime, session: str
) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, chat by chat.

    The owner is the one whose account was exported, and in a chat of two who is not the other one;
    the words of all others are trusted as an agent's are, and what they passed on as a page is.

    Args:
        stream: The file.
        path: As it was given.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of a chat without an id.
    """
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield Problem(path, None, f"larger than {LARGEST >> 20} MiB, export chat by chat")
        return
    document = parse_json(data)
    if isinstance(document, str) or not isinstance(document, dict):
        told = document if isinstance(document, str) else "holds no chat of Telegram"
        yield Problem(path, None, told)
        return
    tally = Tally()
    about = document.get("personal_information")
    owner = f"user{about.get('user_id')}" if isinstance(about, dict) else ""
    items = (
        item for chat in _chats(document) for item in _items(chat, owner, zone, session, tally)
    )
    yield from check_items(items, path=path, now=now, tally=tally)


def _chats(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chats of an export, those that were left too."""
    groups = [document.get("chats"), document.get("left_chats")]
    listed = [group.get("list") for group in groups if isinstance(group, dict)]
    for chats in ([document], *(each for each in listed if isinstance(each, list))):
        for chat in chats:
            if isinstance(chat, dict) and isinstance(chat.get("messages"), list):
                yield chat


def _items(
    chat: dict[str, Any], owner: str, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    number = label(chat.get("id"))
    session = f"telegram {number}" if number else session
    kind, other = text_or_empty(chat.get("type")), f"user{number}"
    for place, message in enumerate(chat["messages"], 1):
        if not isinstance(message, dict) or message.get("type") != "message":
            yield Dropped("line by the app", place)
            continue
        text = _text(message.get("text"))
        who, sender = label(message.get("from")), text_or_empty(message.get("from_id"))
        if not text or not who:
            yield Dropped("media that was left out" if who else "message of nobody", place)
            continue
        if len(text.encode(errors="replace")) > MAX_MESSAGE:
            tally.add(f"longer than {MAX_MESSAGE >> 20} MiB, its beginning kept", place)
        is_owner = sender == owner or kind == "saved_messages"
        is_owner = is_owner or (kind == "personal_chat" and sender != other)
        is_forwarded = message.get("forwarded_from") is not None
        yield RawTurn(
            session=session,
            speaker=who,
            role="user",
            text=text,
            time=normalise(message.get("date_unixtime"), zone)
            or normalise(message.get("date"), zone),
            line_start=place,
            line_end=place,
            foreign_id=label(message.get("id")),
            trust="web" if is_forwarded else None if is_owner else "agent",
        )


def _text(value: Any) -> str:
    """The text of a message: a string, or parts of which some are links or bold.

    >>> _text(["See ", {"type": "link", "text": "https://example.org"}, "."])
    'See https://example.org.'
    """
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str)).strip("\n").rstrip()
