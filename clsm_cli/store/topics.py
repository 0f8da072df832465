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
from clsm_cli.model.graph import Statement, StatementKind, TaskState
from clsm_cli.model.ids import digest, is_id, statement_id
from clsm_cli.store import atomic, front_matter
from clsm_cli.store.jsonlines import LineError, dump
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.model.streams import Stream

_BULLET = re.compile(r"[-*+][ \t]+(?:\[([ xX!])\][ \t]+)?")
_BOXES: dict[str, TaskState] = {" ": "open", "x": "done", "X": "done", "!": "blocked"}
_FURTHEST_FIRST = ("done", "blocked", "open")
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
    """A topic file: its items, and its lines with CR and broken UTF-8 as they are (``with_ids``)."""

    path: Path
    title: str
    items: tuple[Item, ...]
    lines: tuple[str, ...]
    sha256: str | None
    problems: tuple[LineProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person did to the topic files of a stream since the shard was written.

    Attributes:
        statements: Every statement as it now is, with its text, by id.
        changed: Ids whose text a person changed; ``added``: new ones; ``withdrawn``: removed.
        conflicts: Two texts under one id (after a merge): id, kept text, other text.
    """

    statements: dict[str, Statement]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    withdrawn: tuple[str, ...]
    conflicts: tuple[tuple[str, str, str], ...]


def text_sha(text: str) -> str:
    """Digest of a statement's text, blank space folded."""
    return digest("text", " ".join(text.split()))


def id_of(item: Item) -> str:
    """The id of an item: the one it carries, or for a new one the hash of its text."""
    return item.id or _birth_id(item.text)


def _birth_id(text: str) -> str:
    return statement_id(_normal(text))


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _is_same(text: str, other: str) -> bool:
    return _normal(text) == _normal(other)


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
        if not name.endswith(".md") or name[0] == "." or path.is_dir():
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


def reconcile(
    topics: Sequence[Topic],
    records: dict[str, Statement],
    *,
    stream: Stream,
    now: str,
    device: str,
) -> Edits:
    """What the statements of a stream are, given their Markdown and their records.

    A record whose topic could not be read stays as it is. Nothing is written.
    """
    statements = dict(records)
    changed: list[str] = []
    added: list[str] = []
    places, conflicts = _by_id(topics, records)
    for record_id, found in places.items():
        old = records.get(record_id)
        item, topic = _chosen(found, old)
        new = _by_hand(item, old, record_id, stream=stream, topic=topic, now=now)
        if old is None:
            added.append(record_id)
        elif text_sha(item.text) != old.text_sha or not old.is_current:
            changed.append(record_id)
        if new != old:
            new = replace(new, rev=(1 if old is None else old.rev[0] + 1, device))
        statements[record_id] = replace(new, text=item.text)
    unread = {topic.path.stem for topic in topics if topic.sha256 is None}
    withdrawn = [
        record_id
        for record_id, record in sorted(records.items())
        if record.is_current and record_id not in places and record.topic not in unread
    ]
    for record_id in withdrawn:
        old = statements[record_id]
        statements[record_id] = replace(
            old, withdrawn=True, superseded_at=now, rev=(old.rev[0] + 1, device)
        )
    return Edits(statements, tuple(changed), tuple(added), tuple(withdrawn), conflicts)


_Places = list[tuple[Item, str]]  # where a statement stands: its item and the topic


def _by_id(
    topics: Sequence[Topic], records: dict[str, Statement]
) -> tuple[dict[str, _Places], tuple[tuple[str, str, str], ...]]:
    """Items by id, one text for each, and the conflicts: id, kept text, other text.

    Of two texts under one id the one that the record knows keeps the id, else the first; the other
    one gets an id of its own. Texts that differ in case or blank space alone are one.
    """
    places: dict[str, _Places] = {}
    for topic in topics:
        for item in topic.items:
            places.setdefault(id_of(item), []).append((item, topic.path.stem))
    conflicts: dict[tuple[str, str, str], None] = {}
    for record_id, found in list(places.items()):
        old = records.get(record_id)
        known = next((i.text for i, _ in found if old and text_sha(i.text) == old.text_sha), None)
        kept = known or found[0][0].text
        for item, stem in [place for place in found if not _is_same(place[0].text, kept)]:
            own_id = _birth_id(item.text)
            there = places.get(own_id, [])
            if own_id == record_id or not all(_is_same(i.text, item.text) for i, _ in there):
                own_id = statement_id(_normal(item.text), record_id)  # the other id is taken
            if item.id:
                conflicts[record_id, kept, item.text] = None
            places.setdefault(own_id, []).append((item, stem))
        places[record_id] = [place for place in found if _is_same(place[0].text, kept)]
    return places, tuple(conflicts)


def _chosen(found: _Places, old: Statement | None) -> tuple[Item, str]:
    """One of several places of a text, the same at every look; the box furthest on counts."""
    item, topic = found[0]
    if old is not None:
        item = next((i for i, _ in found if text_sha(i.text) == old.text_sha), item)
        topic = next((t for _, t in found if t == old.topic), topic)
    states = {i.state for i, _ in found}
    return replace(item, state=next((s for s in _FURTHEST_FIRST if s in states), None)), topic


def _by_hand(
    item: Item, old: Statement | None, record_id: str, *, stream: Stream, topic: str, now: str
) -> Statement:
    if old is None:
        kind: StatementKind = "task" if stream == "tasks" or item.state else "fact"
        old = Statement(id=record_id, rev=(0, ""), kind=kind, recorded_at=now)
    elif text_sha(item.text) == old.text_sha and old.is_current:
        state = (item.state or old.state) if old.kind == "task" else old.state
        return replace(old, state=state, stream=stream, topic=topic)
    return replace(
        old,
        stream=stream,
        topic=topic,
        text_sha=text_sha(item.text),
        state=item.state if old.kind == "task" else None,
        trust="user",
        pinned=True,
        withdrawn=False,
        superseded_at=None,
        valid_until=None,
    )


def render_item(statement: Statement) -> str:
    """The line of a statement in its topic file.

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


def with_ids(topic: Topic, ids: dict[int, str]) -> bytes:
    """The file with an id put behind the item lines named in ``ids`` (line → id)."""
    lines = list(topic.lines)
    for number, record_id in ids.items():
        line = lines[number - 1]
        lines[number - 1] = f"{line.rstrip()}  ^{record_id}" + ("\r" if line[-1:] == "\r" else "")
    return "\n".join(lines).encode("utf-8", "surrogateescape")
