"""The pair head: whether a later sentence repeats an earlier one, updates it, complements it, or neither.

A cross-encoder reads both sentences, and the question that both may answer, if there is one (fitted by
``scripts/fit_pairs.py``; figures on held-out pairs: ``weights/pair.json``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from clsm_cli.heads import cross_encoder
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness
from clsm_cli.text.language_data import word_list
from clsm_cli.text.person_words import ENGLISH, leading_languages, words_of
from clsm_cli.text.tokens import STOP_WORDS

_OPINES, _PREPOSITIONS = frozenset(word_list("opines")), frozenset(word_list("prepositions"))
_PASTS = frozenset((*word_list("pasts"), "been"))  # which is listed as an auxiliary, no verb
RELATIONS = ("same", "update", "both", "unrelated")

_WORD = re.compile(r"[^\W_]+(?:[.,:/@_+\-][^\W_]+)*%?|n['’]t\b|(?<=\w)['’](?:m|re|ve|ll|d)\b")
_NEGATED = re.compile(r"n['’]t\b")
_HAS_END = re.compile(r"[.!?…:|·\n]|\W$|^[^A-Z]|^\W*\w+\W*\w*$")
"""Matches a text that needs no full stop: it has a mark, begins in lower case, or has at most two words."""
_MARKS = re.compile(r"[*_`#>]+")

SUPERSEDED_P = 0.97
"""Probability of an update from which the earlier sentence counts as superseded."""
_BRIEF_SUPERSEDED_P, _MAX_BRIEF_WORDS = 0.85, 2
"""The same if the later sentence adds at most this many words, none of them a name or number."""
UNSURE_P = SUPERSEDED_P - 0.01
"""Highest probability of an update that may be none."""
ASKED_P = 0.40
"""Probability of an update from which a person is asked."""
_SUBJECT, _WHOLE = 4, 2
"""Words in which a subject and its verb stand, at most, and content words of a clause that stands alone, at least."""
MIN_UPDATE_P = 0.15
"""Probability below which an update is ruled out."""
_MIN_CLAUSE_P = 0.12
"""The same of a clause alone, which says less than its sentence."""
_CLAUSE = re.compile(r"[,;] | [-\u2013\u2014] |\bbut\b")


class Relation(NamedTuple):
    """The probability of each of ``RELATIONS``."""

    same: float
    update: float
    both: float
    unrelated: float


class Sentence(NamedTuple):
    """A sentence, item or row, tokenised for comparison.

    Attributes:
        text: As written, after its heading if it has one.
        words: Words without marks.
        keys: The words case-folded and without endings.
    """

    text: str
    words: tuple[str, ...]
    keys: tuple[str, ...]


@lru_cache(maxsize=8192)
def sentence(text: str, heading: str = "") -> Sentence:
    """Tokenise a sentence; Markdown marks are ignored."""
    words = tuple(_WORD.findall(_NEGATED.sub(" n't", _MARKS.sub("", text))))
    return Sentence(joined(text, heading), words, tuple(map(_key, words)))


def joined(text: str, heading: str) -> str:
    """A sentence after its heading, as in the training data."""
    return f"{heading}: {text}" if heading else text


@lru_cache(maxsize=8192)
def _key(word: str) -> str:
    """A word case-folded and without a common ending; words with digits only lose their commas."""
    folded = word.casefold()
    if any(map(str.isdigit, folded)):
        return folded.replace(",", "")
    for ending in ("ing", "ed", "es", "en", "er", "s", "e"):
        if folded.endswith(ending) and len(folded) - len(ending) >= 3:
            return folded[: -len(ending)]
    return folded


_STOP_KEYS = frozenset(map(_key, STOP_WORDS))


def content(sentence: Sentence) -> set[str]:
    """Keys of the content words."""
    return {
        key for key in sentence.keys if key not in _STOP_KEYS and (len(key) > 1 or key.isdigit())
    }


def particulars(sentence: Sentence) -> set[str]:
    """Keys of numbers and names; a name is capitalised after the first word, or has an inner capital.

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
    """The probability that a later sentence updates an earlier one; certain from ``SUPERSEDED_P``.

    - A sentence that adds little to its subject is only worth saying if the earlier one no longer holds
      ("the trip is cancelled"). If it adds a name or number, both may be true; and what happened ("Been
      to Ghent") did happen.
    - What somebody else says or thinks, or what the later one is only a circumstance of, may still hold.
    - If only some clauses share content with the earlier sentence, one of them must be the update: "the
      trip is off, Tom works on Saturday" does not supersede where Tom works.

    Args:
        whole: The relation of the whole sentence to the earlier one.
        read: ``relations``, or a function like it.
    """
    chance = whole.update
    if chance < MIN_UPDATE_P:
        return chance
    old_content = content(old)
    parts = [part for part in _CLAUSE.split(new.text) if sentence(part).words]
    related = [part for part in parts if old_content & content(sentence(part))]
    if 0 < len(related) < len(parts):
        best = max(each.update for each in read([(old.text, part) for part in related]))
        if best < _MIN_CLAUSE_P:
            return best
    if chance < _BRIEF_SUPERSEDED_P:
        return chance
    if chance < SUPERSEDED_P and _is_brief(old, new):
        chance = SUPERSEDED_P
    if chance >= SUPERSEDED_P and (_tells_opinion(old, new) or _only_mentions(old, new, read)):
        return UNSURE_P
    return chance


