"""The name head: whether a string names a particular thing, and its kind, from all its uses in a store.

Features describe the form of the string and of its context, never which words they are: a person's name
is recognised by its use, not by a list of names.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.model.ids import digest
from clsm_cli.text.markdown_marks import BOX, ITEM

KINDS = ("person", "agent", "organisation", "place", "project", "tool", "concept", "file", "other")
"""Kinds of things; ``other``: events, works, and what the annotator had no word for."""

DIMENSIONS = 384
"""Size of a string's sentence vector."""

_CONTEXT_CHARS = 60
_MAX_USES = 400
"""Maximum uses whose context is inspected."""
_PRIOR_USES = 1.0
"""Pseudo-count added to the uses, so that a single use does not give a share of 1."""
_WORD = re.compile(r"\w+")
_BEFORE = re.compile(r"([^\W_]+)[ \t]+$")
_AFTER = re.compile(r"[ \t]+([^\W_]+)")
_START = re.compile(r"(?:^|[.!?:。！？：|])[\s*_\"'#>\-]*$")
_ITEM = re.compile(rf"[ \t]*{ITEM}[ \t]+(?:{BOX}[ \t]+)?[*_`\"]*$")
_VERB = re.compile(r"[ \t]+[a-z]{2,}(?:s|ed)\b")
_OWNER = re.compile(r"['’]s\b")
_ADDRESS = re.compile(r"[\s*_(<\[:—–-]{1,6}[\w.+-]*@[\w-]")
_BESIDE = re.compile(r"(?:,|[ \t]+[^\W\d_]{1,3}|[ \t]*&)[ \t]+([^\W\d_]+)")
_LIKE_A_NAME = re.compile(r"[^\W\d_][^\W\d_A-Z]+(?: [^\W\d_][^\W\d_A-Z]*\.?){0,3}")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
_SPOKEN = re.compile(r"\*{0,2}:\*{0,2}[ \t]+\S+[ \t]+\S+[ \t]+\S")


_Use = tuple[str, str, list[int]]
"""A use of a string: ``_use_features``."""
_UNREAD: _Use = ("", "", [])
"""A use whose context is not inspected."""


class NameJudgement(NamedTuple):
    """The probability that a string names one particular thing, and of each of ``KINDS`` if it does."""

    thing: float
    kinds: Mapping[str, float]


def judge_names(rows: Sequence[Sequence[float]]) -> list[NameJudgement]:
    """Judge strings, each given as its ``name_features`` followed by its sentence vector, or zeros.

    A wiki link says that its author means a thing, but not of what kind: most authors of the labels link
    people alone, while in a vault everything is linked.
    """
    head = classifier.load("name")
    unlinked = [[*row[:_WIKI_LINK], 0.0, *row[_WIKI_LINK + 1 :]] for row in rows]
    judged = zip(head.probabilities(rows), head.probabilities(unlinked), strict=True)
    return [
        NameJudgement(row["thing"], {kind: bare[kind] for kind in KINDS}) for row, bare in judged
    ]


def name_features(
    names: Collection[str],
    documents: Iterable[str],
    remember: Callable[[Any, Callable[[], Any]], Any] = lambda _, compute: compute(),
) -> dict[str, list[float]]:
    """Features of strings and their uses, in the order of ``INPUTS``; each text is scanned once.

    Args:
        names: As written, without surrounding marks.
        documents: The texts of a store, one per note or conversation.
        remember: The value that the second argument returns, or returned before for the same first one.

    >>> told = name_features(["Ada"], ["Ask Ada.", "Then Ada's letter came."])["Ada"]
    >>> row = dict(zip(INPUTS, told, strict=True))
    >>> row["documents"] == math.log1p(2), row["owner"], row["inside sentence"]
    (True, 0.3333333333333333, 0.6666666666666666)
    """
    found = {name: _Uses() for name in names if name}
    finder = _Finder(found)
    count = 0
    for text in documents:
        count += 1
        uses = remember((text, finder.sought_in(text)), partial(_uses_in, text, finder))
        for name, in_document in uses.items():
            found[name].add(*in_document)
    return {
        name: [*map(float, (_string_features(name) | uses.row(count)).values())]
        for name, uses in found.items()
    }


def _uses_in(text: str, finder: _Finder) -> dict[str, tuple[int, int, list[_Use]]]:
    """The strings in a document, each with how often it is in small letters, in any other case, and its uses."""
    found: dict[str, tuple[int, int, list[_Use]]] = {}
    for name, start, end in finder.find(text):
        written = text[start:end]
        small, cased, uses = found.get(name, (0, 0, []))
        if written != name:
            small, cased = small + written.islower(), cased + 1
        else:
            uses.append(_use_features(text, start, end) if len(uses) < _MAX_USES else _UNREAD)
        found[name] = small, cased, uses
    return found


