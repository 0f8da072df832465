"""Activities that people report of themselves: "went camping", "love pottery".

Such words are the names of activities without being written like names. A phrase counts only after
a verb of doing or liking, so that a word is a candidate by how it is used, not by what it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text.language_data import word_list
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_GOES = (
    r"(?:go|goes|going|gone|went|been|took\sup|take\sup|taken\sup|started|start|tried|try|trying)"
)
_LIKES = r"(?:love|loves|loved|like|likes|liked|enjoy|enjoys|enjoyed|enjoying|hate|hates)"
_DOES = r"(?:do|does|did|doing|done|practice|practise|teach|teaches|learn|learning|learned)"
_GOING = re.compile(
    rf"\b{_GOES}\s(?:out\s)?(?P<what>[a-z]{{3,20}}ing)\b(?!\s(?:to|on|for|at|up|about)\b)"
)
_LIKING = re.compile(
    rf"\b(?:{_LIKES}|{_DOES})\s(?:(?:some|more|of|all)\s)?(?P<what>[a-z]{{3,20}}(?:\s[a-z]{{3,20}})?)"
)
_CLASS = re.compile(
    r"\b(?:a|an|my|the|our|some)\s(?P<what>[a-z]{4,20})\s(?:class|classes|lesson|lessons|workshop|club|course)\b"
)
_NO_ACTIVITY = STOP_WORDS | frozenset(word_list("no activity"))


def activities(text: str) -> list[tuple[int, int, str]]:
    """Start, end and phrase of the activities that a text names, in order.

    >>> [each[2] for each in activities("We went camping. I love pottery, and took a dance class.")]
    ['camping', 'pottery', 'dance']
    >>> activities("I like it. We went looking for her and did what we could.")
    []
    """
    return sorted(set(_found(text)))


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    for pattern in (_GOING, _LIKING, _CLASS):
        for match in pattern.finditer(text):
            words = match.group("what").split()
            start = match.start("what")
            if words[0] in _NO_ACTIVITY or words[0].endswith("ly"):
                continue
            follows = text[start + len(words[0]) :].lstrip(" ")[:1]
            if (
                pattern is _LIKING
                and not words[0].endswith("ing")
                and (len(words) > 1 or follows.isalnum())
            ):
                continue  # "like photos of her": what follows is the head, or a clause
            yield start, start + len(words[0]), words[0]
