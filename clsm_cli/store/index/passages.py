"""Passages, which recall ranks and returns: turns, blocks of documents, and statements.

Long ones are split at sentence or list ends into parts of at most ``max_tokens`` word pieces; dumps
(``text.dumps``) at line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from clsm_cli.model.episodes import Turn
    from clsm_cli.model.graph import Statement

HEADING_SEPARATOR = " › "
_DAY = r"\d{4}-\d{2}-\d{2}\b"  # as text, like the next: a recall compiles neither
_LINE = r"\S(?:[^\n]*\S)?"


class Passage(NamedTuple):
    """One row of the index.

    Of a part of a dump only the words are indexed: it has no vector and no mentions, and consolidation
    skips it.
    """

    key: str  # turn key or statement id; with ``part`` (from 0) it identifies the passage
    part: int
    kind: str
    stream: str
    trust: str
    text: str
    session: str = ""
    episode: str | None = None
    document: str | None = None
    speaker: str = ""
    role: str = "user"
    time: str | None = None
    path: str = ""  # the ingested file as given; for a statement, its topic file in the store
    line_start: int = 0
    line_end: int = 0
    line_offset: int = 0  # lines between the start of the block and of this part
    foreign_id: str | None = None
    heading: str = ""
    sources: tuple[str, ...] = ()
    current: bool = True  # false for a closed block and a superseded statement
    origin: str = ""  # real path of the ingested file, see ``Turn``
    is_dump: bool = False

    @property
    def id(self) -> str:
        """``<key>``, or ``<key>-<n>`` for part n of a long one, from 2."""
        return self.key if self.part == 0 else f"{self.key}-{self.part + 1}"

    @property
    def embedded_text(self) -> str:
        """The text to embed, see ``with_heading``."""
        return with_heading(self.heading, self.text)

    @property
    def embedded_digest(self) -> int | None:
        """Key of its vector; None for a dump."""
        return None if self.is_dump else text_digest(self.embedded_text)


def text_digest(text: str) -> int:
    """Key of a text's vector: 60 bits."""
    return int(digest("embedded", text) + digest(text)[:3], 16)


def with_heading(heading: str, text: str) -> str:
    r"""Prefix a block with its heading path, which has its subject, without dates.

    On an agent's notes, the heading path gains 3 to 7 points of recall; a date costs 1.5 to 4.

    >>> with_heading("2026-02-11, Wednesday › Reading", "The chapter.")
    'Reading\nThe chapter.'
    """
    titles = [t for t in heading.split(HEADING_SEPARATOR) if t and not re.match(_DAY, t)]
    return f"{HEADING_SEPARATOR.join(titles)}\n{text}" if titles else text


def turn_passages(
    turn: Turn,
    max_tokens: int,
    session: str,
    episode: str | None = None,
    document: str | None = None,
) -> list[Passage]:
    """The passages of a turn or a block."""
    is_block = document is not None
    passages = []
    for number, (start, end, is_dump) in enumerate(split_text(turn.text, max_tokens)):
        text = turn.text[start:end]
        offset = turn.text.count("\n", 0, start) if is_block else 0
        first = turn.line_start + offset
        passages.append(
            Passage(
                key=turn.key,
                part=number,
                kind="passage",
                stream="flow",
                trust=turn.trust,
                text=text,
                session=session,
                episode=episode,
                document=document,
                speaker=turn.speaker,
                role=turn.role,
                time=turn.time,
                path=turn.path,
                line_start=first,
                line_end=first + text.count("\n") if is_block else turn.line_end,
                line_offset=offset,
                foreign_id=turn.foreign_id,
                heading=HEADING_SEPARATOR.join(turn.heading),
                origin=turn.origin,
                is_dump=is_dump,
            )
        )
    return passages


def statement_passage(statement: Statement, path: str, line: int) -> Passage:
    """The passage of a statement."""
    return Passage(
        key=statement.id,
        part=0,
        kind="gist" if statement.kind == "gist" else "statement",
        stream=statement.stream,
        trust=statement.trust,
        text=statement.text,
        time=statement.valid_from or statement.recorded_at,
        path=path,
        line_start=line,
        line_end=line,
        sources=statement.sources,
        current=statement.is_current,
    )


def split_text(text: str, max_tokens: int) -> list[tuple[int, int, bool]]:
    """Spans (start, end, is_dump) of at most ``max_tokens`` word pieces, cut at sentence or list ends.

    A longer sentence is cut between words; only whitespace is left out. In a dump, lines are the
    sentences, and its parts contain no other text.
    """
    if not _is_too_long(text, 0, len(text), max_tokens):
        return [(0, len(text), False)]
    spans: list[tuple[int, int, bool]] = []
    size, is_full = 0.0, True
    for start, end, fills, is_dump in _units(text, max_tokens):
        more = tokens.expected_tokens(text, start, end, max_tokens, size)
        if (
            is_full
            or spans[-1][2] != is_dump
            or round(more) > max_tokens
            or end - spans[-1][0] > _MAX_CHARS_PER_PIECE * max_tokens
        ):
            spans.append((start, end, is_dump))
            size = tokens.expected_tokens(text, start, end, max_tokens)
        else:
            spans[-1] = (spans[-1][0], end, is_dump)
            size = more
        is_full = fills
    return spans


_MAX_CHARS_PER_PIECE = 64  # characters per word piece above which a span is always too long


def _is_too_long(text: str, start: int, end: int, max_tokens: int) -> bool:
    if end - start <= max_tokens:
        return False
    if end - start > _MAX_CHARS_PER_PIECE * max_tokens:
        return True
    return round(tokens.expected_tokens(text, start, end, max_tokens)) > max_tokens


def _units(text: str, max_tokens: int) -> Iterator[tuple[int, int, bool, bool]]:
    """Sentences, list items and lines of dumps, or pieces of long ones.

    Yields start, end, whether it fills a part, and whether it belongs to a dump.
    """
    for first, end, is_dump in _sentences(text):
        start = first
        while _is_too_long(text, start, end, max_tokens):
            # a word piece rarely has more than eight characters: the rest need not be read
            head = tokens.trim_to_tokens(text[start : min(end, start + 8 * max_tokens)], max_tokens)
            cut_at = start + (len(head) or max_tokens)
            yield start, cut_at, True, is_dump
            start = cut_at
            while start < end and text[start].isspace():
                start += 1
        if start < end:
            yield start, end, False, is_dump


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Sentences and lines of dumps, in order: start, end, is_dump."""
    from clsm_cli.text import dumps, sentences

    done = 0
    for first, end in [*dumps.find_dumps(text), (len(text), len(text))]:
        for span in sentences.split(text[done:first]):
            yield done + span.start, done + span.end, False
        for line in re.compile(_LINE).finditer(text, first, end):
            yield line.start(), line.end(), True
        done = end


def terms_of(speaker: str, heading: str, text: str) -> tuple[Counter[str], int]:
    """Terms and identifier keys of a passage with their counts, and its length in terms."""
    text = with_heading(heading, text)
    terms = Counter(tokens.stems(f"{speaker} {text}"))
    return terms + Counter(tokens.identifier_keys(text)), terms.total()
