"""The subject of a verb: what is named to its left, unless the verb is denied or only possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import relation_words as words
from clsm_cli.text.relation_items import STOPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.text.relation_items import Item
    from clsm_cli.text.relation_words import Form

_REACH = 12  # items
_RELATIVE = frozenset({"who", "which"})
_NEW_SUBJECT = frozenset(
    ["who", "which", "that", "because", "while", "when", "so", "he", "she", "they", "we", "it", "i"]
)


class Verb(NamedTuple):
    """A verb and its subjects, as places in a sentence."""

    at: int
    form: Form
    subjects: tuple[int, ...]


def subjects_of(
    items: Sequence[Item], at: int, verb: str, form: Form, previous: Verb | None
) -> tuple[int, ...]:
    """Return the places of the subjects of a verb; none where it is denied or only possible."""
    helpers: set[str] = set()
    left = at - 1
    while left >= max(0, at - 6) and not items[left].node:
        word = items[left].text
        if word in words.NEGATIONS or word in words.MODALS:
            return ()
        if word in words.BE or word in words.HAVE or word == "did":
            helpers.add(word)
        elif word not in words.ADVERBS and not word.endswith("ly"):
            break
        left -= 1
    if left < 0 or (items[left].node == "" and items[left].text not in _RELATIVE and helpers):
        return ()
    if items[left].node and not items[left].owner:
        subjects = joined_to(items, left)
    elif items[left].text in _RELATIVE:
        left -= 2 if left and items[left - 1].text == "," else 1
        subjects = (left,) if left >= 0 and items[left].node and not items[left].owner else ()
    elif items[left].text == "," and not helpers and (head := _before_apposition(items, left)):
        subjects = head
    elif items[left].text in {",", ":", ";"} and _heads_entry(items) and not items[at].cited:
        return (0,) if form in {"third", "past"} else ()
    else:
        return _carried(items, left, at, form, previous)
    plural = len(subjects) > 1 or (left >= 0 and items[left].first)
    return subjects if subjects and _agrees(verb, form, helpers, plural=plural) else ()


def _heads_entry(items: Sequence[Item]) -> bool:
    """Whether a sentence is an entry of a list of names: "**Ann**: plumber, lives in Ghent"."""
    return items[0].node != "" and not items[0].first and [i.text for i in items[1:2]] == [":"]


def _before_apposition(items: Sequence[Item], left: int) -> tuple[int, ...]:
    """Return the name before a remark in commas that ends at a place: "Ann, a baker, lives"."""
    for at in range(left - 1, max(0, left - _REACH), -1):
        if items[at].text in _NEW_SUBJECT - {"who", "which"} | {"and", ";", ":"}:
            break
        if items[at].text == ",":
            named = items[at - 1].node != "" and not items[at - 1].owner
            opened = {"who", "which", "a", "an", "the", "my", "our"}
            remark = items[at + 1].text in opened or items[min(at + 2, left)].text == "'s"
            return joined_to(items, at - 1) if named and remark else ()
    return ()


def _carried(
    items: Sequence[Item], left: int, at: int, form: Form, previous: Verb | None
) -> tuple[int, ...]:
    """Return the subjects of the verb before, where "and" joins this one to it."""
    if items[left].text not in {"and", "then", ","}:
        return ()
    if previous is None:
        return _telling(items, left) if form == "past" else ()
    if form != previous.form or at - previous.at > _REACH:
        return ()
    between = {each.text for each in items[previous.at + 1 : left]}
    infinitive = form == "base" and ("to" in between or items[previous.at].text in words.BE)
    return previous.subjects if _NEW_SUBJECT.isdisjoint(between) and not infinitive else ()


def _telling(items: Sequence[Item], left: int) -> tuple[int, ...]:
    """Return the "Ann" of "Ann packed a bag and went", where the first verb is of no rule."""
    for at in range(left - 1, max(-1, left - _REACH), -1):
        if items[at].person and not items[at].owner and items[at + 1].text.endswith("ed"):
            return joined_to(items, at)
        if items[at].text in _NEW_SUBJECT or items[at].text in words.NEGATIONS:
            break
    return ()


def _agrees(verb: str, form: Form, helpers: set[str], *, plural: bool) -> bool:
    """Whether a form of a verb goes with its subject and auxiliaries (``plural``: or "I")."""
    if not helpers:
        return form in {"past", "base" if plural else "third"}
    if form == "ing":
        return not helpers.isdisjoint(words.BE)
    if form == "participle":
        passive = "been" in helpers or helpers.isdisjoint(words.HAVE)
        return not passive and ("'s" not in helpers or verb == "be")
    return form == "base" and helpers == {"did"}


def joined_to(items: Sequence[Item], at: int) -> tuple[int, ...]:
    """Return a subject and those joined to it by "and"; none if a preposition governs it."""
    start = at
    if start and items[start - 1].text in {"the", "a", "an", "this", "that", "my", "our"}:
        start -= 1
    near = [each.text for each in items[max(0, start - 2) : start]]
    others: list[int] = []
    other, glue = start - 2, {"and", "&"}
    while other >= 0 and items[other + 1].text in glue and _is_other(items, other):
        others.insert(0, other)
        other, glue = other - 2, {","}
    opens = other + 1 == 0 or items[other + 1].text in STOPS | words.CONJUNCTIONS
    if others and items[at].person and opens:
        return (*others, at)
    governed = near[-1:] and near[-1] in words.PREPOSITIONS | words.NEGATIONS | {
        "than",
        "like",
        "as",
    }
    return () if governed or _governed_by_two(near) else (at,)


def _is_other(items: Sequence[Item], at: int) -> bool:
    return items[at].person and not items[at].owner


def _governed_by_two(near: Sequence[str]) -> bool:
    parted = {*STOPS, *words.CONJUNCTIONS}
    return len(near) == 2 and near[0] in words.PREPOSITIONS and near[1] not in parted
