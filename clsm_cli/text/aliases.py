"""Aliases that a text states for a name.

Only explicit forms count: an acronym in brackets, "also known as", a link with its own display text. An
apposition ("Thomas, the editor") states a role, which others may share, and no alias.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import mentions, name_matching
from clsm_cli.text.language_data import pattern, word_list
from clsm_cli.text.markdown_marks import LINK_TARGET
from clsm_cli.text.mentions import Mention
from clsm_cli.text.noun_phrases import singular
from clsm_cli.text.tokens import STOP_WORDS


class StatedAlias(NamedTuple):
    """Two names of one thing, and the span of the text that says so."""

    name: str
    alias: str
    start: int
    end: int


_OPENING = re.compile(r"(?:\A|[.!?\n]\s?)([^\W\d_][\w-]{2,40})")
_LINK = re.compile(rf"{LINK_TARGET}\|([^\[\]\n]{{1,80}})\]\]")
_ACRONYM = re.compile(r"[*\"\u201d\]]{0,4} \(([^\W\d_][^\W_]{1,7})\)")
_SPELLED_OUT = re.compile(r"(?<![\w-])([^\W\d_a-z]{2,8}) \(([^\W_][^()\n]{4,80})\)")
_REACH = 160  # characters before an acronym in which to look for its words
_BEFORE_WORD = re.compile(r"[^\W_][\w'\u2019]*")
_SMALL = frozenset(word_list("small words"))

HONORIFICS = frozenset(word_list("honorifics"))
_NAME_PART = re.compile(r"[^\W\d_][^\W\d_]*(?:[-'\u2019][^\W\d_]+)?\.?")


@lru_cache(maxsize=1 << 18)
def name_key(name: str) -> str:
    """Return a name without case, hyphens and leading article: names with equal keys are one name.

    >>> name_key("The Event-Store"), name_key("schema_v2"), name_key("C++")
    ('event store', 'schema_v2', 'c++')
    """
    plain = unicodedata.normalize("NFC", name).casefold().replace("\u2019", "'")
    words = plain.replace("-", " ").split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in {"the", "a", "an"} else words)


@lru_cache(maxsize=1 << 18)
def name_keys(name: str) -> tuple[str, ...]:
    """Return the key of a name and, if its last word is a plural, that of its singular."""
    *before, last = name.split() or [""]
    forms = name, " ".join([*before, singular(last)])
    return tuple(dict.fromkeys(map(name_key, forms)))


@lru_cache(maxsize=1 << 18)
def name_parts(name: str) -> tuple[str, ...]:
    """Return the proper runs of words in the key of a name (of its first twelve)."""
    words = name_key(name).split()[:12]
    places = range(len(words) + 1)
    return tuple(" ".join(words[a:b]) for a in places for b in places if 0 < b - a < len(words))


def short_names(full: str) -> list[str]:
    """Return first and last name of a person's full name; beside a title or emoji, the name alone counts."""
    all_words = full.split()
    words = [word for word in all_words if unicodedata.category(word[0]) != "So"]
    titled = len(words) > 1 and words[0].rstrip(".").lower() in HONORIFICS
    words = words[1:] if titled else words
    if not 1 + (words == all_words) <= len(words) <= 4:
        return []
    if not all(word in name_matching.NAME_PARTICLES or _is_personal(word) for word in words):
        return []
    return [word for word in dict.fromkeys([words[0], words[-1]]) if len(word) > 2]


def _is_personal(word: str) -> bool:
    shaped = word[0].isupper() and word[1:2] in {"", ".", word[1:2].lower()}
    return shaped and _NAME_PART.fullmatch(word) is not None


def stated_aliases(text: str) -> list[StatedAlias]:
    """Return the pairs of names that a text states to be one thing, in order.

    >>> [(each.name, each.alias) for each in stated_aliases("The Bank of Nova Scotia (BNS) rang.")]
    [('Bank of Nova Scotia', 'BNS')]
    >>> stated_aliases("Thomas, the editor, called Petra.")
    []
    """
    found = [*_links(text), *_acronyms(text)]
    if pattern("aliases.trigger").search(text):
        found += _equated_names(text)
    apart = {each for each in found if name_key(each.name) != name_key(each.alias)}
    return sorted(apart, key=lambda each: (each.start, each.end, each.name, each.alias))


def _equated_names(text: str) -> Iterator[StatedAlias]:
    """Yield pairs of neighbouring names that the words between them equate."""
    marked = mentions.find_mentions(text)
    for first, second in pairwise(sorted([*marked, *_sentence_openings(text, marked)])):
        gap = text[first.end : second.start]
        if pattern("aliases.called").fullmatch(gap):
            is_turned = "short for" in gap
            name, alias = (second, first) if is_turned else (first, second)
            yield StatedAlias(name.label, alias.label, first.start, second.end)


def _sentence_openings(text: str, marked: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the first words of sentences as possible names, since their capital decides nothing."""
    starts = {each.start for each in marked}
    for match in _OPENING.finditer(text):
        word = match.group(1)
        is_name = word[0].isupper() and word not in name_matching.NON_NAMES
        if is_name and match.start(1) not in starts:
            yield Mention(*match.span(1), word, "name")


def _links(text: str) -> Iterator[StatedAlias]:
    """Yield links whose display text is a name: short, and no description ("my old friend")."""
    for match in _LINK.finditer(text):
        target = mentions.link_label(match.group(1))
        shown = " ".join(match.group(2).strip('*_`" ').split())
        words = shown.split()
        if not target or not words or len(words) > 4:
            continue
        named = any(word[0].isupper() or word[0].isdigit() for word in words)
        described = any(word.lower() in STOP_WORDS for word in words)
        of_a_name = any(c.isupper() for c in target)
        if named or not (described or of_a_name):
            yield StatedAlias(target, shown, *match.span())


def _acronyms(text: str) -> Iterator[StatedAlias]:
    """Yield names followed by their initials in brackets (Schwartz and Hearst 2003, strictly)."""
    for match in _ACRONYM.finditer(text):
        short = match.group(1)
        letters = short[:-1] if short[-1] == "s" else short
        if not letters.isupper():
            continue
        words = list(_BEFORE_WORD.finditer(text, max(0, match.start() - _REACH), match.start()))
        if not words or words[-1].end() != match.start():
            continue
        start = _initials_start(words, letters.lower())
        if start is not None and "\n\n" not in text[start : match.start()]:
            name = " ".join(text[start : match.start()].split())
            yield StatedAlias(name, letters, start, match.end())
    for match in _SPELLED_OUT.finditer(text):
        words = list(_BEFORE_WORD.finditer(text, *match.span(2)))
        if _initials_start(words, match.group(1).lower()) == match.start(2):
            yield StatedAlias(match.group(2), match.group(1), *match.span())


def _initials_start(words: Sequence[re.Match[str]], letters: str) -> int | None:
    """Where the words start whose initials are ``letters``; small words may be skipped."""
    left = len(letters)
    for word in reversed(words):
        low = word.group().lower()
        if low[0] == letters[left - 1]:
            left -= 1
        elif low not in _SMALL:
            return None
        if left == 0:
            return word.start()
    return None
