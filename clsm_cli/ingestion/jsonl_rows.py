"""Raw items (turns, breaks, blocks) of readers, and reading JSON Lines of any size and damage.

Lines are never held beyond their limit, a bad row is one ``Problem`` and reading continues, and a problem
that recurs in a file is reported once, with a count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.store.jsonlines import LineError, change_strings, load, without_surrogates
from clsm_cli.text.terminal import replace_lone

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from clsm_cli.model.episodes import Role, ToolCall
    from clsm_cli.model.trust import Trust

FenceKey = Callable[[], bytes | None]
"""Provides the key, or None without one; called only for text that may contain a block."""


def no_key() -> None:
    """No key: every block is kept."""


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A message as its transcript gives it; ``time`` as in ``model.episodes.Turn``."""

    session: str
    speaker: str
    role: Role
    text: str
    time: str | None
    line_start: int
    line_end: int
    foreign_id: str | None = None
    tool: ToolCall | None = None
    trust: Trust | None = None  # only if it is not the role's: a fetched page is web


@dataclass(frozen=True, slots=True)
class RawBreak:
    """An end or reset of the conversation; the next turn starts a new episode."""

    session: str
    time: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text that is no memory by design (a heartbeat poll, a checkpoint), counted by ``reason``.

    ``call`` is the id of a call that ran clsm in ``session``: a later input may have its result.
    """

    reason: str
    line: int
    session: str | None = None
    call: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; reading continues.

    ``path`` as given, ``line`` from 1, or None for the whole file.
    """

    path: str
    line: int | None
    reason: str


TranscriptItem = RawTurn | RawBreak | Dropped | Problem


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A paragraph, list item, table, quote or code block of a Markdown document."""

    text: str
    line_start: int
    line_end: int
    heading: tuple[str, ...]
    time: str | None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A Markdown document as blocks.

    ``dropped``: text of programs that was left out, counted by reason. ``header_day``: day below the title, of the
    blocks without a time that its first version has.
    """

    trust: Trust
    blocks: tuple[RawBlock, ...]
    problems: tuple[Problem, ...]
    dropped: Counter[str] = field(default_factory=Counter)
    header_day: str | None = None


_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"

Line = tuple[int, bytes | str]  # number of a line or row; content, or why it is too long or damaged


def bounded_lines(stream: BinaryIO, limit: int = MAX_MESSAGE) -> Iterator[Line]:
    r"""Yield the numbered lines of a stream, with their line ends; lines above ``limit`` bytes are not held.

    Only ``\n`` ends a line (a lone ``\r`` is content), so the numbers match an editor's.

    >>> import io
    >>> list(bounded_lines(io.BytesIO(b"one\r\ntwo thr\nlast"), limit=5))
    [(1, b'one\r\n'), (2, 'line of 7 bytes is longer than 0 MiB'), (3, b'last')]
    """
    number = 0
    while line := stream.readline(limit + 2):
        number += 1
        content = len(line.rstrip(b"\r\n")) if line.endswith(b"\n") else len(line)
        if content <= limit:
            yield number, line
            continue
        while not line.endswith(b"\n") and (line := stream.readline(_CHUNK)):
            content += len(line.rstrip(b"\r\n")) if line.endswith(b"\n") else len(line)
        yield number, f"line of {content} bytes is longer than {limit >> 20} MiB"


class Findings:
    """Findings to report once per file: the first line of each, and their number."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, reason: str, line: int) -> None:
        """Count a finding."""
        first, count = self._found.get(reason, (line, 0))
        self._found[reason] = (first, count + 1)

    def problems(self, path: str) -> Iterator[Problem]:
        """Yield one problem per reason, in the order of their first lines."""
        for reason, (line, count) in self._found.items():
            times = "" if count == 1 else f" ({count} times)"
            yield Problem(path, line, reason + times)


def parse(line: bytes, number: int, findings: Findings) -> dict[str, Any]:
    """The JSON object of one line; bytes that are not text are replaced and counted."""
    if number == 1:
        line = line.removeprefix(_BOM)
    if b"\0" in line:
        findings.add("NUL removed", number)
        line = line.replace(b"\0", b"")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        findings.add("invalid UTF-8 replaced", number)
        text = line.decode(errors="replace")
    row = load(text)
    if not isinstance(row, dict):
        raise LineError("is not a JSON object")
    # Escapes can contain characters that bytes cannot: NUL, or a lone surrogate, which cannot be
    # written to a file.
    if "\\u0000" in text or "\\ud" in text or "\\uD" in text:
        clean: dict[str, Any] = change_strings(
            row, lambda each: replace_lone(each.replace("\0", "")), keys=True
        )
        if clean != row:
            reason = "NUL removed" if "\\u0000" in text else "invalid UTF-8 replaced"
            findings.add(reason, number)
        return clean
    return row


@dataclass(frozen=True, slots=True)
class Reading:
    """The context of a reader."""

    path: str  # as given, for problems
    zone: tzinfo
    now: datetime  # no message of a chat is later
    session: str  # for items without one
    findings: Findings = field(default_factory=Findings)
    # The ids of calls in a session that ran clsm in earlier inputs, whose results may follow.
    known_clsm_calls: Callable[[str], Iterable[str]] = lambda _session: ()
    knows_session: Callable[[str], bool] = lambda _session: False
    day_first: bool | None = None  # for the dates of a chat; None: the chat itself decides
    fence_key: FenceKey = no_key  # see ``recalled_text``
    me: tuple[str, ...] = ()  # names of the owner in chats
    # Speakers of chats in which nobody is known to be the owner.
    strangers: set[str] = field(default_factory=set)

    def is_me(self, name: str) -> bool:
        """Whether a speaker of a chat is the owner, by the names that the owner gave."""
        return name.casefold() in {" ".join(each.split()).casefold() for each in self.me}


RowReader = Callable[[dict[str, Any], int], "Iterator[TranscriptItem]"]
"""Yields the items of a row of a transcript, given its line number."""


def row_items(lines: Iterable[Line], read: RowReader, reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the items of the rows of a transcript, and a problem for each line that is no row."""
    for number, line in lines:
        if isinstance(line, str):
            yield Problem(reading.path, number, line)
        elif line.strip(b" \t\r\n"):
            try:
                row = parse(line.rstrip(b"\r\n"), number, reading.findings)
            except LineError as error:
                # The line of a writer that is still appending; the next ingest reads it whole.
                broken = str(error).removeprefix("is ")
                is_whole = line.endswith(b"\n")
                yield Problem(reading.path, number, broken if is_whole else "incomplete last line")
            else:
                yield from read(row, number)


