"""Tasks: items of lists that are marked as such, and what somebody says that has to be done.

Patterns of tasks: items of lists, and what is said to be done.

What two wordings of a task are compared by.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.rule_words import ACTION, ACTIONS, capital, plain
from clsm_cli.text.sentences import split
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_A = r"['\u2019]"
_DO = rf"(?:{ACTION}|(?:get|go\sto|see|meet|attend|host|bake)\s)"
ITEM = re.compile(
    r"[ \t]*(?:[-*+\u2022]|\d{1,4}[.)])[ \t]+(?:\[(?P<box>[ xX!~/\-\u2713])\][ \t]*)?(?P<body>\S.*)"
)
"""An item of a list, with its box where it has one."""
LABEL = re.compile(
    r"[ \t]*(?:[-*+][ \t]+|//[ \t]*)?\**(?:(?:TODO|[Tt]o[ -]?do|FIXME)\b(?:\([\w@. -]{1,40}\))?\**[ \t]*:\**|TODO\b)[ \t]*(?P<body>\S.*)"
)
"""A line that says that it is a task."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<words>.{1,120}?)[ \t#]*$")
"""A Markdown heading."""
TITLE = re.compile(r"[ \t]*\**(?P<words>[A-Za-z][A-Za-z -]{2,30}?)\**[ \t]*:\**[ \t]*$")
"""A line that names the list below it."""
TASKS = re.compile(
    r"(?:(?:my|our|open|today['\u2019]?s|the|remaining|current|pending|next|outstanding)\s){0,2}"
    r"(?:to[ -]?dos?|todo[ -]list|to-do\slist|tasks?|task\slist|next\ssteps?|action\sitems?|follow[ -]?ups?|open\sloops)"
    r"(?:\s(?:for|this|today|tomorrow|next)\b.{0,40})?",
    re.IGNORECASE,
)
"""A heading above tasks."""
WAITING = re.compile(r"(?:blocked|waiting(?:\s(?:for|on))?|on\shold)", re.IGNORECASE)
"""A heading above tasks that wait."""
FENCE = re.compile(r" {0,3}(?:```|~~~)")
"""A line that opens or closes code."""
DONE = re.compile(
    r"^~~.{1,400}~~\W{0,4}$|^(?:\u2705|\u2714|\u2611)|^done\s?:|\((?:done|finished|completed)\)\W{0,3}$",
    re.IGNORECASE,
)
"""An item that is marked as done without a box."""
BLOCKED = re.compile(
    r"(?:^|[\s,;:(\u2013\u2014-]{1,4})\b(?:(?:is|are|still|currently)\s){0,2}"
    r"(?:(?:blocked|on\shold)(?=\s(?:until|by|on|because|for|since|as)\b|\s?[,;:.()\u2013\u2014-]|\s?$)|"
    r"(?:waits|waiting)(?=\s(?:until|for|on)\b))(?P<why>.{0,300})",
    re.IGNORECASE,
)
"""That an item waits, and for what."""
NEEDED = re.compile(
    rf"\b(?:(?:please\s)?(?:remind\s(?:me|us)|set\s(?:me\s)?a\sreminder)\s(?P<day>[\w\s]{{3,24}}?\s)?to|"
    rf"^\W{{0,3}}(?:please\s)?(?:(?:do\snot|don{_A}t)\sforget|remember|(?:still\s|also\s)?need)\sto|"
    rf"\b(?:I|we)(?:{_A}(?:ve|d))?\s(?:(?:really|still|also|just|definitely)\s)?(?:need\sto|have\sto|got\sto|must|gotta))\s"
    rf"(?:(?:also|still|really|go\sand|quickly|first)\s)?(?P<task>{_DO}[^.!?;\n]{{2,200}})",
    re.IGNORECASE,
)
"""What somebody has to do: a task, also without a day."""
PLANNED = re.compile(
    rf"\b(?:I|we)(?:{_A}ll|\swill|\sshall|\sshould|{_A}m\sgoing\sto|{_A}re\sgoing\sto|\sam\sgoing\sto|\sare\sgoing\sto|"
    rf"\spromised?\sto|\sneed\syou\sto)\s"
    rf"(?:(?:also|still|then|just|definitely)\s)?(?P<task>{ACTION}[^.!?;\n]{{2,200}})",
    re.IGNORECASE,
)
"""What somebody is going to do: a task where there is a day."""
REQUEST = re.compile(
    r"\W{0,3}(?:\w{1,20},?\s){0,2}(?:can|could|will|would)\syou\s(?:please\s)?(?:remind\s(?:me|us)|set\s(?:me\s)?a\sreminder)\b",
    re.IGNORECASE,
)
"""A question that asks to be reminded."""
NOT_MEANT = re.compile(
    rf"\b(?:if|when|whenever|before|after|until|unless|whether|not|never|\w{{2,6}}n{_A}t|once|since|because|what|how|why|that|think|"
    rf"guess|suppose|maybe|perhaps|probably|might)\b"
    rf"[^,;:]{{0,60}}$",
    re.IGNORECASE,
)
"""Before a task in its sentence: it is denied, or depends on something."""
TAIL = re.compile(
    r",?\s(?:but|because|since|so\s(?:that|I|we)|which|whenever|and\s(?:then\s)?(?:I|we|she|he|they|it|that))\b.*|\s[-\u2013\u2014]\s.*|,\s(?:haha|lol|though|right|ok)\b.*",
    re.IGNORECASE,
)
"""What follows a task in its sentence and belongs to it no more."""
TALK = re.compile(
    r"(?:say|share|show|accept|respect|try|keep)\b|tell\s(?:you|ya|him|her|them)\b(?!\s(?:to|that\s(?:the|we)))|"
    r"(?:wait|stop|start|run|make|give|take|plan|get)\s(?:and|for|to|until|till|it|care|sure|sense|time|some|"
    r"(?:a\s)?(?:breaks?|breath|moment|step|look|good)|myself|yourself|ahead|away|\w{2,20}ing)\b|"
    r"give\sup\b|get\s(?:up|out|going|back|better|used|ready|through|over|into|started)\b|see\s(?:you|what|how|if)\b|"
    r"find\s(?:(?:a|some|the)\s)?(?:better\s|new\s|good\s)?(?:ways?|time|balance|out|myself|courage|strength)\b|"
    r"(?:work|push|catch|check)\s(?:hard|harder|on\s\w{2,4}self|through|together|up|it\sout|them\sout|that\sout)\b|"
    r".{0,60}\b(?:enough|ourselves|myself|yourself|emotionally|things\sup|my\spassion|when\syou\s)",
    re.IGNORECASE,
)
"""What sounds like a task and is none."""
PAST_WORDS = re.compile(
    r"\b(?:since|from|after|of|asked|last|until|till|was|were)\s(?:the\s)?$", re.IGNORECASE
)
"""Before a day: it is not the day by which a task is due."""
DAY_OF_MONTH = re.compile(
    r"\b(?:by|before|on|until|due)\sthe\s(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE
)
"""A day without its month."""
UNDONE = re.compile(
    r"\b(?:not|cannot|\w{2,6}n['\u2019]t|will|shall|need(?:s|ed)?\sto|ha(?:ve|s)\sto|going\sto|should|must|yet|plan(?:s|ned)?\sto|"
    r"want(?:s|ed)?\sto|remind|forgot|failed\sto|blocked|if|tomorrow)\b|['\u2019]ll\b|\?\s*$",
    re.IGNORECASE,
)
"""That a sentence speaks of what is not done."""


