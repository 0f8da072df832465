"""When two sentences state the same rule: their stems, each with its sign.

"Use tabs instead of spaces" and "I prefer tabs over spaces" are one rule, "I prefer spaces over tabs"
is its opposite. So a key is the set of the sentence's stems without the words of its pattern, and a
stem under a negation, or on the losing side of a comparison, has a minus.
"""

from __future__ import annotations

import re

from clsm_cli.text.tokens import stems

_OF_PATTERNS = """
actually agree agreed always anything asked avoid better choose chose convention correct
correction corrected decide decided decision default dont else every everything from future go
going good hence incorrect instead kindly let like mean meant more must need never no nothing now
opt opted order own plan please pick picked prefer preference preferred rather remember right rule
said say settle settled should sooner stick stop switch switched switching tell thing things told
true use used using usually want wants whenever wrong
"""
_PATTERN_WORDS = frozenset(stem for word in _OF_PATTERNS.split() for stem in stems(word))
_NUMBERS = {
    name: str(number)
    for number, name in enumerate(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=2,
    )
}
_NEGATIONS = """
not no never nothing none nobody cannot avoid stop without nor neither over
dont doesnt didnt wont cant isnt arent shouldnt mustnt
"""
_NEGATIVE = frozenset(_NEGATIONS.split())
_PAIRS = frozenset({("instead", "of"), ("rather", "than"), ("place", "of"), ("no", "longer")})
_POSITIVE = frozenset(
    [
        "but",
        "before",
        "after",
        "until",
        "unless",
        "if",
        "when",
        "because",
        "since",
        "while",
        "then",
        "so",
        "except",
    ]
)
_TIMES = frozenset({"before", "after", "until"})
"""Words without which a rule about an hour is another; the stems leave them out."""
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]|\.(?=\w))*|[,;:.!?()\u2013\u2014]")


def key_of(sentence: str) -> str:
    """The signed stems of a sentence, sorted, in one string; empty when it has no content.

    >>> key_of("I prefer tabs over spaces."), key_of("Use spaces instead of tabs.")
    ('-space tab', '-tab space')
    >>> key_of("Don't do it.")
    ''
    """
    found: set[str] = set()
    sign = before = ""
    folded = sentence.casefold().replace("\u2019", "'")
    ranks = "prefer" in folded or "rather" in folded or "sooner" in folded
    for word in _WORD.findall(folded):
        negates = word.endswith("n't") or (word in _NEGATIVE and (word != "over" or ranks))
        if negates or (before, word) in _PAIRS:
            sign = "-"
        elif word in _POSITIVE or not (word[0].isalnum()):
            sign = ""
        before = word
        if word in _TIMES:
            found.add(word)
        for stem in stems(_NUMBERS.get(word, word)):
            if stem not in _PATTERN_WORDS:
                found.add(sign + stem)
    return " ".join(sorted(found))


def is_same_key(a: str, b: str) -> bool:
    """Whether two keys are two wordings of one rule.

    No stem is affirmed in one and negated in the other, the numbers are the same, and so is before,
    after or until; the shared stems are two at least, not only numbers, and 0.6 of the smaller key
    (overlap coefficient |A∩B| / min(|A|, |B|)).

    >>> is_same_key(key_of("Use tabs, not spaces."), key_of("I prefer tabs over spaces."))
    True
    >>> is_same_key(key_of("Always wash it at 30 degrees"), key_of("Always wash it at 40 degrees"))
    False
    """
    if a == b:
        return a != ""
    first, second = set(a.split()), set(b.split())
    if any(_opposite(stem) in second for stem in first) or first & _TIMES != second & _TIMES:
        return False
    if _numbers(first) != _numbers(second):
        return False
    shared = first & second
    is_on_content = any(stem not in _TIMES and not _is_number(stem) for stem in shared)
    return is_on_content and 2 <= len(shared) >= 0.6 * min(len(first), len(second))


def _opposite(stem: str) -> str:
    return stem[1:] if stem.startswith("-") else f"-{stem}"


def _is_number(stem: str) -> bool:
    return stem.lstrip("-")[:1].isdigit()


def _numbers(stems_: set[str]) -> set[str]:
    return {stem.lstrip("-") for stem in stems_ if _is_number(stem)}
