"""Terms for word search, and an estimate of a text's size in word pieces.

BM25 counts terms: case-folded English stems, parts of identifiers, and pairs of adjacent Chinese, Japanese
or Korean characters (these scripts have no blanks between words, and pairs need no dictionary).
"""

import re
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType

from clsm_cli.text.language_data import word_list

STOP_WORDS: frozenset[str] = frozenset(word_list("stop words"))  # case-folded, without a subject

_JOINED = re.compile(r"(?<!\w)\w+(?:[-./:@#+=~\\]\w+)+")
"""Words joined by marks; a key, unless only hyphens join plain words."""
_JOINT = re.compile(r"[-./:@#+=~\\]")
_NUMBERS = re.compile(r"(?<![\w.:-])[0-9]+(?:[ ()./-]{1,3}[0-9]+)+")
_MIN_NUMBER_DIGITS = 7
"""Minimum digits for groups of digits to count as one number, whatever separates them: dates have fewer
significant digits, telephone numbers at least as many."""

_POSSESSIVE = re.compile(r"(?:n['\u2019]t|['\u2019](?:s|d|ll|ve|re|m))(?![^\W_])")
_WORD = re.compile(r"[^\W_](?:\w*[^\W_])?")


def stems(text: str) -> list[str]:
    """Return the search terms of a text in reading order, repeats included.

    >>> stems("Mara's café isn't in the memories")
    ['mara', 'cafe', 'memori']
    >>> stems("memory_v2 delegation-defect 2026-02-24")
    ['memory_v2', 'memori', 'v2', 'deleg', 'defect', '2026', '02', '24']
    >>> stems("東京都 茶"), stems("บ้านนา")
    (['東京', '京都', '茶'], ['บา', 'าน', 'นน', 'นา'])
    """
    terms: list[str] = []
    folded = _fold(text)
    plain = folded.isascii()
    for word in _WORD.findall(_POSSESSIVE.sub("", folded)):
        if word in STOP_WORDS:
            continue
        if plain or not _unspaced().search(word):
            terms += _terms(word)
        else:
            parts = (part.strip("_") for part in _unspaced().split(word))
            for part in filter(None, parts):
                terms += _bigrams(part) if _unspaced().match(part) else _terms(part)
    return terms


def terms(text: str) -> frozenset[str]:
    """The distinct search terms of a text."""
    return frozenset(stems(text))


def folded_words(text: str) -> list[str]:
    """Return the case-folded words of a text, stop words included, to compare two wordings."""
    return re.findall(r"\w+", text.casefold())


def identifier_keys(text: str) -> list[str]:
    """Return identifiers that span several words: codes, addresses and long numbers.

    Their words alone cannot distinguish 10.4.0.17 from 10.17.0.4. All joining marks give the same key, and
    blanks between the groups of a number are ignored.

    >>> identifier_keys("INV-2026-84655 for mara@vane.example, see src/pump_02.py:118; a well-known one")
    ['inv-2026-84655', 'mara-vane-example', 'src-pump_02-py-118']
    >>> identifier_keys("call +49 (30) 555 0142"), identifier_keys("型号是HX-220，built in 2024")
    (['49305550142'], ['hx-220'])
    """
    folded = _fold(text)
    if not folded.isascii():
        folded = _unspaced().sub(" ", folded)  # there a code stands without blanks around it
    found = [
        _JOINT.sub("-", each)
        for each in _JOINED.findall(folded)
        if not each.replace("-", "").isalpha()
    ]
    for each in _NUMBERS.findall(folded):
        digits = "".join(filter(str.isdigit, each))
        if len(digits) >= _MIN_NUMBER_DIGITS:
            found.append(digits)
    return found