class Words(NamedTuple):
    """The content of a task.

    Attributes:
        stems: of its words.
        named: those of words with a capital inside the text.
        numbers: those that are numbers.
        head: the first.
        verb: the stem of the verb of action that it begins with, or empty.
        past: stems of the verbs of action that it has in the past.
    """

    stems: frozenset[str]
    named: frozenset[str]
    numbers: frozenset[str]
    head: str
    verb: str
    past: frozenset[str]


_BASE = {
    "sent": "send", "bought": "buy", "wrote": "write", "written": "write", "rang": "call", "rung": "call",
    "ring": "call", "telephone": "call", "telephoned": "call", "phone": "call", "phoned": "call",
    "made": "make", "paid": "pay", "found": "find", "drew": "draw", "drawn": "draw", "chose": "choose",
    "chosen": "choose", "took": "take", "taken": "take", "brought": "bring", "built": "build",
    "read": "read", "spoke": "talk", "speak": "talk", "spoken": "talk", "met": "meet", "sold": "sell",
    "hung": "hang", "gave": "give", "given": "give", "fed": "feed", "told": "tell", "order": "buy", "ordered": "buy",
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10",
}  # fmt: skip
_FILLERS = "do done get got go make please need todo task again new finally at noon am pm"
_EMPTY = frozenset(stem for word in _FILLERS.split() for stem in stems(word))
_ACTION_STEMS = frozenset(stem for verb in ACTIONS for stem in stems(verb))
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]|\.(?=\w))*")
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The content of a task, without its day, its hour and what stands in brackets."""
    text = _CLOCK.sub(" ", _ASIDE.sub(" ", plain(text)) if _ASIDE.sub("", text).strip() else text)
    for found in reversed(expressions.find(text, date(2000, 1, 1))):
        text = f"{text[: found.start]} {text[found.end :]}"
    content: set[str] = set()
    named: set[str] = set()
    past: set[str] = set()
    order: list[str] = []
    words = _WORD.findall(text)
    for number, word in enumerate(words):
        base = _BASE.get(word.lower(), word)
        kept = {stem for stem in stems(base) if stem not in _EMPTY}
        content |= kept
        order += [stem for stem in stems(base) if stem in kept]
        if word.lower().endswith("ed") or (base != word and base in ACTIONS):
            past |= kept & _ACTION_STEMS
        if (number and word[0].isupper()) or any(letter.isupper() for letter in word[1:]):
            named |= kept
    verb = _BASE.get(words[0].lower(), words[0].lower()) if words else ""
    return Words(
        frozenset(content),
        frozenset(named),
        frozenset(stem for stem in content if stem[0].isdigit()),
        order[0] if order else "",
        stems(verb)[0] if verb in ACTIONS else "",
        frozenset(past),
    )


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
        if title := HEADING.match(line) or TITLE.match(line):
            has_heading = title.re is HEADING
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
        opens = FENCE.match(line) is not None
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


_TITLES = (HEADING, TITLE)
_STARTS = (ITEM, LABEL)


def _state_under(title: str) -> TodoState | None:
    """The state of the items below a heading; None where they are no tasks."""
    if TASKS.fullmatch(plain(title)):
        return "open"
    return "blocked" if WAITING.fullmatch(plain(title)) else None


def _listed(line: str, start: int, at: date | None, state: TodoState | None) -> Todo | None:
    """The task of an item of a list, or of a line with a label."""
    item = LABEL.match(line) or ITEM.match(line)
    if item is None:
        return None
    box = item.groupdict().get("box")
    labelled = item.re is LABEL
    if not (labelled or state or box is not None) or box in {"-", "~"}:
        return None
    body = line[item.start("body") :]
    words = plain(body)
    state = "blocked" if box == "!" else state or "open"
    if box in {"x", "X", "\u2713"} or DONE.search(body):
        state = "done"
    words = re.sub(
        r"^done\s?:\s|\s?\((?:done|finished|completed)\)\W{0,3}$", "", words, flags=re.IGNORECASE
    )
    reason = ""
    blocked = BLOCKED.search(words) if state != "done" else None
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
        if sentence.endswith("?") and not REQUEST.match(sentence):
            continue
        if len(sentence) > 400 or sentence.startswith(("|", "```", ">")):
            continue
        for pattern, needs_day in ((NEEDED, False), (PLANNED, True)):
            match = pattern.search(sentence)
            if match is None or NOT_MEANT.search(sentence[: match.start()]):
                continue
            task = plain(TAIL.sub("", match.group("task"), count=1)).rstrip(" .,:!")
            if TALK.match(task) or len(task.split()) < 2:
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
    if at and (numbered := DAY_OF_MONTH.search(text)):
        return _next_day(int(numbered.group(1)), at)
    for found in expressions.find(text, day, lies="plan"):
        quoted = (
            text[: found.start].count('"') % 2 or text[found.start - 1 : found.start] == "\u201c"
        )
        if quoted or PAST_WORDS.search(text[: found.start]) or (at is None and found.relative):
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
    if UNDONE.search(done) or (report.past and task.verb and task.verb not in report.past):
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
