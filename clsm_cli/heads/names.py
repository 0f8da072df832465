"""Whether a string names a particular thing, and of what kind, judged from all its uses in a store.

Only the form of the string and of what stands around it is looked at, never which words those are: a
person's name is told by how it is used, not by being on a list.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.heads import classifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS = ("person", "agent", "organisation", "place", "project", "tool", "concept", "file", "other")
"""What a thing may be; ``other`` are events, works and what a reader had no word for."""

SHAPE = (
    "letters", "words", "digits", "all digits", "underscore", "slash", "dot inside", "ending", "mark at end",
    "hyphen", "first capital", "all capitals", "capital inside", "capitals share", "other script",
    "odd mark", "longest word", "starts with digit",
)  # fmt: skip
USE = (
    "inside sentence", "begins sentence", "after two capitals", "in longer name", "before name",
    "after short word", "after long word", "after number", "owner", "before small word", "before verb form",
    "before digits", "before colon", "in heading", "whole heading", "bold", "bold label", "code", "link",
    "wiki link", "quoted", "in brackets", "row cell", "begins item", "whole line", "at sign", "speaks",
    "before comma", "ends sentence", "in path",
)  # fmt: skip
SPREAD = ("uses", "documents", "share of documents", "uses a document", "small", "other case",
          "same before", "same after", "different before", "different after")  # fmt: skip
INPUTS = (*SHAPE, *USE, *SPREAD)

_AROUND = 60
_MOST = 400
"""Uses that are looked at one by one."""
_PRIOR = 1.0
"""Uses of no shape that are added, so that one use is no certainty."""
_BEFORE = re.compile(r"([^\W_]+)[ \t]+$")
_AFTER = re.compile(r"[ \t]+([^\W_]+)")
_START = re.compile(r"(?:^|[.!?:。！？：|])[\s*_\"'#>\-]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?[*_`\"]*$")
_VERB = re.compile(r"[ \t]+[a-z]{2,}(?:s|ed)\b")
_OWNER = re.compile(r"['’]s\b")
_SPOKEN = re.compile(r"\*{0,2}:\*{0,2}[ \t]+\S+[ \t]+\S+[ \t]+\S")


class NameJudged(NamedTuple):
    """What the head says of a string.

    Attributes:
        thing: The probability that it names one particular thing.
        kinds: The probability of each of ``KINDS``, if it does.
    """

    thing: float
    kinds: Mapping[str, float]


def judged(rows: Sequence[Sequence[float]]) -> list[NameJudged]:
    """What strings name.

    Args:
        rows: Of each its ``name_features``, then the 384 numbers of its sentence vector.
    """
    told = classifier.load("name").probabilities(rows)
    return [NameJudged(row["thing"], {kind: row[kind] for kind in KINDS}) for row in told]


def name_features(name: str, documents: Sequence[str]) -> list[float]:
    """Numbers about a string and its uses, in the order of ``INPUTS``.

    Args:
        name: As it is written, without marks around it.
        documents: The texts of a store, each a note or a conversation.

    >>> row = dict(zip(INPUTS, name_features("Ada", ["Ask Ada.", "Then Ada's letter came."]), strict=True))
    >>> row["documents"] == math.log1p(2), row["owner"], row["inside sentence"]
    (True, 0.3333333333333333, 0.6666666666666666)
    """
    pattern = re.compile(
        rf"(?<!\w){re.escape(name)}(?!\w)" if _spaced(name) else re.escape(name), re.IGNORECASE
    )
    counts: Counter[str] = Counter()
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    uses = holding = small = cased = 0
    for text in documents:
        here = 0
        for found in pattern.finditer(text):
            if found[0] != name:
                small += found[0].islower()
                cased += 1
                continue
            here += 1
            if uses + here <= _MOST:
                _look(text, found.start(), found.end(), counts, before, after)
        uses += here
        holding += here > 0
    looked = min(uses, _MOST) + _PRIOR
    return [
        *_shape(name),
        *(counts[use] / looked for use in USE),
        math.log1p(uses),
        math.log1p(holding),
        holding / max(1, len(documents)),
        math.log1p(uses / max(1, holding)),
        small / (uses + small + _PRIOR),
        cased / (uses + cased + _PRIOR),
        max(before.values(), default=0) / looked,
        max(after.values(), default=0) / looked,
        len(before) / looked,
        len(after) / looked,
    ]


def _spaced(name: str) -> bool:
    """Whether its script sets words apart by spaces, so that it must stand apart itself."""
    return name[0].isalnum() and name[-1].isalnum() and not _scriptless(name)


def _scriptless(name: str) -> bool:
    return any(0x2E80 <= ord(sign) <= 0x9FFF or 0xAC00 <= ord(sign) <= 0xD7AF for sign in name)


def _shape(name: str) -> list[float]:
    letters = [sign for sign in name if sign.isalpha()]
    capitals = sum(sign.isupper() for sign in letters)
    words = name.split()
    return [
        math.log1p(len(name)),
        math.log1p(len(words)),
        sum(sign.isdigit() for sign in name) / len(name),
        float(not letters),
        float("_" in name),
        float("/" in name),
        float(re.search(r"\w\.\w", name) is not None),
        float(re.search(r"\w\.[A-Za-z][A-Za-z0-9]{0,4}$", name) is not None),
        float(not name[-1].isalnum()),
        float("-" in name),
        float(name[0].isupper()),
        float(capitals > 1 and capitals == len(letters)),
        float(re.search(r"[^\W\d_][A-Z]", name) is not None and capitals != len(letters)),
        capitals / max(1, len(letters)),
        sum(not sign.isascii() for sign in letters) / max(1, len(letters)),
        sum(not sign.isalnum() and sign not in " -_./'’" for sign in name) / len(name),
        math.log1p(max(len(word) for word in words) if words else 0),
        float(name[0].isdigit()),
    ]


def _look(
    text: str, start: int, end: int, counts: Counter[str], before: Counter[str], after: Counter[str]
) -> None:
    """Count what a use is like."""
    begin = text.rfind("\n", 0, start) + 1
    close = text.find("\n", end)
    close = len(text) if close < 0 else close
    head, tail = text[max(begin, start - _AROUND) : start], text[end : min(close, end + _AROUND)]
    line = text[begin : min(close, begin + 8)]
    bare = head.rstrip("*_`\"'“‘([ \t")
    last, following = _BEFORE.search(head), _AFTER.match(tail)
    word, next_word = (last[1] if last else ""), (following[1] if following else "")
    first = _START.search(head) is not None
    before[word or head[-1:]] += 1
    after[next_word or tail[:1]] += 1
    heading = re.match(r"#{1,6} ", line) is not None
    told = {
        "inside sentence": bool(word) and not first,
        "begins sentence": first,
        "after two capitals": word.isupper() and len(word) > 1,
        "in longer name": word[:1].isupper() and not first,
        "before name": next_word[:1].isupper(),
        "after short word": word.islower() and len(word) <= 3,
        "after long word": word.islower() and len(word) > 3,
        "after number": word.isdigit(),
        "owner": _OWNER.match(tail) is not None,
        "before small word": next_word.islower(),
        "before verb form": _VERB.match(tail) is not None,
        "before digits": next_word[:1].isdigit(),
        "before colon": re.match(r"[*_`]*[:：]", tail) is not None,
        "in heading": heading,
        "whole heading": heading and not bare.strip("# ") and not tail.strip("#*_: "),
        "bold": head.endswith("**") and tail.startswith("**"),
        "bold label": head.endswith("**") and re.match(r"\*\*[:：]|[:：]\*\*", tail) is not None,
        "code": head.endswith("`") and tail.startswith("`"),
        "link": tail.startswith("]("),
        "wiki link": head.endswith("[["),
        "quoted": head[-1:] in ('"', "“", "‘", "«", "「") and bool(head),
        "in brackets": head.endswith("(") or tail.startswith(")"),
        "row cell": line.lstrip().startswith("|"),
        "begins item": _ITEM.fullmatch(text[begin:start]) is not None,
        "whole line": not bare.strip("#->*+ ") and not tail.strip("*_: "),
        "at sign": head.endswith("@"),
        "speaks": not bare and _SPOKEN.match(tail) is not None,
        "before comma": tail.startswith(","),
        "ends sentence": re.match(r"[*_`\"]*[.!?。！？](?:\s|$)", tail) is not None,
        "in path": head[-1:] in ("/", "\\")
        or tail[:1] == "/"
        or re.match(r"\.\w", tail) is not None,
    }
    counts.update(use for use, holds in told.items() if holds)
