"""What messengers give as JSON: Telegram's ``result.json``, and what signal-cli receives.

Telegram Desktop exports one chat or all of them as one document; ``signal-cli --output=json receive``
prints one object a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.ingestion.exports import LARGEST, parse_json
from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    first_time,
    label,
    mapping,
    read_whole,
    text_or_empty,
)
from clsm_cli.ingestion.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, RowReader, TranscriptItem
    from clsm_cli.model.trust import Trust


def items(stream: BinaryIO, about: Reading) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, chat by chat.

    The owner is the one whose account was exported, and in a chat of two who is not the other one;
    the words of all others are trusted as an agent's are, and what they passed on as a page is.
    """
    found = read_whole(stream, LARGEST, about.path, ", export chat by chat")
    document = found if isinstance(found, Problem) else parse_json(found)
    if isinstance(document, str) or not isinstance(document, (dict, Problem)):
        told = document if isinstance(document, str) else "holds no chat of Telegram"
        document = Problem(about.path, None, told)
    if isinstance(document, Problem):
        yield document
        return
    owner = mapping(document.get("personal_information")).get("user_id")
    for chat in _chats(document):
        yield from _messages(chat, f"user{owner}", about)


def _chats(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chats of an export, those that were left too."""
    listed = [mapping(document.get(name)).get("list") for name in ("chats", "left_chats")]
    for chats in ([document], *(each for each in listed if isinstance(each, list))):
        for chat in chats:
            if isinstance(chat, dict) and isinstance(chat.get("messages"), list):
                yield chat


def _messages(chat: dict[str, Any], owner: str, about: Reading) -> Iterator[TranscriptItem]:
    number, kind = label(chat.get("id")), text_or_empty(chat.get("type"))
    session = f"telegram {number}" if number else about.session
    for place, told in enumerate(chat["messages"], 1):
        if not isinstance(told, dict) or told.get("type") != "message":
            yield Dropped("line by the app", place)
            continue
        time = first_time((told.get("date_unixtime"), told.get("date")), about)
        message = Message(session, place, time, label(told.get("id")))
        text = _text(told.get("text"))
        who, sender = label(told.get("from")), text_or_empty(told.get("from_id"))
        if not text or not who:
            yield message.dropped("media that was left out" if who else "message of nobody")
            continue
        is_owner = sender == owner or kind == "saved_messages"
        is_owner = is_owner or (kind == "personal_chat" and sender != f"user{number}")
        trust: Trust | None = None if is_owner else "agent"
        if told.get("forwarded_from") is not None:
            trust = "web"
        yield message.turn(who, "user", text, trust=trust)


def _text(value: Any) -> str:
    """The text of a message: a string, or parts of which some are links or bold."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str)).strip("\n").rstrip()


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
        time = first_time((told.get("timestamp"), envelope.get("timestamp")), about)
        message = Message(f"signal {other}" if other else about.session, line, time)
        text = text_or_empty(told.get("message")).strip("\n").rstrip()
        speaker = label(envelope.get("sourceName")) or source or "unknown"
        if text:
            yield message.turn(speaker, "user", text, trust=None if sent else "agent")
        else:
            yield message.dropped("line by the app")

    return read
