"""Tasks: list items with a box."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness, sentences
from clsm_cli.text.language_data import pattern
from clsm_cli.text.markdown_marks import ITEM
from clsm_cli.text.plain import strip_markdown
from clsm_cli.text.time import expressions
from clsm_cli.text.time.ahead import LEAST_P, is_denied
from clsm_cli.text.tokens import terms

TodoState = Literal["open", "done", "blocked"]

MIN_OVERLAP = 0.75  # share of the stems of a task's shorter wording that the longer one must have
_ITEM = re.compile(rf"[ \t]*{ITEM}[ \t]+(?=\S)")
_BOX = re.compile(r"\[(?P<box>[ xX!~/\-\u2713])\][ \t]*(?P<body>\S.*)", re.DOTALL)
_STRUCK = re.compile(r"~~.{1,400}~~\W{0,4}")
_STAMPS = re.compile(
    r"(?:[\u2795\u2705\u274c\U0001f6eb]|\u23f3(?=.*\U0001f4c5))\ufe0f?[ ]*\d{4}-\d\d-\d\d"
    r"|\[(?:created|start|completion|cancelled)::[^\]\n]*\]"
)
"""Days of a task other than its due day, as Obsidian's Tasks writes them (its emoji and Dataview formats):
made, started, done, cancelled, and planned if it is also due."""
_STATES: dict[str, TodoState] = {"x": "done", "X": "done", "\u2713": "done", "!": "blocked"}
_LIST_TITLE = re.compile(r"to[ -]?dos?|tasks?", re.IGNORECASE)
_DROPPED = frozenset("-~")  # boxes of cancelled tasks
_MAX_DUE_PERIOD_DAYS = 7  # as a due day: "by next week" is one, "in March" is not


class Todo(NamedTuple):
    """A task as its text states it."""

    text: str
    state: TodoState
    due: str | None
    start: int
    end: int


def todos(text: str, at: date | None) -> list[Todo]:
    """The items of a text that have a box, in order; items in code are ignored.

    >>> todos("- [ ] Call **Ada** by Friday", date(2026, 2, 10))
    [Todo(text='Call Ada by Friday', state='open', due='2026-02-13', start=0, end=28)]
    """
    found = []
    for start, end in _items(text):
        item = _ITEM.match(text, start, end)
        box = _BOX.match(text, item.end(), end) if item else None
        words = strip_markdown(_STAMPS.sub("", box["body"])) if box else ""
        if box is None or box["box"] in _DROPPED or not any(map(str.isalpha, words)):
            continue
        is_struck = _STRUCK.fullmatch(box["body"].strip()) is not None
        state: TodoState = "done" if is_struck else _STATES.get(box["box"], "open")
        due = None if state == "done" else due_day(words, at)
        found.append(Todo(words, state, due, start, end))
    return found


def is_list_title(heading: str) -> bool:
    """Whether a heading only says that tasks stand below it.

    >>> is_list_title("To do"), is_list_title("Tasks of Ada")
    (True, False)
    """
    return _LIST_TITLE.fullmatch(heading) is not None


def is_dropped(item: str) -> bool:
    """Whether a list item is cancelled or struck out.

    >>> is_dropped("- [-] Sail to Ghent"), is_dropped("- ~~Sail to Ghent~~"), is_dropped("- [ ] Sail")
    (True, True, False)
    """
    start = _ITEM.match(item)
    body = item[start.end() :] if start else item
    box = _BOX.match(body)
    if box is not None and box["box"] in _DROPPED:
        return True
    return _STRUCK.fullmatch(body.strip()) is not None


def _items(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each item."""
    for start, end, is_prose in sentences.blocks(text):
        if is_prose and _ITEM.match(text, start, end):
            yield start, start + len(text[start:end].rstrip())


def due_day(text: str, at: date | None, start: int = 0) -> str | None:
    """The last day that a task names, as ISO text.

    The task begins at ``start``; a heading before it may name the year of its days.

    A bare weekday or a day without a year lies ahead, since it is a task, unless it may be one just missed; a
    period of up to a week stands for its last day. Without the day of writing only days with their year count.
    """
    day = at or date(2000, 1, 1)
    if at and (numbered := pattern("todo.day of month").search(text, start)):
        number = int(numbered.group(1))
        ahead = (at + timedelta(days=step) for step in range(62))
        return next((each.isoformat() for each in ahead if each.day == number), None)
    for found in expressions.find_expressions(text, day, direction="plan"):
        before = text[start : found.start]
        quoted = before.count('"') % 2 or before.endswith("\u201c")
        if found.start < start or quoted or pattern("todo.past").search(before):
            continue
        is_none = found.chances is not None and found.chances.none >= LEAST_P
        if is_none or is_denied(text, found.start, found.end):
            continue
        if at is None and found.relative:
            continue
        is_over = found.relative and found.until <= day
        is_short = (found.until - found.first).days <= _MAX_DUE_PERIOD_DAYS
        if found.certain and found.precise and is_short and not is_over:
            return (found.until - timedelta(days=1)).isoformat()
    return None


class Wording(NamedTuple):
    """What a wording of a task is compared by: its numbers and the stems of its other words."""

    numbers: frozenset[str]
    stems: frozenset[str]


def wordings(task: str) -> list[Wording]:
    """A task as it is written, and without its first labels, which may be headings: one, two and so on."""
    parts = task.split(": ")
    return [_wording(": ".join(parts[start:])) for start in range(len(parts))]


def _wording(text: str) -> Wording:
    """The wording of an item, without its time expressions."""
    text = strip_markdown(text)
    for found in reversed(expressions.find_expressions(text, date(2000, 1, 1))):
        text = f"{text[: found.start]} {text[found.end :]}"
    numbers = frozenset(sameness.numbers(text))
    return Wording(numbers, terms(text) - numbers)


def is_same_task(a: Wording, b: Wording) -> bool:
    """Whether two items are two wordings of one task."""
    if a.numbers and b.numbers and a.numbers.isdisjoint(b.numbers):
        return False
    small, large = sorted((a.stems, b.stems), key=len)
    shared = len(small & large)
    return small == large or (shared >= 2 and shared >= MIN_OVERLAP * len(small))


def names_task(task: Sequence[Wording], item: Sequence[Wording]) -> bool:
    """Whether a stored task, possibly with headings before it, is that of an item.

    >>> def named(*texts: str) -> bool:
    ...     return names_task(*map(wordings, texts))
    >>> named("Shed › Roof: Order the nails", "Order the nails and a hammer")
    True
    >>> named("Shed › Roof: Order the nails", "Roof of the shed")
    False
    >>> named("Ada: Call the bank", "Ben: Call the bank")
    False
    """
    surplus = len(task) - len(item)
    # Only surplus parts are headings: the item's own label is none.
    return any(is_same_task(task[at], item[0]) for at in range(surplus > 0, surplus + 1))
