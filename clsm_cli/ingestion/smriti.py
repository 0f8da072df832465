r"""Sessions of Smriti (Chitragupta) as it writes them: one Markdown file, ``## Turn 3 — user``.

Front matter names the session; a turn is a heading and its text, with lines escaped that would look
like a heading or a rule; a tool call is ``### Tool: name`` with its input and its result, each fenced,
and not escaped at all. So a fence ends where the line behind it is what the writer puts there, and a
heading inside a result is text. A turn has no time; it has the day on which the session was made.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.ingestion.jsonl_rows import Problem, label, read_whole
from clsm_cli.ingestion.messages import Message, ToolReader
from clsm_cli.ingestion.timestamps import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem
    from clsm_cli.model.episodes import Role

LARGEST = 64 << 20
"""Bytes of a session; it is read whole."""
_FRONT = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_TURN = re.compile(
    r"^## Turn (\d{1,9}) [—–-]{1,2} (user|assistant)(?: \(.*\))?[ \t]*$", re.MULTILINE
)
# Atomic groups: a fence ends at the first place where one may, so the time is linear.
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
_PARTS = re.compile(r"<!-- [\w:. -]*[A-Za-z0-9+/=]{16,} -->")
"""The parts of a message once more, for the program."""


def is_session(head: bytes) -> bool:
    """Whether a note is a session, by its first bytes."""
    text = head.decode("utf-8", "replace").replace("\r\n", "\n")
    front = _FRONT.match(text)
    return front is not None and "\nid: " in "\n" + front[1] and _TURN.search(text) is not None


def items(stream: BinaryIO, about: Reading) -> Iterator[TranscriptItem]:
    """The turns, dropped turns and problems of a session, in its order."""
    text = read_whole(stream, LARGEST, about.path)
    if isinstance(text, Problem):
        yield text
        return
    if "\ufffd" in text:
        about.tally.add("invalid UTF-8 replaced", 1)
    text = text.replace("\r\n", "\n").replace("\0", "")
    front = _FRONT.match(text)
    pairs = (line.partition(": ") for line in (front[1] if front else "").split("\n"))
    meta = {key: value.strip().strip('"') for key, _, value in pairs}
    created = normalise(meta.get("created"), about.zone)
    session, day = label(meta.get("id")) or about.session, created and created[:10]
    tools, lines = ToolReader(about), _Lines(text)
    head = _TURN.search(text, front.end() if front else 0)
    while head:
        number, following = head[1], _TURN.search(text, head.end())
        end = _TEXT_END.search(text, head.end(), following.start() if following else len(text))
        place = end.start() if end else following.start() if following else len(text)
        role: Role = "user" if head[2] == "user" else "assistant"
        message = lines.message(session, day, number, head.start(), place)
        yield message.said(role, _unescaped(text[head.end() : place]))
        for count in itertools.count(1):
            tool = _TOOL.match(text, place)
            if tool is None:
                break
            call_id, place = f"{number}#{count}", tool.end()
            call = lines.message(session, day, call_id, tool.start(), tool.start("kind"))
            yield tools.call(call, tool["name"], _json(tool["given"]), call_id)
            if tool["said"].strip():
                gave = lines.message(session, day, f"{call_id}r", tool.start("kind"), place)
                error = tool["kind"].lower() == "error"
                yield tools.result(gave, tool["name"], tool["said"], call_id, error=error)
        if end and end[0].startswith("###") and place == end.start():
            about.tally.add("tool call is cut short", lines.number(place))
        head = _TURN.search(text, place)  # behind the tools of a turn nothing is its own


class _Lines:
    """Numbers of the lines of a text, asked for in its order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._number = 0, 1

    def number(self, place: int) -> int:
        """The line of a place, from 1; never before the one that was asked for last."""
        self._number += self._text.count("\n", self._place, max(place, self._place))
        self._place = max(place, self._place)
        return self._number

    def message(self, session: str, day: str | None, name: str, start: int, end: int) -> Message:
        """A message that stands in ``text[start:end]``."""
        first = self.number(start)
        return Message(session, first, day, name, max(first, self.number(end - 1)))


def _unescaped(text: str) -> str:
    kept = (line for line in text.split("\n") if not _PARTS.fullmatch(line))
    return "\n".join(_ESCAPED.sub("", line) for line in kept).strip("\n").rstrip()


def _json(text: str) -> Any:
    """The arguments of a call; as they stand where they are no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
