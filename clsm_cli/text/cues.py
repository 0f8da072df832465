"""Cues in turns: key phrases, decisions, open questions, valence."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import sqrt

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import mentions
from clsm_cli.text.language_data import pattern, word_list
from clsm_cli.text.name_matching import WORD
from clsm_cli.text.sentences import is_question, sentences
from clsm_cli.text.tokens import STOP_WORDS, stems


def find_decisions(text: str) -> list[str]:
    """Return the sentences of a text that state a decision."""
    return [
        sentence
        for sentence in sentences(text)
        if not is_question(sentence) and pattern("cues.decision").search(sentence)
    ]


def find_questions(text: str) -> list[str]:
    """Return the questions of a text, without pleasantries, tag questions and exclamations."""
    return [sentence for sentence in sentences(text) if _is_open_question(sentence)]


def _is_open_question(sentence: str) -> bool:
    if pattern("cues.open question").search(sentence):
        return True
    end = sentence[-80:]
    if pattern("cues.tag").search(end) or pattern("cues.pleasantry").search(end):
        return False
    is_long = len(re.findall(r"\w+", sentence)) > 2 or not sentence.isascii()
    return is_long and is_question(sentence)


_NEGATIONS = frozenset(word_list("reversing"))
_DEGREES = dict.fromkeys(word_list("stronger"), 1.3) | dict.fromkeys(word_list("weaker"), 0.7)
_VALENCE_TOKEN = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?|[.!?;,]")
_VALENCE_WINDOW = 3  # words before a word in which negations and degrees count


def valence(text: str) -> float:
    """Return how pleasant a text is: -1 (unpleasant) to 1; 0 without a word of the lexicon.

    Each word of the lexicon adds its strength, reversed and weakened (x -0.7) by a negation and
    scaled by a degree ("very" 1.3, "slightly" 0.7) up to three words before it in its clause. The result for
    their sum s is s / sqrt(s² + 15), which is within the bounds (VADER, Hutto and Gilbert 2014).

    >>> valence("It is a chair."), valence("good") > 0 > valence("not good")
    (0.0, True)
    """
    total = 0.0
    recent: list[str] = []
    for word in _VALENCE_TOKEN.findall(text.lower()):
        if not word[0].isalpha():
            recent = []
            continue
        score = _strengths().get(_stem(word), 0)
        if score:
            total += score * _modifier(recent)
        recent = [*recent, word][-_VALENCE_WINDOW:]
    return round(total / sqrt(total * total + 15), 4)


def _modifier(before: list[str]) -> float:
    factor = 1.0
    for word in before:
        if word in _NEGATIONS or word.endswith(("n't", "n\u2019t")):
            factor *= -0.7
        factor *= _DEGREES.get(word, 1.0)
    return factor


def _stem(word: str) -> str:
    return next(iter(stems(word)), "")


@cache
def _strengths() -> dict[str, int]:
    return {
        _stem(word): sign * strength
        for sign, name in ((1, "pleasant"), (-1, "unpleasant"))
        for strength in (1, 2, 3)
        for word in word_list(f"{name} {strength}")
    }


_NON_CONTENT = STOP_WORDS | frozenset(word_list("chatter"))
_MAX_PHRASE_WORDS = 3


class _Phrase(NamedTuple):
    words: tuple[str, ...]  # terms; surface forms with equal terms are one phrase
    surface: str
    bonus: float


def key_phrases(texts: Sequence[str], n: int) -> list[str]:
    """Return up to ``n`` key phrases of a few turns, best first.

    Candidates are mentions and runs of one to three content words. A phrase that occurs f times and has k
    words scores f·k, twice that as a mention; a run of several words that occurs once scores 0.6·k. A
    phrase that shares a word with a better one is left out. Equal scores keep the order of the text.
    Vocatives ("Hey Mel!", "…, Caroline?") do not count.

    >>> key_phrases(["The valve chatter is back.", "Hardin heard the valve chatter."], 2)
    ['valve chatter', 'Hardin']
    """
    counts: Counter[tuple[str, ...]] = Counter()
    best: dict[tuple[str, ...], _Phrase] = {}
    for phrase in _candidates(texts):
        counts[phrase.words] += 1
        if phrase.bonus > best.setdefault(phrase.words, phrase).bonus:
            best[phrase.words] = phrase
    chosen: list[str] = []
    used: set[str] = set()
    for phrase in sorted(best.values(), key=lambda each: -_score(each, counts[each.words])):
        if len(chosen) < n and used.isdisjoint(phrase.words):
            chosen.append(phrase.surface)
            used.update(phrase.words)
    return chosen


def _score(phrase: _Phrase, count: int) -> float:
    size = len(phrase.words)
    if phrase.bonus == 1 and count == 1 and size > 1:
        return 0.6 * size
    return count * size * phrase.bonus


def _candidates(texts: Sequence[str]) -> Iterator[_Phrase]:
    for text in map(_without_vocatives, texts):
        for each in mentions.find_mentions(text):
            if words := tuple(stems(each.label))[:4]:
                yield _Phrase(words, each.label, 2.0)
        for run in _runs(text):
            for start in range(len(run)):
                for end in range(start + 1, min(start + _MAX_PHRASE_WORDS, len(run)) + 1):
                    surface = text[run[start][0] : run[end - 1][1]]
                    if words := tuple(stems(surface)):
                        yield _Phrase(words, " ".join(surface.split()), 1.0)


def _without_vocatives(text: str) -> str:
    """Replace names of addressed persons by commas; all offsets stay the same."""
    letters = list(text)
    for each in mentions.find_mentions(text):
        before = text[max(0, each.start - 16) : each.start]
        is_apart = each.kind == "name" and text[each.end : each.end + 1] in ",!?."
        if is_apart and pattern("cues.call").search(before):
            letters[each.start : each.end] = "," * (each.end - each.start)
    return "".join(letters)


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    run: list[tuple[int, int]] = []
    for match in WORD.finditer(text):
        word = match.group().lower()
        if run and text[run[-1][1] : match.start()] != " ":
            yield run
            run = []
        is_contracted = "'" in word or "\u2019" in word
        if is_contracted or word in _NON_CONTENT or len(word) < 3 or word.isdigit():
            yield run
            run = []
        else:
            run.append(match.span())
    yield run
