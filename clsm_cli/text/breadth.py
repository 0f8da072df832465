"""Breadth of a question: whether it asks for several things ("what hobbies does she have"), by its form.

A list is answered by turns of several conversations, a single thing by one turn: signals for one kind of
passage speak against the other.
"""

import re

from clsm_cli.text.tokens import STOP_WORDS

_QUESTION_WORDS = frozenset({"what", "which", "many"})
_KINDS = frozenset({"kind", "kinds", "type", "types", "sort", "sorts"})
_PERFECT = frozenset({"has", "have"})
_MARKS = str.maketrans(dict.fromkeys(",.;:!?\"()/-'’“”", " "))
_HEAD_WORDS = 4  # words after "what" in which to look for a plural noun
_MIN_TERMS, _MAX_TERMS = 2, 7  # search terms up to which breadth is 1, and from which it is 0


def breadth(text: str, terms: int, *, asks_when: bool) -> float:
    """How far a question asks for several things, 0 … 1.

        max(0, 1 − (terms − 2) / 5)   if it has a plural noun, a perfect tense, or asks for both of two

    and does not ask for a time; else 0. Each term narrows it: "what pets does she have", but "what pets did
    she take to the vet in May". Nothing is fitted; a logistic regression on the form is no better (LoCoMo,
    multi-hop recall@10 63.4 against 63.6). ``terms`` is the number of search terms without people's names.

    >>> breadth("What hobbies does she have?", 1, asks_when=False)
    1.0
    >>> breadth("What books has she read in the summer?", 4, asks_when=False)
    0.6
    >>> breadth("When did she go to the zoo?", 2, asks_when=True)
    0.0
    """
    words = text.casefold().translate(_MARKS).split()
    known = set(words)
    is_broad = not asks_when and (
        not known.isdisjoint(_PERFECT)
        or "both" in known
        or "people" in known
        or _asks_for_plural(words)
    )
    narrowness = (terms - _MIN_TERMS) / (_MAX_TERMS - _MIN_TERMS)
    return max(0.0, min(1.0, 1 - narrowness)) if is_broad else 0.0


def asks_for_several(text: str) -> bool:
    """Whether a question asks for several things with a noun, however many terms it has.

    >>> asks_for_several("Which schools does Nils like?"), asks_for_several("Which school does Nils like?")
    (True, False)
    """
    words = re.split(r"\b(?:do|does|did)\b", text.casefold())[0].translate(_MARKS).split()
    return "both" in words or ("many" not in words and _asks_for_plural(words))


def _asks_for_plural(words: list[str]) -> bool:
    """Whether the noun after "what", "which" or "how many" is plural, or a word for kinds."""
    for place, word in enumerate(words):
        if word in _QUESTION_WORDS:
            head = words[place + 1 : place + 1 + _HEAD_WORDS]
            if head and (head[0] in _KINDS or any(map(_ends_in_s, head))):
                return True
    return False


def _ends_in_s(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and word[-2] != "s" and word not in STOP_WORDS
