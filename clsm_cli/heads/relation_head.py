"""The relation head: whether a text relates two things that it names.

Pairs are names in one unit (``heads.units``), in a sentence that asserts what it says. A name in a heading
and one below it are no pair: a reader found only 9 of the 23 most probable ones related. Features are the
marks around and between the names, their positions, their kinds, and the word embeddings of the names and
of what stands between them: "has left" from "has joined".
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.heads.judge import Meanings
from clsm_cli.heads.name_head import DIMENSIONS, KINDS
from clsm_cli.text.factuality import is_asserted
from clsm_cli.text.known_names import NameSpan
from clsm_cli.text.language_data import word_list
from clsm_cli.text.markdown_marks import BOX, ITEM
from clsm_cli.text.sentences import split

MAX_DISTANCE, MAX_NAMES = 3, 12
"""Each name is paired with this many names before it; a unit with more names is a list without pairs."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PAST = frozenset(word_list("past"))


class Pair(NamedTuple):
    """Two names of a unit, in text order, and ``all_names`` of the unit."""

    text: str
    left: NameSpan
    right: NameSpan
    all_names: tuple[NameSpan, ...]


def longest_names(spans: Sequence[NameSpan]) -> list[NameSpan]:
    """Non-overlapping names by start; of overlapping ones, the longest."""
    kept: list[NameSpan] = []
    for each in sorted(spans, key=lambda each: (each.start, -each.end, each.node)):
        if kept and each.start < kept[-1].end:
            if each.end - each.start > kept[-1].end - kept[-1].start:
                kept[-1] = each
        else:
            kept.append(each)
    return kept


def pairs(text: str, spans: Sequence[NameSpan]) -> Iterator[Pair]:
    """The candidate pairs of a unit.

    >>> names = [NameSpan(0, 3, "ada"), NameSpan(10, 13, "rex")]
    >>> [(pair.left.node, pair.right.node) for pair in pairs("Ada feeds Rex.", names)]
    [('ada', 'rex')]
    >>> list(pairs("Ada never Rex.", names))
    []
    """
    inside = tuple(longest_names(spans))
    if not 1 < len(inside) <= MAX_NAMES:
        return
    sentences = split(text)
    for place, right in enumerate(inside):
        for left in inside[max(0, place - MAX_DISTANCE) : place]:
            around = [
                each for each in sentences if each.end > left.start and each.start < right.end
            ]
            shared = text[around[0].start : around[-1].end]
            if left.node != right.node and is_asserted(shared):
                yield Pair(text, left, right, inside)


_MARKS = (":", ",", ";", "(", ")", "|", "/", "+", "&", "=", ".", "-", '"', "`", "**", "[", "\n")
_BETWEEN = {f"between {mark!r}": mark for mark in _MARKS}
_DASH = re.compile(r"[—–]|\s--?\s")
_ARROW = re.compile(r"[→⇒⟶]|[-=]>")
_BACK = re.compile(r"[←⇐⟵]|<[-=]")
_OWNER = re.compile(r"[*_`\"\]]*['’]s\b")
_ITEM = re.compile(rf"[ \t]*(?:>|{ITEM})[ \t]+")
_BOX = re.compile(BOX)
_LEAD = re.compile(r"[\s\-*+>\d.)|\[\]xX`_\"#]*")
_TRAIL = re.compile(r"[\s*_`\"\])|.!。:：,;]*")
_PATH = re.compile(r"[/\\@]|\w\.\w")
_FIRST = re.compile(r"\b(?:I|I['’]\w+|[Mm]y|[Ww]e|[Oo]ur)\b")
SLOTS = ("left", "right", "between")
"""The names and the end of what stands between them, whose word embeddings are inputs, ``DIMENSIONS`` numbers each."""
_BETWEEN_SIGNS = 80


def _features(pair: Pair) -> dict[str, float]:
    """Feature name → value."""
    text, left, right = pair.text, pair.left, pair.right
    gap, head, tail = text[left.end : right.start], text[: right.start], text[right.end :]
    bare = _LEAD.match(text)
    first = bare.end() if bare else 0
    item = _ITEM.match(text)
    box = _BOX.match(text, item.end()) if item else None
    row = text.lstrip().startswith("|")
    between = sum(left.end <= each.start and each.end <= right.start for each in pair.all_names)
    words = _WORD.findall(gap)
    all_words = _WORD.findall(text)
    return {
        "signs between": math.log1p(len(gap)),
        "words between": math.log1p(len(words)),
        "names between": math.log1p(between),
        "names": math.log1p(len(pair.all_names)),
        "words": math.log1p(len(all_words)),
        "past": not _PAST.isdisjoint(map(str.lower, all_words)),
        **{name: min(3, gap.count(mark)) for name, mark in _BETWEEN.items()},
        "dash between": _DASH.search(gap) is not None,
        "arrow between": _ARROW.search(gap) is not None,
        "arrow back between": _BACK.search(gap) is not None,
        "only marks between": not words,
        "capital between": any(word[0].isupper() for word in words),
        "digits between": any(sign.isdigit() for sign in gap),
        "cells between": gap.count("|") if row else 0,
        "sentence ends between": re.search(r"[.!?。！？]\s", gap) is not None,
        "row": row,
        "item": item is not None,
        "ticked": box is not None and box[0] != "[ ]",
        "open box": box is not None and box[0] == "[ ]",
        "question": text.rstrip("*_`\"' ").endswith(("?", "？")),
        "exclaims": text.rstrip("*_`\"' ").endswith("!"),
        "left begins": left.start <= first,
        "right begins": right.start <= first,
        "right ends": _TRAIL.fullmatch(tail) is not None,
        "left owns": _OWNER.match(text, left.end) is not None,
        "right owns": _OWNER.match(tail) is not None,
        "left in cell 1": row and text[: left.start].count("|") <= 1,
        "colon after right": re.match(r"[*_`]*[:：]", tail) is not None,
        "right in brackets": head.rfind("(") > head.rfind(")"),
        "first person": _FIRST.search(text) is not None,
        **_phrase_features(pair),
        **_name_features(text, left, "left"),
        **_name_features(text, right, "right"),
        **{f"left {kind}": left.kind == kind for kind in KINDS},
        **{f"right {kind}": right.kind == kind for kind in KINDS},
        "same kind": left.kind == right.kind,
    }


