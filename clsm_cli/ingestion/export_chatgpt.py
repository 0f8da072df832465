"""A conversation as ChatGPT exports it: a tree of messages, of which one branch is current."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.export_message import LEFT_BRANCH, NO_TEXT, Message, branch
from clsm_cli.ingestion.items import Dropped
from clsm_cli.ingestion.rows import label, word
from clsm_cli.ingestion.times import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from clsm_cli.ingestion.items import TranscriptItem
    from clsm_cli.ingestion.rows import Tally
    from clsm_cli.model.episodes import Role

_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
# What the program puts around references to sources and pictures, in characters of no alphabet.
_REFERENCE = re.compile("\ue200[^\ue200\ue201]*\ue201")


def items(
    conversation: dict[str, Any], *, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    """The current branch from its first message on, then what was left out.

    Args:
        conversation: With its ``mapping``.
        zone: The store's time zone.
        session: Where it has no id.
        tally: Findings that are told once.
    """
    session = label(conversation.get("conversation_id")) or label(conversation.get("id")) or session
    nodes = {k: node for k, node in conversation["mapping"].items() if isinstance(node, dict)}
    parents = {key: word(node.get("parent")) or None for key, node in nodes.items()}
    path = branch(parents, word(conversation.get("current_node")))
    if not path and nodes:
        tally.add("conversation without a current branch, its messages in their order", 1)
        path = list(nodes)
    messages = ((key, nodes[key].get("message")) for key in path)
    told = [(key, message) for key, message in messages if isinstance(message, dict)]
    for number, (key, message) in enumerate(told, 1):
        time = normalise(message.get("create_time"), zone)
        place = Message(session, number, label(message.get("id")) or label(key), time, tally)
        yield _item(message, place)
    for key in nodes.keys() - set(path):
        if isinstance(nodes[key].get("message"), dict):
            yield Dropped(LEFT_BRANCH, len(told))


def _item(message: dict[str, Any], place: Message) -> TranscriptItem:
    metadata, content = _mapping(message.get("metadata")), _mapping(message.get("content"))
    author = _mapping(message.get("author"))
    role, kind = word(author.get("role")), word(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0:
        return Dropped("hidden message", place.number)
    if kind in _THINKING or kind in _INSTRUCTIONS:
        return Dropped("thinking" if kind in _THINKING else "instructions", place.number)
    text = _text(content)
    recipient = label(message.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return place.called(recipient, text, place.id) if text else Dropped(NO_TEXT, place.number)
    if role == "tool":
        return place.returned(label(author.get("name")) or "tool", text, place.id)
    if role in _SPOKEN:
        return place.spoken(_SPOKEN[role], text)
    return Dropped("message of an unknown role", place.number)


def _text(content: dict[str, Any]) -> str:
    """The text of a message; pictures and sounds have none, a sound may have what was said in it."""
    parts = content.get("parts")
    told: list[Any] = parts if isinstance(parts, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in told]
    texts += [content.get("text"), content.get("result")]
    return _REFERENCE.sub("", "\n".join(t for t in texts if isinstance(t, str) and t.strip()))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
