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
    from collections.abc import Iterator, Sequence

    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem
    from clsm_cli.model.episodes import Role

LARGEST = 64 << 20
"""Bytes of a session; it is read whole."""
_TURN = re.compile(r"## Turn (\d{1,9}) [—–-]{1,2} (user|assistant)(?: \(.*\))?[ \t]*\Z")
_TOOL = re.compile(r"### Tool: (.+)")
_ESCAPED = re.compile(r"\\(?=## Turn \d|---\Z)|\\(?=</(?:details|summary)>)", re.IGNORECASE)
_FOOTER = re.compile(r"\*Session .*\*")
_PARTS = re.compile(r"<!-- [\w:. -]*[A-Za-z0-9+/=]{16,} -->")
"""The parts of a message once more, for the program."""
_FENCE = "```"


def is_session(head: bytes) -> bool:
    r"""Whether a note is a session, by its first bytes.

    >>> is_session("---\nid: s-1\n---\n\n## Turn 1 — user\n\nHi.\n".encode())
    True
    >>> is_session("## Turn 1 — user".encode())
    False
    """
    lines = head.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if lines[0] != "---" or not any(line.startswith("id: ") for line in lines[:40]):
        return False
    return any(_TURN.match(line) for line in lines)


def items(stream: BinaryIO, about: Reading) -> Iterator[TranscriptItem]:
    """The turns, dropped turns and problems of a session, in its order."""
    text = read_whole(stream, LARGEST, about.path)
    if isinstance(text, Problem):
        yield text
        return
    if "\ufffd" in text:
        about.tally.add("invalid UTF-8 replaced", 1)
    lines = text.replace("\r\n", "\n").replace("\0", "").split("\n")
    meta, start = _front_matter(lines)
    created = normalise(meta.get("created"), about.zone)
    session = label(meta.get("id")) or about.session
    yield from _Reader(lines, session, created and created[:10], about).items(start)


def _front_matter(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    if lines[0].rstrip() != "---":
        return {}, 0
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() == "---"), 0)
    pairs = (line.partition(": ") for line in lines[1:end])
    return {key: value.strip().strip('"') for key, _, value in pairs}, end + 1


class _Reader:
    def __init__(self, lines: list[str], session: str, day: str | None, about: Reading) -> None:
        self.lines = lines
        self.session = session
        self.day = day
        self.tally = about.tally
        self.tools = ToolReader(about)

    def items(self, place: int) -> Iterator[TranscriptItem]:
        """Turn by turn; what stands before the first one is no turn."""
        while place < len(self.lines) and not _TURN.match(self.lines[place]):
            place += 1
        while place < len(self.lines) and (head := _TURN.match(self.lines[place])):
            first, place = place, place + 1
            end = self._text_end(place)
            role: Role = "user" if head[2] == "user" else "assistant"
            yield self._said(role, head[1], first, end)
            place = end
            for count in itertools.count(1):
                tool = self._tool_at(place)
                if tool is None:
                    break
                found, place = self._tool(tool, f"{head[1]}#{count}", place)
                yield from found
                while place < len(self.lines) and not self.lines[place].strip():
                    place += 1
            while place < len(self.lines) and not _TURN.match(self.lines[place]):
                place += 1  # behind the tools of a turn nothing is its own

    def _text_end(self, place: int) -> int:
        while place < len(self.lines) and not _TURN.match(self.lines[place]):
            if self._tool_at(place) is not None or self._is_footer(place):
                break
            place += 1
        return place

    def _is_footer(self, place: int) -> bool:
        rest = [line for line in self.lines[place : place + 3] if line.strip()]
        return rest[:1] == ["---"] and len(rest) > 1 and bool(_FOOTER.fullmatch(rest[1]))

    def _tool_at(self, place: int) -> str | None:
        """The name of the tool whose section begins here; a heading alone is text."""
        head = _TOOL.fullmatch(self.lines[place]) if place < len(self.lines) else None
        behind = [line for line in self.lines[place + 1 : place + 3] if line.strip()]
        return head[1] if head and behind == ["**Input:**"] else None

    def _tool(self, name: str, number: str, place: int) -> tuple[list[TranscriptItem], int]:
        first = place
        given, place = self._fenced(place + 1, "<details>")
        is_error = "<summary>error</summary>" in "".join(self.lines[place : place + 3]).lower()
        middle = place
        said, place = self._fenced(place, "</details>")
        call = self._message(number, first, middle)
        found = [self.tools.call(call, name, _json(given), number)]
        if said.strip():
            behind = self._message(f"{number}r", middle, place)
            found.append(self.tools.result(behind, name, said, number, error=is_error))
        return found, place

    def _fenced(self, place: int, behind: str) -> tuple[str, int]:
        """What stands in the next fence, which ends before a line ``behind``; the line after it."""
        opening = place
        while place < len(self.lines) and not self.lines[place].startswith(_FENCE):
            place += 1
        start = place = place + 1
        while place < len(self.lines):
            rest = [line for line in self.lines[place + 1 : place + 3] if line.strip()]
            if self.lines[place] == _FENCE and rest[:1] == [behind]:
                end = place + 1 + self.lines[place + 1 : place + 3].index(behind)
                return "\n".join(self.lines[start:place]), end + 1
            place += 1
        self.tally.add("tool call is cut short", opening + 1)
        return "\n".join(self.lines[start:]), len(self.lines)

    def _said(self, role: Role, number: str, first: int, end: int) -> TranscriptItem:
        kept = (line for line in self.lines[first + 1 : end] if not _PARTS.fullmatch(line))
        text = "\n".join(_ESCAPED.sub("", line) for line in kept).strip("\n").rstrip()
        return self._message(number, first, end).said(role, text)

    def _message(self, number: str, first: int, end: int) -> Message:
        return Message(self.session, first + 1, self.day, number, max(first + 1, end))


def _json(text: str) -> Any:
    """The arguments of a call; as they stand where they are no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
