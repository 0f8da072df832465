"""Which names become nodes, and which names are one: sightings in, nodes out.

Names are one only for a reason that can be told: they differ in nothing but case, hyphen, article or
number; a first or last name belongs to one full name; a text says so; a person said so. Nothing is
merged because it looks alike (``near_pairs`` lists such pairs for a person). All is a function of
the set of sightings, whatever their order.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text.aliases import WORDS, short_names
from clsm_cli.text.names import SMALL_WORDS
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.noun_phrases import singular

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.text.aliases import Stated

NAME_SECTIONS = 2
"""Sections in which a capitalised name must stand to be a node."""
MARK_EPISODES = 2
"""Episodes of a tag or code."""
PHRASE_SECTIONS, WORD_SECTIONS, PHRASE_EPISODES = 2, 3, 2
"""Sections of a noun phrase of several words, of a single word; episodes of both."""
LONG_WORD = 11
"""Letters from which a single word needs no more than a phrase does."""
ALIKE = 88.0
"""Likeness (0 … 100) of two labels from which a person should look at them."""
SHORT = 5
"""Letters below which labels are alike too easily."""

_DIGITS = re.compile(r"\d+")
_NUMBERS = re.compile(r"\d+|\b[ivx]+\b|\+\+|#")
_BETWEEN = re.compile(r" (?:and|in|of|to|for|on|with|the) (?:the )?")


class Sighting(NamedTuple):
    """A name as one turn uses it.

    Attributes:
        kind: as in ``mentions``, or ``phrase``.
        section: id of a heading's blocks in a note, or of an episode of a conversation.
    """

    label: str
    kind: str
    episode: str
    section: str
    turn: str


class Entry(NamedTuple):
    """A thing and its names.

    Attributes:
        id: ``node_id(label)``.
        label: the name most used.
        aliases: every other name that means it, sorted; not what differs only in case.
        exact: names that count only with their capitals, as they are words otherwise.
    """

    id: str
    label: str
    aliases: tuple[str, ...]
    exact: frozenset[str]


class _Groups:
    """Names (as node ids) that are one: a union-find in which some are kept apart."""

    def __init__(self, different: Iterable[tuple[str, str]]) -> None:
        self._parent: dict[str, str] = {}
        self._members: dict[str, set[str]] = {}
        self._apart: dict[str, set[str]] = defaultdict(set)
        for a, b in different:
            self._apart[a].add(b)
            self._apart[b].add(a)

    def of(self, name: str) -> str:
        """The group of a name (not an id)."""
        return self._root(_id(name))

    def _root(self, node: str) -> str:
        while (parent := self._parent.get(node, node)) != node:
            self._parent[node] = node = self._parent.get(parent, parent)
        return node

    def join(self, a: str, b: str) -> None:
        """Make the groups of two ids one, unless a member of one is apart from one of the other."""
        a, b = sorted((self._root(a), self._root(b)))
        members = self._members.get(a, {a}), self._members.get(b, {b})
        if a != b and self._apart[a].isdisjoint(members[1]):
            self._members[a] = members[0] | members[1]
            self._apart[a] |= self._apart[b]
            self._parent[b] = a


_id = cache(node_id)


@cache
def _key(name: str) -> str:
    """A name without case, hyphens and leading article."""
    plain = unicodedata.normalize("NFC", name).casefold().replace("\u2019", "'")
    words = plain.replace("-", " ").split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in {"the", "a", "an"} else words)


@cache
def _keys(name: str) -> tuple[str, ...]:
    """The key of a name and, where its last word is a plural, that of its singular."""
    *before, last = name.split() or [""]
    one = singular(last)
    return (_key(name),) if one == last else (_key(name), _key(" ".join([*before, one])))


def inventory(
    sightings: Iterable[Sighting],
    statements_of_alias: Iterable[Stated],
    same: Iterable[tuple[str, str]] = (),
    different: Iterable[tuple[str, str]] = (),
    people: Collection[str] = (),
) -> list[Entry]:
    """The things that are named often enough, each with its names, by id.

    Args:
        sightings: every name in every turn; how often a turn repeats one says nothing.
        statements_of_alias: what texts say are names of one thing.
        same: node ids that a person merged.
        different: node ids that a person keeps apart, whatever else would join them.
        people: names of speakers, who are always entries.
    """
    everything = set(sightings)
    lower = _lower_words(everything)
    seen = _telling(everything, lower)
    told = sorted({(each.name, each.alias) for each in statements_of_alias})
    uses: dict[str, set[str]] = defaultdict(set)
    for name in (*people, *(name for pair in told for name in pair)):
        uses[name] = set()
    for each in seen:
        uses[each.label].add(each.turn)
    groups = _Groups(different)
    for a, b in sorted(same):
        groups.join(a, b)
    first: dict[str, str] = {}
    for name in sorted(uses):
        for key in _keys(name):
            groups.join(_id(name), first.setdefault(key, _id(name)))
    _join_people(seen, people, lower, groups)
    _join_stated(told, people, groups)
    names: dict[str, list[str]] = defaultdict(list)
    for name in sorted(uses):
        names[groups.of(name)].append(name)
    accepted = _accepted(seen, {groups.of(name) for name in people}, groups)
    return sorted(_entry(names[group], uses, lower) for group in accepted)


def _lower_words(seen: Iterable[Sighting]) -> frozenset[str]:
    """Words that stand in phrases without a capital, other than now and then for a name."""
    names: dict[str, set[str]] = defaultdict(set)
    lower: dict[str, set[str]] = defaultdict(set)
    for each in seen:
        if each.kind != "phrase":
            names[each.label.lower()].add(each.turn)
            continue
        for word in each.label.split():
            if word.islower():
                lower[word].add(each.turn)
    return frozenset(
        word for word, turns in lower.items() if len(turns) > max(1, len(names[word]) / 10)
    )


def _telling(seen: Iterable[Sighting], lower: Collection[str]) -> list[Sighting]:
    """Leave out phrases that are no terms.

    These are words that are names with a capital at least as often ("lantern"), names that only
    begin a sentence ("mara reads"), and two names with a small word between ("Mara and Hardin"):
    each stands without the other elsewhere, unlike the words of a title.
    """
    capital: dict[str, set[str]] = defaultdict(set)
    common: dict[str, set[str]] = defaultdict(set)
    sections: dict[str, set[str]] = defaultdict(set)
    marked: set[str] = set()
    for each in seen:
        key = _key(each.label)
        if _is_name(each):
            sections[key].add(each.section)
        if each.kind == "phrase":
            for form in _keys(each.label):
                common[form].add(each.turn)
        elif each.label.islower():
            marked.add(key)
        elif each.kind == "name" and " " not in key:
            capital[key].add(each.turn)
    names = {key for key, turns in capital.items() if len(turns) >= len(common[key])} - marked

    def is_term(label: str) -> bool:
        first = label.split()[0]
        if label.islower():
            return names.isdisjoint(_keys(label)) and (first not in capital or first in lower)
        parts = _BETWEEN.split(_key(label), maxsplit=1)
        return len(parts) == 1 or not all(sections[p] - sections[_key(label)] for p in parts)

    return [each for each in seen if each.kind != "phrase" or is_term(each.label)]


def _is_name(each: Sighting) -> bool:
    """Whether it is set like a name: all words but the small ones have capitals."""
    large = [word for word in each.label.split() if word not in SMALL_WORDS]
    return each.kind == "name" or (bool(large) and all(word[0].isupper() for word in large))


def _join_people(
    seen: Iterable[Sighting], people: Collection[str], lower: frozenset[str], groups: _Groups
) -> None:
    """Join a full name with the first or last name that no other full name has.

    Both must stand in one episode somewhere: elsewhere the short one may be somebody else's.
    """
    episodes: dict[str, set[str]] = {name: set() for name in people}
    for each in seen:
        if _is_name(each):
            episodes.setdefault(each.label, set()).add(each.episode)
    owners: dict[str, set[str]] = defaultdict(set)
    pairs: list[tuple[str, str]] = []
    for full in sorted(episodes):
        if lower.isdisjoint(full.lower().split()):
            for short in short_names(full, people):
                owners[short].add(groups.of(full))
                together = not episodes[full].isdisjoint(episodes.get(short, ()))
                if together or short in people or (full in people and short in episodes):
                    pairs.append((short, full))
    for short, full in pairs:
        if len(owners[short]) == 1:
            groups.join(_id(short), _id(full))


def _join_stated(told: Sequence[tuple[str, str]], people: Collection[str], groups: _Groups) -> None:
    """Join what texts say is one, unless an alias is said of two things, or two speakers are it."""
    meant: dict[str, set[str]] = defaultdict(set)
    for name, alias in told:
        meant[_key(alias)].add(groups.of(name))
    speakers = {groups.of(name) for name in people}
    for name, alias in told:
        versions = _DIGITS.sub("", _key(name)) == _DIGITS.sub("", _key(alias))
        both_speak = {groups.of(name), groups.of(alias)} <= speakers
        if len(meant[_key(alias)]) == 1 and not versions and not both_speak:
            groups.join(_id(name), _id(alias))


def _accepted(seen: Iterable[Sighting], always: Collection[str], groups: _Groups) -> list[str]:
    """The groups with enough evidence, longest names first.

    What stands only inside a longer name of its turn says nothing for the shorter one (as in the
    C-value of Frantzi, Ananiadou and Mima 2000).
    """
    found: dict[str, list[Sighting]] = {group: [] for group in always}
    for each in seen:
        found.setdefault(groups.of(each.label), []).append(each)
    size = {
        group: max((_key(each.label).count(" ") for each in members), default=0)
        for group, members in found.items()
    }
    covered: set[tuple[str, str]] = set()
    accepted: list[str] = []
    for group in sorted(found, key=lambda group: (-size[group], group)):
        alone = [each for each in found[group] if (each.turn, _key(each.label)) not in covered]
        if group in always or _is_enough(alone):
            accepted.append(group)
            covered.update(
                (each.turn, part) for each in found[group] for part in _parts(each.label)
            )
    return accepted


@cache
def _parts(name: str) -> tuple[str, ...]:
    """The shorter runs of words of a name."""
    words = _key(name).split()
    places = range(len(words) + 1)
    runs = ((a, b) for a in places for b in places if 0 < b - a < len(words))
    return tuple(" ".join(words[a:b]) for a, b in runs)


def _is_enough(found: Sequence[Sighting]) -> bool:
    """Whether some names of one thing stand where they must."""
    kinds = {each.kind for each in found}
    marks = {each.episode for each in found if each.kind in {"tag", "code"}}
    names = {each.section for each in found if _is_name(each)}
    if "link" in kinds or "title" in kinds or len(marks) >= MARK_EPISODES:
        return True
    if len(names) >= NAME_SECTIONS:
        return True
    telling = any(" " in _key(each.label) or len(each.label) >= LONG_WORD for each in found)
    sections = {each.section for each in found}
    enough = len(sections) >= (PHRASE_SECTIONS if telling else WORD_SECTIONS)
    return enough and len({each.episode for each in found}) >= PHRASE_EPISODES


def _entry(names: Sequence[str], uses: dict[str, set[str]], lower: Collection[str]) -> Entry:
    plurals = {_keys(name)[1]: uses[name] for name in names if len(_keys(name)) > 1}
    # A plural is sighted together with its singular.
    count = {name: len(uses[name] - plurals.get(_key(name), set())) for name in names}
    known: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (-count[name], -len(name), name)):
        known.setdefault(name.casefold(), name)
    label, *aliases = known.values()
    spelled = {name.lower() for name in names if name.islower()}
    exact = frozenset(
        name
        for name in known.values()
        if name.isalpha()
        and not name.islower()
        and name.lower() not in spelled
        and (
            name.lower() in lower
            or name.lower() in WORDS
            or (name.isupper() and len(name) <= SHORT)
        )
    )
    return Entry(_id(label), label, tuple(sorted(aliases)), exact)


def near_pairs(entries: Sequence[Entry]) -> list[tuple[str, str, float]]:
    """Ids of entries whose labels are nearly the same, with the likeness (0 … 100), best first.

    For a person to decide. Labels with different digits or Roman numbers are versions, and short
    ones are alike too easily; neither is listed. The likeness of labels with a and b letters, m of
    them in common and in order, is 200·m/(a + b) (Indel ratio).
    """
    from rapidfuzz import fuzz, process

    known = sorted((len(_key(entry.label)), _key(entry.label), entry.id) for entry in entries)
    known = [each for each in known if sum(map(str.isalpha, each[1])) >= SHORT]
    lengths, keys = [each[0] for each in known], [each[1] for each in known]
    found: list[tuple[str, str, float]] = []
    for place, (length, key, node) in enumerate(known, 1):
        # m ≤ a ≤ b, so the likeness reaches ALIKE only where b ≤ a·(200/ALIKE − 1).
        reach = bisect_right(lengths, length * (200 / ALIKE - 1), lo=place)
        near = process.extract(
            key, keys[place:reach], scorer=fuzz.ratio, score_cutoff=ALIKE, limit=None
        )
        for other, likeness, at in near:
            if _NUMBERS.findall(key) == _NUMBERS.findall(other):
                a, b = sorted((node, known[place + at][2]))
                found.append((a, b, round(float(likeness), 1)))
    return sorted(found, key=lambda pair: (-pair[2], pair))
