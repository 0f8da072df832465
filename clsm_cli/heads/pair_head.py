"""What a later sentence is to an earlier one: the same again, its update, true beside it, or unrelated.

A head of one hidden layer over what the two share and where they differ, what a question asks for,
which way the later one's vector lies from the earlier one's, and what the words mean that only one of
them has. It is asked at night of statements and by a recall of the passages of an answer, so it needs
no more than plain Python.
"""

from __future__ import annotations

import base64
import json
import re
from array import array
from functools import cache, lru_cache
from math import exp, log1p, tanh
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RELATIONS = ("same", "update", "both", "unrelated")

INPUTS = (
    "cosine", "shared of a", "shared of b", "shared content of a", "shared content of b", "only a", "only b",
    "longest run", "words a", "words b", "swaps", "short swaps", "inserted", "left out", "swap of numbers",
    "swap of names", "swap before same end", "numbers same", "numbers differ", "numbers a alone",
    "numbers b alone", "numbers joined", "names shared", "names a alone", "names b alone", "names differ",
    "first word same", "first content shared", "last word same", "label same", "label differs", "one label",
    "value same", "heading same", "heading differs", "heading shared", "asks a", "asks b", "quotes a", "quotes b",
    "box a", "box b", "struck a", "struck b", "marks a", "marks b", "same text", "asked", "asked of a",
    "asked of b", "asked of a alone", "asked of b alone", "asked of both", "words asked", "b has all asked",
    "numbers of all asked", "swap of all asked", "share of all asked", "left of a", "left of b", "left alike",
    "near a", "near b", "near both", "nearer b",
)  # fmt: skip
DIMENSIONS = 384
"""Numbers of a sentence vector."""

_WORD = re.compile(r"[^\W_]+(?:[.,:/@_+\-][^\W_]+)*%?|n['’]t\b|(?<=\w)['’](?:m|re|ve|ll|d)\b")
_NEGATED = re.compile(r"n['’]t\b")
_LABEL = re.compile(r"\W*([^:|\n]{1,40}?)\W*(?:[:=]\s|\|)\W*(\S.*)", re.DOTALL)
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
    label: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
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


