"""Find names by their form: runs of capitalised words, acronyms, words with a capital inside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import word_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.text.sentences import Span

NAME_PARTICLES = frozenset(word_list("particles"))  # lower-case words inside the names of persons
_PARTICLES = NAME_PARTICLES | {"of", "the"}
SMALL_WORDS = _PARTICLES.union(word_list("small words"))  # lower-case inside a title

NON_NAMES: frozenset[str] = frozenset(word_list("capitalised"))  # alone they are no names

_NAME_OPENERS = frozenset({"New", "Old", "Big", "Great", "Little", "Good", "Best"})
"""Words that open longer names, but alone are no names."""

SHELL_WORDS: frozenset[str] = frozenset(word_list("shell"))
"""Commands and constants, often set in code marks, that are no names."""

WORD = re.compile(r"[^\W_][\w-]*(?:['\u2019][^\W_]+)?")  # with hyphens and what an apostrophe adds
POSSESSIVE = re.compile(r"['\u2019][sS]$")  # the possessive suffix


class _Word(NamedTuple):
    start: int
    end: int
    text: str  # without a possessive
    is_first: bool  # of its sentence
    possessive: bool


def find_names(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Yield start and end of the names in a text."""
    words = [word for span in spans for word in _words(text, span)]
    inside = {word.text for word in words if not word.is_first}
    position = 0
    while position < len(words):
        run = _run(text, words, position)
        if len(run) > 1 and run[0].is_first and _is_sentence_capital(run[0].text, inside):
            run = run[1:]
        if run and (len(run) > 1 or _is_single_name(run[0], inside)):
            yield run[0].start, run[-1].end
        position = max(position + 1, words.index(run[-1], position) + 1) if run else position + 1


def sentence_openers(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """Yield the capitalised words, each alone, with which a sentence begins; they may be names or not.

    >>> from clsm_cli.text.sentences import split
    >>> list(sentence_openers("Noor is here. Later Bram Vos.", split("Noor is here. Later Bram Vos.")))
    ['Noor']
    """
    for span in spans:
        words = _words(text, span)
        opener = next((word for word in words if not word.text.isdigit()), None)
        if opener and _is_capitalised(opener) and opener.text.isalpha() and len(opener.text) > 1:
            follower = next(words, None)
            if not (
                follower and _is_capitalised(follower) and _is_adjacent(text, opener, follower)
            ):
                yield opener.text


def _is_sentence_capital(word: str, inside: set[str]) -> bool:
    """Whether the first word of a sentence is capitalised only for its position: "Adding Hardin …"."""
    return word.lower() in inside or word.endswith(("ing", "ed"))


def _words(text: str, span: Span) -> Iterator[_Word]:
    is_first = True
    for match in WORD.finditer(text, span.start, span.end):
        ending = POSSESSIVE.search(match.group())
        word = match.group()[: ending.start()] if ending else match.group()
        word = word.rstrip("-_")
        yield _Word(match.start(), match.start() + len(word), word, is_first, ending is not None)
        # The number of a list item is not the first word of its sentence.
        is_first = is_first and word.isdigit()


def _is_capitalised(word: _Word) -> bool:
    plain = word.text[0].isupper() and "'" not in word.text and "\u2019" not in word.text
    return plain and word.text not in NON_NAMES


def _run(text: str, words: Sequence[_Word], position: int) -> list[_Word]:
    """Collect up to four capitalised words from a position on, with particles between them."""
    run: list[_Word] = []
    pending: list[_Word] = []
    capitals = 0
    for word in words[position : position + 8]:
        before = run[-1] if run and not pending else pending[-1] if pending else None
        if before and (before.possessive or not _is_adjacent(text, before, word)):
            break
        if _is_capitalised(word) and capitals < 4:
            run += [*pending, word]
            pending, capitals = [], capitals + 1
        elif run and len(pending) < 2 and word.text in _PARTICLES:
            pending.append(word)
        else:
            break
    return run


def _is_adjacent(text: str, before: _Word, word: _Word) -> bool:
    gap = text[before.end : word.start]
    return gap == " " or (gap in {".", ". "} and len(before.text) == 1)  # an initial


def _is_single_name(word: _Word, inside: set[str]) -> bool:
    text = word.text
    if len(text) == 1 or text in _NAME_OPENERS:
        return False
    letters = [c for c in text if c.isalpha()]
    if all(c.isupper() for c in letters):
        return 2 <= len(text) <= 8 and len(letters) <= 6
    if any(c.isupper() for c in text[1:].replace("-", "")) and "-" not in text:
        return True  # OpenClaw
    return not word.is_first or text in inside
