"""Statements: their text in a Markdown topic file, the rest in a graph shard (docs/format.md §7).

Markdown is the truth for the text. The shard keeps ``text_sha`` of the text it knows, so an edit by
hand is seen: a changed text is a new version by the user, an item without ``^id`` a new statement, a
missing one a withdrawn one. Reading sees it at once; ``settle`` writes it down.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import digest, folded, is_id
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.store import atomic, front_matter
from clsm_cli.store.conflict_names import is_conflict_copy
from clsm_cli.store.jsonlines import LineError, dump
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.model.graph import Statement, TaskState
    from clsm_cli.model.streams import Stream

_BULLET = re.compile(r"[-*+][ \t]+(?:\[([ xX!])\][ \t]+)?")
_BOXES: dict[str, TaskState] = {" ": "open", "x": "done", "X": "done", "!": "blocked"}
_BOX_OF = {"open": " ", "done": "x", "blocked": "!"}


@dataclass(frozen=True, slots=True)
class Item:
    """A statement's line in a topic file; ``line`` counts from 1, continuation lines joined."""

    id: str | None
    text: str
    line: int
    state: TaskState | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic file: its items, and its lines with CR and broken UTF-8 as they are (``topic_edit``)."""

    path: Path
    title: str
    items: tuple[Item, ...]
    lines: tuple[str, ...]
    sha256: str | None
    problems: tuple[LineProblem, ...] = ()


def text_sha(text: str) -> str:
    """Digest of a statement's text, blank space folded."""
    return digest("text", " ".join(text.split()))


def id_of(item: Item, forgotten: frozenset[str] = frozenset()) -> str:
    """The id of an item: the one it carries, or for a new one the hash of its text.

    An id with a tombstone is not given again: who writes a forgotten sentence anew means it.
    """
    return item.id or birth_id(item.text, forgotten)


def birth_id(text: str, forgotten: frozenset[str], salt: str | None = None) -> str:
    """The id of a statement that a person writes; ``salt`` where the plain one is another's."""
    return first_free(birth_ids(folded(text), salt), forgotten)


def parse(data: bytes, path: Path) -> Topic:
    """The items of a topic file."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").replace("\r\n", "\n")
    problems: list[LineProblem] = []
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        number = text.count("\n", 0, text.index("\ufffd")) + 1
        problems.append(LineProblem(path, number, "is not UTF-8 (bad bytes were replaced)"))
    metadata: dict[str, Any] = {}
    offset = 0
    try:
        raw, _, offset = front_matter.split(text)
        metadata = {} if raw is None else front_matter.parse(raw)
    except LineError as error:
        problems.append(LineProblem(path, None, str(error)))
    items: list[Item] = []
    open_item = False
    for number, line in enumerate(text.split("\n")[offset:], offset + 1):
        if (item := _item(line, number)) is not None:
            items.append(item)
            open_item = True
        elif open_item and line.startswith("  ") and line.strip():
            more, record_id = _without_id(line.strip())
            last = items[-1]
            items[-1] = replace(last, text=f"{last.text} {more}", id=last.id or record_id)
        else:
            open_item = False
    lines = tuple(data.decode("utf-8", "surrogateescape").split("\n"))
    name = str(metadata.get("title") or path.stem)
    return Topic(path, name, tuple(items), lines, atomic.sha256(data), tuple(problems))


def _item(line: str, number: int) -> Item | None:
    """The item that begins on a line; None when there is none, or nothing but its id is left."""
    bullet = _BULLET.match(line)
    if bullet is None:
        return None
    text, record_id = _without_id(line[bullet.end() :])
    if not any(map(str.isalnum, text)):  # "* * *" is a rule
        return None
    return Item(record_id, text, number, _BOXES.get(bullet.group(1) or ""))


def _without_id(text: str) -> tuple[str, str | None]:
    """The text of a line and the id behind it."""
    text = text.rstrip()
    words, caret, record_id = text.rpartition("^")
    if caret and is_id(record_id) and (not words or words[-1] in " \t"):
        return words.rstrip(), record_id
    return text, None


def read_topics(folder: Path) -> list[Topic]:
    """Every topic file of a stream, sorted by name; an unreadable one is a problem."""
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    topics = []
    for name in names:
        path = folder / name
        if not name.endswith(".md") or name[0] == "." or path.is_dir() or is_conflict_copy(name):
            continue
        try:
            data = atomic.read(path, MAX_FILE)
        except DamagedStoreError as error:
            problem = LineProblem(path, error.line, error.reason)
            topics.append(Topic(path, path.stem, (), (), None, (problem,)))
            continue
        if data is not None:
            topics.append(parse(data, path))
    return topics


def render_item(statement: Statement) -> str:
    """The line of a statement in its topic file.

    >>> from clsm_cli.model.graph import Statement
    >>> render_item(Statement(id="f-1", rev=(1, "pi"), text="Call Mara.", state="open"))
    '- [ ] Call Mara.  ^f-1'
    """
    box = f"[{_BOX_OF[statement.state]}] " if statement.state else ""
    return f"- {box}{' '.join(statement.text.split())}  ^{statement.id}"


def render_topic(title: str, stream: Stream, topic: str, statements: Sequence[Statement]) -> bytes:
    """A new topic file: front matter, then one line a statement, sorted by id."""
    head = {"title": title, "stream": stream, "topic": topic}
    lines = ["---", *(f"{key}: {dump(value)}" for key, value in head.items()), "---", ""]
    lines += [render_item(s) for s in sorted(statements, key=lambda s: s.id) if s.is_current]
    return ("\n".join(lines) + "\n").encode()