def blocks(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Runs of their longest common subsequence: place in one, place in the other, length.

    >>> blocks(("rent", "is", "900"), ("rent", "is", "950", "now"))
    [(0, 0, 2)]
    """
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


def pair_features(
    a: Sentence, b: Sentence, cosine: float, asked: Question | None = None
) -> list[float]:
    """Numbers about an earlier and a later sentence, in the order of ``INPUTS``.

    Args:
        a: The earlier.
        b: The later.
        cosine: Of their vectors.
        asked: A question that both may answer.
    """
    runs = blocks(a.keys, b.keys)
    content_a, content_b = content(a), content(b)
    in_order = sum(length for _, _, length in runs)
    return [
        cosine,
        in_order / (len(a.keys) or 1),
        in_order / (len(b.keys) or 1),
        len(content_a & content_b) / (len(content_a) or 1),
        len(content_a & content_b) / (len(content_b) or 1),
        log1p(len(content_a - content_b)),
        log1p(len(content_b - content_a)),
        log1p(max((length for _, _, length in runs), default=0)),
        log1p(len(a.keys)),
        log1p(len(b.keys)),
        *_swaps(a, b, runs),
        *_particulars(a, b),
        *_places(a, b, content_a, content_b),
        *_marks(a, b),
        float(a.keys == b.keys),
        *_asked(asked, a, b),
    ]


def _asked(asked: Question | None, a: Sentence, b: Sentence) -> list[float]:
    """How much of a question each has, and what is left of them, which is the answer."""
    if asked is None:
        return [0.0] * 18
    wanted = content(asked.text)
    held, other_held = {*a.keys, *a.heading}, {*b.keys, *b.heading}
    one, two = wanted & held, wanted & other_held
    left, other_left = content(a) - other_held - wanted, content(b) - held - wanted
    count = len(wanted) or 1
    has_all = bool(one) and one <= two
    numbers = any(map(_is_number, left)) and any(map(_is_number, other_left))
    return [
        1.0,
        len(one) / count,
        len(two) / count,
        float(len(one - two)),
        float(len(two - one)),
        len(one & two & {*a.keys} & {*b.keys}) / count,
        log1p(count),
        float(has_all),
        float(has_all and numbers),
        float(has_all and bool(left) and bool(other_left)),
        has_all * len(one & two) / count,
        has_all * log1p(len(left)),
        has_all * log1p(len(other_left)),
        float(has_all and len(left) == len(other_left)),
        asked.near,
        asked.later,
        min(asked.near, asked.later),
        asked.later - asked.near,
    ]


def content(sentence: Sentence) -> set[str]:
    """Keys of the words that say what it is about."""
    return {key for key in sentence.keys if _is_content(key)}


def particulars(sentence: Sentence) -> set[str]:
    """Keys of its numbers and names.

    >>> sorted(particulars(sentence("Our dog Rex is 4.")))
    ['4', 'rex']
    """
    return _names(sentence) | {key for key in sentence.keys if _is_number(key)}


def _swaps(a: Sentence, b: Sentence, runs: Sequence[tuple[int, int, int]]) -> list[float]:
    """How many stretches of one stand in the place of a stretch of the other."""
    swaps = short = inserted = left = numbers = names = before = 0
    i = j = 0
    for start, other, length in (*runs, (len(a.keys), len(b.keys), 0)):
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


def _places(a: Sentence, b: Sentence, own: set[str], other: set[str]) -> list[float]:
    """Whether they begin and end alike, and stand under the same label and heading."""
    first = next((key for key in a.keys if key in own), None)
    first_b = next((key for key in b.keys if key in other), None)
    heading = {*a.heading} & {*b.heading}
    return [
        float(a.keys[:1] == b.keys[:1]),
        float(first in other) + float(first_b in own),
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


class Question(NamedTuple):
    """What is asked, and how near in meaning an earlier and a later sentence are to it.

    Attributes:
        text: The question.
        near: Cosine of its vector and the earlier one's; ``later`` that with the later one's.
    """

    text: Sentence
    near: float
    later: float


class Relation(NamedTuple):
    """How likely a later sentence is each of ``RELATIONS`` to an earlier one."""

    same: float
    update: float
    both: float
    unrelated: float


class Table(NamedTuple):
    """Rows of numbers as signed bytes, unpacked when one is looked up.

    Attributes:
        steps: What one step of each column is.
        codes: Row after row.
    """

    steps: Sequence[float]
    codes: array[int]

    def row(self, place: int) -> list[float]:
        """The numbers of a row."""
        width = len(self.steps)
        return list(map(mul, self.codes[place * width : (place + 1) * width], self.steps))


class Head(NamedTuple):
    """The fitted head, its numbers as plain lists.

    Attributes:
        mean: Of each input; ``scale`` is its deviation.
        inner: For each hidden unit the weight of each standardised input.
        ways: For each hidden unit the direction in which the difference of the vectors counts.
        bias: Of each hidden unit.
        words: Place of each frequent word in ``before`` and ``after``.
        before: For each word what it adds to each hidden unit where only the earlier sentence has it,
            divided by how many words only that has; ``after`` the same of the later one.
        outer: For each of ``RELATIONS`` the weight of each hidden unit; ``offset`` is added.
    """

    mean: Sequence[float]
    scale: Sequence[float]
    inner: Sequence[Sequence[float]]
    ways: Sequence[Sequence[float]]
    bias: Sequence[float]
    outer: Sequence[Sequence[float]]
    offset: Sequence[float]
    words: Mapping[str, int]
    before: Table
    after: Table

    def relation(
        self, features: Sequence[float], moved: Sequence[float], meant: Sequence[float]
    ) -> Relation:
        """What a pair is.

        Args:
            features: Its ``pair_features``.
            moved: The difference of the vectors, later − earlier, along each of ``ways``.
            meant: What the words add that only one of the two has, see ``meant``.
        """
        inputs = [
            max(-CLIP, min(CLIP, (value - mean) / scale))
            for value, mean, scale in zip(features, self.mean, self.scale, strict=True)
        ]
        hidden = [
            tanh(sum(map(mul, inputs, weights)) + way + words + bias)
            for weights, way, words, bias in zip(self.inner, moved, meant, self.bias, strict=True)
        ]
        scores = [
            sum(map(mul, hidden, weights)) + offset
            for weights, offset in zip(self.outer, self.offset, strict=True)
        ]
        most = max(scores)
        powers = [exp(score - most) for score in scores]
        return Relation(*(round(power / sum(powers), 4) for power in powers))

    def meant(self, a: Sentence, b: Sentence) -> list[float]:
        """What the words that only one of two sentences has add to each hidden unit."""
        found = [0.0] * len(self.bias)
        for table, words in ((self.before, left(a, b)), (self.after, left(b, a))):
            for word in words:
                place = self.words.get(word)
                if place is not None:
                    found = [
                        value + more / len(words)
                        for value, more in zip(found, table.row(place), strict=True)
                    ]
        return found

    def along(self, vector: Sequence[float]) -> list[float]:
        """A sentence vector along each of ``ways``."""
        return [sum(map(mul, vector, way)) for way in self.ways]


def left(sentence: Sentence, other: Sentence) -> list[str]:
    """The words of a sentence, folded, that another has in no form.

    >>> left(sentence("I like tea no longer"), sentence("I liked tea"))
    ['no', 'longer']
    """
    keys = {*other.keys}
    return [
        word.casefold()
        for word, key in zip(sentence.words, sentence.keys, strict=True)
        if key not in keys
    ]


CLIP = 4.0
"""Deviations from the mean beyond which an input counts no more."""


@cache
def load() -> Head:
    """The head, as shipped."""
    path = Path(__file__).with_name("weights") / "pair.json"  # importlib.resources costs 2 ms
    return unpacked(json.loads(path.read_text("utf-8")))


def packed(head: Head) -> dict[str, Any]:
    """A head as JSON: each row of a matrix, and each column of a table, as signed bytes with a scale.

    >>> table = Table([0.5], array("b", [1]))
    >>> one = Head([0.0], [1.0], [[0.5]], [[1.0]], [0.0], [[1.0]] * 4, [0.0] * 4, {"no": 0}, table, table)
    >>> unpacked(packed(one)).relation([1.0], [0.0], [0.0])
    Relation(same=0.25, update=0.25, both=0.25, unrelated=0.25)
    """
    found: dict[str, Any] = {"inputs": list(INPUTS)}
    for name, value in head._asdict().items():
        if name in _MATRICES:
            steps = [step_of(row) for row in value]
            codes = array(
                "b", [round(v / step) for row, step in zip(value, steps, strict=True) for v in row]
            )
            found[name] = {"steps": steps, "codes": _text(codes)}
        elif name in _TABLES:
            found[name] = {"steps": value.steps, "codes": _text(value.codes)}
        elif name == "words":
            found[name] = " ".join(value)
        else:
            found[name] = [round(float(each), 4) for each in value]
    return found


def step_of(values: Sequence[float]) -> float:
    """The step by which some numbers become signed bytes."""
    return float(f"{max(map(abs, values)) / 127:.5g}") or 1.0


def _text(codes: array[int]) -> str:
    return base64.b64encode(codes.tobytes()).decode()


_MATRICES = ("inner", "ways", "outer")
_TABLES = ("before", "after")


def unpacked(data: Mapping[str, Any]) -> Head:
    """A head from its JSON."""
    values: dict[str, Any] = {name: data[name] for name in Head._fields}
    for name in (*_MATRICES, *_TABLES):
        steps = data[name]["steps"]
        codes = array("b", base64.b64decode(data[name]["codes"]))
        if name in _TABLES:
            values[name] = Table(steps, codes)
            continue
        width = len(codes) // len(steps)
        values[name] = [
            [code * step for code in codes[row * width : (row + 1) * width]]
            for row, step in enumerate(steps)
        ]
    words = data["words"].split()
    values["words"] = dict(zip(words, range(len(words)), strict=True))
    return Head(**values)
