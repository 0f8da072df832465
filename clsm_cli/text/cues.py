"""Sentences that state a decision, questions left open, and how pleasant a text sounds."""

from __future__ import annotations

import re
from functools import cache
from math import sqrt

from clsm_cli.text.language_data import word_list
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

_DECISION = re.compile(
    r"\b(?:let['\u2019]?s\s(?:use|go\swith|stick\s(?:to|with)|switch\sto|adopt)|"
    r"(?:we|i|they|he|she|team)(?:['\u2019]ve|\shave|\shas)?\s(?:all\s|both\s|finally\s|also\s)?"
    r"(?:decided|agreed\s(?:to|on|that)|settled\son|opted\s(?:for|to)|"
    r"switched\s(?:to|from)|went\swith)|"
    r"(?:we|they|team)(?:['\u2019]ve|\shave|\shas)?\s(?:chose|chosen|picked)(?!\sup)|"
    r"decided\s(?:to|on|that|against|not)|going\swith|switched\sto|switching\s(?:to|from)|"
    r"settled\son|opted\sfor|(?:we|i)(?:['\u2019]ll|\swill)\s(?:use|go\swith|stick\swith)|"
    r"the\s(?:decision|plan|choice)\s(?:is|was)\s(?:to|that)|agreed\sto\s(?:use|go))\b|"
    r"^\W{0,4}(?:decision|decided|agreed)\W{0,2}:",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\W{0,4}(?:open\s(?:question|point|issue)s?|question|to\sclarify)\W{0,3}:|"
    r"\b(?:still\s(?:unclear|unknown|open|undecided)|remains\s(?:unclear|open|to\sbe\sseen)|"
    r"(?:do\snot|don['\u2019]t)\sknow\syet|yet\sto\s(?:decide|find\sout)|need\sto\sfind\sout)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}$")
_PLEASANTRY = re.compile(
    r"\b(?:how\s(?:are|have|['\u2019]?ve)\s(?:you|ya|things|u|y['\u2019]all)(?:\sbeen|\sdoing|\sall|\stoday|"
    r"\sfeeling|\sgoing|\slately)*|how['\u2019]?s\s(?:it|life|everything|things?|your\s(?:day|week|weekend))"
    r"(?:\sgoing|\sbeen)?|how\sare\sthings|what['\u2019]?s\s(?:up|new|going\son|happening)(?:\swith\syou)?|"
    r"anything\snew|can\si\shelp(?:\syou)?|(?:is\sthere\s)?anything\selse(?:\si\scan\s(?:do|help\swith))?|"
    r"you\sknow|what\sabout\syou|how\sabout\syou|and\syou|what\sdo\syou\ssay|guess\swhat|remember|"
    r"really|who\sknows|why\snot|isn['\u2019]t\sit\s\w+)\W*$",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",\s(?:right|huh|eh|ok|okay|yeah|no|correct|(?:is|are|was|were|do|does|did|has|have|had|can|could|"
    r"wo|would|should|ai)(?:n['\u2019]t)?\s(?:it|he|she|they|we|you|i|there))\?\W*$",
    re.IGNORECASE,
)


def find_decisions(text: str) -> list[str]:
    """Return the sentences of a text that state a decision.

    >>> find_decisions("It is slow. We decided to use SQLite. Have we decided on a name?")
    ['We decided to use SQLite.']
    """
    return [
        sentence
        for sentence in sentences(text)
        if not _ASKS.search(sentence) and _DECISION.search(sentence)
    ]


def find_questions(text: str) -> list[str]:
    """Return the questions of a text, without pleasantries, tag questions and exclamations.

    >>> find_questions("How are you? Which port does the hook use? Nice, isn't it?")
    ['Which port does the hook use?']
    """
    return [sentence for sentence in sentences(text) if _is_open(sentence)]


def _is_open(sentence: str) -> bool:
    if _OPEN.search(sentence):
        return True
    if (
        not _ASKS.search(sentence)
        or _TAG.search(sentence[-80:])
        or _PLEASANTRY.search(sentence[-80:])
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
