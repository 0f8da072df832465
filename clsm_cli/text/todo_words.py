"""What two wordings of a task are compared by."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from clsm_cli.records import NamedTuple
from clsm_cli.text import timex
from clsm_cli.text.rule_words import ACTIONS, plain
from clsm_cli.text.tokens import stems


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
    for found in reversed(timex.find(text, date(2000, 1, 1))):
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
