"""Tasks: items of lists that are marked as such, and what somebody says that has to be done."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal

from clsm_cli.records import NamedTuple
from clsm_cli.text import timex
from clsm_cli.text import todo_forms as forms
from clsm_cli.text.rule_words import ACTIONS, capital, plain
from clsm_cli.text.sentences import split
from clsm_cli.text.todo_words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clsm_cli.text.todo_words import Words

TodoState = Literal["open", "done", "blocked"]


class Todo(NamedTuple):
    """A task as a text states it.

    Attributes:
        text: what is to be done, without markup and without why it is blocked.
        state: whether it is still to be done.
        due: the last day for it, ISO; None where none is named.
        reason: why it is blocked; else empty.
        start: first character in the text.
        end: the character after the last.
    """

    text: str
    state: TodoState
    due: str | None
    reason: str
    start: int
    end: int


def todos(text: str, at: date | None, heading: tuple[str, ...] = ()) -> list[Todo]:
    """The tasks of a text, in its order.

    Items with a box, items under a heading for tasks, lines with "TODO:"; in prose what somebody
    has to do, with a verb of action and either a day or "need to", "have to", "remind me to".

    Args:
        text: a message, or a block of a note.
        at: the day it was said or written; None leaves relative days unresolved.
        heading: the headings above a block.

    >>> todos("- [ ] Call **Ada** by Friday", date(2026, 2, 10))
    [Todo(text='Call Ada by Friday', state='open', due='2026-02-13', reason='', start=0, end=28)]
    """
    found: list[Todo] = []
    prose: list[tuple[int, int]] = []
    listed = _state_under(heading[-1]) if heading else None
    has_heading = True  # a label above a list ends with the list, a heading with the next
    for start, end, is_code in _lines(text):
        line = text[start:end]
        if is_code:
            continue
        if title := forms.HEADING.match(line) or forms.TITLE.match(line):
            has_heading = title.re is forms.HEADING
            listed = _state_under(title.group("words"))
        elif todo := _listed(line, start, at, listed):
            found.append(todo)
        else:
            listed = listed if has_heading else None
            prose.append((start, end))
    for start, end in prose:
        found += _promised(text[start:end], start, at)
    return sorted(found, key=lambda todo: todo.start)


def is_list(titles: Iterable[str]) -> bool:
    """Whether one of some titles is that of a list of tasks.

    >>> is_list(["TODO"]), is_list(["Data collection"])
    (True, False)
    """
    return any(_state_under(title) == "open" for title in titles)


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start, end and whether it is code, of each line; an item goes on where it is indented.

    Lines of a paragraph stay together, so that a sentence may run over them.
    """
    start = position = 0
    is_code = is_title = False
    for line in text.split("\n"):
        opens = forms.FENCE.match(line) is not None
        was_title, is_title = is_title, any(form.match(line) for form in _TITLES)
        begins = any(form.match(line) for form in _STARTS)
        if opens or is_code or was_title or is_title or begins or not line.strip():
            end = start + len(text[start:position].rstrip())
            if start < end:
                yield start, end, is_code
            start = position
        is_code ^= opens
        position += len(line) + 1
    if text[start:].strip():
        yield start, len(text.rstrip()), is_code


_TITLES = (forms.HEADING, forms.TITLE)
_STARTS = (forms.ITEM, forms.LABEL)


def _state_under(title: str) -> TodoState | None:
    """The state of the items below a heading; None where they are no tasks."""
    if forms.TASKS.fullmatch(plain(title)):
        return "open"
    return "blocked" if forms.WAITING.fullmatch(plain(title)) else None


def _listed(line: str, start: int, at: date | None, state: TodoState | None) -> Todo | None:
    """The task of an item of a list, or of a line with a label."""
    item = forms.LABEL.match(line) or forms.ITEM.match(line)
    if item is None:
        return None
    box = item.groupdict().get("box")
    labelled = item.re is forms.LABEL
    if not (labelled or state or box is not None) or box in {"-", "~"}:
        return None
    body = line[item.start("body") :]
    words = plain(body)
    state = "blocked" if box == "!" else state or "open"
    if box in {"x", "X", "\u2713"} or forms.DONE.search(body):
        state = "done"
    words = re.sub(
        r"^done\s?:\s|\s?\((?:done|finished|completed)\)\W{0,3}$", "", words, flags=re.IGNORECASE
    )
    reason = ""
    blocked = forms.BLOCKED.search(words) if state != "done" else None
    if blocked:
        state = "blocked"
        reason = _reason(blocked.group("why"))
        words = words[: blocked.start()].strip(" ,;:(-\u2013\u2014") or words
    if not any(letter.isalpha() for letter in words):
        return None
    end = start + len(line)
    return Todo(capital(words), state, None if blocked else due_day(words, at), reason, start, end)


