"""Raw items (turns, breaks, blocks) that readers produce, and reading JSON Lines of any size and damage.

A line is never held beyond its limit, a bad row is one ``Problem`` and the next row goes on, and what is
wrong all over a file is reported once, with a count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.store.jsonlines import LineError, change_strings, load, without_surrogates
from clsm_cli.text.terminal import replace_lone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime, tzinfo

    from clsm_cli.model.episodes import Role, ToolCall
    from clsm_cli.model.trust import Trust

FenceKey = Callable[[], bytes | None]
"""Gives the key, or None where there is none; called only for text that may hold a block."""


def no_key() -> None:
    """The key where there is none: every block is kept."""


@dataclass(frozen=True, slots=True)
class RawTurn:
    """One message as a transcript tells it; ``time`` as in ``model.episodes.Turn``."""

    session: str
    speaker: str
    role: Role
    text: str
    time: str | None
    line_start: int
    line_end: int
    foreign_id: str | None = None
    tool: ToolCall | None = None
    trust: Trust | None = None
    """Only where it is not the role's (``model.episodes.ROLE_TRUST``): a fetched page is web."""


@dataclass(frozen=True, slots=True)
class RawBreak:
    """The conversation ended or was reset here; what follows begins a new episode."""

    session: str
    time: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Not memory by design (a heartbeat poll, a checkpoint); counted by ``reason``.

    ``call`` is the id of a call that ran clsm in ``session``: a later input may bring its result.
    """

    reason: str
    line: int
    session: str | None = None
    call: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; the rest goes on.

    ``path`` as given, ``line`` from 1 or None when the whole file is meant.
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
    """A Markdown document, cut into blocks; ``recalled`` counts what clsm itself had recalled."""

    trust: Trust
    blocks: tuple[RawBlock, ...]
    problems: tuple[Problem, ...]
    recalled: int = 0


_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"

Line = tuple[int, bytes | str]
"""The number of a line or a row, and what it holds, or how it is too long or damaged."""


def bounded_lines(stream: BinaryIO, limit: int = MAX_MESSAGE) -> Iterator[Line]:
    r"""Numbered lines of a stream, with their line end; a line beyond ``limit`` bytes is not held.

    Only ``\n`` ends a line (a lone ``\r`` is content), so the numbers are an editor's.

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
    """Findings that are told once a file: the line of the first, and how many there were."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, reason: str, line: int) -> None:
        """Count one more ``reason``."""
        first, count = self._found.get(reason, (line, 0))
        self._found[reason] = (first, count + 1)

    def problems(self, path: str) -> Iterator[Problem]:
        """One problem a reason, in the order in which they were first found."""
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
    # Escapes can smuggle in what the bytes may not hold: NUL, or half a surrogate pair, which no
    # file could be written with.
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
    """What a reader is told of its source.

    Attributes:
        path: As it was given, for problems.
        now: No message of a chat is later.
        session: Of what names none.
        known_clsm_calls: Gives, for a session, the ids of calls that ran clsm in earlier inputs, and
            whose results may only come now.
        day_first: Of a chat's dates; None: as the chat itself tells.
        fence_key: Gives the key by which recalled text is known, see ``recalled_text``.
    """

    path: str
    zone: tzinfo
    now: datetime
    session: str
    findings: Findings = field(default_factory=Findings)
    known_clsm_calls: Callable[[str], Iterable[str]] = lambda _session: ()
    day_first: bool | None = None
    fence_key: FenceKey = no_key


RowReader = Callable[[dict[str, Any], int], "Iterator[TranscriptItem]"]
"""Gives what a row of a transcript and its line number become."""


def row_items(lines: Iterable[Line], read: RowReader, reading: Reading) -> Iterator[TranscriptItem]:
    """What the rows of a transcript become, and a problem for each line that is none."""
    for number, line in lines:
        if isinstance(line, str):
            yield Problem(reading.path, number, line)
        elif line.strip(b" \t\r\n"):
            try:
                row = parse(line.rstrip(b"\r\n"), number, reading.findings)
            except LineError as error:
                # A writer that appends while we read leaves such a line; the next ingest has it whole.
                broken = str(error).removeprefix("is ")
                is_whole = line.endswith(b"\n")
                yield Problem(reading.path, number, broken if is_whole else "incomplete last line")
            else:
                yield from read(row, number)


def first_time(values: Iterable[object], reading: Reading) -> str | None:
    """The first of some values that is a time."""
    return next((time for value in values if (time := normalise(value, reading.zone))), None)


class RefusedError(Exception):
    """A document cannot be read; its text says why."""


def read_whole(stream: IO[bytes], largest: int, advice: str = "") -> str:
    """A document of at most ``largest`` bytes as text; what is not UTF-8 is replaced.

    Raises:
        RefusedError: It is larger.
    """
    data = stream.read(largest + 1)
    if len(data) > largest:
        raise RefusedError(f"larger than {largest >> 20} MiB{advice}")
    return data.removeprefix(_BOM).decode(errors="replace")


def read_json(stream: IO[bytes], largest: int, advice: str) -> Any:
    """A JSON document of at most ``largest`` bytes.

    Raises:
        RefusedError: It is larger, or no JSON.
    """
    text = read_whole(stream, largest, advice)
    try:
        document = json.loads(text)
        return without_surrogates(document) if "\\ud" in text or "\\uD" in text else document
    except ValueError as error:
        raise RefusedError(f"not JSON ({str(error).lower()})") from error
    except RecursionError as error:
        raise RefusedError("JSON that is nested too deeply") from error


def with_refusal(items: Iterable[TranscriptItem], path: str) -> Iterator[TranscriptItem]:
    """Pass ``items`` through; a document that cannot be read ends them with a problem."""
    try:
        yield from items
    except RefusedError as error:
        yield Problem(path, None, str(error))


def check_items(items: Iterable[TranscriptItem], reading: Reading) -> Iterator[TranscriptItem]:
    """Pass ``items`` through and, at the end, tell what is odd about their times and sizes."""
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
    """A type, role or mark of a row; empty when it is not even text."""
    return value if isinstance(value, str) else ""


def label(value: object) -> str | None:
    """A foreign name or id as one short line; None when there is none."""
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
    """The text of a message: its text parts, a line each, without blank lines around them."""
    texts = (part.get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str)).strip("\n").rstrip()


def spoken_text(parts: Sequence[dict[str, Any]]) -> str | None:
    """What the text parts of a message say; None of one that has only others."""
    texts = [part for part in parts if part.get("type") == "text"]
    return None if parts and not texts else text_of(texts)