def first_time(values: Iterable[object], reading: Reading) -> str | None:
    """The first of some values that is a valid time."""
    return next((time for value in values if (time := normalise(value, reading.zone))), None)


class UnreadableError(Exception):
    """A document cannot be read; its text is the reason."""


MAX_TEXT_BYTES, MAX_JSON_BYTES = 64 << 20, 256 << 20
"""Size of a text or JSON document, which is read whole; JSON takes several times as much memory."""


def read_whole(stream: IO[bytes], largest: int, advice: str = "") -> str:
    """A document of at most ``largest`` bytes as text; bytes other than UTF-8 are replaced.

    Raises:
        UnreadableError: It is larger.
    """
    data = stream.read(largest + 1)
    if len(data) > largest:
        raise UnreadableError(f"larger than {largest >> 20} MiB{advice}")
    return data.removeprefix(_BOM).decode(errors="replace")


def read_json(stream: IO[bytes], advice: str) -> Any:
    """A JSON document of at most ``MAX_JSON_BYTES``.

    Raises:
        UnreadableError: It is larger, or not JSON.
    """
    text = read_whole(stream, MAX_JSON_BYTES, advice)
    try:
        document = json.loads(text)
        return without_surrogates(document) if "\\ud" in text or "\\uD" in text else document
    except ValueError as error:
        raise UnreadableError(f"not JSON ({str(error).lower()})") from error
    except RecursionError as error:
        raise UnreadableError("JSON that is nested too deeply") from error


def with_refusal(items: Iterable[TranscriptItem], path: str) -> Iterator[TranscriptItem]:
    """Pass ``items`` through; a document that cannot be read ends them with a problem."""
    try:
        yield from items
    except UnreadableError as error:
        yield Problem(path, None, str(error))


def check_items(items: Iterable[TranscriptItem], reading: Reading) -> Iterator[TranscriptItem]:
    """Pass ``items`` through and, at the end, report problems with their times and sizes."""
    findings = reading.findings
    for item in with_refusal(items, reading.path):
        yield item
        if not isinstance(item, RawTurn):
            continue
        if item.time is None:
            findings.add("no timestamp that can be read, kept without a time", item.line_start)
        text = item.text
        if 4 * len(text) > MAX_MESSAGE and len(text.encode(errors="replace")) > MAX_MESSAGE:
            reason = f"longer than {MAX_MESSAGE >> 20} MiB, its beginning kept"
            findings.add(reason, item.line_start)
    yield from findings.problems(reading.path)


def text_or_empty(value: object) -> str:
    """A text value of a row; empty for any other type."""
    return value if isinstance(value, str) else ""


def label(value: object) -> str | None:
    """A foreign name or id as one short line; None without one."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return " ".join(str(value)[:400].split())[:200] or None


def parts_of(content: object) -> list[dict[str, Any]]:
    """The parts of a message; plain text is one part of type ``text``."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [
        part if isinstance(part, dict) else {"type": "text", "text": part}
        for part in content
        if isinstance(part, (dict, str))
    ]


def mapping(value: object) -> dict[str, Any]:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(parts: Iterable[dict[str, Any]]) -> str:
    """The text parts of a message, one per line, without blank lines around them."""
    texts = (part.get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str)).strip("\n").rstrip()


def spoken_text(parts: Sequence[dict[str, Any]]) -> str | None:
    """The text of a message; None if it has only other parts."""
    texts = [part for part in parts if part.get("type") == "text"]
    return None if parts and not texts else text_of(texts)
