"""A conversation as Claude exports it: a list of messages, each in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.export_message import LEFT_BRANCH, NO_TEXT, Message, branch
from clsm_cli.ingestion.items import Dropped
from clsm_cli.ingestion.openclaw import compact
from clsm_cli.ingestion.rows import label, parts_of, text_of, word
from clsm_cli.ingestion.times import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from clsm_cli.ingestion.items import TranscriptItem
    from clsm_cli.ingestion.rows import Tally
    from clsm_cli.model.episodes import Role

_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def items(
    conversation: dict[str, Any], *, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    """The messages of the current branch, in their order, then what was left out.

    Args:
        conversation: With its ``chat_messages``.
        zone: The store's time zone.
        session: Where it has no id.
        tally: Findings that are told once.
    """
    session = label(conversation.get("uuid")) or session
    every = [each for each in conversation["chat_messages"] if isinstance(each, dict)]
    parents = {word(m.get("uuid")): word(m.get("parent_message_uuid")) or None for m in every}
    current = set(branch(parents, word(conversation.get("current_leaf_message_uuid"))))
    # Most exports name no leaf: then there is one branch, or no way to tell.
    told = [m for m in every if not current or word(m.get("uuid")) in current]
    for number, message in enumerate(told, 1):
        time = normalise(message.get("created_at"), zone)
        yield from _items(
            message, Message(session, number, label(message.get("uuid")), time, tally)
        )
    for _ in range(len(every) - len(told)):
        yield Dropped(LEFT_BRANCH, len(told))


def _items(message: dict[str, Any], place: Message) -> Iterator[TranscriptItem]:
    role = _ROLES.get(word(message.get("sender")))
    if role is None:
        yield Dropped("message of an unknown role", place.number)
        return
    parts = parts_of(message.get("content"))
    # Older exports have the text alone; newer ones have it twice.
    said = text_of(p for p in parts if p.get("type") == "text") or word(message.get("text"))
    tools = [part for part in parts if word(part.get("type")) in {"tool_use", "tool_result"}]
    if said.strip() or not tools:
        yield place.spoken(role, said)
    for count, part in enumerate(tools, 1):
        turn_id = f"{place.id}#{count}" if place.id else None
        name = label(part.get("name")) or "tool"
        if part["type"] == "tool_use":
            yield place.called(name, _arguments(part.get("input")), turn_id)
        else:
            text = text_of(parts_of(part.get("content")))
            error = part.get("is_error") is True
            yield place.returned(name, text, turn_id, error=error)
    for part in parts:
        kind = word(part.get("type"))
        if kind not in {"text", "tool_use", "tool_result"}:
            yield Dropped("thinking" if "thinking" in kind else NO_TEXT, place.number)
    for kind in ("attachments", "files"):
        more = message.get(kind)
        for _ in more if isinstance(more, list) else ():
            yield Dropped("attached file", place.number)


def _arguments(given: Any) -> str:
    command = given.get("command") if isinstance(given, dict) else None
    is_alone = isinstance(command, str) and len(given) == 1
    return compact(command if is_alone else given)
