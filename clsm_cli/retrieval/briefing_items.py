"""What a briefing is made of: items with what they are worth; this module loads next to nothing."""

from __future__ import annotations

import re
from datetime import date, timedelta, tzinfo
from typing import Any

from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import count_tokens

HALF = 14
"""Days after which a line is worth half."""
LEAST = 0.1
"""Worth of a line below which it is dropped."""
UNDATED = 0.6
"""Share of its worth that a line without a day has: nobody knows whether it is still news."""
NEED = {
    "session": 8.0,
    "now": 8.0,
    "concepts": 4.0,
    "due": 2.0,
    "changed": 2.0,
    "tasks": 1.5,
}
"""How much more a line of a section is worth than others (own choice): what the session goes on
from, and what is to be done."""


_EPISODE = re.compile(r"/episodes/.*-(e-[0-9a-f]{6})[0-9a-f]{6}\.md$")


def episode_of(file: str) -> str:
    """How the id of an episode's file begins, which ``clsm show`` takes; "" for another file.

    >>> episode_of("/m/flow/vm/episodes/2026/11/20261116T000000Z-e-8429f90eaf4b.md")
    'e-8429f9'
    """
    match = _EPISODE.search(file)
    return match[1] if match else ""


class BriefingItem(NamedTuple):
    """One thing to read.

    Attributes:
        kind: A statement's kind, or passage, turn, person, project, concept.
        tokens: Estimated word pieces of the item as it is shown under its ``head``, behind
            ``about``.
        path: The ingested file as it was given, or the topic file of the store; ``line`` from 1.
        file: Absolute path of what can be opened (``store.index.source_locations``); ``file_line``
            in it.
        due: A bare date: until when, or the day ahead that it names (``ahead.day_ahead``).
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
        """The file to open, or else the ingested one, with its folder; of an episode, how its id begins."""
        return episode_of(self.file) or "/".join((self.file or self.path).split("/")[-2:])

    @property
    def told_on(self) -> str:
        """The day of its time, which the contents have by the store's clock; "" without one."""
        return (self.time or "")[:10]

    @property
    def day(self) -> str:
        """When it was said, unless the file is named after that day."""
        return "" if self.told_on in self.name else self.told_on

    @property
    def head(self) -> str:
        """What it stands under: its file, with the trust and the day; "" without a file."""
        origin = ", ".join(filter(None, (self.trust, self.day)))
        return f"{self.name} ({origin})" if self.name else ""

    @property
    def start(self) -> str:
        """What its line begins with: the line of the file above, or a mark."""
        return f"{self.file_line}: " if self.file_line else "- "

    def on_clock(self, zone: tzinfo) -> BriefingItem:
        """The item with its time by the clock of a zone: what is recorded is dated in UTC."""
        time = None if self.time is None else clocks.on_clock(self.time, zone)
        item = self._replace(time=time)
        return self if time == self.time else item.with_location(self.file, self.file_line)

    def with_location(self, file: str, line: int) -> BriefingItem:
        """The item with the place to open, and its size including that."""
        item = self._replace(file=file, file_line=line)
        shown = f"{item.start}{item.about} {item.text} {item.due or ''} {item.before} {item.perhaps_until or ''}"
        return item._replace(tokens=count_tokens(shown))


class RankedItem(NamedTuple):
    """A candidate for an item: what it is worth, in ``briefing_contents`` from 0 to 1 whatever the day.

    Attributes:
        thread: What it is part of: the more of a thread is told, the less its next line is worth.
        rule: Probability that it says how things are done; that does not age, as news does.
    """

    item: BriefingItem
    section: str
    worth: float
    thread: str
    rule: float = 0.0

    def on(self, day: str, within: int = 366) -> RankedItem:
        """The line; if its day comes every year, with the next one, or none if that is not within some days.

        >>> item = BriefingItem("a", "fact", "Born on 29 February", "", "user", 5, due="--02-29")
        >>> [RankedItem(item, "who", 1, "").on(f"2026-0{month}-09", 30).item.due for month in (1, 2, 3)]
        [None, '2026-03-01', None]
        """
        due, item = self.item.due, self.item
        if not (day and due and due.startswith("--")):
            return self
        year = int(day[:4]) + (due[1:] < day[4:])
        due = (date(year, int(due[2:4]), 1) + timedelta(int(due[5:]) - 1)).isoformat()
        item = item._replace(due=due if _days(day, due) <= within else None)
        return self._replace(item=item.with_location(item.file, item.file_line))

    def worth_on(self, day: str) -> float:
        """Its worth on a day, see ``HALF``; without a date it does not age.

        >>> line = RankedItem(BriefingItem("a", "passage", "", "flow", "agent", 1, "2026-02-10"), "lately", 0.8, "")
        >>> line.worth_on("2026-02-10"), line.worth_on("2026-02-24")
        (0.8, 0.4)
        >>> line._replace(rule=1.0).worth_on("2026-02-24")
        0.8
        """
        share = UNDATED
        if self.item.time and day:
            share = _aged(max(0, _days(self.item.told_on, day)))
        return self.worth * (self.rule + (1 - self.rule) * share)

    def worth_of_due(self, day: str) -> float:
        """Its worth on a day as something due: what is near its own day is worth as much as what was just told.

        >>> line = RankedItem(BriefingItem("a", "task", "", "tasks", "user", 1, "2026-01-10", due="2026-02-10"), "due", 0.8, "")
        >>> line.worth_of_due("2026-02-10"), line.worth_of_due("2026-01-27")
        (0.8, 0.4)
        """
        near = self.worth * _aged(abs(_days(self.item.due or day, day)))
        return max(near, self.worth_on(day))


def _days(first: str, last: str) -> int:
    """Days from one day to another."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def _aged(days: int) -> float:
    """The share of a worth that is left after some days."""
    return float(0.5 ** (days / HALF))


def make_item(
    record_id: str, kind: str, text: str, *, stream: str, trust: str, **more: Any
) -> BriefingItem:
    """An item with its size."""
    item = BriefingItem(record_id, kind, text, stream, trust, 0, **more)
    return item.with_location(item.file, item.file_line)


class Contents(NamedTuple):
    """The part that depends on neither the time nor a query; lines best first.

    Attributes:
        folders: Where a file lies that the agent reads anyway.
    """

    lines: tuple[RankedItem, ...] = ()
    folders: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


VERSION = 22
"""Of the contents as they are kept: raised whenever these or what they mean change."""


def as_contents(kept: dict[str, Any] | None) -> Contents | None:
    """Contents that were kept; None where they are none."""
    if kept is None:
        return None
    try:
        lines = tuple(RankedItem(BriefingItem(*item), *rest) for item, *rest in kept["lines"])
        return Contents(lines, tuple(kept["folders"]), tuple(kept["warnings"]))
    except (LookupError, TypeError, ValueError):
        return None
