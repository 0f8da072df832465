"""Which of two things that a text names has which relation to the other, told by a small head.

Two names are looked at when they stand in one unit (``heads.units``), or when one stands in the
heading above it. The head sees the words and marks around and between them, where
they stand, and what kinds of thing they are; it knows no verb and no name.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.heads.names import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DIMENSIONS = 384
NEAR, MOST, ABOVE = 3, 12, 3
"""Names before one that it is paired with; names of a unit beyond which it is a mere list; names of a
unit that are paired with its heading."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Named(NamedTuple):
    """A name of a node in a text: first character, the one after its last, the node and its kind."""

    start: int
    end: int
    node: str
    kind: str = ""


class Pair(NamedTuple):
    """Two names, in the order in which they are read.

    Attributes:
        text: What is said: a unit.
        above: The heading that ``left`` stands in, if it does; else the innermost heading.
        left: A name in the unit, or in ``above`` if ``is_below``.
        right: A name in the unit.
        names: Of all nodes in the unit.
    """

    text: str
    above: str
    left: Named
    right: Named
    is_below: bool
    names: tuple[Named, ...]


def apart(named: Sequence[Named]) -> list[Named]:
    """Of overlapping names the longest, by start."""
    kept: list[Named] = []
    for each in sorted(named, key=lambda each: (each.start, -each.end, each.node)):
        if kept and each.start < kept[-1].end:
            if each.end - each.start > kept[-1].end - kept[-1].start:
                kept[-1] = each
        else:
            kept.append(each)
    return kept


def pairs(
    text: str,
    named: Sequence[Named],
    headings: Sequence[tuple[str, Sequence[Named]]] = (),
) -> Iterator[Pair]:
    """The pairs of a unit that are looked at.

    Args:
        text: The unit.
        named: The names in it.
        headings: The headings above it, outermost first, with the names in each.

    >>> found = pairs("Ada feeds Rex.", [Named(0, 3, "ada"), Named(10, 13, "rex")])
    >>> [(pair.left.node, pair.right.node) for pair in found]
    [('ada', 'rex')]
    """
    inside = tuple(apart(named))
    if len(inside) > MOST:
        return
    last = headings[-1][0] if headings else ""
    for place, right in enumerate(inside):
        for left in inside[max(0, place - NEAR) : place]:
            if left.node != right.node:
                yield Pair(text, last, left, right, False, inside)
    known = {each.node for each in inside}
    above, names = next(((h, apart(n)) for h, n in reversed(headings) if n), ("", []))
    for left in names[:2]:
        if left.node not in known:
            for right in inside[:ABOVE]:
                yield Pair(text, above, left, right, True, inside)


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
    "heading", "signs between", "words between", "names between", "names", "words",
    *(f"between {mark!r}" for mark in _MARKS), "dash between", "arrow between", "arrow back between",
    "only marks between", "capital between", "digits between", "cells between", "sentence ends between",
    "row", "item", "ticked", "open box", "question", "exclaims", "left begins", "right begins", "right ends",
    "left owns", "right owns", "left in cell 1", "colon after right", "right in brackets",
    "whole heading", "first person",
    *(f"{side} {what}" for side in _SIDES for what in ("capital", "capitals", "path", "digit", "long",
      "bold", "code", "linked", "quoted")),
    *(f"{side} {kind}" for side in _SIDES for kind in KINDS), "same kind",
)  # fmt: skip
SLOTS = ("before", "after left", "between", "before right", "after", "left", "right", "above")
"""Whose words' meanings the head sees, ``DIMENSIONS`` numbers each."""
INPUTS = (*SHAPE, *(f"{slot} {number}" for slot in SLOTS for number in range(DIMENSIONS)))


def shape(pair: Pair) -> list[float]:
    """Numbers about a pair, in the order of ``SHAPE``."""
    text, left, right = pair.text, pair.left, pair.right
    inside = not pair.is_below
    begin = left.end if inside else 0
    gap, head, tail = text[begin : right.start], text[: right.start], text[right.end :]
    bare = _LEAD.match(text)
    first = bare.end() if bare else 0
    item = _ITEM.match(text)
    box = _BOX.match(text, item.end()) if item else None
    row = text.lstrip().startswith("|")
    between = sum(begin <= each.start and each.end <= right.start for each in pair.names)
    words = _WORD.findall(gap)
    told = [
        pair.is_below,
        math.log1p(len(gap)),
        math.log1p(len(words)),
        math.log1p(between),
        math.log1p(len(pair.names)),
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
        inside and left.start <= first,
        right.start <= first,
        _TRAIL.fullmatch(tail) is not None,
        inside and _OWNER.match(text, left.end) is not None,
        _OWNER.match(tail) is not None,
        row and inside and text[: left.start].count("|") <= 1,
        re.match(r"[*_`]*[:：]", tail) is not None,
        head.rfind("(") > head.rfind(")"),
        pair.is_below and not pair.above.strip("#*_: ")[left.end - left.start :],
        _FIRST.search(text) is not None,
    ]
    holder = pair.above if pair.is_below else text
    told += [*_looks(holder, left), *_looks(text, right)]
    told += [each.kind == kind for each in (left, right) for kind in KINDS]
    told.append(left.kind == right.kind)
    return [float(bool(each)) if isinstance(each, bool) else float(each or 0) for each in told]


def _looks(text: str, name: Named) -> list[bool]:
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


def phrases(pair: Pair) -> tuple[list[str], ...]:
    """The words of each of ``SLOTS``.

    >>> pair = next(pairs("Ada feeds old Rex twice.", [Named(0, 3, "ada"), Named(14, 17, "rex")]))
    >>> phrases(pair)[1:5]
    (['feeds', 'old'], ['feeds', 'old'], ['feeds', 'old'], ['twice'])
    """
    text, left, right = pair.text, pair.left, pair.right
    inside = not pair.is_below
    gap = _WORD.findall(text[left.end if inside else 0 : right.start])
    holder = pair.above if pair.is_below else text
    return (
        _WORD.findall(text[: left.start])[-4:] if inside else [],
        gap[:2],
        gap if len(gap) <= 10 else [*gap[:4], *gap[-6:]],
        gap[-2:],
        _WORD.findall(text[right.end :])[:4],
        _WORD.findall(holder[left.start : left.end])[:6],
        _WORD.findall(text[right.start : right.end])[:6],
        _WORD.findall(pair.above)[:10],
    )


TYPES = (
    "uses", "part_of", "works_on", "member_of", "located_at", "made_by", "is_a", "about",
)  # fmt: skip


def inputs(chosen: Sequence[Pair], meanings: Callable[[Sequence[str]], Any] | None) -> Any:
    """Float64 [n, ``INPUTS``]: the shape of each pair and what its words mean; zeros without the model."""
    import numpy as np

    told = np.zeros((len(chosen), len(INPUTS)))
    told[:, : len(SHAPE)] = [shape(pair) for pair in chosen]
    if meanings is None:
        return told
    said = [phrases(pair) for pair in chosen]
    words = sorted({word.lower() for slots in said for slot in slots for word in slot})
    place = {word: row for row, word in enumerate(words)}
    known = meanings(words)
    for row, slots in zip(told, said, strict=True):
        for number, slot in enumerate(slots):
            if slot:
                start = len(SHAPE) + number * DIMENSIONS
                chosen_words = [place[word.lower()] for word in slot]
                row[start : start + DIMENSIONS] = known[chosen_words].mean(0)
    return told
