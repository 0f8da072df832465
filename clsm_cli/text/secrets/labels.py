"""Words that stand before secrets, and where they stand in a text.

They are data (``labels.tsv``: 76 languages, most from the translators of two projects).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Generic, TypeVar

from clsm_cli.text.language_data import compiled, table_rows

Value = TypeVar("Value")
UNSPACED = "\u2e80"
"""From this character on (CJK, Hangul), words stand without blanks between them."""
UNSPACED_CLASS = "\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
"""The same as a class of a pattern."""
_HEAD_LETTERS = 3
"""Letters by which most words are told apart from all that begin a phrase."""
_MAX_ENDING = 4
"""Letters that may decline a word, and one."""
_CLASSES = (
    "password",
    "homonym",
    "abbreviation",
    "login",
    "user",
    "secret",
    "key",
    "lone key",
    "pin",
    "code",
    "words",
    "recovery",
)
"""Classes of words that are labels; the others stand beside them."""


_WORDS = rf"[^\W\d_{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]+"
"""Where words of a script without blanks touch others, they are words of their own."""


class Phrases(Generic[Value]):
    """Finds which of many phrases may stand in a text, by the words that they begin with."""

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._all = list(phrases)
        self._by_first: dict[str, list[int]] = {}
        self._anywhere: list[int] = []
        for number, (phrase, _) in enumerate(self._all):
            first = compiled(_WORDS).search(phrase)
            assert first is not None, phrase
            if first.group()[0] >= UNSPACED:
                self._anywhere.append(number)
            else:
                self._by_first.setdefault(first.group(), []).append(number)
        self._heads = {first[:_HEAD_LETTERS] for first in self._by_first}

    def within(self, folded: str) -> list[tuple[str, Value]]:
        """Those that stand there, in their order.

        In a script without blanks a phrase may begin anywhere; elsewhere a word begins with it.
        """
        known = self._by_first
        found = {
            number
            for word in {*compiled(_WORDS).findall(folded)}
            if word[:_HEAD_LETTERS] in self._heads or word[:2] in known
            for size in range(len(word), max(0, len(word) - _MAX_ENDING), -1)
            for number in known.get(word[:size], ())
        }
        if not folded.isascii() and max(folded) >= UNSPACED:
            found.update(self._anywhere)
        chosen = (self._all[number] for number in sorted(found))
        return [(phrase, value) for phrase, value in chosen if phrase in folded]


def phrase_places(folded: str, words: str) -> Iterator[int]:
    """Where some words stand in a text."""
    place = folded.find(words)
    while place >= 0:
        yield place
        place = folded.find(words, place + len(words))


@cache
def labels() -> tuple[tuple[str, str], ...]:
    """Words and phrases before a secret, as ``fold`` writes them, and their class: what may follow.

    The longest comes first, so that a phrase goes before a word in it.
    """
    found: dict[str, str] = {}
    for kind, _, words in table_rows("secrets/labels"):
        for word in map(fold, words.split("|") if kind in _CLASSES else ()):
            named = "named key" if kind == "key" and " " in word else kind
            for form in {word, word.replace(" ", ""), _accentless(word)}:
                if form == word or len(form) >= _HEAD_LETTERS:  # "ma" of "mã" begins too many words
                    found.setdefault(form, named)
    return tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0])))


@cache
def _phrases() -> Phrases[str]:
    return Phrases(labels())


def fold(text: str) -> str:
    """A text in lower case, ``_`` and ``-`` as blanks; each character keeps its place.

    >>> fold("API_Key")
    'api key'
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" becomes two characters
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.replace("_", " ").replace("-", " ")


def _accentless(word: str) -> str:
    """A word of Latin letters without its accents; any other as it is.

    >>> _accentless("contraseña")
    'contrasena'
    """
    if word.isascii() or ord(max(word)) > 0x24F:
        return word
    import unicodedata

    split = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in split if not "̀" <= c <= "ͯ"))


@cache
def word_set(*kinds: str) -> frozenset[str]:
    """The words of some classes."""
    rows = (row for kind, _, row in table_rows("secrets/labels") if kind in kinds)
    return frozenset(word for row in rows for word in row.split("|"))


@cache
def words_of(*kinds: str) -> str:
    """The words of some classes as alternatives of a pattern, the longest first."""
    return "|".join(map(re.escape, sorted(word_set(*kinds), key=lambda w: (-len(w), w))))


@cache
def _compounds() -> re.Pattern[str]:
    """The same at the end of what stands before "code" in one word."""
    places = rf"(?<![a-z])(?:{words_of('place', 'guard')})\w{{0,5}}"
    return re.compile(rf"(?:{places}|(?:{words_of('within')})\w{{0,2}})\Z")


def labels_in(folded: str) -> Iterator[tuple[str, int, int]]:
    """Class and place of each label where it begins a word; in scripts without blanks anywhere.

    Words for "code" end compounds, so they are looked for in all.
    """
    taken: set[int] = set()
    found = _phrases().within(folded)
    codes = (each for each in labels() if each[1] == "code" and each[0] in folded)
    for label, kind in dict.fromkeys([*found, *codes]):
        for place in phrase_places(folded, label):
            end = place + len(label)
            if end not in taken and _is_word(folded, place, end, kind):
                taken.add(end)
                yield kind, place, end


def _is_word(folded: str, start: int, end: int, kind: str) -> bool:
    """Whether a word begins and ends here, but for what declines it ("lösenordet", "codes").

    "Code" also ends a compound with what it opens ("Türcode"). Scripts without blanks have no words.
    """
    if folded[start] > UNSPACED:
        return True
    is_begun = bool(start) and folded[start - 1].isalnum() and folded[start - 1] < UNSPACED
    if is_begun and not (
        kind == "code" and _compounds().search(folded[max(0, start - 16) : start])
    ):
        return False
    most = end + (3 if end - start >= 5 else 2 if kind == "code" else 1)
    while end < most and folded[end : end + 1].isalpha():
        end += 1
    after = folded[end : end + 1]
    return not after.isalnum() or after > UNSPACED
