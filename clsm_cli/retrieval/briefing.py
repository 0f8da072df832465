"""The briefing: what an agent should read when a session starts, besides the files that it reads anyway.

The part that depends on neither the time nor a query is read from one file
(``store.index.prepared_briefing``), which is renewed when the store has changed; so a hook may ask
before every turn. A briefing does not count as a use of its memories.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from datetime import date, datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from clsm_cli.model.ids import digest
from clsm_cli.retrieval.answer import Budget, DroppedItem
from clsm_cli.retrieval.briefing_items import (
    NEED,
    VERSION,
    BriefingItem,
    RankedItem,
    as_contents,
    make_item,
)
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import prepared_briefing
from clsm_cli.store.index.source_locations import is_file
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from clsm_cli.retrieval.briefing_items import Contents
    from clsm_cli.store.index.prepared_briefing import OpenTurn
    from clsm_cli.store.layout import Store


SCHEMA = "clsm.context/2"
SECTIONS = ("session", "now", "due", "changed", "lately", "tasks", "rules", "who", "concepts")
"""In reading order."""
OPEN_TURNS = 6
"""Last turns of a conversation that is still open."""
LONGEST_TURN = 500
"""Characters of a turn that are shown: a page that was pasted in is found by recall."""
SOON = 30
"""Days ahead within which an item counts as due."""
NEWS = 14
"""Days within which a replacement counts as a change."""
HERE = 3.0
"""Factor of the worth of what was told in a folder of the session (own choice)."""


class Section(NamedTuple):
    """A part of a briefing."""

    name: str
    items: tuple[BriefingItem, ...]


class Briefing(NamedTuple):
    """A briefing, its sections in the order of ``SECTIONS``."""

    context_id: str
    now: str
    query: str | None
    sections: tuple[Section, ...]
    budget: Budget
    warnings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not any(section.items for section in self.sections)


class Concepts(NamedTuple):
    """The concepts of a query, and warnings of the recall."""

    items: tuple[BriefingItem, ...] = ()
    warnings: tuple[str, ...] = ()


def brief(
    store: Store,
    now: datetime,
    limit: int,
    unit: str = "tokens",
    *,
    query: str | None = None,
    concepts: Callable[[], Concepts] = Concepts,
    session: Sequence[BriefingItem] = (),
    here: Sequence[str] = (),
    size: Callable[[Briefing], int] | None = None,
) -> Briefing:
    """Make the briefing for this time, within a budget.

    Args:
        concepts: Returns the concepts of the query; called after the store's part is read.
        session: Results of the current conversation.
        here: Folders of the current session: what was told in one is worth ``HERE`` times as much.
        size: Size of a briefing as printed, in ``unit``; None counts its items alone.
    """
    contents = prepare(store)
    day = now.astimezone(store.zone).date()
    if any(line.item.told_on > day.isoformat() for line in contents.lines):
        from clsm_cli.retrieval.briefing_contents import collect

        contents = collect(store, now)
    activated = concepts()
    talk = _talk(store, now)
    items = [
        *_ranked("session", session),
        *_ranked("now", talk),
        *_ranked("concepts", activated.items),
        *_candidates(contents, day),
    ]
    folders = tuple(f"{folder.rstrip('/')}/" for folder in here)
    items = [_with_place(each, folders) for each in items]

    def packed(room: int) -> Briefing:
        kept, budget = pack_lines(items, room, unit)
        for name, order in (("now", reversed(talk)), ("concepts", activated.items)):
            kept[name] = [item for item in order if item in kept.get(name, ())]
        return Briefing(
            context_id="c-" + "0" * 12,
            now=now.isoformat(),
            query=query,
            sections=tuple(Section(name, _as_read(name, kept.get(name, ()))) for name in SECTIONS),
            budget=budget,
            warnings=(*contents.warnings, *activated.warnings),
        )

    briefing = packed(limit) if size is None else _fitted(packed, limit, size)
    return briefing._replace(context_id=_context_id(briefing))


def _fitted(
    packed: Callable[[int], Briefing], limit: int, size: Callable[[Briefing], int]
) -> Briefing:
    """The largest briefing whose printed size is within the limit, headings included."""
    room = limit
    while not (briefing := packed(room)).is_empty and (used := size(briefing)) > limit:
        room = min(room - 1, room * limit // used)
    used = 0 if briefing.is_empty else used
    return briefing._replace(budget=briefing.budget._replace(limit=limit, used=used))


def _context_id(briefing: Briefing) -> str:
    """Hash of the content, without paths on this machine."""
    sections = [
        section._replace(items=tuple(i._replace(file="", file_line=0) for i in section.items))
        for section in briefing.sections
    ]
    briefing = briefing._replace(sections=tuple(sections))
    return f"c-{digest(json.dumps(briefing, ensure_ascii=False))}"


def _as_read(name: str, items: Sequence[BriefingItem]) -> tuple[BriefingItem, ...]:
    """Items in reading order: due ones by day, others by file, the one with the newest day first, and line."""
    if name in ("session", "now", "concepts"):
        return tuple(items)
    placed = sorted(items, key=lambda item: (item.path, item.file, item.line, item.id))
    if name == "due":
        return tuple(sorted(placed, key=lambda item: item.due or ""))
    newest: dict[tuple[str, str], str] = {}
    for item in placed:
        place = (item.path, item.file)
        newest[place] = max(newest.get(place, ""), item.told_on)
    return tuple(sorted(placed, key=lambda item: newest[item.path, item.file], reverse=True))


def _ranked(section: str, items: Sequence[BriefingItem]) -> Iterator[RankedItem]:
    """Rank items, given best first; each is a thread of its own."""
    for place, item in enumerate(items):
        yield RankedItem(item, section, NEED[section] / (1 + place), item.id)


def _with_place(line: RankedItem, here: tuple[str, ...]) -> RankedItem:
    """The line, worth more if it was told in a folder of the session."""
    is_here = line.item.file.startswith(here) or line.item.path.startswith(here)
    return line._replace(worth=HERE * line.worth) if is_here else line


def _candidates(contents: Contents, day: date) -> Iterator[RankedItem]:
    """The lines with their worth on a day, without later ones and those that the agent reads anyway."""
    today, yesterday = day.isoformat(), (day - timedelta(days=1)).isoformat()
    last = day + timedelta(days=SOON)
    for line in (each.on(today, SOON) for each in contents.lines):
        at = line.item.told_on
        if at <= today and not _is_loaded(line, contents.folders, (today, yesterday)):
            start = "0" if line.item.state else today  # what is still to be done is overdue
            is_due = start <= (line.item.due or "") <= last.isoformat()
            is_old = line.section == "changed" and at < (day - timedelta(days=NEWS)).isoformat()
            section = "due" if is_due else "lately" if is_old else line.section
            value = line.worth_of_due(today) if is_due else line.worth_on(today)
            if is_due or section != "due":
                yield line._replace(section=section, worth=value * NEED.get(section, 1.0))


def _is_loaded(line: RankedItem, folders: Sequence[str], days: Collection[str]) -> bool:
    """Whether a line is in the note of one of the days, in a ``memory`` folder beside files read anyway."""
    folder, _, name = line.item.path.rpartition("/")
    above, _, memory = f"/{folder}".rpartition("/")
    return memory == "memory" and above.removeprefix("/") in folders and name[:10] in days


def prepare(store: Store) -> Contents:
    """The contents of the store now, cached in a file.

    During a run, they are those from before it, as the answers of a recall are.
    """
    wanted = prepared_briefing.signature(store, VERSION)
    contents = as_contents(prepared_briefing.load(store, wanted))
    if contents is not None and all(
        map(is_file, {line.item.file for line in contents.lines} - {""})
    ):
        return contents
    from clsm_cli.retrieval.briefing_contents import collect
    from clsm_cli.store.index.opening import is_run_in_progress

    if is_run_in_progress(store):
        return as_contents(prepared_briefing.load(store, None)) or collect(store)
    contents = collect(store)
    prepared_briefing.save(store, wanted, contents._asdict())
    return contents


def _talk(store: Store, now: datetime) -> list[BriefingItem]:
    """The last turns of open conversations, newest first: the latest one, and others of the last 24 hours."""
    begun: list[tuple[datetime, list[OpenTurn]]] = []
    for turns in prepared_briefing.open_turns(store, OPEN_TURNS):
        with contextlib.suppress(ValueError):
            at = datetime.fromisoformat(turns[-1].time or turns[-1].at)
            at = at if at.tzinfo else at.replace(tzinfo=store.zone)
            # ``now`` is a whole second; a turn within that second is not in the future.
            begun += [(at, turns)] if at.replace(microsecond=0) <= now else []
    begun.sort(key=lambda talk: talk[0], reverse=True)
    recent = [*begun[:1], *(talk for talk in begun[1:] if talk[0] > now - timedelta(1))]
    return [_of_turn(turn) for _, turns in recent for turn in reversed(turns)]


def _of_turn(turn: OpenTurn) -> BriefingItem:
    text = turn.text
    return make_item(
        turn.key,
        "turn",
        text if len(text) <= LONGEST_TURN else f"{text[:LONGEST_TURN].rstrip()} …",
        stream="flow",
        trust=turn.trust,
        time=turn.time,
        path=turn.path,
        line=turn.line,
        about=turn.speaker,
        file=turn.file,
        file_line=turn.file_line,
    )


DENSITY = 0.5
"""Exponent of the size that an item's worth is divided by: 1 fills a budget with fragments, 0 with
paragraphs. This and ``AGAIN`` were chosen on labelled workspaces (docs/experiments.md).
"""
AGAIN = 0.7
"""Factor of the worth of each further item of the same section of a file."""


SHARE = 0.15
"""Part of a budget that what is due may spend before the rest is chosen, and as much that open
tasks may (own choice): a day with much news has as much to do as any other.
"""


def pack_lines(
    lines: Sequence[RankedItem], limit: int, unit: str
) -> tuple[dict[str, list[BriefingItem]], Budget]:
    """Choose items that fit: first what is due and open tasks, each up to its share, then the best of the rest.

    Each further item of a thread is worth less.

    Returns:
        The chosen items by section, in the order of their choice, and the budget with the dropped
        items.
    """
    packing = _Packing(lines, unit)
    places = range(len(lines))
    for is_first in (_is_due, _is_task):
        room = packing.used + int(SHARE * limit)
        packing.fill([place for place in places if is_first(lines[place])], room)
    packing.fill(places, limit)
    kept: dict[str, list[BriefingItem]] = {}
    for line in map(lines.__getitem__, packing.chosen):
        kept.setdefault(line.section, []).append(line.item)
    rest = (line.item for place, line in enumerate(lines) if place not in packing.chosen)
    dropped = tuple(DroppedItem(item.id, item.tokens, "budget") for item in rest)
    return kept, Budget(limit, packing.used, unit, dropped)


def _is_due(line: RankedItem) -> bool:
    return line.section == "due"


def _is_task(line: RankedItem) -> bool:
    """Whether it is an open task, also one that is due and found no room among what is."""
    return line.section == "tasks" or (line.section == "due" and line.item.kind == "task")


class _Packing:
    """A choice of candidates that grows.

    Attributes:
        chosen: Their places, in the order of their choice.
        used: Size of the choice.
    """

    def __init__(self, lines: Sequence[RankedItem], unit: str) -> None:
        self.chosen: dict[int, None] = {}
        self.used = 0
        self._found = lines
        self._unit = unit
        self._shown: set[tuple[str, str]] = set()
        self._threads: Counter[str] = Counter()

    def fill(self, places: Sequence[int], limit: int) -> None:
        """Add candidates, best first, as long as they fit."""
        # Choosing an item only lowers other scores, so the top of the heap is best once its score is current.
        heap = [(-self._score(place), place) for place in places if place not in self.chosen]
        heapify(heap)
        while heap:
            old_score, place = heappop(heap)
            new_score = -self._score(place)
            if new_score > old_score:
                heappush(heap, (new_score, place))
                continue
            line = self._found[place]
            size = self._size(line)
            if self.used + size <= limit:
                self.used += size
                self.chosen[place] = None
                self._shown.add((line.section, line.item.head))
                self._threads[line.thread] += 1

    def _score(self, place: int) -> float:
        line = self._found[place]
        share = AGAIN ** self._threads[line.thread]
        return float(line.worth * share / max(1, self._size(line)) ** DENSITY)

    def _size(self, line: RankedItem) -> int:
        """Size of the item, and of what it stands under unless that is already shown."""
        item = line.item
        above = "" if (line.section, item.head) in self._shown else item.head
        if self._unit == "tokens":
            return item.tokens + count_tokens(above)
        return len(item.about) + len(item.text) + len(above)
