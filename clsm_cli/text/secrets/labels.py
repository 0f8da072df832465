"""Labels before secrets (``labels.tsv``), and where they occur in a text."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Generic, TypeVar

from clsm_cli.text.language_data import compiled, table_rows

Value = TypeVar("Value")
UNSPACED = "\u2e80"  # first character of scripts without blanks between words (CJK, Hangul)
UNSPACED_CLASS = "\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
"""The same as a character class of a pattern."""
_HEAD_LETTERS = 3  # letters that distinguish most words from the first words of phrases
_MIN_COMPOUND_END = 6  # letters of a label for passwords that may end a word ("wifiwachtwoord")
_MAX_ENDING = 4  # maximum letters of an inflection, plus one
_NO_LABELS = ("place", "guard", "within")
"""Classes of things that a code opens, in compounds; words of all others are labels."""

Label = tuple[str, int, int]
"""Class, start and end of a label in a text."""

_WORDS = rf"[^\W\d_{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]+"
"""Words; a run of a script without blanks is a word of its own."""


class Phrases(Generic[Value]):
    """Finds the phrases that may occur in a text, by their first words."""

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
        """The phrases in a text, in their order.

        In scripts without blanks a phrase may start anywhere; elsewhere it starts a word.
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
    """Yield the offsets of a phrase in a text."""
    place = folded.find(words)
    while place >= 0:
        yield place
        place = folded.find(words, place + len(words))


@cache
def labels() -> tuple[tuple[str, str], ...]:
    """Folded labels and their class, which decides what may follow.

    The longest comes first, so that a phrase precedes the words in it.
    """
    found: dict[str, str] = {}
    for kind, _, words in table_rows("secrets/labels"):
        for word in map(fold, words.split("|") if kind not in _NO_LABELS else ()):
            named = "named key" if kind == "key" and " " in word else kind
            for form in {word, word.replace(" ", ""), _accentless(word)}:
                if form == word or len(form) >= _HEAD_LETTERS:  # "ma" of "mã" begins too many words
                    found.setdefault(form, named)
    return tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0])))


@cache
def _phrases() -> Phrases[str]:
    return Phrases(labels())


def fold(text: str) -> str:
    """A text in lower case, ``_`` and ``-`` as blanks; each character keeps its offset.

    >>> fold("API_Key")
    'api key'
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" becomes two characters
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.replace("_", " ").replace("-", " ")


def _accentless(word: str) -> str:
    """A word of Latin letters without its accents; any other unchanged.

    >>> _accentless("contraseña")
    'contrasena'
    """
    if word.isascii() or ord(max(word)) > 0x24F:
        return word
    import unicodedata

    split = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in split if not "̀" <= c <= "ͯ"))


def has_label(text: str) -> bool:
    """Whether a text contains a label."""
    return next(labels_in(fold(text)), None) is not None


@cache
def words_of(*kinds: str) -> str:
    """The words of some classes as alternatives of a pattern, the longest first."""
    rows = (row for kind, _, row in table_rows("secrets/labels") if kind in kinds)
    words = {word for row in rows for word in row.split("|")}
    return "|".join(map(re.escape, sorted(words, key=lambda w: (-len(w), w))))


@cache
def _compounds() -> re.Pattern[str]:
    """Things with a code at the end of the first part of a compound ("Türcode")."""
    places = rf"(?<![a-z])(?:{words_of('place', 'guard')})\w{{0,5}}"
    return re.compile(rf"(?:{places}|(?:{words_of('within')})\w{{0,2}})\Z")


def labels_in(folded: str) -> Iterator[Label]:
    """Yield class, start and end of each label that starts a word; anywhere in scripts without blanks.

    Words for "code" and "password" may end a compound, so all words are searched for them; what a
    compound with "password" names is less sure ("adminPassword: required").
    """
    taken: set[int] = set()
    found = _phrases().within(folded)
    inner = (each for each in _compound_ends() if each[0] in folded)
    for label, kind in dict.fromkeys([*found, *inner]):
        for place in phrase_places(folded, label):
            end = place + len(label)
            if end not in taken and _is_word(folded, place, end, kind):
                taken.add(end)
                is_part = kind == "password" and _is_begun(folded, place)
                yield "homonym" if is_part else kind, place, end


@cache
def _compound_ends() -> tuple[tuple[str, str], ...]:
    """Labels that may end a compound."""
    return tuple(
        (label, kind)
        for label, kind in labels()
        if kind == "code"
        or (kind == "password" and len(label) >= _MIN_COMPOUND_END and label.isalpha())
    )


def _is_begun(folded: str, start: int) -> bool:
    """Whether a word goes on at an offset, in a script with blanks between words."""
    before = folded[start - 1 : start]
    return before.isalnum() and max(before, folded[start]) < UNSPACED


def _is_word(folded: str, start: int, end: int, kind: str) -> bool:
    """Whether a label is a word here, possibly inflected ("lösenordet", "codes").

    "Code" may also end a compound with the thing it opens ("Türcode"), "password" any. Scripts without
    blanks always match.
    """
    if folded[start] > UNSPACED:
        return True
    if _is_begun(folded, start) and not (
        _compounds().search(folded[max(0, start - 16) : start])
        if kind == "code"
        else (folded[start:end], kind) in _compound_ends()
    ):
        return False
    most = end + (3 if end - start >= 5 else 2 if kind == "code" else 1)
    while end < most and folded[end : end + 1].isalpha():
        end += 1
    after = folded[end : end + 1]
    return not after.isalnum() or after > UNSPACED