def _is_brief(old: Sentence, new: Sentence) -> bool:
    """Whether a sentence adds so little to what an earlier one says that it is about its end."""
    if particulars(new) - {*old.keys}:
        return False
    added = len(content(new) - content(old))
    is_event = old.words[0].casefold() in _PASTS if old.words else False
    return (
        added <= _MAX_BRIEF_WORDS
        and not is_event
        and bool(added or sameness.polarity(old.text) != sameness.polarity(new.text))
    )


def _tells_opinion(old: Sentence, new: Sentence) -> bool:
    """Whether a sentence tells what somebody says or thinks whom the later one does not mention.

    >>> opinion = sentence("Our aunt Bo says Kanban is a fad.")
    >>> _tells_opinion(opinion, sentence("We gave up Kanban.")), _tells_opinion(opinion, sentence("Bo likes it."))
    (True, False)
    """
    words = [word.casefold() for word in old.words[:_SUBJECT]]
    place = next((n for n, word in enumerate(words) if word in _OPINES), 0)
    subject = content(old._replace(keys=old.keys[:place]))
    return bool(subject) and subject.isdisjoint(new.keys)


def _only_mentions(
    old: Sentence, new: Sentence, read: Callable[[Sequence[tuple[str, str]]], list[Relation]]
) -> bool:
    """Whether what two sentences share stands behind a preposition in the earlier, which holds without.

    "Porto is off" does not end "I am learning Portuguese for Porto": "I am learning Portuguese" stays.
    """
    shared = content(old) & content(new)
    first = next((n for n, key in enumerate(old.keys) if key in shared), 0)
    behind = (n for n in range(first, 0, -1) if old.words[n].casefold() in _PREPOSITIONS)
    place = next(behind, 0)
    main = content(old._replace(keys=old.keys[:place]))
    is_whole = sum(map(str.isalpha, main)) >= _WHOLE
    return is_whole and read([(" ".join(old.words[:place]), new.text)])[0].update < ASKED_P


def relation(old: str, new: str, asked: str = "") -> Relation:
    """The relation of a later sentence to an earlier one.

    Args:
        old: The earlier sentence, ``joined`` with its heading.
        new: The later sentence.
        asked: A question that both may answer.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    head = cross_encoder.load("pair")
    return Relation(*head.probabilities(_with_mark(old), _with_mark(new), asked))


def relations(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """The relations of many pairs, without a question.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    if not pairs:
        return []
    read = cross_encoder.load("pair", for_many=True).read
    texts = [(_with_mark(one), _with_mark(two)) for one, two in pairs]
    return [Relation(*each) for each in read(texts)]


def is_readable(text: str) -> bool:
    """Whether the model can read a text: English by its function words, and most words in the vocabulary.

    Capitalised words are not counted: they may be names, in any language.

    Raises:
        ModelMissingError: The model is not installed, and the function words are English.
        ModelDigestError: A model file is not the right one.
    """
    if ENGLISH not in leading_languages(text):
        return False
    knows = cross_encoder.load("pair", for_many=True).knows
    known = [knows(word.low) for word in words_of(text) if not word.is_name_like]
    return 2 * sum(known) > len(known)


def _with_mark(text: str) -> str:
    """A sentence with a full stop; without one, the head takes it for another kind of text.

    >>> _with_mark("We migrated to SQLite"), _with_mark("Rent: 900"), _with_mark("Is it so?")
    ('We migrated to SQLite.', 'Rent: 900', 'Is it so?')
    """
    return text if _HAS_END.search(text) else f"{text}."


def without_speaker(text: str, speakers: Collection[str]) -> tuple[str, str]:
    """The speaker before a sentence, if it is one of ``speakers``, and the sentence without it.

    The head reads two values of one label as a change, so a name before two sentences would mislead it.

    >>> without_speaker("Mara: the salad.", {"Mara"}), without_speaker("Rent: 900", {"Mara"})
    (('Mara', 'the salad.'), ('', 'Rent: 900'))
    """
    name, colon, rest = text.partition(": ")
    return (name, rest) if colon and name in speakers else ("", text)
