"""How pleasant or unpleasant a text sounds, from a small lexicon."""

from __future__ import annotations

import re
from functools import cache
from math import sqrt

from clsm_cli.text.tokens import stems

# Strength 1 to 3 of everyday English words; own judgement, matched by stem.
_PLEASANT = {
    1: "nice good fine glad fun easy fresh useful calm cozy hope hopeful interest like pleasant ready "
    "safe smile solve thank warm welcome agree clear comfort cute fix friend gift better enjoy heal",
    2: "happy great cool proud beautiful excited grateful thankful inspire lucky peaceful relief smooth "
    "strong succeed success support sweet win wise brave care cheer congratulations delight fond kind "
    "laugh accept courage improve stunning encourage motivate rewarding treasure bless favorite",
    3: "love amazing awesome excellent fantastic wonderful perfect best joy brilliant thrilled superb "
    "incredible magnificent outstanding celebrate paradise terrific fabulous",
}
_UNPLEASANT = {
    1: "bug busy cold confuse delay doubt hard late miss noise risk slow stuck tired warn weird wrong "
    "bore complain concern difficult issue lonely problem tough defect nervous swamp chaos trouble",
    2: "bad sad afraid angry annoy anxious blame break broken crash cry disappoint fail failure fear "
    "frustrate hurt lose loss lost pain poor scare shame sick stress struggle suffer upset worry worse "
    "damage danger lie regret reject setback overwhelm leak",
    3: "hate terrible awful horrible worst die dead death disaster grief kill panic tragic devastate "
    "heartbroken miserable nightmare abuse cancer despair destroy",
}
_NEGATIONS = frozenset(
    ["not", "no", "never", "nothing", "without", "hardly", "barely", "neither", "nor", "cannot"]
)
_DEGREES = {
    **dict.fromkeys(
        ("very", "so", "really", "extremely", "incredibly", "super", "totally", "too"), 1.3
    ),
    **dict.fromkeys(("slightly", "somewhat", "bit", "little", "fairly", "kinda", "mildly"), 0.7),
}
_WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?|[.!?;,]")
_REACH = 3  # words back to which a negation or a degree still counts


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
    for word in _WORD.findall(text.lower()):
        if not word[0].isalpha():
            recent = []
            continue
        score = _strengths().get(_stem(word), 0)
        if score:
            total += score * _context(recent)
        recent = [*recent, word][-_REACH:]
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
    signed = [(1, _PLEASANT), (-1, _UNPLEASANT)]
    return {
        _stem(word): sign * strength
        for sign, levels in signed
        for strength, words in levels.items()
        for word in words.split()
    }
