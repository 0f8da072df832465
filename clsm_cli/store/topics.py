"""Topic files: the text of statements in Markdown, read and edited (docs/format.md §7).

Markdown is the truth for the text. The shard keeps ``text_sha`` of the text it knows, so an edit by
hand is seen: a changed text is a new version by the user, an item without ``^id`` a new statement, a
missing one a withdrawn one. Reading sees it at once; ``settle`` writes it down.

An edit changes only the lines it must. Statements stand under a heading with the name of what they are
about; a person may move them anywhere, as a line is found by its id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.graph import Statement, TaskState
from clsm_cli.model.ids import digest, is_id, normalise_text
from clsm_cli.model.streams import Stream
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, front_matter
from clsm_cli.store.jsonlines import LineError, LineProblem, dump
from clsm_cli.store.layout import is_conflict_copy

_BULLET = re.compile(r"[-*+][ \t]+(?:\[([ xX!])\][ \t]+)?")
_BOXES: dict[str, TaskState] = {" ": "open", "x": "done", "X": "done", "!": "blocked"}
BOX_OF: dict[str | None, str] = {"open": " ", "done": "x", "blocked": "!"}


@dataclass(frozen=True, slots=True)
class Item:
    """A statement's line in a topic file; ``line`` counts from 1, continuation lines joined."""

    id: str | None
    text: str
    line: int
    state: TaskState | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic file: its items, and its lines with CR and broken UTF-8 as they are."""

    path: Path
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


def heading_of(topic: Topic, item: Item) -> str:
    """The heading that an item stands under; "" for none."""
    above = [line for line in topic.lines[: item.line] if line.startswith("## ")]
    return above[-1].removeprefix("## ").strip() if above else ""


def birth_id(text: str, forgotten: frozenset[str], salt: str | None = None) -> str:
    """The id of a statement that a person writes; ``salt`` where the plain one is another's."""
    return first_free(birth_ids(normalise_text(text), salt), forgotten)


def parse(data: bytes, path: Path) -> Topic:
    """The items of a topic file."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").replace("\r\n", "\n")
    problems: list[LineProblem] = []
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        number = text.count("\n", 0, text.index("\ufffd")) + 1
        problems.append(LineProblem(path, number, "is not UTF-8 (bad bytes were replaced)"))
    offset = 0
    try:
        raw, _, offset = front_matter.split(text)
        front_matter.parse(raw or "")
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
    return Topic(path, tuple(items), lines, atomic.sha256(data), tuple(problems))


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
    topics = []
    for name in atomic.names_in(folder):
        path = folder / name
        if not name.endswith(".md") or name[0] == "." or path.is_dir() or is_conflict_copy(name):
            continue
        try:
            data = atomic.read(path, MAX_FILE)
        except DamagedStoreError as error:
            problem = LineProblem(path, error.line, error.reason)
            topics.append(Topic(path, (), (), None, (problem,)))
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
    box = f"[{BOX_OF[statement.state]}] " if statement.state else ""
    return f"- {box}{' '.join(statement.text.split())}  ^{statement.id}"


GENERATED_STEMS = frozenset(
    ["people", "preferences", "rules", "facts", "decisions", "conventions", "workflows", "tasks",
     "dates"]
)  # fmt: skip
"""Stems of the topic files that clsm makes."""


class NewItem(NamedTuple):
    """A statement that a file does not hold yet, and the heading it belongs under ("" for none)."""

    heading: str
    statement: Statement


def new_topic(path: Path, stream: Stream) -> Topic:
    """A topic file that does not exist yet: its front matter and title."""
    title = path.stem.capitalize()
    head = {"title": title, "stream": stream, "topic": path.stem}
    lines = ["---", *(f"{key}: {dump(value)}" for key, value in head.items()), "---", ""]
    text = "\n".join([*lines, f"# {title}", ""])
    return replace(parse(text.encode(), path), sha256=None)


def apply_edits(
    topic: Topic,
    *,
    drop: Collection[str] = (),
    change: Mapping[str, Statement] | None = None,
    fresh: Sequence[NewItem] = (),
) -> bytes:
    """The bytes of a topic file after some statements went, changed in place, or came, in order."""
    change = change or {}
    lines: list[str | None] = list(topic.lines)
    for item in topic.items:
        if item.id is None or (item.id not in drop and item.id not in change):
            continue
        end = item_end(topic.lines, item.line)
        lines[item.line - 1 : end] = [None] * (end - item.line + 1)
        if item.id in change and item.id not in drop:
            lines[item.line - 1] = render_item(change[item.id])
    kept = [line for line in lines if line is not None]
    for each in fresh:
        _insert(kept, each)
    return "\n".join(kept).encode("utf-8", "surrogateescape")


def with_ids(topic: Topic, ids: dict[int, str]) -> bytes:
    """The file with an id put behind the item lines named in ``ids`` (line → id)."""
    lines = list(topic.lines)
    for number, record_id in ids.items():
        line = lines[number - 1]
        lines[number - 1] = f"{line.rstrip()}  ^{record_id}" + ("\r" if line[-1:] == "\r" else "")
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def without_empty(data: bytes, before: Topic) -> bytes:
    """The bytes of a topic file without headings whose last item just went.

    A heading that was empty ``before`` stays: a person wrote it.
    """
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    full = {before.lines[start - 1] for start, _ in _filled(before.lines)}
    left = {lines[start - 1] for start, _ in _filled(lines)}
    kept: list[str] = []
    for line in lines:
        if line in full - left:
            while kept and not kept[-1].strip():
                kept.pop()
            kept.append("")
        else:
            kept.append(line)
    text = "\n".join(kept)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.encode("utf-8", "surrogateescape")


def has_text(data: bytes) -> bool:
    """Whether anything stands in a topic file besides its front matter and headings."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return any(line.strip() and not line.startswith("#") for line in lines[_body(lines) :])


