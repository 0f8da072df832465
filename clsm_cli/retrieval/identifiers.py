"""Codes of a question: the passages that hold one, however its marks and blanks are set, and look-alikes.

AB-99/12 stands in "SN:AB-99/12" too, and KL1243 is "KL 1243". The index has words, and what marks join as
one word; where neither is the code, the few passages that hold all its parts are read for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index

    Posting = tuple[int, int, int]
    CodePostings = tuple["Code", list[Posting]]

_PART = re.compile(r"[^\W\d_]+|\d+")
_SPACED = re.compile(r"(?<![\w-])[a-z]{1,4}(?: \d+)+(?![\w-])", re.IGNORECASE | re.ASCII)
"""A short word with numbers behind it; a code only where the store writes it as one word."""
_SEPARATORS = r"[\W_]{0,3}"
MAX_PASSAGES = 50
"""Passages that are read for a code, at most."""
MIN_CODE_LENGTH = 5
"""Characters of a word with digits that is a code, and no year, ordinal or version ("2nd", "v12")."""


class Code(NamedTuple):
    """A code: its runs of letters and of digits, in order, and how it is written."""

    written: str
    parts: tuple[str, ...]

    @property
    def bare(self) -> str:
        """It without marks."""
        return "".join(self.parts)

    @property
    def form(self) -> str:
        """What its look-alikes have in common with it; empty without letters: "10:30" is no code.

        >>> Code("inv-2026-84655", ("inv", "2026", "84655")).form
        'inv 0 0'
        """
        return (
            "" if self.bare.isdigit() else " ".join("0" if p.isdigit() else p for p in self.parts)
        )


def codes(names: Iterable[str]) -> list[Code]:
    """The codes among some terms and keys (``tokens``), without those that are part of another.

    >>> [each.written for each in codes(["inv-2026-84655", "2026", "84655", "e1199", "2nd", "oslo"])]
    ['inv-2026-84655', 'e1199']
    """
    mixed = (name for name in names if len(name) >= MIN_CODE_LENGTH and re.search(r"\d", name))
    return _maximal([_code(name) for name in mixed])


def _code(name: str) -> Code:
    return Code(name, tuple(_PART.findall(name)))


def _maximal(found: Sequence[Code]) -> list[Code]:
    bare = {each.bare for each in found}
    return [each for each in found if not any(each.bare in b and each.bare != b for b in bare)]


def find_codes(index: Index, question: Question) -> list[CodePostings]:
    """The codes of a question, with where each stands: passage, occurrences, terms of the passage."""
    spaced = [_code(text) for text in _SPACED.findall(question.text.lower())]
    found = _maximal(
        [
            *(each for each in spaced if _word_postings(index, each)),
            *codes([*question.keys, *question.terms]),
        ]
    )
    return [(each, _word_postings(index, each) or _text_postings(index, each)) for each in found]


def _word_postings(index: Index, code: Code) -> list[Posting]:
    """Where a code stands as a word, or as words joined by marks."""
    names = dict.fromkeys((code.written, code.bare, "-".join(code.parts)))
    return [*{each[0]: each for name in names for each in index.postings(name)}.values()]


def _text_postings(index: Index, code: Code) -> list[Posting]:
    """Where it stands as a part of a longer one, or with blanks."""
    parts = [tokens.stems(part) for part in code.parts]
    postings = [{each[0]: each for term in part for each in index.postings(term)} for part in parts]
    rows = set[int].intersection(*map(set, postings)) if len(postings) > 1 else set()
    if not 0 < len(rows) <= MAX_PASSAGES:
        return []
    pattern = re.compile(rf"(?<![^\W_]){_SEPARATORS.join(code.parts)}(?![^\W_])", re.IGNORECASE)
    passages = index.passages(sorted(rows))
    return [postings[0][row] for row, each in passages.items() if pattern.search(each.text)]


def look_alikes(
    index: Index, question: Question, asked: Sequence[CodePostings], rows: Sequence[int]
) -> set[int]:
    """Passages with a code of the same form as one that is asked about and stands nowhere.

    Where a question is nothing but codes that stand nowhere, no passage is about it.

    Args:
        asked: As ``find_codes`` has it.
    """
    forms = {code.form for code, places in asked if not places} - {""}
    postings = {row for _, places in asked for row, _, _ in places}
    own = {term for code, _ in asked for part in code.parts for term in tokens.stems(part)}
    if asked and not postings and own.union(code.written for code, _ in asked) >= {*question.terms}:
        return set(rows)
    passages = index.passages([row for row in rows if row not in postings]) if forms else {}
    return {
        row
        for row, each in passages.items()
        for code in codes([*tokens.identifier_keys(each.text), *tokens.stems(each.text)])
        if code.form in forms
    }