@cache
def _unspaced() -> re.Pattern[str]:
    """Scripts without blanks between words: those of ``_cjk``, Thai, Lao, Tibetan, Burmese and Khmer."""
    return re.compile(_cjk().pattern.replace("[", r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"))


@cache
def _cjk() -> re.Pattern[str]:
    """Han (with extensions), kana, Hangul syllables and half-width kana; takes 1 ms to compile."""
    return re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+)")  # fmt: skip


def _fold(text: str) -> str:
    """Fold case and strip accents; ASCII text skips the second step."""
    text = text.casefold()
    if text.isascii():
        return text
    from unicodedata import category, normalize

    split = normalize("NFKD", text)
    bare = "".join(c for c in split if category(c) != "Mn")
    # Recompose: NFKD also decomposed Hangul syllables and voiced kana.
    return normalize("NFC", bare).casefold()


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=65_536)
def _terms(word: str) -> tuple[str, ...]:
    """The stem of a case-folded word; of an identifier the whole and the stems of its parts."""
    if "_" not in word:
        return (_stemmer()(word),)
    parts = [part for part in word.split("_") if part and part not in STOP_WORDS]
    return (word, *(_stemmer()(part) for part in parts))


@cache
def _stemmer() -> Callable[[str], str]:
    """Load the English stemmer alone.

    The package's own ``__init__`` imports the stemmers of 35 languages, 18 ms for each command. A private
    package with the same folder imports only the one module that is needed.
    """
    spec = PathFinder.find_spec("snowballstemmer")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError("snowballstemmer", name="snowballstemmer")
    package = ModuleType("_clsm_snowball")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[package.__name__] = package
    stemmer = import_module("_clsm_snowball.english_stemmer").EnglishStemmer()
    stem: Callable[[str], str] = stemmer.stemWord
    return stem


_MAX_CACHED = 40  # longest word whose size is cached: words of a megabyte would fill the memory
_PIECE = re.compile(r"[0-9]+(?![^\W_])|[^\W_]+|[^\s\w]|_")


def count_tokens(text: str) -> int:
    """Estimate the number of word pieces of a text for the MiniLM (BERT uncased) tokenizer.

    Works without the vocabulary: each mark and each CJK character is one piece, as in BERT; a word is one
    piece up to seven letters and more above; two digits of a number are one; words with digits, or all in
    capitals, give more. Start and end markers are not counted. Against the real tokenizer the mean error per
    text is 4.0 % on 2,760 LoCoMo turns (sum +3.0 %) and 5.0 % on 632 Markdown paragraphs (sum -4.5 %); 95 %
    of them are within 8 % and 15 %.
    """
    return round(sum(map(_size, _PIECE.findall(text))))


def expected_tokens(text: str, start: int, end: int, limit: int, before: float = 0.0) -> float:
    """``before`` plus the unrounded :func:`count_tokens` of ``text[start:end]``; stops above ``limit``."""
    total = before
    for match in _PIECE.finditer(text, start, end):
        total += _size(match.group())
        if round(total) > limit:
            break
    return total


def trim_to_tokens(text: str, limit: int) -> str:
    """Return the longest prefix of a text, cut between words, of at most ``limit`` word pieces."""
    total, end = 0.0, 0
    for match in _PIECE.finditer(text):
        total += _size(match.group())
        if round(total) > limit:
            return _whole_words(text, end)
        end = match.end()
    return text if limit > 0 else ""


def _whole_words(text: str, end: int) -> str:
    """Cut at ``end``, or at the preceding blank if that would split "3.50" or "don't"."""
    if not text[end].isspace():
        end = max(text.rfind(" ", end - 40, end), text.rfind("\n", end - 40, end)) + 1 or end
    return text[:end].rstrip()


def _size(word: str) -> float:
    return _cached_size(word) if len(word) <= _MAX_CACHED else _cached_size.__wrapped__(word)


@lru_cache(maxsize=65_536)
def _cached_size(word: str) -> float:
    length = len(word)
    if word.isascii() and word.isalpha():
        return _letters_size(word, length)
    if word.isdigit():
        return max(1.0, 0.48 * length)
    if word.isascii():
        return 1.0 if length == 1 else 0.5 + 0.6 * length
    wide = sum(map(len, _cjk().findall(word)))
    return max(1.0, wide + 0.5 * (length - wide))


def _letters_size(word: str, length: int) -> float:
    if word.isupper() and length > 1:
        return 1.1 if length == 2 else 1.2 + 0.13 * length
    if length <= 7:
        return 1.0 if length == 1 else 1.04
    return 1.25 if length <= 10 else 1.6 if length <= 13 else 0.22 * length
