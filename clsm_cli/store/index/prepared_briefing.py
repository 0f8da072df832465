"""The prepared briefing on disk, and the turns of conversations that are still open.

The file is derived: it holds what a briefing needs of the whole store, and the signatures of the
files that it was made of. It is used only as long as these are the same; a captured turn does not
make it old, since open conversations are read where they are captured.
"""

from __future__ import annotations

import json
import os
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError, DiskError
from clsm_cli.model import clocks
from clsm_cli.model.ids import sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.indexed_files import scan
from clsm_cli.store.layout import ASIDE, is_conflict_copy
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from pathlib import Path

    from clsm_cli.store.layout import Store

VERSION = 12
"""Raised whenever the contents or what they mean change; an older file is made anew."""
MAX_BYTES = 16 << 20
_LIVE = ("inbox", "uses")
"""Kinds of files that a briefing does not keep anything of."""


LONGEST = 500
"""Characters of a turn that are shown: a page that was pasted in is found by recall."""
HALF = 14
"""Days after which a line is worth half."""
UNDATED = 0.6
"""Share of its worth that a line without a day has: nobody knows whether it is still news."""
NEED = {"session": 8.0, "now": 8.0, "concepts": 4.0, "due": 2.0, "changed": 2.0, "tasks": 1.5}
"""How much more a line of a section is worth than others (own choice): what the session goes on
from, and what is to be done."""


class Item(NamedTuple):
    """One thing to read.

    Attributes:
        kind: A statement's kind, or passage, turn, person, project, concept.
        tokens: Estimated word pieces of the item as it is shown under its file, behind ``about``.
        path: The ingested file as it was given, or the topic file of the store; ``line`` from 1.
        file: Absolute path of what can be opened (``store.index.source_locations``); ``file_line`` in it.
        due: A bare date: until when, or the day ahead that it names.
        about: The heading or name that it stands under, where it needs one.
        before: What it took the place of.
        perhaps_until: The day since which it may hold no longer: ``clsm review`` asks.
    """

    id: str
    kind: str
    text: str
    stream: str
    trust: str
    tokens: int
    time: str | None = None
    path: str = ""
    line: int = 0
    state: str | None = None
    due: str | None = None
    about: str = ""
    file: str = ""
    file_line: int = 0
    before: str = ""
    perhaps_until: str | None = None

    @property
    def name(self) -> str:
        """The file with its folder."""
        return "/".join(self.path.split("/")[-2:])

    @property
    def told_on(self) -> str:
        """The day of its time, which the contents have by the store's clock; "" without one."""
        return (self.time or "")[:10]

    @property
    def day(self) -> str:
        """When it was said, unless the file is named after that day."""
        return "" if self.told_on in self.name else self.told_on

    @property
    def start(self) -> str:
        """What its line begins with: the line of the file above, or a mark."""
        return f"{self.file_line}: " if self.file_line else "- "

    def on_clock(self, zone: tzinfo) -> Item:
        """The item with its time by the clock of a zone: what is recorded is dated in UTC."""
        time = None if self.time is None else clocks.on_clock(self.time, zone)
        found = self._replace(time=time)
        return self if time == self.time else found.with_location(self.file, self.file_line)

    def with_location(self, file: str, line: int) -> Item:
        """The item with the place to open, and its size including that."""
        found = self._replace(file=file, file_line=line)
        shown = f"{found.start}{found.about} {found.text} {found.due or ''} {found.before} {found.perhaps_until or ''} {found.day}"
        return found._replace(tokens=count_tokens(shown))


class RankedItem(NamedTuple):
    """A candidate for an item: what it is worth, in ``briefing_contents`` from 0 to 1 whatever the day.

    Attributes:
        thread: What it is part of: the more of a thread is told, the less its next line is worth.
    """

    item: Item
    section: str
    worth: float
    thread: str

    def worth_on(self, day: str) -> float:
        """Its worth on a day, see ``HALF``; without a date it does not age.

        >>> line = RankedItem(Item("a", "passage", "", "flow", "agent", 1, "2026-02-10"), "lately", 0.8, "")
        >>> line.worth_on("2026-02-10"), line.worth_on("2026-02-24")
        (0.8, 0.4)
        """
        if not self.item.time or not day:
            return self.worth * UNDATED
        age = (date.fromisoformat(day) - date.fromisoformat(self.item.told_on)).days
        return self.worth * float(0.5 ** (max(0, age) / HALF))


