"""The relation head: whether a text relates two things that it names.

Two names are looked at when they stand in one unit (``heads.units``). A name in a heading and one below
it are not: of 23 such pairs that the head was surest of, a reader found 9 related. The head sees the
marks around and between them, where they stand, what kinds of thing they are and what their names mean;
it knows no verb.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.heads.name_head import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.heads.judge import Meanings

DIMENSIONS = 384
NEAR, MOST = 3, 12
"""Names before one that it is paired with; names of a unit beyond which it is a mere list."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class NameSpan(NamedTuple):
    """A name of a node in a text: first character, the one after its last, the node and its kind."""

    start: int
    end: int
    node: str
    kind: str = ""


class Pair(NamedTuple):
    """Two of the names of a unit, in the order in which they are read; ``all_names`` are all."""

    text: str
    left: NameSpan
    right: NameSpan
    all_names: tuple[NameSpan, ...]


def longest_names(spans: Sequence[NameSpan]) -> list[NameSpan]:
    """Of overlapping names the longest, by start."""
    kept: list[NameSpan] = []
    for each in sorted(spans, key=lambda each: (each.start, -each.end, each.node)):
        if kept and each.start < kept[-1].end:
            if each.end - each.start > kept[-1].end - kept[-1].start:
                kept[-1] = each
        else:
            kept.append(each)
    return kept


def pairs(text: str, spans: Sequence[NameSpan]) -> Iterator[Pair]:
    """The pairs of a unit that are looked at.

    >>> found = pairs("Ada feeds Rex.", [NameSpan(0, 3, "ada"), NameSpan(10, 13, "rex")])
    >>> [(pair.left.node, pair.right.node) for pair in found]
    [('ada', 'rex')]
    """
    inside = tuple(longest_names(spans))
    if len(inside) > MOST:
        return
    for place, right in enumerate(inside):
        for left in inside[max(0, place - NEAR) : place]:
            if left.node != right.node:
                yield Pair(text, left, right, inside)


_MARKS = (":", ",", ";", "(", ")", "|", "/", "+", "&", "=", ".", "-", '"', "`", "**", "[", "\n")
_DASH = re.compile(r"[—–]|\s--?\s")
_ARROW = re.compile(r"[→⇒⟶]|[-=]>")
_BACK = re.compile(r"[←⇐⟵]|<[-=]")
_OWNER = re.compile(r"[*_`\"\]]*['’]s\b")
_ITEM = re.compile(r"[ \t]*(?:[-*+>]|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX])\]")
_LEAD = re.compile(r"[\s\-*+>\d.)|\[\]xX`_\"#]*")
_TRAIL = re.compile(r"[\s*_`\"\])|.!。:：,;]*")
_PATH = re.compile(r"[/\\@]|\w\.\w")
_FIRST = re.compile(r"\b(?:I|I['’]\w+|[Mm]y|[Ww]e|[Oo]ur)\b")
_SIDES = ("left", "right")
SHAPE = (
    "signs between", "words between", "names between", "names", "words",
    *(f"between {mark!r}" for mark in _MARKS), "dash between", "arrow between", "arrow back between",
    "only marks between", "capital between", "digits between", "cells between", "sentence ends between",
    "row", "item", "ticked", "open box", "question", "exclaims", "left begins", "right begins", "right ends",
    "left owns", "right owns", "left in cell 1", "colon after right", "right in brackets",
    "first person",
    "words before left", "words after left", "words before right", "words after right",
    "mark after left", "mark after right", "mark before left",
    *(f"{side} {what}" for side in _SIDES for what in ("capital", "capitals", "path", "digit", "long",
      "bold", "code", "linked", "quoted")),
    *(f"{side} {kind}" for side in _SIDES for kind in KINDS), "same kind",
)  # fmt: skip
SLOTS = ("left", "right")
"""The names whose words' meanings the head sees, ``DIMENSIONS`` numbers each; those of what stands
between or above them told it less than they misled it."""
INPUTS = (*SHAPE, *(f"{slot} {number}" for slot in SLOTS for number in range(DIMENSIONS)))


