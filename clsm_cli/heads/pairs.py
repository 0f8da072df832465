"""What a later sentence is to an earlier one: it says the same, takes its place, stands beside it, or
is about something else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log1p

from clsm_cli.records import NamedTuple
from clsm_cli.text.tokens import STOP_WORDS

RELATIONS = ("same", "update", "both", "unrelated")

INPUTS = (
    "cosine", "shared of a", "shared of b", "shared content of a", "shared content of b", "only a", "only b",
    "longest run", "words a", "words b", "swaps", "short swaps", "inserted", "left out", "swap of numbers",
    "swap of names", "swap before same end", "numbers same", "numbers differ", "numbers a alone",
    "numbers b alone", "numbers joined", "names shared", "names a alone", "names b alone", "names differ",
    "first word same", "first content shared", "last word same", "label same", "label differs", "one label",
    "value same", "heading same", "heading differs", "heading shared", "asks a", "asks b", "quotes a", "quotes b",
    "box a", "box b", "struck a", "struck b", "marks a", "marks b", "same text",
)  # fmt: skip

_WORD = re.compile(r"[^\W_]+(?:[.,:/@_+\-][^\W_]+)*%?|n['’]t\b|(?<=\w)['’](?:m|re|ve|ll|d)\b")
_NEGATED = re.compile(r"n['’]t\b")
_LABEL = re.compile(r"\W*([^:|\n]{1,40}?)\W*[:|=]\s*\W*(\S.*)", re.DOTALL)
_BOX = re.compile(r"\[[xX ]\]")
_DONE = re.compile(r"\[[xX]\]|[✅✔☑]")
_TEXT = re.compile(r"[*_`#>]+")
MOST = 60
"""Words of a sentence that are compared."""


class Sentence(NamedTuple):
    """A sentence, item or row as it is compared with another.

    Attributes:
        words: As they are written, without marks.
        keys: The same to be compared: folded, without endings.
        heading: Keys of the words of the heading above it.
        label: Keys of the words before a colon; ``value`` those behind it.
    """

    text: str
    words: tuple[str, ...]
    keys: tuple[str, ...]
    heading: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    value: tuple[str, ...] = ()


def sentence(text: str, heading: str = "") -> Sentence:
    """Read a sentence, with or without its marks."""
    bare = _TEXT.sub("", text)
    words = tuple(_words(bare)[:MOST])
    labelled = _LABEL.match(bare)
    label = value = ()
    if labelled:
        label, value = (tuple(map(_key, _words(part)[:MOST])) for part in labelled.groups())
    return Sentence(
        text, words, tuple(map(_key, words)), tuple(map(_key, _words(heading))), label, value
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(_NEGATED.sub(" n't", text))


@lru_cache(maxsize=8192)
def _key(word: str) -> str:
    """A word to compare: folded, without what most endings of a word of its length are."""
    folded = word.casefold()
    if any(map(str.isdigit, folded)):
        return folded.replace(",", "")
    for ending in ("ing", "ed", "es", "en", "er", "s", "e"):
        if folded.endswith(ending) and len(folded) - len(ending) >= 3:
            return folded[: -len(ending)]
    return folded


class Compared(NamedTuple):
    """Two sentences laid beside each other.

    Attributes:
        blocks: Runs of equal keys: place in a, place in b, length.
        only_a: Places in a of what b has nowhere; ``only_b`` the other way round.
        shared: Places in b of what both have.
    """

    blocks: tuple[tuple[int, int, int], ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]
    shared: tuple[int, ...]


def compared(a: Sentence, b: Sentence) -> Compared:
    """Lay two sentences beside each other, by their longest common subsequence of words.

    >>> found = compared(sentence("Rent is 900."), sentence("Rent is 950 now."))
    >>> found.blocks, found.only_a, found.only_b
    (((0, 0, 2),), (2,), (2, 3))
    """
    have_a, have_b = {*a.keys}, {*b.keys}
    return Compared(
        tuple(_blocks(a.keys, b.keys)),
        tuple(place for place, key in enumerate(a.keys) if key not in have_b),
        tuple(place for place, key in enumerate(b.keys) if key not in have_a),
        tuple(place for place, key in enumerate(b.keys) if key in have_a),
    )


def _blocks(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[int, int, int]]:
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = lengths[i], lengths[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    found: list[tuple[int, int, int]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            if found and found[-1][0] + found[-1][2] == i and found[-1][1] + found[-1][2] == j:
                start, other, length = found[-1]
                found[-1] = (start, other, length + 1)
            else:
                found.append((i, j, 1))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))


def _is_content(key: str) -> bool:
    return key not in _STOP_KEYS and (len(key) > 1 or key.isdigit())


_STOP_KEYS = frozenset(map(_key, STOP_WORDS))


def _names(sentence: Sentence) -> set[str]:
    """Keys of words with a capital inside a sentence, or more than one."""
    return {
        key
        for place, (word, key) in enumerate(zip(sentence.words, sentence.keys, strict=True))
        if (word[0].isupper() and place > 0 and word != "I") or any(map(str.isupper, word[1:]))
    }


def pair_features(a: Sentence, b: Sentence, both: Compared, cosine: float) -> list[float]:
    """Numbers about an earlier and a later sentence, in the order of ``INPUTS``.

    Args:
        a: The earlier.
        b: The later.
        both: ``compared(a, b)``.
        cosine: Of their vectors; 0 without a model.
    """
    content_a, content_b = (
        {key for key in each.keys if _is_content(key)} for each in (a, b)
    )
    in_order = sum(length for _, _, length in both.blocks)
    return [
        cosine,
        in_order / (len(a.keys) or 1),
        in_order / (len(b.keys) or 1),
        len(content_a & content_b) / (len(content_a) or 1),
        len(content_a & content_b) / (len(content_b) or 1),
        log1p(len(content_a - content_b)),
        log1p(len(content_b - content_a)),
        log1p(max((length for _, _, length in both.blocks), default=0)),
        log1p(len(a.keys)),
        log1p(len(b.keys)),
        *_swaps(a, b, both),
        *_particulars(a, b),
        *_places(a, b, content_a, content_b),
        *_marks(a, b),
        float(a.keys == b.keys),
    ]


def _swaps(a: Sentence, b: Sentence, both: Compared) -> list[float]:
    """How many stretches of one stand in the place of a stretch of the other."""
    swaps = short = inserted = left = numbers = names = before = 0
    i = j = 0
    for start, other, length in (*both.blocks, (len(a.keys), len(b.keys), 0)):
        one, two = a.words[i:start], b.words[j:other]
        if one and two:
            swaps += 1
            short += len(one) <= 3 and len(two) <= 3
            numbers += any(map(_is_number, one)) and any(map(_is_number, two))
            names += any(w[0].isupper() for w in one) and any(w[0].isupper() for w in two)
            before += length > 0
        inserted += bool(two and not one)
        left += bool(one and not two)
        i, j = start + length, other + length
    return [log1p(each) for each in (swaps, short, inserted, left, numbers, names, before)]


def _particulars(a: Sentence, b: Sentence) -> list[float]:
    """How their numbers and names agree."""
    one, two = ({key for key in each.keys if _is_number(key)} for each in (a, b))
    names, others = _names(a), _names(b)
    everywhere, there = {*a.keys}, {*b.keys}
    alone, other_alone = names - there, others - everywhere
    return [
        float(bool(one) and one == two),
        float(bool(one - two) and bool(two - one)),
        float(bool(one) and not two),
        float(bool(two) and not one),
        float(bool(one & two) and one != two),
        log1p(len((names & there) | (others & everywhere))),
        log1p(len(alone)),
        log1p(len(other_alone)),
        float(bool(alone) and bool(other_alone)),
    ]


def _places(a: Sentence, b: Sentence, content: set[str], other: set[str]) -> list[float]:
    """Whether they begin and end alike, and stand under the same label and heading."""
    first = next((key for key in a.keys if key in content), None)
    first_b = next((key for key in b.keys if key in other), None)
    heading = {*a.heading} & {*b.heading}
    return [
        float(a.keys[:1] == b.keys[:1]),
        float(first in other) + float(first_b in content),
        float(a.keys[-1:] == b.keys[-1:]),
        float(bool(a.label) and a.label == b.label),
        float(bool(a.label) and bool(b.label) and a.label != b.label),
        float(bool(a.label) != bool(b.label)),
        float(bool(a.value) and a.value == b.value),
        float(bool(a.heading) and a.heading == b.heading),
        float(bool(a.heading) and bool(b.heading) and not heading),
        float(bool(heading)),
    ]


def _marks(a: Sentence, b: Sentence) -> list[float]:
    found = []
    for each in ("?", '"“„«', None, "~~", "!…"):
        for text in (a.text, b.text):
            if each is None:
                found.append(float(bool(_BOX.search(text))) + float(bool(_DONE.search(text))))
            elif each == "~~":
                found.append(float(each in text))
            else:
                found.append(float(any(map(text.__contains__, each))))
    return found
