"""Read the data exports of ChatGPT and Claude: ``conversations.json``, or the archive that holds it.

It is one JSON document, a list of conversations. One of ChatGPT is a tree of messages (``mapping``)
whose current branch ends at ``current_node``; one of Claude is a list of messages (``chat_messages``),
each in parts. As a conversation may be renamed, its id is the session; the number of a message in it
stands for a line.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.ingestion.detection import CHAT, TELEGRAM, ZIP, is_export_name
from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    label,
    mapping,
    parts_of,
    read_whole,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.messages import NOT_TEXT, Message, ToolReader
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.store.jsonlines import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem
    from clsm_cli.model.episodes import Role

LEFT_BRANCH = "message of another branch"
LARGEST = 256 << 20
"""Bytes of a document: it is read whole, and takes several times as much memory."""
_NOTHING = "holds no conversation that clsm knows"


def items(stream: BinaryIO, about: Reading) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, one conversation after the other.

    An archive may hold a chat instead, as WhatsApp and Telegram pack theirs.
    """
    for name, found in _documents(stream, about.path):
        if isinstance(found, Problem):
            yield found
        elif name.endswith(CHAT):
            from clsm_cli.ingestion import chat_text

            yield from chat_text.items(io.BytesIO(found.encode()), about)
        elif name.endswith(TELEGRAM):
            from clsm_cli.ingestion import messengers

            yield from messengers.items(io.BytesIO(found.encode()), about)
        else:
            yield from _conversations(found, about)


def _conversations(text: str, about: Reading) -> Iterator[TranscriptItem]:
    document = parse_json(text)
    if not isinstance(document, list):
        yield Problem(about.path, None, document if isinstance(document, str) else _NOTHING)
        return
    for number, each in enumerate(document, 1):
        conversation = mapping(each)
        if isinstance(conversation.get("mapping"), dict):
            yield from _chatgpt(conversation, about)
        elif isinstance(conversation.get("chat_messages"), list):
            yield from _claude(conversation, about)
        else:
            reason = f"conversation {number} is none that clsm knows"
            yield Problem(about.path, None, reason)


def _documents(stream: BinaryIO, path: str) -> Iterator[tuple[str, str | Problem]]:
    advice = ", split its list of conversations"
    head = stream.read(len(ZIP))
    if head != ZIP:
        rest = stream.read(LARGEST + 1 - len(head))
        yield "", read_whole(io.BytesIO(head + rest), LARGEST, path, advice)
        return
    if not stream.seekable():
        stream = io.BytesIO(head + stream.read(LARGEST + 1))
    try:
        with zipfile.ZipFile(stream) as archive:
            every = sorted(archive.namelist())
            names = [name for name in every if is_export_name(name)]
            names = names or [name for name in every if name.endswith((CHAT, TELEGRAM))]
            if not names:
                yield "", Problem(path, None, _NOTHING)
            for name in names:
                with archive.open(name) as member:
                    yield name, read_whole(member, LARGEST, f"{path}#{name}", advice)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        reason = f"archive that cannot be read ({str(error).lower()})"
        yield "", Problem(path, None, reason)


def parse_json(text: str) -> Any:
    """A JSON document, or as a text why there is none."""
    try:
        document = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            document = without_surrogates(document)
    except ValueError as error:
        return f"not JSON ({str(error).lower()})"
    except RecursionError:
        return "JSON that is nested too deeply"
    return _NOTHING if isinstance(document, str) else document


