"""Words by which a text refers to somebody without a name: pronouns, determiners, nouns of persons.

The words are data with a source, see the head of ``person_words.txt`` and
``scripts/make_person_words.py``; one letter sequence means different things in different languages
(English and Danish *her*), so the language is told apart first, by function words.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from clsm_cli.records import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_FILE = Path(__file__).with_suffix(".txt")
SINGULAR = frozenset({"he", "she"})
PLAIN = "english"
"""What a text without a function word is taken for."""


class Word(NamedTuple):
    """A word of a text, and where it stands.

    Attributes:
        low: In lower case.
        start: Its first character.
        is_first: It begins a sentence, a line, or what follows a colon.
    """

    text: str
    low: str
    start: int
    is_first: bool

    @property
    def is_name_like(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[0].isupper()


class Language(NamedTuple):
    """Words of a language by what they mean; see the file."""

    name: str
    kinds: dict[str, frozenset[str]]

    def pronoun(self, word: str) -> frozenset[str]:
        """Whom a pronoun in lower case can stand for, of he, she and they.

        >>> sorted(language_of("Er zahlt die Miete nicht.").pronoun("sie"))
        ['she', 'they']
        """
        return frozenset(kind for kind in ("he", "she", "they") if word in self.kinds[kind])

    def is_a(self, kind: str, word: str) -> bool:
        """Whether a word is of a kind: you, own (my, our), we (I), the (this, that), and, verb (is)."""
        return word in self.kinds.get(kind, ())

    def is_function_word(self, word: str) -> bool:
        """Whether a word is on the language's list of stop words."""
        return any(word in words for words in self.kinds.values())


@cache
def _table() -> tuple[dict[str, Language], dict[str, str]]:
    rows: dict[str, dict[str, frozenset[str]]] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            head, _, words = line.partition(":")
            name, kind = head.split()
            rows.setdefault(name, {})[kind] = frozenset(words.split())
    nouns = {word: kind for kind, words in rows.pop("noun").items() for word in words}
    return {name: Language(name, kinds) for name, kinds in rows.items()}, nouns


def language_of(text: str) -> Language:
    """The language whose function words a text has most of.

    >>> language_of("Hij vraagt 40 euro per uur voor de muur.").name, language_of("1, 2").name
    ('dutch', 'english')
    """
    found = [word.low for word in words_of(text)]
    languages = _table()[0]

    def fit(name: str) -> tuple[int, bool]:
        return sum(map(languages[name].is_function_word, found)), name == PLAIN

    return languages[max(languages, key=fit)]


def gender_of_noun(word: str) -> str | None:
    """Of a noun that means a person first: he, she, any; None for other words.

    >>> gender_of_noun("sister"), gender_of_noun("tenant"), gender_of_noun("garage")
    ('she', 'any', None)
    """
    return _table()[1].get(word)


def words_of(text: str) -> list[Word]:
    """The words of a text in order.

    >>> [word.low for word in words_of("He's late. Why?") if word.is_first]
    ["he's", 'why']
    """
    text = text.replace("\u2019", "'")
    found = []
    end = 0
    for match in _WORD.finditer(text):
        between = text[end : match.start()]
        is_first = end == 0 or any(mark in between for mark in '.!?:;\n\u2026"(|')
        found.append(Word(match.group(), match.group().lower(), match.start(), is_first))
        end = match.end()
    return found