def _reason(why: str) -> str:
    """What stands behind "blocked", without the mark or the "by" that joins it."""
    why = why.strip(" \t,;:.()\u2013\u2014-")
    return re.sub(
        r"^(?:(?:blocked\b[ ,]*){1,9}|by|because(?:\sof)?|since|as|for|on)(?:\s|$)",
        "",
        why,
        flags=re.IGNORECASE,
    )


def _promised(text: str, offset: int, at: date | None) -> Iterator[Todo]:
    """What somebody says in prose that is to be done."""
    for start, end in split(text):
        sentence = text[start:end]
        if sentence.endswith("?") and not forms.REQUEST.match(sentence):
            continue
        if len(sentence) > 400 or sentence.startswith(("|", "```", ">")):
            continue
        for pattern, needs_day in ((forms.NEEDED, False), (forms.PLANNED, True)):
            match = pattern.search(sentence)
            if match is None or forms.NOT_MEANT.search(sentence[: match.start()]):
                continue
            task = plain(forms.TAIL.sub("", match.group("task"), count=1)).rstrip(" .,:!")
            if forms.TALK.match(task) or len(task.split()) < 2:
                continue
            day = match.groupdict().get("day") or ""
            due = due_day(f"{task} {day}".strip(), at)
            is_clear = task.split()[0].lower() in ACTIONS
            if due is not None or (is_clear and not needs_day):
                yield Todo(capital(task), "open", due, "", offset + start, offset + end)
                break


_LONGEST_SPAN = 7  # days: "by next week" is a due day, "in March" is none


def due_day(text: str, at: date | None) -> str | None:
    """The last day that a task names, as ISO text.

    A bare weekday or a day without a year lies ahead, since it is a task, unless it may be the one
    just missed; a period of up to a week ends with its last day.

    Args:
        text: of the task.
        at: the day it was written; None finds only days with their year.

    >>> due_day("Send it by Friday", date(2026, 2, 10)), due_day("Send it by Friday", None)
    ('2026-02-13', None)
    """
    day = at or date(2000, 1, 1)
    if at and (numbered := forms.DAY_OF_MONTH.search(text)):
        return _next_day(int(numbered.group(1)), at)
    for found in timex.find(text, day, lies="plan"):
        quoted = (
            text[: found.start].count('"') % 2 or text[found.start - 1 : found.start] == "\u201c"
        )
        if (
            quoted
            or forms.PAST_WORDS.search(text[: found.start])
            or (at is None and found.relative)
        ):
            continue
        is_over = found.relative and found.until <= day
        is_short = (found.until - found.first).days <= _LONGEST_SPAN
        if found.certain and found.precise and is_short and not is_over:
            return (found.until - timedelta(days=1)).isoformat()
    return None


def _next_day(number: int, at: date) -> str | None:
    """The next day with this number in its month, as ISO text."""
    ahead = (at + timedelta(days=step) for step in range(62))
    return next((day.isoformat() for day in ahead if day.day == number), None)


def is_done_of(done: str, open_: str) -> bool:
    """Whether a finished item, or a sentence, reports that an open task is done.

    The stems of the smaller are covered to 0.6 by those of the other, two of them at least; a name
    of the smaller is among them, and no number differs. What is denied or still ahead reports
    nothing.

    >>> is_done_of("Appointment with Dr. Wu: Monday, 09:20", "Make an appointment with Dr. Wu")
    True
    >>> is_done_of("I have not sent the letter to Ada", "Send the letter to Ada")
    False
    """
    report, task = words_of(done), words_of(open_)
    if forms.UNDONE.search(done) or (report.past and task.verb and task.verb not in report.past):
        return False
    return _covers(report, task)


def is_same_task(a: str, b: str) -> bool:
    """Whether two items are one task, written twice; two verbs of action keep them apart.

    >>> is_same_task("Order the pump (prices compared)", "Order a pump and its hose")
    True
    >>> is_same_task("Call Ada about the pump", "Pay Ada for the pump")
    False
    """
    first, second = words_of(a), words_of(b)
    if first.verb and second.verb and first.verb != second.verb:
        return False
    return _covers(first, second) or (len(first.stems) == 1 and first.stems == second.stems)


def _covers(a: Words, b: Words) -> bool:
    """Whether the smaller of two wordings is contained in the larger (overlap coefficient ≥ 0.6)."""
    small, large = sorted((a, b), key=lambda words: len(words.stems))
    shared = small.stems & large.stems
    words = shared if shared == small.stems else shared - a.numbers
    if len(words) < 2 or len(shared) < 0.6 * len(small.stems):
        return False
    if a.numbers and b.numbers and a.numbers.isdisjoint(b.numbers):
        return False
    if small.named and large.named and small.named.isdisjoint(large.stems) and len(shared) < 3:
        return False
    common = small.stems - small.named
    is_headed = a.head in b.stems or b.head in a.stems
    return is_headed or 2 * len(common & large.stems) >= max(1, len(common))
