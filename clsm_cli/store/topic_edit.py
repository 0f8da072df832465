"""Edit a topic file as a careful person would: only the lines that change, the rest as it is.

Statements stand under a heading with the name of what they are about; a person may move them
anywhere, as a line is found by its id.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.store.topics import parse, render_item, render_topic

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.topics import Topic


TITLES = {
    "people": "People",
    "preferences": "Preferences",
    "rules": "Rules",
    "facts": "Facts",
    "decisions": "Decisions",
    "conventions": "Conventions",
    "workflows": "Workflows",
    "tasks": "Tasks",
    "dates": "Dates",
}
"""Titles of the topic files that clsm makes, by stem."""


class Fresh(NamedTuple):
    """A statement that a file does not hold yet, and the heading it belongs under ("" for none)."""

    heading: str
    statement: Statement


def new_topic(path: Path, title: str, stream: Stream) -> Topic:
    """A topic file that does not exist yet: its front matter and title."""
    head = render_topic(title, stream, path.stem, []).decode()
    return replace(parse(f"{head.rstrip()}\n\n# {title}\n".encode(), path), sha256=None)


def edited(
    topic: Topic,
    *,
    drop: Collection[str] = (),
    change: Mapping[str, Statement] | None = None,
    fresh: Sequence[Fresh] = (),
) -> bytes:
    """The bytes of a topic file after some statements went, changed or came.

    Args:
        topic: The file as it was read.
        drop: Ids whose items go, with their continuation lines.
        change: Statements whose item is written anew in its place.
        fresh: Statements that come, in order.
    """
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

    Args:
        data: The file now.
        before: As it was; a heading that was empty already stays, a person wrote it.
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


def says_more(data: bytes) -> bool:
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


def _insert(lines: list[str], fresh: Fresh) -> None:
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
