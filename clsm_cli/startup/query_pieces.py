"""Tokenise a query into word-piece ids: no tokeniser to load, no dictionary to build.

The words of BERT's uncased tokeniser depend on one character at a time. A piece is looked up by
searching the text of the vocabulary, which begins with the frequent ones: 0.02 ms for such a word,
0.5 ms for a rare one. Many texts are faster with ``wordpiece``, which loads in 20 ms and gives the
same ids.

Punctuation and marks of scripts that came after Unicode 8, whose tables the tokeniser of the model has,
are told apart here and letters there.

Source: Devlin et al. 2019, https://github.com/google-research/bert/blob/master/tokenization.py, as
Hugging Face tokenizers runs it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_PIECES = 256
"""Word pieces the model reads, start and end marks included; the rest of a text is cut off."""

START, END = 101, 102
"""Ids of the marks ``[CLS]`` and ``[SEP]``, which frame what the model reads."""

_MARKS = {"[PAD]": 0, "[UNK]": 100, "[CLS]": START, "[SEP]": END, "[MASK]": 103}
_UNKNOWN = 100
_LONGEST_WORD = 100
"""Characters; a longer word is unknown."""

_SPACE = " "
_ACCENT = "\u0301"
"""Stands for any mark that combines with the letter before it, and is dropped."""

_IDEOGRAPHS = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)),
)
"""First and last of each range; a word each. 2B820 to 2B91F are missing in the tokeniser too."""


class Piece(NamedTuple):
    """A word piece (its line of the vocabulary, from 0), and where its whole word stands in the text."""

    id: int
    start: int
    end: int

    @property
    def is_spelt(self) -> bool:
        """Whether the vocabulary has its word at all."""
        return self.id != _UNKNOWN


def cut_pieces(vocabulary: bytes, text: str, limit: int = MOST_PIECES) -> list[Piece]:
    r"""Cut a text into word pieces, without the start and end marks.

    Args:
        vocabulary: Content of the model's ``vocab.txt``.
        text: Any string. Control characters, U+FFFD and surrogates give no piece; ``[SEP]`` and its
            like in a text are read as the marks they name.
        limit: Pieces to keep, start and end marks counted.

    Returns:
        At most ``limit`` − 2 pieces: those of ``WordPieces.ids`` between its marks.

    >>> words = b"[PAD]\n" * 101 + b"em\n##bed\n,\n"
    >>> [tuple(piece) for piece in cut_pieces(words, "Embed, é")]
    [(101, 0, 5), (102, 0, 5), (103, 5, 6), (100, 7, 8)]
    """
    found: list[Piece] = []
    for word, start, end in _words(text):
        found += [Piece(number, start, end) for number in _ids(vocabulary, word)]
        if len(found) >= limit - 2:
            break
    return found[: limit - 2]


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Cut a text into words in the letters of the vocabulary; signs and ideographs are words."""
    word, start, end, at = "", 0, 0, 0
    while at < len(text):
        mark = _mark_at(text, at) if text[at] == "[" else ""
        for sign in (_SPACE, mark, _SPACE) if mark else _form(text[at]):
            if sign == _SPACE:
                if word:
                    yield word, start, end
                word = ""
            elif sign == _ACCENT:
                end = at + 1
            else:
                start, end = start if word else at, at + max(1, len(mark))
                # One letter over the limit tells that it is passed, however long the word.
                word += sign if len(word) <= _LONGEST_WORD else ""
        at += max(1, len(mark))
    if word:
        yield word, start, end


def _mark_at(text: str, at: int) -> str:
    return next((mark for mark in _MARKS if text.startswith(mark, at)), "")


@cache
def _form(char: str) -> str:
    """Give what the model sees of a character: lower case, no accent, spaces around a sign.

    >>> _form("É"), _form(","), _form("\u00a0"), _form("\u200b"), _form("≠")
    ('e', ' , ', ' ', '', ' = ')
    """
    if char in "\t\n\r " or (char > "\x85" and char.isspace()):
        return _SPACE
    if char.isascii():
        return char.lower() if char.isalnum() else f" {char} " if char.isprintable() else ""
    from unicodedata import category, normalize

    parts = normalize("NFD", char)
    if parts != char:
        form = "".join(map(_form, parts)).replace(_ACCENT, "")
    else:
        kind = category(char)
        if kind in {"Cc", "Cf", "Co", "Cs"} or char == "\ufffd":
            return ""
        if kind == "Mn":
            return _ACCENT
        form = f" {char} " if kind[0] == "P" else char.lower()
    is_word = any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)
    return f" {form} " if is_word else form


def _ids(vocabulary: bytes, word: str) -> list[int]:
    """Cut a word into its longest pieces from the left; unknown if one is not in the vocabulary."""
    if word in _MARKS:
        return [_MARKS[word]]
    if len(word) > _LONGEST_WORD:
        return [_UNKNOWN]
    ids: list[int] = []
    rest, before = word, "\n"
    while rest:
        place, size = _longest(vocabulary, before, rest)
        if not size:
            return [_UNKNOWN]
        ids.append(vocabulary.count(b"\n", 0, place + 1))
        rest, before = rest[size:], "\n##"
    return ids


def _longest(vocabulary: bytes, before: str, rest: str) -> tuple[int, int]:
    """Find the longest piece that ``rest`` begins with: its place and size, 0 if there is none.

    A longer beginning cannot stand before the first place of a shorter one, so finding how long a
    beginning any piece has reads the vocabulary once; only those lengths can be pieces. That is
    half to a third of the time of trying every length from the longest down.
    """
    places = [0]
    while len(places) <= len(rest):
        beginning = before + rest[: len(places)]
        place = vocabulary.find(beginning.encode(), places[-1])
        if place < 0:
            break
        places.append(place)
    for size in range(len(places) - 1, 0, -1):
        place = vocabulary.find(f"{before}{rest[:size]}\n".encode(), places[size])
        if place >= 0:
            return place, size
    return 0, 0
