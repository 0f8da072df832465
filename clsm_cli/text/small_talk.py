"""Small talk: messages that greet, thank, agree or pass the time, and say nothing else."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_WORD = re.compile(r"\w+(?:'\w+)*")
_FILE = Path(__file__).with_name("small_talk.txt")


def is_small_talk(text: str) -> bool:
    """Whether a message is made of phrases of small talk alone, or has no words.

    >>> is_small_talk("Thanks, that's perfect!"), is_small_talk("Thanks to Mara it works")
    (True, False)
    >>> is_small_talk("👍")
    True
    """
    words = _WORD.findall(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    phrases, longest = _phrases()
    furthest, reached = 0, {0}
    for start in range(len(words)):
        if start > furthest:
            return False
        if start in reached:
            ends = range(start + 1, min(start + longest, len(words)) + 1)
            reached.update(end for end in ends if " ".join(words[start:end]) in phrases)
            furthest = max(furthest, *reached)
    return len(words) in reached


@lru_cache(maxsize=1)
def _phrases() -> tuple[frozenset[str], int]:
    """The phrases, and the words of the longest."""
    lines = _FILE.read_text("utf-8").casefold().splitlines()
    found = frozenset(line for line in lines if line and not line.startswith("#"))
    return found, max(len(phrase.split()) for phrase in found)
