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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.detection import CHAT, TELEGRAM, ZIP, is_archive, is_export_name
from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    Problem,
    RawTurn,
    Tally,
    check_items,
    label,
    parts_of,
    text_of,
    text_or_empty,
)
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm
from clsm_cli.ingestion.openclaw_transcripts import compact, tool_call, trust_of_tool
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.store.jsonlines import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.jsonl_rows import TranscriptItem
    from clsm_cli.model.episodes import Role

LEFT_BRANCH = "message of another branch"
NO_TEXT = "part that is not text"


LARGEST = 256 << 20
"""Bytes of a document: it is read whole, and takes several times as much memory."""
_NOTHING = "holds no conversation that clsm knows"


def read(
    stream: BinaryIO,
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str,
    day_first: bool | None = None,
) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, one conversation after the other.

    An archive may hold a chat instead, as WhatsApp and Telegram pack theirs.

    Args:
        stream: The file.
        path: As it was given, for problems.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of a conversation without an id.
        day_first: As for ``chat_text.read``.
    """
    told: Any = {"path": path, "zone": zone, "now": now, "session": session}
    tally = Tally()
    for name, found in _documents(stream, path):
        if isinstance(found, Problem):
            yield found
        elif name.endswith(CHAT):
            from clsm_cli.ingestion import chat_text

            yield from chat_text.read(io.BytesIO(found), **told, day_first=day_first)
        elif name.endswith(TELEGRAM):
            from clsm_cli.ingestion import telegram

            yield from telegram.read(io.BytesIO(found), **told)
        else:
            items = _items(found, path, zone, session, tally)
            yield from check_items(items, path=path, now=now, tally=tally)


def _items(
    data: bytes, path: str, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    document = parse_json(data)
    if not isinstance(document, list):
        yield Problem(path, None, document if isinstance(document, str) else _NOTHING)
        return
    for number, conversation in enumerate(document, 1):
        reader = _reader_of(conversation)
        if reader is None:
            yield Problem(path, None, f"conversation {number} is none that clsm knows")
        else:
            yield from reader(conversation, zone=zone, session=session, tally=tally)


def _reader_of(conversation: Any) -> Any:
    if isinstance(conversation, dict):
        if isinstance(conversation.get("mapping"), dict):
            return chatgpt_items
        if isinstance(conversation.get("chat_messages"), list):
            return claude_items
    return None


def _documents(stream: BinaryIO, path: str) -> Iterator[tuple[str, bytes | Problem]]:
    """The documents of a file with their names: itself, or those of an archive."""
    head = stream.read(len(ZIP))
    if not is_archive(head):
        yield "", _bounded(head + stream.read(LARGEST + 1 - len(head)), path)
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
                    yield name, _bounded(member.read(LARGEST + 1), f"{path}#{name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        reason = f"archive that cannot be read ({str(error).lower()})"
        yield "", Problem(path, None, reason)


def _bounded(data: bytes, path: str) -> bytes | Problem:
    if len(data) <= LARGEST:
        return data
    return Problem(path, None, f"larger than {LARGEST >> 20} MiB, split its list of conversations")


def parse_json(data: bytes) -> Any:
    """A JSON document, or as a text why there is none."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    try:
        document = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            document = without_surrogates(document)
    except ValueError as error:
        return f"not JSON ({str(error).lower()})"
    except RecursionError:
        return "JSON that is nested too deeply"
    return _NOTHING if isinstance(document, str) else document