def pair_shape(pair: Pair) -> list[float]:
    """Numbers about a pair, in the order of ``SHAPE``."""
    text, left, right = pair.text, pair.left, pair.right
    gap, head, tail = text[left.end : right.start], text[: right.start], text[right.end :]
    bare = _LEAD.match(text)
    first = bare.end() if bare else 0
    item = _ITEM.match(text)
    box = _BOX.match(text, item.end()) if item else None
    row = text.lstrip().startswith("|")
    between = sum(left.end <= each.start and each.end <= right.start for each in pair.all_names)
    words = _WORD.findall(gap)
    told = [
        math.log1p(len(gap)),
        math.log1p(len(words)),
        math.log1p(between),
        math.log1p(len(pair.all_names)),
        math.log1p(len(_WORD.findall(text))),
        *(min(3, gap.count(mark)) for mark in _MARKS),
        _DASH.search(gap) is not None,
        _ARROW.search(gap) is not None,
        _BACK.search(gap) is not None,
        not words,
        any(word[0].isupper() for word in words),
        any(sign.isdigit() for sign in gap),
        gap.count("|") if row else 0,
        re.search(r"[.!?。！？]\s", gap) is not None,
        row,
        item is not None,
        box is not None and box[1] != " ",
        box is not None and box[1] == " ",
        text.rstrip("*_`\"' ").endswith(("?", "？")),
        text.rstrip("*_`\"' ").endswith("!"),
        left.start <= first,
        right.start <= first,
        _TRAIL.fullmatch(tail) is not None,
        _OWNER.match(text, left.end) is not None,
        _OWNER.match(tail) is not None,
        row and text[: left.start].count("|") <= 1,
        re.match(r"[*_`]*[:：]", tail) is not None,
        head.rfind("(") > head.rfind(")"),
        _FIRST.search(text) is not None,
        *_around(pair),
    ]
    told += [*_looks(text, left), *_looks(text, right)]
    told += [each.kind == kind for each in (left, right) for kind in KINDS]
    told.append(left.kind == right.kind)
    return [float(bool(each)) if isinstance(each, bool) else float(each or 0) for each in told]


def _around(pair: Pair) -> list[float]:
    """Whether each name is the whole of what stands between two marks, or a part of a longer phrase."""
    text, left, right = pair.text, pair.left, pair.right
    before, after = text[: left.start], text[left.end :]
    told = [_last(before), _first(after), _last(text[: right.start]), _first(text[right.end :])]
    return [
        *(math.log1p(len(_WORD.findall(part))) for part in told),
        float(after.lstrip('*_`"] ')[:1] in tuple("(:|—–→") and bool(after.strip())),
        float(
            text[right.end :].lstrip('*_`"] ')[:1] in tuple(")|—–→(,;") and right.end < len(text)
        ),
        float(before.rstrip('*_`"[ ')[-1:] in tuple("(:|—–→")),
    ]


_PARTS = re.compile(r"[|():;,.!?→—–=/+&\n（）：，。、]|\s-{1,2}\s")


def _last(text: str) -> str:
    return _PARTS.split(text[-80:])[-1]


def _first(text: str) -> str:
    return _PARTS.split(text[:80], maxsplit=1)[0]


def _looks(text: str, name: NameSpan) -> list[bool]:
    said = text[name.start : name.end]
    before, after = text[: name.start][-2:], text[name.end :][:2]
    return [
        said[0].isupper(),
        said.isupper() and len(said) > 1,
        _PATH.search(said) is not None,
        any(sign.isdigit() for sign in said),
        " " in said,
        before.endswith("**") and after.startswith("**"),
        before.endswith("`"),
        before.endswith("["),
        before[-1:] in ("“", '"', "*", "「", "_") and before != "**",
    ]


TYPE = "semantic"
"""The type of all these edges: the head tells surely enough whether a text relates two things, not how;
the text itself, an edge's source, says that."""
LEAST = 0.7
"""Probability from which two things are related."""
_MOST_ROWS = 4096


def relation_probabilities(chosen: Sequence[Pair], meanings: Meanings | None) -> list[float]:
    """How likely the text of each pair relates its two things in a way that a person would draw.

    Args:
        chosen: Pairs of any units.
        meanings: What the words of texts mean, ``DIMENSIONS`` numbers each; None without the model.
    """
    found: list[float] = []
    for start in range(0, len(chosen), _MOST_ROWS):
        rows = head_inputs(chosen[start : start + _MOST_ROWS], meanings)
        found += [told["related"] for told in classifier.load("relation").probabilities(rows)]
    return found


def head_inputs(chosen: Sequence[Pair], meanings: Meanings | None) -> Any:
    """Float64 [n, ``INPUTS``]: the shape of each pair and what its names mean; zeros without the model."""
    import numpy as np

    told = np.zeros((len(chosen), len(INPUTS)))
    told[:, : len(SHAPE)] = [pair_shape(pair) for pair in chosen]
    if meanings is None:
        return told
    said = [_names(pair) for pair in chosen]
    names = sorted({name for pair in said for name in pair})
    place = {name: row for row, name in enumerate(names)}
    known = np.asarray(meanings(names))
    width = len(SHAPE)
    for number in range(len(SLOTS)):
        told[:, width : width + DIMENSIONS] = known[[place[pair[number]] for pair in said]]
        width += DIMENSIONS
    return told


def _names(pair: Pair) -> tuple[str, str]:
    left, right = pair.left, pair.right
    return pair.text[left.start : left.end], pair.text[right.start : right.end]
