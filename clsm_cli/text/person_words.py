"""Words that refer to a person without a name: pronouns, determiners, nouns of persons.

The words are data with a source, see the head of ``person_words.txt`` and ``scripts/make_person_words.py``.
The same letters may be words of several languages (English and Danish *her*), so function words identify the
language first.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_FILE = Path(__file__).with_suffix(".txt")
ENGLISH = "english"  # language of a text without function words


class Word(NamedTuple):
    """A word of a text, and its position."""

    text: str
    low: str
    start: int
    is_first: bool

    @property
    def is_name_like(self) -> bool:
        """Whether it is capitalised."""
        return self.text[0].isupper()


class Language(NamedTuple):
    """Words of a language by kind; see the file."""

    name: str
    kinds: dict[str, frozenset[str]]

    def is_third_person(self, word: str) -> bool:
        """Whether a lower-case word can refer to one person: he, him, her."""
        return word in self.kinds["he"] or word in self.kinds["she"]

    def is_a(self, kind: str, word: str) -> bool:
        """Whether a word is of a kind: you, own (my, our), we (I), the (this, that), and, verb (is)."""
        return word in self.kinds.get(kind, ())

    def is_function_word(self, word: str) -> bool:
        """Whether a word is a stop word of the language."""
        return any(word in words for words in self.kinds.values())


class _Table(NamedTuple):
    """Content of the file: languages by name, names of languages by function word, nouns."""

    languages: dict[str, Language]
    having: dict[str, list[str]]
    nouns: frozenset[str]


@cache
def _table() -> _Table:
    rows: dict[str, dict[str, frozenset[str]]] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            head, _, words = line.partition(":")
            name, kind = head.split()
            rows.setdefault(name, {})[kind] = frozenset(words.split())
    nouns = frozenset().union(*rows.pop("noun").values())
    function_words = ((name, frozenset().union(*kinds.values())) for name, kinds in rows.items())
    having = grouped((word, name) for name, own in function_words for word in own)
    return _Table({name: Language(name, kinds) for name, kinds in rows.items()}, having, nouns)


def language_of(text: str) -> Language:
    """The language with the most function words in a text.

    >>> language_of("Hij vraagt 40 euro per uur voor de muur.").name, language_of("1, 2").name
    ('dutch', 'english')
    """
    leading = leading_languages(text)
    return leading.get(ENGLISH) or next(iter(leading.values()), _table().languages[ENGLISH])


def leading_languages(text: str) -> dict[str, Language]:
    """The languages with the most function words in a text, by name; none if it has no function word.

    >>> [*leading_languages("Am 2. Montag")], [*leading_languages("Am 2. Montag im Mai")]
    (['english', 'german'], ['german'])
    """
    table = _table()
    found = Counter(name for word in words_of(text) for name in table.having.get(word.low, ()))
    most = max(found.values(), default=0)
    return {name: told for name, told in table.languages.items() if most and found[name] == most}


def is_person_noun(word: str, language: Language) -> bool:
    """Whether an English noun primarily means a person."""
    return (
        language.name == ENGLISH and word in _table().nouns and not language.is_function_word(word)
    )


def words_of(text: str) -> list[Word]:
    """The words of a text in order."""
    text = text.replace("\u2019", "'")
    found = []
    end = 0
    for match in _WORD.finditer(text):
        between = text[end : match.start()]
        is_first = end == 0 or any(mark in between for mark in '.!?:;\n\u2026"(|')
        found.append(Word(match.group(), match.group().lower(), match.start(), is_first))
        end = match.end()
    return found