def branch(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    """The ids from the root of a tree to a leaf; a ring ends where it closes.

    >>> branch({"a": None, "b": "a", "c": "a", "d": "c"}, "d")
    ['a', 'c', 'd']
    """
    path: dict[str, None] = {}
    place: str | None = leaf
    while place is not None and place in parents and place not in path:
        path[place] = None
        place = parents[place]
    return list(path)[::-1]


_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
# What the program puts around references to sources and pictures, in characters of no alphabet.
_REFERENCE = re.compile("\ue200[^\ue200\ue201]*\ue201")


def _chatgpt(conversation: dict[str, Any], about: Reading) -> Iterator[TranscriptItem]:
    """The current branch from its first message on, then what was left out."""
    names = (label(conversation.get(name)) for name in ("conversation_id", "id"))
    session = next(filter(None, names), about.session)
    nodes = {k: node for k, node in conversation["mapping"].items() if isinstance(node, dict)}
    parents = {key: text_or_empty(node.get("parent")) or None for key, node in nodes.items()}
    path = branch(parents, text_or_empty(conversation.get("current_node")))
    if not path and nodes:
        about.tally.add("conversation without a current branch, its messages in their order", 1)
        path = list(nodes)
    messages = ((key, nodes[key].get("message")) for key in path)
    told = [(key, message) for key, message in messages if isinstance(message, dict)]
    tools = ToolReader(about)
    for number, (key, message) in enumerate(told, 1):
        time = normalise(message.get("create_time"), about.zone)
        name = label(message.get("id")) or label(key)
        yield _item(message, Message(session, number, time, name), tools)
    for key in nodes.keys() - set(path):
        if isinstance(nodes[key].get("message"), dict):
            yield Dropped(LEFT_BRANCH, len(told))


def _item(told: dict[str, Any], message: Message, tools: ToolReader) -> TranscriptItem:
    metadata, content, author = (
        mapping(told.get(name)) for name in ("metadata", "content", "author")
    )
    role, kind = text_or_empty(author.get("role")), text_or_empty(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or told.get("weight") == 0:
        return message.dropped("hidden message")
    if kind in _THINKING or kind in _INSTRUCTIONS:
        return message.dropped("thinking" if kind in _THINKING else "instructions")
    text = _text(content)
    recipient = label(told.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return tools.call(message, recipient, text) if text else message.dropped(NOT_TEXT)
    if role == "tool":
        return tools.result(message, label(author.get("name")) or "tool", text)
    if role in _SPOKEN:
        return message.said(_SPOKEN[role], text.strip("\n").rstrip(), NOT_TEXT)
    return message.dropped("message of an unknown role")


def _text(content: dict[str, Any]) -> str:
    """The text of a message; pictures and sounds have none, a sound may have what was said in it."""
    parts = content.get("parts")
    told: list[Any] = parts if isinstance(parts, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in told]
    texts += [content.get("text"), content.get("result")]
    return _REFERENCE.sub("", "\n".join(t for t in texts if isinstance(t, str) and t.strip()))


_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def _claude(conversation: dict[str, Any], about: Reading) -> Iterator[TranscriptItem]:
    """The messages of the current branch, in their order, then what was left out."""
    session = label(conversation.get("uuid")) or about.session
    every = [each for each in conversation["chat_messages"] if isinstance(each, dict)]
    parents = {
        text_or_empty(m.get("uuid")): text_or_empty(m.get("parent_message_uuid")) or None
        for m in every
    }
    current = set(branch(parents, text_or_empty(conversation.get("current_leaf_message_uuid"))))
    # Most exports name no leaf: then there is one branch, or no way to tell.
    tools = ToolReader(about)
    told = [m for m in every if not current or text_or_empty(m.get("uuid")) in current]
    for number, each in enumerate(told, 1):
        time = normalise(each.get("created_at"), about.zone)
        message = Message(session, number, time, label(each.get("uuid")))
        yield from _claude_message(each, message, tools)
    for _ in range(len(every) - len(told)):
        yield Dropped(LEFT_BRANCH, len(told))


def _claude_message(
    told: dict[str, Any], message: Message, tools: ToolReader
) -> Iterator[TranscriptItem]:
    role = _ROLES.get(text_or_empty(told.get("sender")))
    if role is None:
        yield message.dropped("message of an unknown role")
        return
    parts = parts_of(told.get("content"))
    # Older exports have the text alone; newer ones have it twice.
    said = text_of(part for part in parts if part.get("type") == "text")
    said = said or text_or_empty(told.get("text")).strip("\n").rstrip()
    if said.strip() or not any(part.get("type") in {"tool_use", "tool_result"} for part in parts):
        yield message.said(role, said, NOT_TEXT)

    def result(part: dict[str, Any], turn_id: str | None) -> TranscriptItem:
        name, text = label(part.get("name")) or "tool", text_of(parts_of(part.get("content")))
        call_id, error = label(part.get("tool_use_id")) or "", part.get("is_error") is True
        return tools.result(message, name, text, call_id, turn_id, error=error)

    yield from tools.parts(message, parts, result)
    for name in ("attachments", "files"):
        more = told.get(name)
        for _ in more if isinstance(more, list) else ():
            yield message.dropped("attached file")
