"""Whether a sentence asserts a fact, and whether a question asks for one.

An event can be a fact, negated, only possible or only reported: its factuality (Saurí & Pustejovsky 2009,
FactBank). It is read from cue words in the same sentence, as NegEx reads negation (Chapman et al. 2001).
Every recall runs this, so most rules only look up sets of words.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.text import sentences, tokens
from clsm_cli.text.language_data import pattern, word_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.episodes import Turn

_DENIES = frozenset(word_list("denies"))
_POSSIBLE = frozenset(word_list("possible"))
_REPORTED = frozenset(word_list("reported"))
_SUPPOSES = frozenset(word_list("supposes"))
_CUES = _DENIES | _POSSIBLE | _REPORTED
_ENDED = frozenset({"longer", "anymore"})  # after a denial they make it a fact: something stopped
_STRESSED = frozenset(word_list("stressed"))
_QUOTED = re.compile(r"[\"“„«»”]\w+\W+\w+[^\"“”„«»]*[\"“”«»]")
"""Quotation marks around two or more words; a single word may be a name."""
_CLAUSE = re.compile(r"[,;:] | [-\u2013\u2014] |\bbut\b")
_CLOSING = "\"')]*_\u201d\u2019 "
_MARKS = ".,;:!?\"'()[]*_…–—“”‘’"

_ASKS = frozenset(word_list("asks for a value"))
_AMOUNTS = frozenset(word_list("amounts"))
_PREPOSITIONS = frozenset(word_list("prepositions"))
_OUTPUT = frozenset(word_list("output"))
_TALKING = tokens.terms(" ".join(word_list("talking")))
_PAST = frozenset(word_list("past"))


def is_asserted(sentence: str) -> bool:
    """Whether a sentence asserts what it says, as far as cue words tell.

    >>> is_asserted("Mara lives in Haarlem."), is_asserted("It is a rumour that Mara lives in Haarlem.")
    (True, False)
    >>> is_asserted("Mara does not live there."), is_asserted("Mara doesn't live there any more.")
    (False, True)
    >>> is_asserted("She rides on Fridays, not on Mondays."), is_asserted("She rides only if it is dry.")
    (True, False)
    """
    pieces = sentence.replace("\u2019", "'").casefold().replace("any more", "anymore").split()
    words = [piece.strip(_MARKS) for piece in pieces]
    for place, word in enumerate(words):
        if word not in _CUES and not word.endswith("n't"):
            continue
        if word not in _DENIES and not word.endswith("n't"):
            return False
        after = set(words[place + 1 :])
        if _ENDED.isdisjoint(after) and not _is_contrast(pieces, words, place):
            return False
    return True


def is_rumour(sentence: str) -> bool:
    """Whether a sentence gives a rumour.

    >>> is_rumour("Rumour has it that Tom rows."), is_rumour("Ann says that Tom rows.")
    (True, False)
    """
    return not _REPORTED.isdisjoint(_words(sentence))


def is_hearsay(sentence: str) -> bool:
    """Whether a sentence quotes others, or gives a rumour.

    >>> is_hearsay('Jan went "our bank is closed" all day.'), is_hearsay("Our bank is closed.")
    (True, False)
    """
    return is_rumour(sentence) or bool(_QUOTED.search(sentence))


def asserts_nothing(sentence: str) -> bool:
    """Whether a sentence only asks (tag questions count; no mark is needed) or makes a suggestion.

    >>> asserts_nothing("Is the dentist on Friday"), asserts_nothing("Ann rows, doesn't she.")
    (True, True)
    >>> asserts_nothing("Maybe we should meet online."), asserts_nothing("I row, perhaps too often.")
    (True, False)
    """
    asks = sentence.rstrip(_CLOSING).endswith(("?", "\uff1f")) or pattern("asks").search(sentence)
    return bool(asks) or not _SUPPOSES.isdisjoint(_words(_CLAUSE.split(sentence, maxsplit=1)[0]))


def told_before(turns: Sequence[Turn], place: int) -> list[str]:
    """The sentences that assert something of what a person said last before a turn of a conversation."""
    said = next((turn.text for turn in reversed(turns[:place]) if turn.role == "user"), "")
    return [each for each in sentences.sentences(said) if not asserts_nothing(each)]


def _is_contrast(pieces: list[str], words: list[str], place: int) -> bool:
    """Whether "not" is part of a contrast: "not A but B", "B, not A", "not only"."""
    after = words[place + 1 :]
    if words[place].startswith(("can", "could")) and _STRESSED.issuperset(after[:1]):
        return True
    if words[place] != "not":
        return False
    return (
        (place > 0 and pieces[place - 1].endswith(","))
        or after[:1] in (["only"], ["just"])
        or (place > 0 and "but" in after)
    )


def asserts_about(text: str, terms: frozenset[str]) -> bool:
    """Whether a text asserts what it says about some search terms.

    The sentences with the most of the terms count; one of them is enough.
    """
    if is_asserted(text):
        return True
    counted = [(len(terms.intersection(tokens.stems(each))), each) for each in _rough_clauses(text)]
    most = max((count for count, _ in counted), default=0)
    return any(count == most and is_asserted(each) for count, each in counted)


def names_replacement(text: str, terms: frozenset[str]) -> bool:
    """Whether a text says what replaces something it denies, if each denial covers more than ``terms``.

    >>> asked = tokens.terms("favourite dish of Ann")
    >>> names_replacement("Ann's favourite dish is no longer soup, it is ramen.", asked)
    True
    >>> names_replacement("Ann had soup, which is not Ann's favourite dish.", asked)
    False
    """
    clauses = [clause for each in _rough_clauses(text) for clause in _CLAUSE.split(each)]
    denied = [tokens.terms(clause) for clause in clauses if not is_asserted(clause)]
    return not any(each <= terms for each in denied) and any(map(is_asserted, _rough_clauses(text)))


def without_questions(text: str, terms: frozenset[str]) -> str | None:
    """The part of a text that asks nothing, if its questions only name some search terms.

    None if a sentence that is no question has one of the terms, if a question says more ("Why is it called
    the walrus?"), or if the terms are about talking: then the question itself is the answer.

    >>> without_questions("Which thriller did I like? I want to lend it.", frozenset({"thriller", "like"}))
    'I want to lend it.'
    >>> without_questions("Have you read it? It is a thriller.", frozenset({"thriller"}))
    """
    if "?" not in text or not terms.isdisjoint(_TALKING):
        return None
    every = sentences.sentences(text)
    rest = " ".join(each for each in every if not each.endswith("?"))
    asked = " ".join(each for each in every if each.endswith("?"))
    tells = not tokens.terms(asked) <= terms
    is_answer = not asked or tells or not terms.isdisjoint(tokens.stems(rest))
    return None if is_answer else rest


def asks_current_value(question: str) -> bool:
    """Whether a question asks for a value that holds: no yes or no, no reason, no negation."""
    words = _words(question)
    if words[:1] and words[0] in _PREPOSITIONS:
        words = words[1:]
    if not words or words[0] not in _ASKS or (words[0] == "how" and not _AMOUNTS & {*words[1:2]}):
        return False
    return is_asserted(question)


def asks_for_output(question: str) -> bool:
    """Whether a question asks for the output of a tool or the content of a page."""
    return not _OUTPUT.isdisjoint(_words(question))


def asks_past(question: str) -> bool:
    """Whether a question asks for the past.

    >>> asks_past("Where did Mara live?"), asks_past("Which old boat do we have?")
    (True, False)
    """
    return not _PAST.isdisjoint(_words(question))


@cache
def _words(text: str) -> list[str]:
    return [word.strip(_MARKS) for word in text.replace("\u2019", "'").casefold().split()]


def _rough_clauses(text: str) -> list[str]:
    """Clauses, roughly cut at marks and conjunctions; a wrong cut costs little here."""
    for mark in ("! ", "? ", "\n", "; ", ", ", " and ", " but ", " so ", " because ", " while "):
        text = text.replace(mark, ". ")
    return text.replace(" if ", ". if ").split(". ")