def _phrase_features(pair: Pair) -> dict[str, float]:
    """Whether each name is a whole phrase between two marks, or part of a longer one."""
    text, left, right = pair.text, pair.left, pair.right
    before, after, tail = text[: left.start], text[left.end :], text[right.end :]
    parts = {
        "before left": _SEPARATORS.split(before[-80:])[-1],
        "after left": _SEPARATORS.split(after[:80], maxsplit=1)[0],
        "before right": _SEPARATORS.split(text[: right.start][-80:])[-1],
        "after right": _SEPARATORS.split(tail[:80], maxsplit=1)[0],
    }
    return {
        **{f"words {where}": math.log1p(len(_WORD.findall(part))) for where, part in parts.items()},
        "mark after left": after.lstrip('*_`"] ')[:1] in tuple("(:|—–→") and bool(after.strip()),
        "mark after right": tail.lstrip('*_`"] ')[:1] in tuple(")|—–→(,;") and bool(tail),
        "mark before left": before.rstrip('*_`"[ ')[-1:] in tuple("(:|—–→"),
    }


_SEPARATORS = re.compile(r"[|():;,.!?→—–=/+&\n（）：，。、]|\s-{1,2}\s")


def _name_features(text: str, name: NameSpan, side: str) -> dict[str, float]:
    string = text[name.start : name.end]
    before, after = text[: name.start][-2:], text[name.end :][:2]
    return {
        f"{side} capital": string[:1].isupper(),
        f"{side} capitals": string.isupper() and len(string) > 1,
        f"{side} path": _PATH.search(string) is not None,
        f"{side} digit": any(sign.isdigit() for sign in string),
        f"{side} long": " " in string,
        f"{side} bold": before.endswith("**") and after.startswith("**"),
        f"{side} code": before.endswith("`"),
        f"{side} linked": before.endswith("["),
        f"{side} quoted": before[-1:] in ("“", '"', "*", "「", "_") and before != "**",
    }


_NOWHERE = NameSpan(0, 0, "")
SHAPE = tuple(_features(Pair("", _NOWHERE, _NOWHERE, ())))
INPUTS = (*SHAPE, *(f"{slot} {number}" for slot in SLOTS for number in range(DIMENSIONS)))
"""Feature names, in order."""
EDGE_TYPE = "semantic"
"""The type of all these edges: the head is reliable about whether a text relates two things, not how. The
source of the edge says how."""
MIN_RELATED_P = 0.7
"""Probability from which a pair becomes an edge."""
_BATCH_ROWS = 4096


def relation_probabilities(chosen: Sequence[Pair], meanings: Meanings | None) -> list[float]:
    """The probability of each pair that a person would draw an edge between its two things.

    Args:
        chosen: Pairs of any units.
        meanings: Returns mean word embeddings of texts, ``DIMENSIONS`` numbers each; None without the model.
    """
    found: list[float] = []
    for start in range(0, len(chosen), _BATCH_ROWS):
        rows = head_inputs(chosen[start : start + _BATCH_ROWS], meanings)
        found += [row["related"] for row in classifier.load("relation").probabilities(rows)]
    return found


def head_inputs(chosen: Sequence[Pair], meanings: Meanings | None) -> Any:
    """Float64 [n, ``INPUTS``]: features of each pair, and the embeddings of its ``SLOTS`` or zeros."""
    import numpy as np

    inputs = np.zeros((len(chosen), len(INPUTS)))
    inputs[:, : len(SHAPE)] = [[*_features(pair).values()] for pair in chosen]
    if meanings is None:
        return inputs
    texts = [_slot_texts(each) for each in chosen]
    row_of = {text: row for row, text in enumerate(sorted({t for slots in texts for t in slots}))}
    known = np.asarray(meanings(list(row_of)))
    rows = known[[[row_of[text] for text in slots] for slots in texts]]
    inputs[:, len(SHAPE) :] = rows.reshape(len(texts), -1)
    return inputs


def _slot_texts(pair: Pair) -> list[str]:
    text, left, right = pair.text, pair.left, pair.right
    gap = text[left.end : right.start][-_BETWEEN_SIGNS:]
    return [text[left.start : left.end], text[right.start : right.end], gap]