class Contents(NamedTuple):
    """The part that depends on neither the time nor a query; lines best first.

    Attributes:
        folders: Where a file lies that the agent reads anyway.
    """

    lines: tuple[RankedItem, ...] = ()
    folders: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def make_item(
    record_id: str, kind: str, text: str, *, stream: str, trust: str, **more: Any
) -> Item:
    """An item with its size."""
    found = Item(record_id, kind, text, stream, trust, 0, **more)
    return found.with_location(found.file, found.file_line)


class OpenTurn(NamedTuple):
    """A turn of a conversation that is still open; its item is not measured yet."""

    item: Item
    at: str  # when the store got it (UTC)


def path_of(store: Store) -> Path:
    """The file."""
    return store.derived / "context.json"


def signature(store: Store) -> str:
    """One digest of how all files look that a briefing is made of: names, sizes and times."""
    files = sorted((path, *how) for path, how in scan(store).items() if how[0] not in _LIVE)
    made_with = [VERSION, store.zone_name, store.settings.context.loaded, files]
    return sha256(json.dumps(made_with).encode())


def load_contents(store: Store, wanted: str | None) -> Contents | None:
    """The contents of the file; None if it is missing, damaged, or of another signature than ``wanted``.

    With None for that any will do.
    """
    try:
        data = atomic.read(path_of(store), MAX_BYTES)
        found = None if data is None else json.loads(data)
    except (DiskError, DamagedStoreError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or wanted not in (None, found.get("signature")):
        return None
    contents = found.get("contents")
    if not isinstance(contents, dict) or found.get("sha256") != _digest(contents):
        return None
    try:
        lines = tuple(RankedItem(Item(*item), *rest) for item, *rest in contents["lines"])
        return Contents(lines, tuple(contents["folders"]), tuple(contents["warnings"]))
    except (LookupError, TypeError, ValueError):
        return None


def _digest(contents: dict[str, Any]) -> str:
    return sha256(json.dumps(contents).encode())


def save_contents(store: Store, made_of: str, found: Contents) -> None:
    """Write the file, if the lock is free and the disk allows: else the next one makes it again.

    ``made_of`` is the signature from before the contents were read.
    """
    from clsm_cli.store.lock import try_locked

    contents = found._asdict()
    made = {"signature": made_of, "sha256": _digest(contents), "contents": contents}
    data = json.dumps(made, ensure_ascii=False)
    try:
        with try_locked(store.root) as is_held:
            if is_held:
                atomic.put(path_of(store), data.encode(errors="replace"))
    except DiskError:
        return


def open_turns(store: Store, most: int) -> list[list[OpenTurn]]:
    """The last turns of every conversation that lies in an inbox, at most ``most`` of each.

    What the tools of an agent said is left out, and so is what cannot be read.
    """
    found: list[list[OpenTurn]] = []
    for flow in store.flows():
        folder = flow / "inbox"
        talks: dict[str, dict[str, OpenTurn]] = {}
        for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            if is_conflict_copy(path.name):
                continue
            for turn in reversed(list(_last_turns(path, most))):
                talks.setdefault(path.stem.partition(ASIDE)[0], {}).setdefault(turn.item.id, turn)
        # What was put aside has no order but that of the times when it came.
        found += [sorted(turns.values(), key=lambda t: t.at)[-most:] for turns in talks.values()]
    return found


def _last_turns(path: Path, most: int) -> Iterator[OpenTurn]:
    """Newest first."""
    try:
        found, _ = logs.rows(path)
    except DiskError:
        return
    turns = (_turn(row, path, number) for number, row in reversed(found))
    yield from islice((turn for turn in turns if turn is not None), most)


def _turn(row: dict[str, Any], box: Path, number: int) -> OpenTurn | None:
    """The turn of a line of an inbox file; None for a mark, and for what a tool said."""
    if row.get("role") == "tool":
        return None
    try:
        path, session = str(row.get("path", "-")), str(row["session"])
        time, first = row.get("time"), int((row.get("lines") or [0])[0])
        named = (path, str(row.get("origin", "")), session)
        source = source_locations.readable_source(*named) if first else None
        text = str(row["text"])
        item = Item(
            str(row["key"]),
            "turn",
            text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …",
            "flow",
            str(row.get("trust", "user")),
            tokens=0,
            time=None if time is None else str(time),
            path=session if path == "-" else path,
            line=first,
            about=str(row.get("speaker", "")),
            file=source or os.path.abspath(box),
            file_line=first if source else number,
        )
        return OpenTurn(item, str(row["at"]))
    except (LookupError, TypeError, ValueError):
        return None
