"""Entity resolution: which names become nodes, and which names are one node.

Names are merged only for an explicit reason: they differ in nothing but case, hyphen, article or
grammatical number; a first or last name belongs to one full name; one link ends in the name; a text or a
person says so. Similarity is no reason. The result is a function of the set of sightings, not their order.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from clsm_cli.store.index.evidence_queries import Name
from clsm_cli.text.aliases import name_key, name_keys, name_parts, short_names
from clsm_cli.text.name_matching import SMALL_WORDS
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.tokens import STOP_WORDS

MIN_NAME_TURNS = 2
"""Minimum turns with a name, a tag or code for it to become a node."""
MIN_PHRASE_SECTIONS, MIN_WORD_SECTIONS, MIN_EPISODES = 2, 3, 2
"""Minimum sections with a noun phrase and with a single word, and episodes with either."""
DOMINANCE = 10
"""How many times as often as another a full name must be used for a first name to mean it."""
MIN_LIKENESS, MIN_LETTERS = 88.0, 5
"""Minimum likeness (0 … 100) of labels for review, and minimum letters of each."""
_DIGITS = re.compile(r"\d+")
_NUMBERS = re.compile(r"\d+|\b[ivx]+\b|\+\+|#")
_BETWEEN = re.compile(r" (?:and|in|of|to|for|on|with|the) (?:the )?")


class Entity(NamedTuple):
    """A thing and its names.

    Attributes:
        id: ``node_id(label)``.
        aliases: Its other names, sorted, without those that differ only in case.
        exact: Names that only match with their capitals, as they are also words.
        kind: As in ``Node``.
        confidence: Probability that it is one particular thing, in tenths.
    """

    id: str
    label: str
    aliases: tuple[str, ...]
    exact: frozenset[str]
    kind: str = "concept"
    confidence: float = 1.0


class _Groups:
    """A union-find over names (as node ids), in which some pairs are kept apart."""

    def __init__(self, different: Iterable[tuple[str, str]]) -> None:
        self._parent: dict[str, str] = {}
        self._apart: dict[str, set[str]] = defaultdict(set)
        for a, b in different:
            self._apart[a].add(b)
            self._apart[b].add(a)

    def group_of(self, name: str) -> str:
        """The group of a name (not an id)."""
        return self._root(_id(name))

    def _root(self, node: str) -> str:
        while (parent := self._parent.get(node, node)) != node:
            self._parent[node] = node = self._parent.get(parent, parent)
        return node

    def join(self, a: str, b: str) -> None:
        """Merge the groups of two ids, unless two of their members are kept apart."""
        a, b = sorted((self._root(a), self._root(b)))
        if a != b and all(self._root(other) != b for other in self._apart[a]):
            self._apart[a] |= self._apart[b]
            self._parent[b] = a


_id = lru_cache(maxsize=1 << 18)(node_id)


def resolve_entities(
    sightings: Iterable[Name],
    aliases: Iterable[tuple[str, str]],
    same: Iterable[tuple[str, str]] = (),
    different: Iterable[tuple[str, str]] = (),
    people: Collection[str] = (),
    persons: Collection[str] = (),
    no_things: Collection[str] = (),
) -> list[Entity]:
    """The entities that are named often enough, by id.

    Args:
        sightings: Every name in every turn; repetitions within a turn do not count.
        aliases: Pairs of name and alias that texts state.
        same: Pairs of node ids that a person merged.
        different: Pairs of node ids that are kept apart, whatever else would merge them.
        people: Names of speakers, who are always entities.
        persons: Names that are used as a person's.
        no_things: Names used like common words; they are only entities if an author linked them or made
            them a title.
    """
    aliases = sorted(set(aliases))
    labelled = _labelled_links(set(sightings), _link_wordings(aliases))
    everything = {each._replace(label=label) for each, label in labelled}
    lower = _common_words(everything)
    seen = _without_pairs(everything)
    uses: dict[str, set[str]] = {name: set() for name in chain(people, *aliases)}
    for each in seen:
        uses.setdefault(each.label, set()).add(each.turn)
    groups = _Groups(different)
    for a, b in sorted(same):
        groups.join(a, b)
    by_key: dict[str, str] = {}
    for name in sorted(uses):
        for form in name_keys(name):
            groups.join(_id(name), by_key.setdefault(form, _id(name)))
    _join_aliases(seen, aliases, people, persons, lower, groups)
    names: dict[str, list[str]] = defaultdict(list)
    for name in uses:
        names[groups.group_of(name)].append(name)
    accepted = _accepted(seen, {groups.group_of(name) for name in people}, groups, no_things)
    words = lower | STOP_WORDS
    return sorted(_entry(names[group], uses, words) for group in accepted)


def _link_wordings(aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Link path → its only wording, if no other path has that wording."""
    paths = [(path, wording) for path, wording in aliases if "/" in path and "/" not in wording]
    of_path = Counter(path for path, _ in paths)
    of_wording = Counter(name_key(wording) for _, wording in paths)
    return {
        path: wording
        for path, wording in paths
        if of_path[path] == of_wording[name_key(wording)] == 1
    }


