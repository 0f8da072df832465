"""Noun phrases that may be recurring terms.

A shallow grammar without a tagger (in the manner of Justeson and Katz, "Technical terminology", 1995): a
phrase has only content words, and ends before a function word, a plain verb or a mark.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clsm_cli.text.language_data import word_list
from clsm_cli.text.markdown_marks import ADDRESS, CODE_BLOCK
from clsm_cli.text.name_matching import NON_NAMES, POSSESSIVE
from clsm_cli.text.tokens import STOP_WORDS

_MAX_WORDS, _MAX_TITLE, _MIN_TERM_LETTERS = 4, 8, 9
"""Longest phrase and title, in words; letters from which a single word may be a term."""

_BARE_VERBS = frozenset(word_list("verbs"))
_STEMS = _BARE_VERBS | frozenset(word_list("verbs and nouns"))
_OUTSIDE = STOP_WORDS.union(
    word_list("function"),
    word_list("pasts"),
    *({stem + "s", stem + "es", stem.removesuffix("y") + "ies"} for stem in _STEMS),
)
_TIME = frozenset(word_list("times"))
_LOOSE = frozenset(word_list("loose adjectives"))
_GENERIC_HEADS = _TIME | _LOOSE | frozenset(word_list("generic heads"))
_EVERYDAY_WORDS = frozenset(word_list("everyday long words"))
_NON_NOUN_ENDINGS = tuple(word_list("ends of no nouns"))
"""Endings of verbs and adjectives; a noun with one needs a second word."""
_UNCERTAIN_PLURALS = frozenset(word_list("uncertain plurals"))
_IN_E = re.compile(r"(?:movi|cooki|browni|selfi|zombi|calori|hoodi|rooki|headach|cach|nich)es")
_IN_ES = re.compile(r"\w+(?:[cs]h|x|ss)es|(?:potat|tomat|her|ech|volcan|mosquit)oes")
_ARTICLES = frozenset(["the", "a", "an"])
_BEFORE_NOUNS = _LOOSE.union(_ARTICLES, word_list("determiners"))
_INSIDE = _ARTICLES | {"and", "in", "of", "to", "for", "on", "with"}  # lower-case in a title
_HONORIFICS = frozenset(["dr", "mr", "mrs", "ms", "mx", "prof", "st", "rev", "capt", "sgt"])
_NEVER_FIRST = _LOOSE | _TIME | _HONORIFICS
_NON_TERM = re.compile(r"\d|[^'\u2019]{1,40}['\u2019]|(?:twen|thir|for|fif|six|seven|eigh|nine)ty")
_VERBAL = re.compile(r"[a-z]\w+(?:ly|.ed)|means?")
_NEVER_FIRST_IN_TITLE = NON_NAMES - {"I", "A", "An", "The"} - {word.title() for word in _HONORIFICS}

_HIDDEN = re.compile(
    rf"{CODE_BLOCK}|`[^`\n]{{1,200}}`|{ADDRESS}|\[\[[^\[\]\n]{{1,300}}\]\]", re.MULTILINE
)
"""Code, addresses and links: not prose, or recognised by their markup."""
_WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:['\u2019][^\W_]{1,3}(?!\w))?")


class _Word(NamedTuple):
    start: int
    end: int  # without a possessive
    text: str
    low: str
    is_joined: bool  # to the word before it by a blank
    is_first: bool  # of its sentence
    is_named: bool  # after a determiner or possessive
    possessive: bool
    is_capital: bool


def noun_phrases(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and form of the phrases of a text that may be terms, in order.

    A phrase of three or four words also gives its endings of two or more words; a plural also gives its
    singular; a single word counts only if it looks like a term.

    >>> [phrase for _, _, phrase in noun_phrases("Petra's garden gate is by the old water pump.")]
    ['garden gate', 'water pump']
    """
    words = _words(text)
    found: set[tuple[int, int, str]] = set()
    for run in _runs(words):
        for start in range(max(0, len(run) - _MAX_WORDS), len(run) - 1):
            found.update(_phrase_forms(text, run[start:]))
        for word in run:
            if _is_term_like(word):
                found.update(_phrase_forms(text, [word]))
    for run in _titles(words):
        start, end = run[0].start, run[-1].end
        found.add((start, end, " ".join(text[start:end].split())))
    return sorted(found)


def _words(text: str) -> list[_Word]:
    plain = _HIDDEN.sub(lambda match: "|" * len(match.group()), text)
    words: list[_Word] = []
    end = 0
    for match in _WORD.finditer(plain):
        word, start = match.group(), match.start()
        ending = POSSESSIVE.search(word)
        bare = word[: ending.start()] if ending else word
        gap = plain[end:start]
        last = words[-1].low if words else ""
        titled = gap == ". " and last in _HONORIFICS
        is_first = not titled and (not words or any(mark in gap for mark in ".!?:\n"))
        is_owned = bool(words) and words[-1].possessive
        is_named = last in _BEFORE_NOUNS or (is_owned and last not in _OUTSIDE)
        is_joined = titled or gap in {" ", "\n"}
        kinds = (is_joined, is_first, is_named, ending is not None, bare[0].isupper())
        words.append(_Word(start, start + len(bare), bare, bare.lower(), *kinds))
        end = match.end()
    return words