def _filled(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line below and index behind of every section in which something stands."""
    starts = [i + 1 for i, line in enumerate(lines) if line.startswith("## ")]
    ends = [*(start - 1 for start in starts), len(lines)][1:]
    return [
        (start, end)
        for start, end in zip(starts, ends, strict=True)
        if any(line.strip() for line in lines[start:end])
    ]


def item_end(lines: Sequence[str], first: int) -> int:
    """Number of the last line of the item that begins on line ``first`` (from 1)."""
    end = first
    while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
        end += 1
    return end


def _insert(lines: list[str], fresh: NewItem) -> None:
    """Put an item at the end of its section, which is made at the end of the file when new."""
    start, end = _section(lines, fresh.heading)
    if start is None:
        while lines and not lines[-1].strip():
            lines.pop()
        lines += ["", f"## {fresh.heading}", "", render_item(fresh.statement), ""]
        return
    place = end
    while place > start and not lines[place - 1].strip():
        place -= 1
    if place == start:  # nothing stands there: one blank line between heading and item
        while place > 1 and not lines[place - 1].strip() and not lines[place - 2].strip():
            place -= 1
            del lines[place]
    gap = [""] if place == start and lines[place - 1 : place] not in ([], [""]) else []
    lines[place:place] = [*gap, render_item(fresh.statement)]
    if place + len(gap) + 1 == len(lines):
        lines.append("")


def _section(lines: Sequence[str], heading: str) -> tuple[int | None, int]:
    """First line below a heading (index), and the index behind its section; None when missing."""
    wanted = f"## {heading}" if heading else None
    start = None if wanted else _body(lines)
    for number, line in enumerate(lines):
        if line.startswith("## "):
            if start is not None and number >= start:
                return start, number
            if line.strip() == wanted:
                start = number + 1
    return start, len(lines)


def _body(lines: Sequence[str]) -> int:
    """Index of the first line behind the front matter and the title."""
    place = 0
    if lines and lines[0].rstrip() == "---":
        place = next((i + 1 for i, line in enumerate(lines) if i and line.rstrip() == "---"), 0)
    while place < len(lines) and (not lines[place].strip() or lines[place].startswith("# ")):
        place += 1
    return place