def _labelled_links(
    seen: Collection[Name], worded: Mapping[str, str]
) -> Iterator[tuple[Name, str]]:
    """Yield sightings with a label: that of a link is its own wording, else the last part of its path.

    A last part that several paths share is not used.
    """
    ends: dict[str, set[str]] = defaultdict(set)
    for each in seen:
        if each.kind == "link":
            ends[name_key(each.label.rpartition("/")[2])].add(name_key(each.label))
    for each in seen:
        last = each.label.rpartition("/")[2]
        alone = each.kind == "link" and all(
            path in (name_key(each.label), name_key(last)) for path in ends[name_key(last)]
        )
        own = worded.get(each.label) if each.kind == "link" else None
        yield each, own or (last if alone else each.label)


def _common_words(seen: Iterable[Name]) -> frozenset[str]:
    """Words in lower case in several turns, and more than a tenth as often as capitalised."""
    turns: dict[str, set[str]] = defaultdict(set)
    for each in seen:
        if each.kind in {"phrase", "name"}:
            for word in each.label.split():
                turns[word].add(each.turn)
    often = {word: max(1, len(turns.get(word.title(), ())) / 10) for word in turns}
    return frozenset(word for word in turns if word.islower() and len(turns[word]) > often[word])


def _without_pairs(seen: Collection[Name]) -> list[Name]:
    """Leave out two names with a small word between, each of which also occurs without the other.

    "Petra and Thomas" is no term, unlike the words of a title.
    """
    sections: dict[str, set[str]] = defaultdict(set)
    for each in filter(_is_name, seen):
        sections[name_key(each.label)].add(each.section)

    def is_pair(label: str) -> bool:
        pair = _BETWEEN.split(name_key(label), maxsplit=1)
        return len(pair) > 1 and all(sections[one] - sections[name_key(label)] for one in pair)

    return [each for each in seen if each.kind != "phrase" or not is_pair(each.label)]


def _is_name(each: Name) -> bool:
    """Whether it is written like a name: all words except small ones are capitalised."""
    words = each.label.split()
    return each.kind == "name" or all(word[0].isupper() or word in SMALL_WORDS for word in words)


def _join_aliases(
    seen: Iterable[Name],
    aliases: Iterable[tuple[str, str]],
    people: Collection[str],
    persons: Collection[str],
    lower: frozenset[str],
    groups: _Groups,
) -> None:
    """Merge first names, last names and stated aliases with their entity.

    A first name belongs to the only person whose full name begins with it; a last name that is nobody's
    first name, to the only one whose full name ends in it; an alias to the name that a text states. One
    of several full names is the only one if it is used ``DOMINANCE`` times as often as each other.
    """
    turns = Counter(label for label, _ in {(each.label, each.turn) for each in seen})
    named = {each.label for each in seen if _is_name(each)} | {*people}
    owners: dict[str, set[str]] = defaultdict(set)
    pairs: list[tuple[str, str]] = []
    fulls = sorted(named.intersection({*people, *persons}))
    shorts = {full: short_names(full) for full in fulls if lower.isdisjoint(full.lower().split())}
    first = {name_key(short[0]) for short in shorts.values() if short}
    for full, found in shorts.items():
        for short in found[:1] + [last for last in found[1:] if name_key(last) not in first]:
            owners[name_key(short)].add(full)
            if short in named:
                pairs.append((full, short))
    for name, alias in aliases:
        bare, other = (_DIGITS.sub("", name_key(each)) for each in (name, alias))
        if bare != other:  # no versions of one thing
            owners[name_key(alias)].add(name)
            pairs.append((name, alias))
    certain = {*people, *(name for name, _ in aliases)}
    for name, alias in pairs:
        rivals = owners[name_key(alias)]
        most = max(turns[rival] for rival in rivals)
        meant = {each for each in rivals if each in certain or DOMINANCE * turns[each] > most}
        if name in meant and len({*map(groups.group_of, meant)}) == 1:
            groups.join(_id(name), _id(alias))


