"""Key phrases of a few turns, for titles."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import mentions
from clsm_cli.text.language_data import pattern, word_list
from clsm_cli.text.tokens import STOP_WORDS, stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DULL = STOP_WORDS | frozenset(word_list("chatter"))
_WORD = re.compile(r"[^\W_][\w-]*(?:['\u2019][^\W_]+)?")
_LONGEST = 3  # words


class _Phrase(NamedTuple):
    words: tuple[str, ...]  # terms, by which surface forms are one phrase
    surface: str
    bonus: float


def key_phrases(texts: Sequence[str], n: int) -> list[str]:
    """Return up to ``n`` phrases that say what a few turns are about, best first.

    Candidates are mentions and runs of one to three content words. A phrase that occurs f times and
    has k words scores f·k, twice that as a mention; a plain run of several words that is never
    repeated scores 0.6·k. A phrase that shares a word with a better one is left out. Equal scores
    keep the order of the text. A name called out ("Hey Mel!", "…, Caroline?") is no subject.

    >>> key_phrases(["The valve chatter is back.", "Hardin heard the valve chatter."], 2)
    ['valve chatter', 'Hardin']
    """
    counts: Counter[tuple[str, ...]] = Counter()
    best: dict[tuple[str, ...], _Phrase] = {}
    for phrase in _candidates(texts):
        counts[phrase.words] += 1
        known = best.get(phrase.words)
        if known is None or phrase.bonus > known.bonus:
            best[phrase.words] = phrase
    ranked = sorted(best.values(), key=lambda phrase: -_score(phrase, counts[phrase.words]))
    return _apart(ranked, n)


def _score(phrase: _Phrase, count: int) -> float:
    size = len(phrase.words)
    if phrase.bonus == 1 and count == 1 and size > 1:
        return 0.6 * size
    return count * size * phrase.bonus


def _apart(ranked: Sequence[_Phrase], n: int) -> list[str]:
    chosen: list[str] = []
    used: set[str] = set()
    for phrase in ranked:
        if len(chosen) >= n:
            break
        if used.isdisjoint(phrase.words):
            chosen.append(phrase.surface)
            used.update(phrase.words)
    return chosen


def _candidates(texts: Sequence[str]) -> Iterator[_Phrase]:
    for text in map(_without_vocatives, texts):
        named = [
            (each.label, tuple(stems(each.label))[:4]) for each in mentions.find_mentions(text)
        ]
        yield from (_Phrase(words, label, 2.0) for label, words in named if words)
        for run in _runs(text):
            for start in range(len(run)):
                for end in range(start + 1, min(start + _LONGEST, len(run)) + 1):
                    surface = text[run[start][0] : run[end - 1][1]]
                    words = tuple(stems(surface))
                    if words:
                        yield _Phrase(words, " ".join(surface.split()), 1.0)


def _without_vocatives(text: str) -> str:
    """Put commas for the names by which somebody is addressed; other positions stay."""
    letters = list(text)
    for each in mentions.find_mentions(text):
        before = text[max(0, each.start - 16) : each.start]
        if (
            each.kind == "name"
            and text[each.end : each.end + 1] in ",!?."
            and pattern("phrases.call").search(before)
        ):
            letters[each.start : each.end] = "," * (each.end - each.start)
    return "".join(letters)


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    run: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if run and text[run[-1][1] : match.start()] != " ":
            yield run
            run = []
        if word in _DULL or "'" in word or "\u2019" in word or len(word) < 3 or word.isdigit():
            yield run
            run = []
        else:
            run.append(match.span())
    yield run
