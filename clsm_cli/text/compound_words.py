"""Word classes that the rules for compound questions share, and the ends of a list's items."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence


def words(text: str) -> frozenset[str]:
    """The words of a list in one string."""
    return frozenset(text.split())


PREPOSITIONS = words(
    "about after at before between by during for from in into of on onto over regarding since to"
    " toward under until with within without"
)
AUXILIARIES = words(
    "am are can could did do does had has have is may might must should was were will would"
)
ARTICLES = words("a an the")
BREAKS = (
    PREPOSITIONS
    | AUXILIARIES
    | ARTICLES
    | words("how what when where which who whom whose why he her him i it me she that they them")
    | words("this us we you not so if")
)
"""Words that no item of a list holds."""
NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*){0,3}"
"""A run of capitalised words."""
_MARKS = ",.;:!?"


def bare(side: str) -> str:
    """A phrase without its article and the marks around it."""
    return re.sub(r"^(?:(?:both|the|an?) )+", "", side.strip(f" {_MARKS}"), flags=re.IGNORECASE)


def reach(following: Sequence[str], least: int) -> int:
    """How many words an item has: to a function word or a mark, more than ``least``.

    >>> reach("SQLite for the cache".split(), 0)
    1
    """
    end = least
    while end < len(following) and following[end].lower().strip(_MARKS) not in BREAKS:
        end += 1
        if following[end - 1][-1] in _MARKS:
            break
    return max(end, least + 1)


def start(leading: Sequence[str], length: int) -> int:
    """Where an item of ``length`` words begins, or the last function word ends, if later.

    A run of capitalised words stays together.

    >>> start("What do we know about tea".split(), 2)
    5
    """
    place = len(leading) - 1
    while place > 0 and leading[place - 1].lower() not in BREAKS:
        is_name = leading[place][0].isupper() and leading[place - 1][0].isupper()
        if len(leading) - place >= length and not is_name:
            break
        place -= 1
    return place


def spread(before: str, items: Sequence[str], after: str) -> list[str]:
    """Each item between the words that belong to all; none where one is no content word.

    >>> spread("who likes", ("tea", "coffee,"), "at night")
    ['who likes tea at night', 'who likes coffee at night']
    """
    if any(item.lower() in STOP_WORDS for item in items):
        return []
    return [" ".join(f"{before} {item.strip(f' {_MARKS}')} {after}".split()) for item in items]