def _accepted(
    seen: Iterable[Name], always: Collection[str], groups: _Groups, no_things: Collection[str]
) -> list[str]:
    """The groups with enough evidence, longest names first.

    A sighting inside a longer accepted name of the same turn does not count (as in the C-value of Frantzi,
    Ananiadou and Mima 2000).
    """
    found: dict[str, list[Name]] = {group: [] for group in always}
    for each in seen:
        found.setdefault(groups.group_of(each.label), []).append(each)
    sizes = {name: max([0, *(len(name_parts(x.label)) for x in found[name])]) for name in found}
    covered: set[tuple[str, str]] = set()
    accepted: list[str] = []
    for group in sorted(found, key=lambda name: (-sizes[name], name)):
        alone = [each for each in found[group] if (each.turn, name_key(each.label)) not in covered]
        if group in always or (_has_evidence(alone) and _is_thing(found[group], no_things)):
            accepted.append(group)
            for each in found[group]:
                covered.update((each.turn, part) for part in name_parts(each.label))
    return accepted


def _is_thing(found: Sequence[Name], no_things: Collection[str]) -> bool:
    """Whether the most used name denotes a thing, or an author made one a link or title."""
    uses = Counter(each.label for each in found)
    label = min(uses, key=lambda label: (-uses[label], label))
    return label not in no_things or any(each.kind in {"link", "title"} for each in found)


def _has_evidence(found: Sequence[Name]) -> bool:
    """Whether the sightings of one entity are as many as its kind needs."""
    names = {each.turn for each in found if each.kind in {"tag", "code"} or _is_name(each)}
    if any(each.kind in {"link", "title"} for each in found) or len(names) >= MIN_NAME_TURNS:
        return True
    sections, episodes = {each.section for each in found}, {each.episode for each in found}
    is_phrase = any(" " in name_key(each.label) for each in found)
    often = len(sections) >= (MIN_PHRASE_SECTIONS if is_phrase else MIN_WORD_SECTIONS)
    return often and len(episodes) >= MIN_EPISODES


def _entry(names: Sequence[str], uses: dict[str, set[str]], words: Collection[str]) -> Entity:
    # A plural counts for its singular too, which itself may be in no text.
    plural = {(one, turn) for name in names for one in name_keys(name)[1:] for turn in uses[name]}
    count = {
        name: sum((name_key(name), turn) not in plural for turn in uses[name]) for name in names
    }
    known: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (-count[name], -len(name), name)):
        if count[name] or not uses[name]:
            known.setdefault(name.casefold(), name)
    label, *aliases = known.values()
    capitals = {name for name in known.values() if name.isalpha() and name.lower() not in names}
    exact = {name for name in capitals if name.lower() in words or name.isupper()}
    return Entity(_id(label), label, tuple(sorted(aliases)), frozenset(exact))


def near_pairs(entries: Sequence[Entity], fresh: Collection[str]) -> list[tuple[str, str, float]]:
    """Pairs of entity ids with similar labels, at least one ``fresh``, the most similar first, for review.

    Labels with different digits or Roman numbers are versions, and short ones are too similar by chance;
    neither are listed. The likeness (0 … 100) of labels of a and b letters, with m in common and in order,
    is 200·m/(a + b).
    """
    from rapidfuzz import fuzz, process

    known = [(name_key(entry.label), entry.id) for entry in entries]
    known = [each for each in known if sum(map(str.isalpha, each[0])) >= MIN_LETTERS]
    names = [name for name, _ in known]
    found: dict[tuple[str, str], float] = {}
    for name, node in known:
        if node not in fresh:
            continue
        near = process.extract(
            name, names, scorer=fuzz.ratio, score_cutoff=MIN_LIKENESS, limit=None
        )
        for other, likeness, place in near:
            twin = known[place][1]
            if twin != node and _NUMBERS.findall(name) == _NUMBERS.findall(other):
                found[min(node, twin), max(node, twin)] = round(float(likeness), 1)
    return sorted(((*pair, alike) for pair, alike in found.items()), key=lambda p: (-p[2], p))
