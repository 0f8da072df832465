r"""Conversations in one document: the data exports of ChatGPT and Claude, and sessions of Smriti.

An export is ``conversations.json``, or the archive that contains it: a list of conversations. In ChatGPT's
each is a tree of messages (``mapping``) whose current branch ends at ``current_node``; in Claude's a list
of messages (``chat_messages``), each in parts. The session is the conversation's id, since it may be
renamed; the number of a message replaces the line.

Smriti (Chitragupta) writes one Markdown file per session. Front matter names it; a turn is a heading, ``##
Turn 3 — user``, and its text, with lines escaped that look like a heading or a rule; a tool call is ``###
Tool: name`` with its input and its result, each fenced, and not escaped at all. So a fence ends only where
the writer's next line follows, and a heading inside a result is text. Turns have no time of their own; they
get the day of the session.
"""

import io
import itertools
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from clsm_cli.ingestion.detection import (
    CHAT_SUFFIX,
    SMRITI_FRONT,
    SMRITI_TURN,
    TELEGRAM_NAME,
    ZIP_MAGIC,
    is_export_name,
)
from clsm_cli.ingestion.jsonl_rows import (
    MAX_JSON_BYTES,
    MAX_TEXT_BYTES,
    Dropped,
    Problem,
    Reading,
    TranscriptItem,
    UnreadableError,
    label,
    mapping,
    parts_of,
    read_json,
    read_whole,
    text_of,
    text_or_empty,
    with_refusal,
)
from clsm_cli.ingestion.messages import NOT_TEXT, SPOKEN, Message, ToolReader
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model.episodes import Role

LEFT_BRANCH = "message of another branch"
_NO_CONVERSATION = "holds no conversation that clsm knows"