def _runs(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield runs of content words, without loose leading words and trailing verbs."""
    run: list[_Word] = []
    for word in words:
        outside = word.low in _OUTSIDE or _NON_TERM.match(word.low) is not None
        verb = word.low in _BARE_VERBS
        if run and (not word.is_joined or verb or outside or _VERBAL.fullmatch(word.text)):
            yield from _trim_run(run)
            run = []
        if word.possessive:
            yield from _trim_run([*run, word])
            run = []
        elif not outside and not verb:
            run.append(word)
    yield from _trim_run(run)


def _trim_run(run: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    run = run[-_MAX_TITLE:]
    while run and _is_loose(run):
        run = run[1:]
    if not run or _is_generic(run[-1]):
        return
    is_name = len(run) > 1 and all(word.is_capital and not word.is_first for word in run[:-1])
    if not is_name or singular(run[-1].text) == run[-1].text:  # and not "Petra fears"
        yield run


def _is_loose(run: Sequence[_Word]) -> bool:
    low = run[0].low
    if low in _NEVER_FIRST or (low.endswith("ly") and not run[0].is_capital):
        return True
    if len(run) == 1:
        return False
    if run[0].is_first and run[1].is_capital:  # "Woah Petra"
        return True
    if low.endswith("ed"):  # "cited Darwin", "started writing"
        return run[1].is_capital or run[1].low.endswith("ing")
    # "Watching films" and "help dancers" do something; "a camping trip" is one.
    return not run[0].is_named and (low.endswith("ing") or low in _STEMS)


def _is_generic(head: _Word) -> bool:
    plain = head.low in _GENERIC_HEADS or singular(head.low) in _GENERIC_HEADS
    return plain or len(head.low) < 3 or head.text in NON_NAMES


def _is_term_like(word: _Word) -> bool:
    """Whether a word alone looks like a term: long, or with an inner digit or mark."""
    if "_" in word.text or any(map(str.isdigit, word.text)):
        return word.text[0].isalpha()
    kinds = {word.low, singular(word.low)}
    plain = any(kind in _EVERYDAY_WORDS or kind.endswith(_NON_NOUN_ENDINGS) for kind in kinds)
    return not word.is_capital and min(map(len, kinds)) >= _MIN_TERM_LETTERS and not plain


def _phrase_forms(text: str, words: Sequence[_Word]) -> Iterator[tuple[int, int, str]]:
    """Yield the phrase without its sentence capital, as it is and with a singular head."""
    start, end = words[0].start, words[-1].end
    surface = " ".join(text[start:end].split())
    if words[0].is_first and words[0].text[1:].islower():
        surface = surface[0].lower() + surface[1:]
    *before, head = surface.split(" ")
    for form in dict.fromkeys([head, singular(head)]):
        yield start, end, " ".join([*before, form])


def singular(noun: str) -> str:
    """Return the singular of a common noun, or the noun itself in doubt."""
    if not noun.islower() or not noun.isalpha() or len(noun) < 4 or noun[-1] != "s":
        return noun
    if noun in _UNCERTAIN_PLURALS or noun.endswith(("ss", "us", "is", "ics", "yses", "eses")):
        return noun
    if _IN_E.fullmatch(noun):
        return noun[:-1]
    if noun.endswith("ies") and len(noun) > 5:
        return noun[:-3] + "y"
    return noun[:-2] if _IN_ES.fullmatch(noun) else noun[:-1]


def _titles(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield names of several words joined by small words, a possessive or a title.

    "Pride and Prejudice", "The Keeper's Log", "Dr. Moreau".
    """
    run: list[_Word] = []
    for word in words:
        if run and word.is_joined and (word.is_capital or word.low in _INSIDE):
            run.append(word)
        else:
            yield from _title_in(run)
            run = [word] if word.is_capital else []
    yield from _title_in(run)


def _title_in(run: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield a run that is a title, trimmed at both ends."""
    if len(run) > 2 * _MAX_TITLE:
        return
    large = [at for at, word in enumerate(run) if word.is_capital]
    starts = [at for at in large if run[at].text not in _NEVER_FIRST_IN_TITLE]
    run = run[starts[0] : large[-1] + 1] if starts else []
    telling = [word for word in run if word.low not in _INSIDE]
    if not 2 <= len(telling) <= len(run) <= _MAX_TITLE or any(w.low in _TIME for w in telling):
        return
    if run[-1].text == "I" or (run[0].is_first and run[1].low in {"to", "for", "on", "with"}):
        return
    body = run[1:-1] if run[0].low in _ARTICLES else run[:-1]
    if run[0].low in _HONORIFICS or any(word.possessive or word.low in _INSIDE for word in body):
        yield run