class _Finder:
    """Finds strings in a text, ignoring case."""

    def __init__(self, names: Iterable[str]) -> None:
        # First word → length → strings by their small letters: many begin with one word.
        self._by_word: dict[str, dict[int, dict[str, list[str]]]] = {}
        self._by_sign: dict[str, list[str]] = {}
        for name in sorted(names):
            if _is_spaced(name):
                alike = self._by_word.setdefault(_WORD.findall(name)[0].lower(), {})
                alike.setdefault(len(name), {}).setdefault(name.lower(), []).append(name)
            else:
                self._by_sign.setdefault(name[:2].lower(), []).append(name)
        starts = "".join({re.escape(start[0]) for start in sorted(self._by_sign)})
        self._signs = re.compile(f"[{starts}]", re.IGNORECASE) if starts else None
        self._digests = {
            start: digest(repr((self._by_word.get(start), self._by_sign.get(start))))
            for start in self._by_word.keys() | self._by_sign.keys()
        }

    def sought_in(self, text: str) -> list[tuple[str, str]]:
        """The beginnings of strings that a text has, each with a digest of the strings."""
        starts = {word.lower() for word in _WORD.findall(text)}
        for match in self._signs.finditer(text) if self._signs else ():
            starts.add(text[match.start() : match.start() + 2].lower())
        return sorted((start, self._digests[start]) for start in starts & self._digests.keys())

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        for match in _WORD.finditer(text):
            start = match.start()
            for length, names in self._by_word.get(match[0].lower(), {}).items():
                end = start + length
                inside = text[end : end + 1]
                if not (inside.isalnum() or inside == "_"):
                    for name in names.get(text[start:end].lower(), ()):
                        yield name, start, end
        for match in self._signs.finditer(text) if self._signs else ():
            start = match.start()
            for name in self._by_sign.get(text[start : start + 2].lower(), ()):
                if text[start : start + len(name)].lower() == name.lower():
                    yield name, start, start + len(name)


class _Uses:
    """Counts the uses of a string and the features of their contexts."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        self.uses = self.holding = self.small = self.cased = 0

    def add(self, small: int, cased: int, uses: Sequence[_Use]) -> None:
        """Count the uses in one more document, as ``_uses_in`` gives them."""
        self.small += small
        self.cased += cased
        self.holding += bool(uses)
        for before, after, places in uses[: max(0, _MAX_USES - self.uses)]:
            self.before[before] += 1
            self.after[after] += 1
            self.counts.update(places)
        self.uses += len(uses)

    def row(self, documents: int) -> dict[str, float]:
        """Features of the contexts and of their distribution over ``documents`` documents."""
        looked = min(self.uses, _MAX_USES) + _PRIOR_USES
        return {
            **{use: self.counts[place] / looked for place, use in enumerate(USE_FEATURES)},
            "uses": math.log1p(self.uses),
            "documents": math.log1p(self.holding),
            "share of documents": self.holding / max(1, documents),
            "uses a document": math.log1p(self.uses / max(1, self.holding)),
            "small": self.small / (self.uses + self.small + _PRIOR_USES),
            "other case": self.cased / (self.uses + self.cased + _PRIOR_USES),
            "same before": max(self.before.values(), default=0) / looked,
            "same after": max(self.after.values(), default=0) / looked,
            "different before": len(self.before) / looked,
            "different after": len(self.after) / looked,
        }


def _is_spaced(name: str) -> bool:
    """Whether its script separates words by spaces, so that a use must be a whole word."""
    ends = name[0].isalnum() and name[-1].isalnum()
    return ends and _UNSPACED.search(name) is None


def _string_features(name: str) -> dict[str, float]:
    """Features of the string itself."""
    letters = [sign for sign in name if sign.isalpha()]
    capitals = sum(sign.isupper() for sign in letters)
    words = name.split()
    return {
        "letters": math.log1p(len(name)),
        "words": math.log1p(len(words)),
        "digits": sum(sign.isdigit() for sign in name) / len(name),
        "all digits": not letters,
        "underscore": "_" in name,
        "slash": "/" in name,
        "dot inside": re.search(r"\w\.\w", name) is not None,
        "ending": re.search(r"\w\.[A-Za-z][A-Za-z0-9]{0,4}$", name) is not None,
        "mark at end": not name[-1].isalnum(),
        "hyphen": "-" in name,
        "first capital": name[0].isupper(),
        "all capitals": capitals > 1 and capitals == len(letters),
        "capital inside": re.search(r"[^\W\d_][A-Z]", name) is not None
        and capitals != len(letters),
        "capitals share": capitals / max(1, len(letters)),
        "other script": sum(not sign.isascii() for sign in letters) / max(1, len(letters)),
        "odd mark": sum(not sign.isalnum() and sign not in " -_./'’" for sign in name) / len(name),
        "longest word": math.log1p(max(len(word) for word in words) if words else 0),
        "starts with digit": name[0].isdigit(),
        "each word like a name": name[0].isupper() and _LIKE_A_NAME.fullmatch(name) is not None,
    }


def _use_features(text: str, start: int, end: int) -> _Use:
    """The word before a use, the word after it, and the places in ``USE_FEATURES`` of those that it has."""
    before, after, context = _context(text, start, end)
    return before, after, [place for place, holds in enumerate(context.values()) if holds]


def _context(text: str, start: int, end: int) -> tuple[str, str, dict[str, bool]]:
    """The word before a use, the word after it, and the features of its context."""
    begin = text.rfind("\n", 0, start) + 1
    close = text.find("\n", end)
    close = len(text) if close < 0 else close
    head = text[max(begin, start - _CONTEXT_CHARS) : start]
    tail = text[end : min(close, end + _CONTEXT_CHARS)]
    line = text[begin : min(close, begin + 8)]
    bare = head.rstrip("*_`\"'“‘([ \t")
    last, following = _BEFORE.search(head), _AFTER.match(tail)
    word, next_word = (last[1] if last else ""), (following[1] if following else "")
    first = _START.search(head) is not None
    heading = re.match(r"#{1,6} ", line) is not None
    beside = _BESIDE.match(tail)
    like = {
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
        "before address": _ADDRESS.match(tail) is not None,
        "beside a name": beside is not None and beside[1][0].isupper(),
    }
    return word or head[-1:], next_word or tail[:1], like


USE_FEATURES = tuple(_context("", 0, 0)[2])
INPUTS = (*_string_features("-"), *_Uses().row(0))
"""Feature names, in order."""
_WIKI_LINK = INPUTS.index("wiki link")