def export_items(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the turns, dropped messages and problems of an export, conversation by conversation.

    An archive may also contain a chat of WhatsApp or Telegram.
    """
    head = stream.read(len(ZIP_MAGIC))
    if head != ZIP_MAGIC:
        yield from _conversations(io.BytesIO(head + stream.read(MAX_JSON_BYTES + 1)), reading)
        return
    if not stream.seekable():
        stream = io.BytesIO(head + stream.read(MAX_JSON_BYTES + 1))
    try:
        with zipfile.ZipFile(stream) as archive:
            every = sorted(archive.namelist())
            names = [name for name in every if is_export_name(name)]
            names = names or [name for name in every if name.endswith((CHAT_SUFFIX, TELEGRAM_NAME))]
            if not names:
                raise UnreadableError(_NO_CONVERSATION)
            for name in names:
                with archive.open(name) as member:
                    yield from with_refusal(_member(name, member, reading), reading.path)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(f"archive that cannot be read ({str(error).lower()})") from error


def _member(name: str, member: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    if is_export_name(name):
        return _conversations(member, reading)
    from clsm_cli.ingestion import messengers

    is_chat = name.endswith(CHAT_SUFFIX)
    return (messengers.chat_items if is_chat else messengers.telegram_items)(member, reading)


def _conversations(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    document = read_json(stream, ", split its list of conversations")
    if not isinstance(document, list):
        raise UnreadableError(_NO_CONVERSATION)
    for number, each in enumerate(document, 1):
        conversation = mapping(each)
        if isinstance(conversation.get("mapping"), dict):
            yield from _chatgpt(conversation, reading)
        elif isinstance(conversation.get("chat_messages"), list):
            yield from _claude(conversation, reading)
        else:
            yield Problem(reading.path, None, f"conversation {number} is none that clsm knows")


def branch(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    """The ids from the root of a tree to a leaf; a cycle ends the path.

    >>> branch({"a": None, "b": "a", "c": "a", "d": "c"}, "d")
    ['a', 'c', 'd']
    """
    path: dict[str, None] = {}
    place: str | None = leaf
    while place is not None and place in parents and place not in path:
        path[place] = None
        place = parents[place]
    return list(path)[::-1]


_THINKING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
# References to sources and pictures, between private-use characters.
_REFERENCE = re.compile("\ue200[^\ue200\ue201]*\ue201")


def _chatgpt(conversation: dict[str, Any], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the current branch from its first message, then the dropped messages."""
    names = (label(conversation.get(name)) for name in ("conversation_id", "id"))
    session = next(filter(None, names), reading.session)
    nodes = {k: node for k, node in conversation["mapping"].items() if isinstance(node, dict)}
    parents = {key: text_or_empty(node.get("parent")) or None for key, node in nodes.items()}
    path = branch(parents, text_or_empty(conversation.get("current_node")))
    if not path and nodes:
        reason = "conversation without a current branch, its messages in their order"
        reading.findings.add(reason, 1)
        path = list(nodes)
    messages = ((key, nodes[key].get("message")) for key in path)
    kept = [(key, message) for key, message in messages if isinstance(message, dict)]
    tools = ToolReader(reading)
    for number, (key, message) in enumerate(kept, 1):
        time = normalise(message.get("create_time"), reading.zone)
        name = label(message.get("id")) or label(key)
        yield _chatgpt_message(message, Message(session, number, time, name), tools)
    for key in nodes.keys() - set(path):
        if isinstance(nodes[key].get("message"), dict):
            yield Dropped(LEFT_BRANCH, len(kept))


def _chatgpt_message(data: dict[str, Any], message: Message, tools: ToolReader) -> TranscriptItem:
    metadata, content, author = (mapping(data.get(n)) for n in ("metadata", "content", "author"))
    role, kind = text_or_empty(author.get("role")), text_or_empty(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or data.get("weight") == 0:
        return message.dropped("hidden message")
    if kind in _THINKING or kind in _INSTRUCTIONS:
        return message.dropped("thinking" if kind in _THINKING else "instructions")
    text = _chatgpt_text(content)
    recipient = label(data.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return tools.call(message, recipient, text) if text else message.dropped(NOT_TEXT)
    if role == "tool":
        return tools.result(message, label(author.get("name")) or "tool", text)
    if role in SPOKEN:
        return message.spoken(SPOKEN[role], text.strip("\n").rstrip(), NOT_TEXT)
    return message.dropped("message of an unknown role")


def _chatgpt_text(content: dict[str, Any]) -> str:
    """The text of a message; pictures have none, a sound may have a transcript."""
    parts = content.get("parts")
    part_list: list[Any] = parts if isinstance(parts, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in part_list]
    texts += [content.get("text"), content.get("result")]
    return _REFERENCE.sub("", "\n".join(t for t in texts if isinstance(t, str) and t.strip()))


_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def _claude(conversation: dict[str, Any], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the messages of the current branch in order, then the dropped ones."""
    session = label(conversation.get("uuid")) or reading.session
    every = [each for each in conversation["chat_messages"] if isinstance(each, dict)]
    parents = {
        text_or_empty(m.get("uuid")): text_or_empty(m.get("parent_message_uuid")) or None
        for m in every
    }
    current = set(branch(parents, text_or_empty(conversation.get("current_leaf_message_uuid"))))
    # Most exports name no leaf: then there is one branch, or branches cannot be told apart.
    tools = ToolReader(reading)
    kept = [m for m in every if not current or text_or_empty(m.get("uuid")) in current]
    for number, each in enumerate(kept, 1):
        time = normalise(each.get("created_at"), reading.zone)
        message = Message(session, number, time, label(each.get("uuid")))
        yield from _claude_message(each, message, tools)
    for _ in range(len(every) - len(kept)):
        yield Dropped(LEFT_BRANCH, len(kept))


def _claude_message(
    data: dict[str, Any], message: Message, tools: ToolReader
) -> Iterator[TranscriptItem]:
    role = _ROLES.get(text_or_empty(data.get("sender")))
    if role is None:
        yield message.dropped("message of an unknown role")
        return
    parts = parts_of(data.get("content"))
    # Older exports have only ``text``; newer ones have the same text in both places.
    text = text_of(part for part in parts if part.get("type") == "text")
    text = text or text_or_empty(data.get("text")).strip("\n").rstrip()
    kinds = {text_or_empty(part.get("type")) for part in parts}
    if text.strip() or kinds.isdisjoint({"tool_use", "tool_result"}):
        yield message.spoken(role, text, NOT_TEXT)
    yield from tools.parts(message, parts)
    for name in ("attachments", "files"):
        more = data.get(name)
        for _ in more if isinstance(more, list) else ():
            yield message.dropped("attached file")


# Atomic groups: a fence ends at the first possible place, so the time is linear.
_TOOL = re.compile(
    r"### Tool: (?P<name>[^\n]+)\n\n?\*\*Input:\*\*\n```\w*\n"
    r"(?P<given>(?>.*?(?=\n?```\n\n?<details>\n<summary>)))\n?```\n\n?"
    r"<details>\n<summary>(?P<kind>\w+)</summary>\n\n?```\n"
    r"(?P<said>(?>.*?(?=\n?```\n\n?</details>)))\n?```\n\n?</details>\n*",
    re.DOTALL | re.IGNORECASE,
)
_TEXT_END = re.compile(
    r"^(?:### Tool: .+\n\n?\*\*Input:\*\*$|---\n\n?\*Session .*\*$)", re.MULTILINE
)
_ESCAPED = re.compile(r"\\(?=## Turn \d|---\Z)|\\(?=</(?:details|summary)>)", re.IGNORECASE)
_RAW_PARTS = re.compile(r"<!-- [\w:. -]*[A-Za-z0-9+/=]{16,} -->")  # message parts for Smriti itself


def smriti_items(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the turns, dropped turns and problems of a session, in order."""
    text = read_whole(stream, MAX_TEXT_BYTES)
    if "\ufffd" in text:
        reading.findings.add("invalid UTF-8 replaced", 1)
    text = text.replace("\r\n", "\n").replace("\0", "")
    front = SMRITI_FRONT.match(text)
    pairs = (line.partition(": ") for line in (front[1] if front else "").split("\n"))
    meta = {key: value.strip().strip('"') for key, _, value in pairs}
    created = normalise(meta.get("created"), reading.zone)
    session, day = label(meta.get("id")) or reading.session, created and created[:10]
    tools, line_of = ToolReader(reading), _line_counter(text)

    def message(name: str, start: int, end: int) -> Message:
        first = line_of(start)
        return Message(session, first, day, name, line_of(max(start, end - 1)))

    head = SMRITI_TURN.search(text, front.end() if front else 0)
    while head:
        number, following = head[1], SMRITI_TURN.search(text, head.end())
        end = _TEXT_END.search(text, head.end(), following.start() if following else len(text))
        place = end.start() if end else following.start() if following else len(text)
        role: Role = "user" if head[2] == "user" else "assistant"
        turn = message(number, head.start(), place)
        yield turn.spoken(role, _unescaped(text[head.end() : place]))
        for count in itertools.count(1):
            tool = _TOOL.match(text, place)
            if tool is None:
                break
            call_id, place = f"{number}#{count}", tool.end()
            call = message(call_id, tool.start(), tool.start("kind"))
            yield tools.call(call, tool["name"], _parsed_json(tool["given"]), call_id)
            if tool["said"].strip():
                gave = message(f"{call_id}r", tool.start("kind"), place)
                error = tool["kind"].lower() == "error"
                yield tools.result(gave, tool["name"], tool["said"], call_id, error=error)
        if end and end[0].startswith("###") and place == end.start():
            reading.findings.add("tool call is cut short", line_of(place))
        head = SMRITI_TURN.search(text, place)  # text after the tools belongs to no turn


def _line_counter(text: str) -> Callable[[int], int]:
    """A function from offset to line number; offsets must not decrease."""
    seen, line = 0, 1

    def line_of(place: int) -> int:
        nonlocal seen, line
        line += text.count("\n", seen, place)
        seen = place
        return line

    return line_of


def _unescaped(text: str) -> str:
    kept = (line for line in text.split("\n") if not _RAW_PARTS.fullmatch(line))
    return "\n".join(_ESCAPED.sub("", line) for line in kept).strip("\n").rstrip()


def _parsed_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
