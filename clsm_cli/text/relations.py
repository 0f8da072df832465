"""Typed relations that a sentence states between the things it names.

A verb of the rules is joined to its subject on the left and its object on the right, both named in
the text (or the speaker, for "I"); a few relations stand between two names without a verb. Nothing
is taken from questions, wishes, conditions, denials or hearsay: a missing relation costs less than
a false one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import relation_rules as rules
from clsm_cli.text import relation_words as words
from clsm_cli.text.relation_items import (
    Item,
    Named,
    Reader,
    apart,
    fits,
    heads,
    may_be_person,
)
from clsm_cli.text.relation_objects import fronted, phrase, shown
from clsm_cli.text.relation_subjects import Verb, subjects_of
from clsm_cli.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from clsm_cli.text.relation_rules import VerbRule
    from clsm_cli.text.relation_words import Form

__all__ = ["Named", "Relation", "relations"]

_QUESTION = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}$")
_NO_PROSE = re.compile(r"[ \t]*(?:#|\||```|~~~|[-*+][ \t]+\[ \])")
_REACH = 12  # items
_PRONE_TO_FUTURE = frozenset({"visited", "participated_in", "owns"})
_PLANNED = frozenset(
    [
        "go",
        "take",
        "start",
        "host",
        "celebrate",
        "perform",
        "organize",
        "organise",
        "do",
        "run",
        "finish",
    ]
)


class Relation(NamedTuple):
    """A relation between two nodes, and the sentence that states it.

    Attributes:
        source: node id.
        type: name of the relation; the list is open.
        target: node id.
        directed: whether the order of the two matters.
        start: first character of the sentence.
        end: the character after its last.
    """

    source: str
    type: str
    target: str
    directed: bool
    start: int
    end: int


def relations(
    text: str,
    named: Sequence[Named],
    *,
    speaker: str | None = None,
    people: Collection[str] = (),
) -> list[Relation]:
    """Return the relations that a text states, in its order, each once.

    Args:
        text: a whole turn.
        named: what it mentions, by start; of overlapping mentions the longest counts.
        speaker: the node of "I", "we" and "my"; None where it is not known.
        people: nodes known to be persons.

    >>> relations("I went camping.", [Named(7, 14, "camping")], speaker="ann", people=["ann"])
    [Relation(source='ann', type='did', target='camping', directed=True, start=0, end=15)]
    """
    reader = Reader(text, apart(named), speaker, frozenset(people))
    found: dict[tuple[str, str, str], Relation] = {}
    for start, end in split(text):
        sentence = text[start:end]
        inside = reader.mentions(start, end)
        if _NO_PROSE.match(sentence) or _QUESTION.search(sentence):
            continue
        items = reader.items(start, end, inside)
        for source, type_, target, directed in _stated(items):
            if source != target:
                relation = Relation(source, type_, target, directed, start, end)
                found.setdefault(relation[:3], relation)
    return list(found.values())


def _stated(items: Sequence[Item]) -> Iterator[tuple[str, str, str, bool]]:
    """Yield source, type, target and directedness of what one sentence states."""
    unreal = next((i for i, each in enumerate(items) if each.text in words.UNREAL), len(items))
    yield from _pairs(items, unreal)
    previous: Verb | None = None
    for at in range(min(len(items), unreal)):
        item = items[at]
        if item.node and item.text.endswith("ing"):
            yield from _doing(items, at)
            continue
        for verb, form in sorted(rules.verb_forms().get(item.text, ())):
            subjects = subjects_of(items, at, verb, form, previous)
            if not subjects:
                continue
            if item.text != "'s":  # more often an owner's mark than a verb
                previous = Verb(at, form, subjects)
            stated = list(_objects(items, at, verb, subjects, future=_future(items, at, form)))
            yield from stated
            if stated:
                break


def _doing(items: Sequence[Item], at: int) -> Iterator[tuple[str, str, str, bool]]:
    """Yield what "I have been hiking" states, where the verb itself is the mention."""
    if items[at].text.endswith("ing") and " " not in items[at].text and at:
        before = items[at - 1].text
        ahead = before not in {"been", "was", "were"} or not heads(items, at)
        ahead = ahead or items[at].text in words.LIGHT
        subjects = () if ahead else subjects_of(items, at, "do", "ing", None)
        for i in subjects:
            if may_be_person(items, i):
                yield items[i].node, "did", items[at].node, True


def _future(items: Sequence[Item], at: int, form: Form) -> bool:
    """Whether "is going" may mean what is still to come."""
    near = {each.text for each in items[max(0, at - 3) : at]}
    return form == "ing" and near.isdisjoint({"been", "was", "were"})


def _objects(
    items: Sequence[Item], at: int, verb: str, subjects: Sequence[int], *, future: bool
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield what the first fitting rule of a verb states."""
    while verb == "be" and at + 1 < len(items) and items[at + 1].text in words.ADVERBS:
        at += 1
    window = "".join(f"{shown(each)} " for each in items[at + 1 : at + 1 + _REACH])
    for rule, pattern in rules.rules_of(verb):
        follow = pattern.match(window)
        if follow is None or (future and (rule.type in _PRONE_TO_FUTURE or verb in _PLANNED)):
            continue
        sure = items[subjects[0]].person and items[at].text not in {"was", "were", "been"}
        if rule.type == "identity" and not sure:
            continue  # "I was a child", "Rain is a joy"
        if rule.personal and not all(may_be_person(items, i) for i in subjects):
            continue
        first = at + 1 + len(follow.group().split())
        places = phrase(items, first) or fronted(items, subjects[0], first, verb, follow.group())
        targets = [i for i in places if _fits(items, i, rule)]
        for target in targets:
            for subject in subjects:
                ends = (items[subject].node, items[target].node)
                source, goal = ends[::-1] if rule.reverse else ends
                yield source, rule.type, goal, rule.directed
        if targets:
            return


def _fits(items: Sequence[Item], at: int, rule: VerbRule) -> bool:
    """Whether a mention can be the object of a rule."""
    last = items[at].text.split()[-1] if items[at].text.split() else ""
    excluded = {"owns": words.NEVER_OWNED, "did": words.NEVER_DONE}.get(rule.type, frozenset())
    if last in excluded:
        return False
    return fits(rule.target, items, at)


def _pairs(items: Sequence[Item], unreal: int) -> Iterator[tuple[str, str, str, bool]]:
    """Yield what stands between neighbouring mentions states."""
    places = [i for i, each in enumerate(items[:unreal]) if each.node]
    for left, right in pairwise(places):
        if right - left > _REACH:
            continue
        between = "".join(f"{each.text} " for each in items[left + 1 : right])
        behind = " ".join(shown(each) for each in items[right + 1 : right + 6])
        if items[left].owner:
            between = f"'s {between}"
        if items[right].owner:
            behind = f"'s {behind}"
        for rule, pattern, after in rules.pair_rules():
            if not pattern.fullmatch(between) or not after.match(behind):
                continue
            if fits(rule.source, items, left) and fits(rule.target, items, right):
                ends = (items[left].node, items[right].node)
                source, target = ends[::-1] if rule.reverse else ends
                yield source, rule.type, target, rule.directed
                break
