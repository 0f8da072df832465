"""Both sides of a comparison or an alternative, each a question of its own."""

from __future__ import annotations

import re

from clsm_cli.text.compound_words import (
    ARTICLES,
    BREAKS,
    NAME,
    PREPOSITIONS,
    bare,
    reach,
    spread,
    start,
    words,
)

MARKERS = words("vs vs. versus than compare compared differ differs different or")
"""Folded words without one of which nothing is compared; "differences" come with "and"."""

_VERSUS = r"\s(?:vs\.?|versus|(?:as )?compared (?:to|with))\s"
_COMPARED = (
    r"\b(?:differences?|similarit(?:y|ies)|distinctions?|contrast|trade-?offs?) between (?P<a>.+?) and (?P<b>.+)",
    r"^(?:please )?compare (?P<a>.+?) (?:and|with|to) (?P<b>.+)",
    (
        r"\b(?:does|do|did|is|are|was|what (?:makes|sets)) (?P<a>[^,]+?)"
        r" (?:compare (?:to|with)|differs? from|different (?:from|to|than)|apart from) (?P<b>.+)"
    ),
    (
        r"^(?:(?:is|are|was|were|do|does|did|which|what|should|why) )*(?P<a>[^,]+?)"
        r" (?:(?:better|worse|more|less|rather)(?: \w+)?|(?P<how>\w+er)) than (?P<b>(?!\d).+)"
    ),
)
_FRAME = r"^(?:(?:how|what|which|is|are|was|were|do|does|did|should|would|the|an?) )+"
_TAIL = re.compile(r"\s(?:for|in|on|at|during|with|when|of)\s.+", re.IGNORECASE)
_OF_NAME = r"(?P<head>.+ (?:of|by|from|in|at|for)) [A-Z][\w' -]*"
_QUALIFIER = r"(?:old|new|first|second|last|big|small|long|short|fast|slow|\w+(?:ic|al|ive|ous|ary|ful|less|able|ian|ed))"
_ALTERNATIVE = (
    r" or (?!(?:not|so|more|less|later|earlier|even|no|none|any|anything|something|other)\b)"
)
_COUNTED = words("one two three four five six seven eight nine ten")


def sides(text: str) -> list[str]:
    """The two sides, with the words that belong to both; none where nothing is compared.

    >>> sides("REST vs GraphQL for mobile apps")
    ['REST for mobile apps', 'GraphQL for mobile apps']
    >>> sides("Did Mara move to Haarlem or Leiden?")
    ['Did Mara move to Haarlem', 'Did Mara move to Leiden']
    """
    versus = re.search(_VERSUS, text, re.IGNORECASE)
    if versus:
        left = re.sub(_FRAME, "", text[: versus.start()], flags=re.IGNORECASE)
        return _completed(left, text[versus.end() :])
    for pattern in _COMPARED:
        if match := re.search(pattern, text, re.IGNORECASE):
            how = match.groupdict().get("how") or ""
            return [f"{side} {how}".strip() for side in _completed(match["a"], match["b"])]
    alternative = re.search(_ALTERNATIVE, text, re.IGNORECASE)
    if alternative is None or "," in text[: alternative.start()]:
        return []
    return _alternatives(text[: alternative.start()].split(), text[alternative.end() :].split())


def _completed(left: str, right: str) -> list[str]:
    """Both, each with the words that stand at one of them and are meant for both."""
    left, right = bare(left), bare(right)
    noun = right.partition(" ")[2]
    of_name = re.fullmatch(_OF_NAME, left)
    owned = re.match(rf"{NAME}(['’]s .+)", right)
    if noun and (left.endswith(("'s", "’s")) or re.fullmatch(_QUALIFIER, left)):
        left = f"{left} {noun}"
    elif of_name and re.fullmatch(NAME, right):
        right = f"{of_name['head']} {right}"
    elif owned and re.fullmatch(NAME, left):
        left += owned[1]
    elif (tail := _TAIL.search(right)) and not _TAIL.search(f" {left} "):
        left += tail.group()
    return [left, right]


def _alternatives(left: list[str], right: list[str]) -> list[str]:
    """X and Y of "X or Y": Y ends before a function word, X has as many words as Y."""
    if not left or not right or right[0].lower() in _COUNTED:
        return []
    first = right[0].lower()
    opens = first in PREPOSITIONS | ARTICLES
    if first in BREAKS and not opens:
        return []
    length = reach(right, 1 if opens else 0)
    place = start(left, length)
    if opens:
        same_kind = ARTICLES if first in ARTICLES else {first}
        places = [i for i, word in enumerate(left) if word.lower() in same_kind]
        place = places[-1] if places else len(left) - 1
    before = " ".join(word for word in left[:place] if word.lower() not in {"either", "whether"})
    items = (" ".join(left[place:]), " ".join(right[:length]))
    return spread(before, items, " ".join(right[length:]))
