"""Codes in a question: passages that contain one, however its separators are set, and look-alike codes.

AB-99/12 also matches "SN:AB-99/12", and KL1243 matches "KL 1243". The index has words, and words
joined by separators as one key. If neither is the code, the few passages that contain all its parts
are searched.
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
    CodePostings = tuple["WrittenCode", list[Posting]]

_PART = re.compile(r"[^\W\d_]+|\d+")
_SPACED = re.compile(r"(?<![\w-])[a-z]{1,4}(?: \d+)+(?![\w-])", re.IGNORECASE | re.ASCII)
"""A short word followed by numbers; a code only if the store writes it as one word."""
_NUMBER = re.compile(r"\d+")
_SEPARATORS = r"[\W_]{0,3}"
MAX_PASSAGES = 50
"""Passages whose text is searched for a code, at most."""
FIRST = 10
"""Passages of which one must have the codes, if nothing else is asked for."""
MIN_CODE_LENGTH = 5
"""Characters of a code, at least: shorter words with digits are years, ordinals or versions ("2nd", "v12")."""


class WrittenCode(NamedTuple):
    """A code as written, and its runs of letters and of digits in order."""

    written: str
    parts: tuple[str, ...]

    @property
    def bare(self) -> str:
        """The code without separators."""
        return "".join(self.parts)

    @property
    def form(self) -> str:
        """The form that look-alikes share; empty without letters: "10:30" is no code.

        >>> WrittenCode("inv-2026-84655", ("inv", "2026", "84655")).form
        'inv 0 0'
        """
        return (
            "" if self.bare.isdigit() else " ".join("0" if p.isdigit() else p for p in self.parts)
        )


def codes(names: Iterable[str]) -> list[WrittenCode]:
    """The codes among terms and keys (``text.tokens``), without those that are part of another.

    >>> [each.written for each in codes(["inv-2026-84655", "2026", "84655", "e1199", "2nd", "oslo"])]
    ['inv-2026-84655', 'e1199']
    """
    mixed = (name for name in names if len(name) >= MIN_CODE_LENGTH and re.search(r"\d", name))
    return _maximal([_code(name) for name in mixed])


def _code(name: str) -> WrittenCode:
    return WrittenCode(name, tuple(_PART.findall(name)))


def _maximal(all_codes: Sequence[WrittenCode]) -> list[WrittenCode]:
    bare = {code.bare for code in all_codes}
    return [code for code in all_codes if not any(code.bare in b and code.bare != b for b in bare)]


def find_codes(index: Index, question: Question) -> list[CodePostings]:
    """The codes of a question with their postings: passage, occurrences, terms of the passage."""
    spaced = [_code(text) for text in _SPACED.findall(question.text.lower())]
    own_codes = _maximal(
        [
            *(code for code in spaced if _word_postings(index, code)),
            *codes([*question.keys, *question.terms]),
        ]
    )
    return [
        (code, _word_postings(index, code) or _text_postings(index, code)) for code in own_codes
    ]


def _word_postings(index: Index, code: WrittenCode) -> list[Posting]:
    """Postings of a code as a word, or as words joined by separators."""
    names = dict.fromkeys((code.written, code.bare, "-".join(code.parts)))
    return [*{posting[0]: posting for name in names for posting in index.postings(name)}.values()]


def _text_postings(index: Index, code: WrittenCode) -> list[Posting]:
    """Postings of a code as part of a longer one, or with spaces."""
    parts = [tokens.stems(part) for part in code.parts]
    postings = [
        {posting[0]: posting for term in part for posting in index.postings(term)} for part in parts
    ]
    rows = set[int].intersection(*map(set, postings)) if len(postings) > 1 else set()
    if not 0 < len(rows) <= MAX_PASSAGES:
        return []
    pattern = re.compile(rf"(?<![^\W_]){_SEPARATORS.join(code.parts)}(?![^\W_])", re.IGNORECASE)
    passages = index.passages(sorted(rows))
    return [postings[0][row] for row, passage in passages.items() if pattern.search(passage.text)]


def look_alikes(
    index: Index, question: Question, asked: Sequence[CodePostings], rows: Sequence[int]
) -> set[int]:
    """Passages with a code of the same form as a code of the question that no passage contains.

    If the question consists of such codes alone, all passages.

    Args:
        asked: The codes of the question, from ``find_codes``.
        rows: Passages to check.
    """
    forms = {code.form for code, places in asked if not places} - {""}
    postings = {row for _, places in asked for row, _, _ in places}
    own = {term for code, _ in asked for part in code.parts for term in tokens.stems(part)}
    if asked and not postings and own.union(code.written for code, _ in asked) >= {*question.terms}:
        return set(rows)
    passages = index.passages([row for row in rows if row not in postings]) if forms else {}
    return {
        row
        for row, passage in passages.items()
        for code in codes([*tokens.identifier_keys(passage.text), *tokens.stems(passage.text)])
        if code.form in forms
    }


def lacks_codes(index: Index, question: Question, rows: Sequence[int]) -> bool:
    """Whether each word of a question has digits ("1.32", "k8s-9"), and no first passage has it or its numbers.

    Without this, the nearest other version or ticket answers.
    """
    words = question.text.split()
    if question.periods or not words or not all(any(map(str.isdigit, word)) for word in words):
        return False
    wanted = [re.compile(_spelled(word), re.IGNORECASE) for word in words]
    texts = [passage.text for passage in index.passages(rows[:FIRST]).values()]
    return not any(all(pattern.search(text) for pattern in wanted) for text in texts)


def _spelled(word: str) -> str:
    """A pattern for the parts of a word, or for its numbers alone, with short separators."""
    numbers = r"\D{0,3}".join(map(_spaced, _NUMBER.findall(word)))
    return rf"(?<!\d){numbers}(?!\d)|(?<!\w){_SEPARATORS.join(_PART.findall(word))}(?!\w)"


def _spaced(digits: str) -> str:
    """A pattern for digits, that of a long number with blanks or brackets between them: "555 (01) 42"."""
    return _SEPARATORS.join(digits) if len(digits) > MIN_CODE_LENGTH else digits