@dataclass(frozen=True, slots=True)
class Message:
    """Where a message stands: what it said is told with each of its turns."""

    session: str
    number: int
    id: str | None
    time: str | None
    tally: Tally

    def text_turn(self, role: Role, text: str) -> TranscriptItem:
        """What a person, the agent or the system said."""
        text = text.strip("\n").rstrip()
        reason = machine_talk(role, text) or ("" if text.strip() else NO_TEXT)
        return Dropped(reason, self.number) if reason else self._turn(role, role, text, self.id)

    def call_turn(self, tool: str, text: str, part: str | None) -> TranscriptItem:
        """What a tool was asked for."""
        if is_clsm_tool(tool) or runs_clsm(text):
            return Dropped("clsm call", self.number)
        return self._turn(tool, "tool", text, part, given=text)

    def result_turn(
        self, tool: str, text: str, part: str | None, *, error: bool = False
    ) -> TranscriptItem:
        """What a tool said."""
        if is_clsm_tool(tool):
            return Dropped("clsm result", self.number)
        if not text.strip():
            return Dropped(NO_TEXT, self.number)
        return self._turn(tool, "tool", text.strip("\n").rstrip(), part, error=error)

    def _turn(
        self,
        speaker: str,
        role: Role,
        text: str,
        turn_id: str | None,
        *,
        given: str | None = None,
        error: bool = False,
    ) -> RawTurn:
        if len(text.encode(errors="replace")) > MAX_MESSAGE:
            self.tally.add(f"longer than {MAX_MESSAGE >> 20} MiB, its beginning kept", self.number)
        is_result = role == "tool" and given is None
        return RawTurn(
            session=self.session,
            speaker=speaker,
            role=role,
            text=text,
            time=self.time,
            line_start=self.number,
            line_end=self.number,
            foreign_id=turn_id,
            tool=tool_call(speaker, given, error=error) if role == "tool" else None,
            trust=trust_of_tool(speaker) if is_result else None,
        )


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


def chatgpt_items(
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
    parents = {key: text_or_empty(node.get("parent")) or None for key, node in nodes.items()}
    path = branch(parents, text_or_empty(conversation.get("current_node")))
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
    role, kind = text_or_empty(author.get("role")), text_or_empty(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0:
        return Dropped("hidden message", place.number)
    if kind in _THINKING or kind in _INSTRUCTIONS:
        return Dropped("thinking" if kind in _THINKING else "instructions", place.number)
    text = _text(content)
    recipient = label(message.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return (
            place.call_turn(recipient, text, place.id) if text else Dropped(NO_TEXT, place.number)
        )
    if role == "tool":
        return place.result_turn(label(author.get("name")) or "tool", text, place.id)
    if role in _SPOKEN:
        return place.text_turn(_SPOKEN[role], text)
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


_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def claude_items(
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
    parents = {
        text_or_empty(m.get("uuid")): text_or_empty(m.get("parent_message_uuid")) or None
        for m in every
    }
    current = set(branch(parents, text_or_empty(conversation.get("current_leaf_message_uuid"))))
    # Most exports name no leaf: then there is one branch, or no way to tell.
    told = [m for m in every if not current or text_or_empty(m.get("uuid")) in current]
    for number, message in enumerate(told, 1):
        time = normalise(message.get("created_at"), zone)
        yield from _claude_parts(
            message, Message(session, number, label(message.get("uuid")), time, tally)
        )
    for _ in range(len(every) - len(told)):
        yield Dropped(LEFT_BRANCH, len(told))


def _claude_parts(message: dict[str, Any], place: Message) -> Iterator[TranscriptItem]:
    role = _ROLES.get(text_or_empty(message.get("sender")))
    if role is None:
        yield Dropped("message of an unknown role", place.number)
        return
    parts = parts_of(message.get("content"))
    # Older exports have the text alone; newer ones have it twice.
    said = text_of(p for p in parts if p.get("type") == "text") or text_or_empty(
        message.get("text")
    )
    tools = [
        part for part in parts if text_or_empty(part.get("type")) in {"tool_use", "tool_result"}
    ]
    if said.strip() or not tools:
        yield place.text_turn(role, said)
    for count, part in enumerate(tools, 1):
        turn_id = f"{place.id}#{count}" if place.id else None
        name = label(part.get("name")) or "tool"
        if part["type"] == "tool_use":
            yield place.call_turn(name, _arguments(part.get("input")), turn_id)
        else:
            text = text_of(parts_of(part.get("content")))
            error = part.get("is_error") is True
            yield place.result_turn(name, text, turn_id, error=error)
    for part in parts:
        kind = text_or_empty(part.get("type"))
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
