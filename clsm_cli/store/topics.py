"""Topic files: the text of statements in Markdown, read and edited (docs/format.md §7).

The text in Markdown takes precedence. The shard has ``text_sha`` of the text it knows, which reveals
hand edits: a changed text is a new version by the user, an item without ``^id`` a new statement, a
missing item a withdrawn one. Readers see this at once; ``settle`` saves it.

An edit changes only the lines it must. New statements go under a heading with the name of their
subject. A person may move lines anywhere, as they are found by id.
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
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_BOXES: dict[str, TaskState] = {" ": "open", "x": "done", "X": "done", "!": "blocked"}
BOX_OF: dict[str | None, str] = {"open": " ", "done": "x", "blocked": "!"}


@dataclass(frozen=True, slots=True)
class Item:
    """A statement's line in a topic file with its continuation lines; ``line`` counts from 1."""

    id: str | None
    text: str
    line: int
    state: TaskState | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic file: its items, and its lines with CR and invalid UTF-8 unchanged."""

    path: Path
    items: tuple[Item, ...]
    lines: tuple[str, ...]
    sha256: str | None
    problems: tuple[LineProblem, ...] = ()


def text_sha(text: str) -> str:
    """Digest of a statement's text with whitespace normalised."""
    return digest("text", " ".join(text.split()))


def id_of(item: Item, forgotten: frozenset[str] = frozenset()) -> str:
    """The id of an item: its own, or for a new one a hash of its text.

    An id with a tombstone is never reused: a forgotten sentence that is written again is a new one.
    """
    return item.id or birth_id(item.text, forgotten)


def heading_of(topic: Topic, item: Item) -> str:
    """The heading above an item, or ""."""
    lines = _without_code(topic.lines)[: item.line]
    above = [line for line in lines if line.startswith("## ")]
    return above[-1].removeprefix("## ").strip() if above else ""


def birth_id(text: str, forgotten: frozenset[str], salt: str | None = None) -> str:
    """The id of a new statement by its text; ``salt`` distinguishes it if the plain id is taken."""
    return first_free(birth_ids(normalise_text(text), salt), forgotten)


def parse(data: bytes, path: Path) -> Topic:
    """Parse a topic file."""
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
    for number, line in enumerate(_without_code(text.split("\n")[offset:]), offset + 1):
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


def _without_code(lines: Sequence[str]) -> list[str]:
    """The lines, with those of fenced code blank.

    A fence that is never closed hides nothing: all below it would be withdrawn.
    """
    shown, opening, first = [*lines], "", 0
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if not opening:
            opening, first = fence[1], number
        elif fence[1].startswith(opening) and not fence[2].strip():
            shown[first : number + 1] = [""] * (number + 1 - first)
            opening = ""
    return shown


def _item(line: str, number: int) -> Item | None:
    """The item that begins on a line; None if there is none or it has no text."""
    bullet = _BULLET.match(line)
    if bullet is None:
        return None
    text, record_id = _without_id(line[bullet.end() :])
    if not any(map(str.isalnum, text)):  # "* * *" is a horizontal rule
        return None
    return Item(record_id, text, number, _BOXES.get(bullet.group(1) or ""))


def _without_id(text: str) -> tuple[str, str | None]:
    """Split a line into its text and the id at its end."""
    text = text.rstrip()
    words, caret, record_id = text.rpartition("^")
    if caret and is_id(record_id) and (not words or words[-1] in " \t"):
        return words.rstrip(), record_id
    return text, None


def read_topics(folder: Path) -> list[Topic]:
    """Read the topic files of a stream, sorted by name; an unreadable one has only a problem."""
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
    """Render the line of a statement.

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
    """A statement to add to a file, and its heading ("" for none)."""

    heading: str
    statement: Statement


def new_topic(path: Path, stream: Stream) -> Topic:
    """A topic for a new file, with front matter and title."""
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
    ids: Mapping[int, str] | None = None,
) -> bytes:
    """Render a topic file with statements dropped, changed in place, and added in order.

    ``ids``: line of an item → the id that is appended to it.
    """
    change = change or {}
    lines: list[str | None] = list(topic.lines)
    for number, record_id in (ids or {}).items():
        line = topic.lines[number - 1]
        lines[number - 1] = f"{line.rstrip()}  ^{record_id}" + ("\r" if line[-1:] == "\r" else "")
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


def drop_empty_headings(data: bytes, before: Topic) -> bytes:
    """Remove the headings whose last item was removed.

    A heading that was empty ``before`` stays: a person wrote it.
    """
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    emptied = _nonempty_headings(before.lines) - _nonempty_headings(lines)
    text = "\n".join(line for line in lines if line not in emptied)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.encode("utf-8", "surrogateescape")


def has_text(data: bytes) -> bool:
    """Whether a topic file contains anything besides front matter and headings."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return any(line.strip() and not line.startswith("#") for line in lines[_body_start(lines) :])


def _nonempty_headings(lines: Sequence[str]) -> set[str]:
    headings: set[str] = set()
    heading = None
    for line in lines:
        if line.startswith("## "):
            heading = line
        elif heading is not None and line.strip():
            headings.add(heading)
    return headings


def item_end(lines: Sequence[str], first: int) -> int:
    """The last line of the item that begins on line ``first`` (both from 1)."""
    end = first
    while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
        end += 1
    return end


def _insert(lines: list[str], fresh: NewItem) -> None:
    """Insert an item at the end of its section; a new section goes to the end of the file."""
    start, end = _section(lines, fresh.heading)
    if start is None:
        while lines and not lines[-1].strip():
            lines.pop()
        lines += ["", f"## {fresh.heading}", "", render_item(fresh.statement), ""]
        return
    place = end
    while place > start and not lines[place - 1].strip():
        place -= 1
    if place == start:  # an empty section: one blank line between heading and item
        while place > 1 and not lines[place - 1].strip() and not lines[place - 2].strip():
            place -= 1
            del lines[place]
    gap = [""] if place == start and lines[place - 1 : place] not in ([], [""]) else []
    lines[place:place] = [*gap, render_item(fresh.statement)]
    if place + len(gap) + 1 == len(lines):
        lines.append("")


def _section(lines: Sequence[str], heading: str) -> tuple[int | None, int]:
    """The start and end of the section below a heading, as indices; start is None if missing."""
    wanted = f"## {heading}" if heading else None
    start = None if wanted else _body_start(lines)
    for number, line in enumerate(_without_code(lines)):
        if line.startswith("## "):
            if start is not None and number >= start:
                return start, number
            if line.strip() == wanted:
                start = number + 1
    return start, len(lines)


def _body_start(lines: Sequence[str]) -> int:
    """Index of the first line after the front matter and the title."""
    place = 0
    if lines and lines[0].rstrip() == "---":
        place = next((i + 1 for i, line in enumerate(lines) if i and line.rstrip() == "---"), 0)
    while place < len(lines) and (not lines[place].strip() or lines[place].startswith("# ")):
        place += 1
    return place
