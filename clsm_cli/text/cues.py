"""Sentences that state a decision, questions left open, and how pleasant a text sounds."""

from __future__ import annotations

import re
from functools import cache
from math import sqrt

from clsm_cli.text.language_data import pattern, word_list
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

_ASKS = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}$")


def find_decisions(text: str) -> list[str]:
    """Return the sentences of a text that state a decision."""
    return [
        sentence
        for sentence in sentences(text)
        if not _ASKS.search(sentence) and pattern("cues.decision").search(sentence)
    ]


def find_questions(text: str) -> list[str]:
    """Return the questions of a text, without pleasantries, tag questions and exclamations."""
    return [sentence for sentence in sentences(text) if _is_open(sentence)]


def _is_open(sentence: str) -> bool:
    if pattern("cues.open question").search(sentence):
        return True
    if (
        not _ASKS.search(sentence)
        or pattern("cues.tag").search(sentence[-80:])
        or pattern("cues.pleasantry").search(sentence[-80:])
    ):
        return False
    return len(re.findall(r"\w+", sentence)) > 2 or not sentence.isascii()


_NEGATIONS = frozenset(
    ["not", "no", "never", "nothing", "without", "hardly", "barely", "neither", "nor", "cannot"]
)
_DEGREES = {
    **dict.fromkeys(
        ("very", "so", "really", "extremely", "incredibly", "super", "totally", "too"), 1.3
    ),
    **dict.fromkeys(("slightly", "somewhat", "bit", "little", "fairly", "kinda", "mildly"), 0.7),
}
_FELT_WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?|[.!?;,]")
_FELT_REACH = 3  # words back to which a negation or a degree still counts


def valence(text: str) -> float:
    """Return how pleasant a text is: -1 (unpleasant) to 1, 0 where no word of the lexicon occurs.

    Each word of the lexicon adds its strength, reversed and weakened (x -0.7) by a negation and
    scaled by a degree ("very" 1.3, "slightly" 0.7) up to three words before it in its clause. With
    their sum s the result is s / sqrt(s² + 15), which stays within the bounds (VADER, Hutto and
    Gilbert 2014).

    >>> valence("It is a chair."), valence("good") > 0 > valence("not good")
    (0.0, True)
    """
    total = 0.0
    recent: list[str] = []
    for word in _FELT_WORD.findall(text.lower()):
        if not word[0].isalpha():
            recent = []
            continue
        score = _strengths().get(_stem(word), 0)
        if score:
            total += score * _context(recent)
        recent = [*recent, word][-_FELT_REACH:]
    return round(total / sqrt(total * total + 15), 4)


def _context(before: list[str]) -> float:
    factor = 1.0
    for word in before:
        if word in _NEGATIONS or word.endswith(("n't", "n\u2019t")):
            factor *= -0.7
        factor *= _DEGREES.get(word, 1.0)
    return factor


def _stem(word: str) -> str:
    return next(iter(stems(word)), "")


@cache
def _strengths() -> dict[str, int]:
    return {
        _stem(word): sign * strength
        for sign, name in ((1, "pleasant"), (-1, "unpleasant"))
        for strength in (1, 2, 3)
        for word in word_list(f"{name} {strength}")
    }
