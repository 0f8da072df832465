"""What a later sentence is to an earlier one: the same again, its update, true beside it, or unrelated.

A cross-encoder reads both, and the question that both may answer, where one is asked (fitted by
``scripts/fit_pairs.py``; figures on pairs that it did not see: ``weights/pair.json``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from clsm_cli.heads import cross_encoder
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness
from clsm_cli.text.person_words import ENGLISH, leading_languages, words_of
from clsm_cli.text.tokens import STOP_WORDS

RELATIONS = ("same", "update", "both", "unrelated")

_WORD = re.compile(r"[^\W_]+(?:[.,:/@_+\-][^\W_]+)*%?|n['’]t\b|(?<=\w)['’](?:m|re|ve|ll|d)\b")
_NEGATED = re.compile(r"n['’]t\b")
_ENDED = re.compile(r"[.!?…:|·\n]|\W$|^[^A-Z]|^\W*\w+\W*\w*$")
"""What is in no sentence whose full stop is missing: a mark, two words alone."""
_MARKS = re.compile(r"[*_`#>]+")

OVER = 0.99
"""Probability of an update from which the earlier sentence is said to be over."""
_BRIEF_OVER, _BRIEF = 0.85, 2
"""The same where the later one has at most so many words of its own, and no name or number."""
LEAST = 0.15
"""Probability below which no update is worth a look."""
_NONE = 0.05
"""Probability below which a clause is certainly none."""
_CLAUSE = re.compile(r"[,;] | [-\u2013\u2014] |\bbut\b")


class Relation(NamedTuple):
    """How likely a later sentence is each of ``RELATIONS`` to an earlier one."""

    same: float
    update: float
    both: float
    unrelated: float


class Sentence(NamedTuple):
    """A sentence, item or row as its words are compared with another's.

    Attributes:
        text: As it is written, after its heading if it has one.
        words: Without marks.
        keys: The same to be compared: folded, without endings.
    """

    text: str
    words: tuple[str, ...]
    keys: tuple[str, ...]


def sentence(text: str, heading: str = "") -> Sentence:
    """Read a sentence, with or without its marks."""
    words = tuple(_WORD.findall(_NEGATED.sub(" n't", _MARKS.sub("", text))))
    return Sentence(joined(text, heading), words, tuple(map(_key, words)))


def joined(text: str, heading: str) -> str:
    """A sentence behind its heading, as the model was fitted on it."""
    return f"{heading}: {text}" if heading else text


@lru_cache(maxsize=8192)
def _key(word: str) -> str:
    """A word to compare: folded, without what most endings of a word of its length are."""
    folded = word.casefold()
    if any(map(str.isdigit, folded)):
        return folded.replace(",", "")
    for ending in ("ing", "ed", "es", "en", "er", "s", "e"):
        if folded.endswith(ending) and len(folded) - len(ending) >= 3:
            return folded[: -len(ending)]
    return folded


_STOP_KEYS = frozenset(map(_key, STOP_WORDS))


def content(sentence: Sentence) -> set[str]:
    """Keys of the words that say what it is about."""
    return {
        key for key in sentence.keys if key not in _STOP_KEYS and (len(key) > 1 or key.isdigit())
    }


def particulars(sentence: Sentence) -> set[str]:
    """Keys of its numbers and names; a name has a capital inside the sentence, or more than one.

    >>> sorted(particulars(sentence("Our dog Rex is 4.")))
    ['4', 'rex']
    """
    return {
        key
        for place, (word, key) in enumerate(zip(sentence.words, sentence.keys, strict=True))
        if any(map(str.isdigit, key))
        or (word[0].isupper() and place > 0 and word != "I")
        or any(map(str.isupper, word[1:]))
    }


def update_of(
    old: Sentence,
    new: Sentence,
    whole: Relation,
    read: Callable[[Sequence[tuple[str, str]]], list[Relation]],
) -> float:
    """How likely a later sentence is an update of an earlier one; certain from ``OVER``.

    - What says hardly more than what it is about is only worth saying where the earlier one holds no
      longer ("the trip is cancelled"); two that each have a name or a number to tell may both be true.
    - If one clause alone is about what the earlier says, it must be the update: in "the trip is off, Tom
      works on Saturday", what is over is not where Tom works.

    Args:
        whole: What the whole sentence is to the earlier one.
        read: Gives the relations of pairs, as ``relations``.
    """
    chance = whole.update
    if chance < LEAST:
        return chance
    said = content(old)
    parts = [part for part in _CLAUSE.split(new.text) if sentence(part).words]
    about = [part for part in parts if said & content(sentence(part))]
    if 0 < len(about) < len(parts):
        alone = max(each.update for each in read([(old.text, part) for part in about]))
        if alone < _NONE:
            return alone
    if chance < _BRIEF_OVER or particulars(new) - {*old.keys}:
        return chance
    more = len(content(new) - said)
    is_brief = more <= _BRIEF and (
        more or sameness.polarity(old.text) != sameness.polarity(new.text)
    )
    return max(chance, OVER) if is_brief else chance


def relation(old: str, new: str, asked: str = "") -> Relation:
    """What a later sentence is to an earlier one.

    Args:
        old: The earlier, ``joined`` with its heading.
        new: The later.
        asked: A question that both may answer.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    head = cross_encoder.load("pair")
    return Relation(*head.probabilities(_with_mark(old), _with_mark(new), asked))


def relations(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """The same of many pairs, of which nothing is asked.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    if not pairs:
        return []
    read = cross_encoder.load_for_many("pair").read
    texts = [(_with_mark(one), _with_mark(two)) for one, two in pairs]
    return [Relation(*each) for each in read(texts)]


def is_readable(text: str) -> bool:
    """Whether a text is in the model's language: by function words, English, and most others are known.

    Words with a capital may be names, in any language.

    Raises:
        ModelMissingError: The model is not installed, and the function words are English.
        ModelDigestError: A model file is not the right one.
    """
    if ENGLISH not in leading_languages(text):
        return False
    knows = cross_encoder.load_for_many("pair").knows
    known = [knows(word.low) for word in words_of(text) if not word.is_name_like]
    return 2 * sum(known) > len(known)


def _with_mark(text: str) -> str:
    """A sentence with its full stop: the head takes one without it for another kind of text.

    >>> _with_mark("We migrated to SQLite"), _with_mark("Rent: 900"), _with_mark("Is it so?")
    ('We migrated to SQLite.', 'Rent: 900', 'Is it so?')
    """
    return text if _ENDED.search(text) else f"{text}."


def without_speaker(text: str, speakers: Collection[str]) -> tuple[str, str]:
    """Who says a sentence, if one of some speakers stands before it, and the sentence alone.

    The head takes two values of one label for a change, and would so take any two sentences behind one name.

    >>> without_speaker("Mara: the salad.", {"Mara"}), without_speaker("Rent: 900", {"Mara"})
    (('Mara', 'the salad.'), ('', 'Rent: 900'))
    """
    name, colon, said = text.partition(": ")
    return (name, said) if colon and name in speakers else ("", text)
