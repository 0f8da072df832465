"""The vocabulary of nodes and their names, and which turns mention them.

A turn mentions a node if its text contains a name of it, whenever the name became known, in a sentence
of its own: what stands in everybody's workspace ("Discord: no Markdown tables!") mentions nothing.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, combinations, groupby
from operator import itemgetter

from clsm_cli.consolidation.entity_resolution import MIN_NAME_TURNS, Entity, resolve_entities
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.heads.name_head import DIMENSIONS, INPUTS, NameJudgement, judge_names, name_features
from clsm_cli.heads.unit_features import is_stock
from clsm_cli.model.graph import Node
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.evidence_queries import Name, SourceTurn
from clsm_cli.store.index.memo import remembered
from clsm_cli.text.aliases import HONORIFICS
from clsm_cli.text.known_names import Matcher, NameForm
from clsm_cli.text.name_matching import sentence_openers
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.sentences import split
from clsm_cli.text.time.expressions import names_time

MIN_THING_P = 0.25
"""Minimum probability that a name names a thing."""
MIN_OPENER_P = 0.6
"""The same for uses that begin a sentence, where every word has a capital, to count."""
MIN_PERSON_P, MIN_KIND_P = 0.6, 0.3
"""Minimum probability of a person, and of any other kind if it is a thing."""
MAX_PATH_SHARE = 0.85
"""Share of a name's uses in paths and file names from which it counts as part of them, not as a name."""
_IN_PATH = INPUTS.index("in path")
_UNKNOWN = (0.0,) * DIMENSIONS
_BATCH_NAMES = 1024
"""Names whose vectors are in memory at once; a store of 5 MB has 20,000."""
PERSON, CONCEPT, FILE = "person", "concept", "file"
_SMALL_WORD = re.compile(r"\b[^\W\d_A-Z]\w*")
_FILE = re.compile(r"[/\\]|\.\w{1,5}\Z")
_ARTICLE = re.compile(r"\A(?:the|a|an)\s+(?=\S)", re.IGNORECASE)


class Vocabulary(NamedTuple):
    """The nodes by id.

    Attributes:
        canonical: Id of any name → node id.
    """

    entries: dict[str, Entity]
    canonical: dict[str, str]

    def node_of_id(self, name_id: str) -> str:
        """The node of a name's id; the id itself if it is unknown."""
        return self.canonical.get(name_id, name_id)

    def matcher(self, nodes: Collection[str] | None = None) -> Matcher:
        """A matcher for the names of some nodes, or of all."""
        chosen = self.entries if nodes is None else sorted(nodes)
        return Matcher(
            NameForm(name, entry.id, name in entry.exact)
            for entry in map(self.entries.__getitem__, chosen)
            for name in (entry.label, *entry.aliases)
        )


def build_vocabulary(
    state: StoreState, episodes: Collection[str], nodes: Mapping[str, Node]
) -> Vocabulary:
    """The nodes named in some episodes, and the pinned ones of ``nodes``."""
    connection = state.connection
    used = evidence_queries.names_used(connection, episodes)
    sightings = [each for each in used if each.turn not in state.moved_blocks]
    opening = _opening_names(state, episodes, sightings)
    spoken = list(evidence_queries.speakers(connection, episodes))
    aliases = [(name, of) for name, of, _ in evidence_queries.stated_aliases(connection, episodes)]
    aliases += [*_short_names(sightings, spoken), *_file_names(sightings)]
    speakers = sorted({each.label for each in spoken})
    labels = {*_candidates([*sightings, *opening]), *speakers, *chain.from_iterable(aliases)}
    judgements = _judge_all(state, labels, episodes)
    clear = {name for name, each in judgements.items() if each.thing >= MIN_OPENER_P}
    sightings += [each for each in opening if each.label in clear]
    persons = {name for name, each in judgements.items() if _kind(name, each) == PERSON}
    same = {pair for pair, is_one in state.decided.items() if is_one}
    apart = {p for p in _speakers_together(spoken) if same.isdisjoint((p, p[::-1]))}
    entities = resolve_entities(
        [*sightings, *spoken],
        aliases,
        same=same,
        different=apart | state.decided.keys() - same,
        people=speakers,
        persons=persons,
        no_things={
            name
            for name, each in judgements.items()
            if each.thing < MIN_THING_P or (name not in persons and names_time(name))
        },
    )
    pinned = {
        n.id: Entity(n.id, n.label or n.id, n.aliases, frozenset(n.exact), n.kind)
        for n in nodes.values()
        if n.pinned
    }
    canonical = _canonical({entity.id: entity for entity in entities} | pinned)
    speaker_ids = {canonical.get(node_id(name), node_id(name)) for name in speakers}
    entries = {
        each.id: each._replace(kind=PERSON)
        if each.id in speaker_ids
        else _with_kind(each, judgements.get(each.label), persons)
        for each in entities
    } | pinned
    return Vocabulary(dict(sorted(entries.items())), canonical)


def _opening_names(
    state: StoreState, episodes: Collection[str], sightings: Iterable[Name]
) -> list[Name]:
    """Sightings of names that mostly begin a sentence, where the capital itself says nothing.

    A word that stands inside sentences too seldom to be a node counts if it is a name there at least as
    often as it is written in lower case.
    """
    turns = grouped({(each.label, each.turn) for each in sightings if each.kind == "name"})
    inside = Counter(each.label for each in sightings if each.kind == "name")
    small: Counter[str] = Counter()
    found: list[Name] = []
    with remembered(state.store.derived, "openers") as memo:
        passages = evidence_queries.passage_texts(state.connection, episodes)
        for _, rows in groupby(passages, itemgetter(1)):
            texts, of = zip(*((text, place) for text, *place in rows), strict=True)
            small.update(chain.from_iterable(map(_SMALL_WORD.findall, texts)))
            for openers, place in zip(memo.value(texts, partial(_openers, texts)), of, strict=True):
                words = (word for word in openers if len(turns.get(word, ())) < MIN_NAME_TURNS)
                found += [Name(word, "name", *place) for word in words]
    return [each for each in found if small[each.label.lower()] <= inside[each.label]]


def _openers(texts: Iterable[str]) -> list[list[str]]:
    """``sentence_openers`` of each text."""
    return [[*sentence_openers(text, split(text))] for text in texts]


def _canonical(entries: Mapping[str, Entity]) -> dict[str, str]:
    """Id of each name → node id; in conflicts, ids win over names, and names over names without article."""
    names = [(name, e.id) for e in entries.values() for name in (e.label, *e.aliases)]
    bare: dict[str, str] = {}
    for name, node in names:
        bare.setdefault(node_id(_ARTICLE.sub("", name)), node)
    return bare | {node_id(name): node for name, node in names} | {i: i for i in entries}


def _candidates(sightings: Iterable[Name]) -> set[str]:
    """Names that may denote a thing: links, names in two turns, and names that contain one of these."""
    turns: dict[str, set[str]] = {}
    marked: set[str] = set()
    for each in sightings:
        turns.setdefault(each.label, set()).add(each.turn)
        if each.kind == "link":
            marked |= {each.label, each.label.rpartition("/")[2]}
    often = {name for name, found in turns.items() if len(found) > 1}
    return marked | often | {name for name in turns if not often.isdisjoint(name.split())}


def _judge_all(
    state: StoreState, names: Collection[str], episodes: Collection[str]
) -> dict[str, NameJudgement]:
    """Judge names by all their uses and their sentence vectors."""
    texts = evidence_queries.episode_texts(state.connection, episodes)
    with remembered(state.store.derived, "uses of names") as memo:
        features = name_features(sorted(names), texts, memo.value)
    judgements: dict[str, NameJudgement] = {}
    found = list(features)
    for start in range(0, len(found), _BATCH_NAMES):
        batch = found[start : start + _BATCH_NAMES]
        known = state.vectors_of(batch)
        rows = [
            [*features[name], *(known[name].tolist() if name in known else _UNKNOWN)]
            for name in batch
        ]
        judgements |= zip(batch, judge_names(rows), strict=True)
    path_parts = [
        name
        for name, row in features.items()
        if row[_IN_PATH] >= MAX_PATH_SHARE and not _FILE.search(name)
    ]
    return judgements | {name: judgements[name]._replace(thing=0.0) for name in path_parts}


def _kind(name: str, judgement: NameJudgement | None) -> str:
    """The most probable kind if it reaches its threshold, else concept.

    A name in lower case is no person, and one without a slash or an extension no file; the other kinds are
    renormalised. A title ("Dr Hofstra") makes a person as likely as the other kinds must be; without one,
    what may be no thing is less likely a person.
    """
    if judgement is None:
        return CONCEPT
    chances = dict(judgement.kinds)
    if name.islower():
        chances.pop(PERSON)
    if not _FILE.search(name):
        chances.pop(FILE)
    kind = max(chances, key=lambda kind: chances[kind])
    is_titled = name.partition(" ")[0].rstrip(".").lower() in HONORIFICS
    share = chances[kind] / sum(chances.values())
    if kind == PERSON and not is_titled:
        return kind if share * judgement.thing >= MIN_PERSON_P else CONCEPT
    return kind if share >= MIN_KIND_P else CONCEPT


def _with_kind(entry: Entity, judgement: NameJudgement | None, persons: set[str]) -> Entity:
    """An entity with the kind of its label, and its confidence in tenths, so that few runs change it.

    It is a person if any of its names is one's: "Okoye" may be anything, "Dr Okoye" is somebody.
    """
    is_person = not persons.isdisjoint((entry.label, *entry.aliases))
    confidence = round(max(MIN_THING_P, judgement.thing if judgement else 0.0), 1)
    kind = PERSON if is_person else _kind(entry.label, judgement)
    return entry._replace(kind=kind, confidence=confidence)


def _short_names(sightings: Iterable[Name], spoken: Iterable[Name]) -> list[tuple[str, str]]:
    """Pairs of a speaker's name and a short form, such as Melanie and "Mel".

    A short form is a prefix of exactly one speaker's name in each episode with it, always the same speaker.
    """
    present: dict[str, set[str]] = {}
    for each in spoken:
        present.setdefault(each.episode, set()).add(each.label)
    meanings: dict[str, set[str | None]] = {}
    for each in sightings:
        short = each.label
        if each.kind == "name" and short.isalpha() and len(short) >= _MIN_SHORT_FORM:
            names = present.get(each.episode, ())
            longer = [name for name in names if name.startswith(short) and name != short]
            meanings.setdefault(short, set()).add(longer[0] if len(longer) == 1 else None)
    return [
        (min(filter(None, names)), label)
        for label, names in meanings.items()
        if len(names) == 1 and None not in names
    ]


def _file_names(sightings: Iterable[Name]) -> list[tuple[str, str]]:
    """Pairs of a path and the name of its file, where no other path ends in it."""
    labels = {each.label for each in sightings}
    ends = grouped((label.rpartition("/")[2], label) for label in labels if "/" in label)
    files = {end: paths for end, paths in ends.items() if end in labels and _FILE.search(end)}
    return [(path, end) for end, (path, *others) in sorted(files.items()) if not others]


def _speakers_together(spoken: Iterable[Name]) -> set[tuple[str, str]]:
    """Pairs of ids of two who speak in one episode, and so are two."""
    episodes = grouped({(each.episode, node_id(each.label)) for each in spoken})
    return {pair for found in episodes.values() for pair in combinations(sorted(found), 2)}


_MIN_SHORT_FORM = 3
"""Minimum letters of a short form."""


def changed_nodes(vocabulary: Vocabulary, nodes: Mapping[str, Node]) -> set[str]:
    """Nodes whose names changed since the store's mentions were found."""
    before = {i: ({n.label, *n.aliases}, {*n.exact}) for i, n in nodes.items()}
    now = {i: ({e.label, *e.aliases}, {*e.exact}) for i, e in vocabulary.entries.items()}
    return {node for node, names in now.items() if before.get(node) != names}


def refind_mentions(
    state: StoreState, matcher: Matcher, episodes: Collection[str]
) -> dict[str, dict[str, set[str]]]:
    """Find the mentions of some nodes in episodes: episode → node → turns."""
    found: dict[str, dict[str, set[str]]] = {}
    ordered = sorted(episodes)
    for start in range(0, len(ordered), _BATCH_EPISODES):
        batch = ordered[start : start + _BATCH_EPISODES]
        turns = evidence_queries.turns_in_episodes(state.connection, batch)
        find_mentions(turns.values(), matcher, found)
    return found


_BATCH_EPISODES, _BATCH_TURNS = 100, 2000
"""Episodes, or turns of any, whose texts are in memory at once."""


def turns_in_batches(
    connection: sqlite3.Connection, keys: Iterable[str]
) -> Iterator[dict[str, SourceTurn]]:
    """The turns with some keys, in order of keys."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _BATCH_TURNS):
        yield evidence_queries.turns_by_key(connection, ordered[start : start + _BATCH_TURNS])


def find_mentions(
    turns: Iterable[SourceTurn], matcher: Matcher, found: dict[str, dict[str, set[str]]]
) -> None:
    """Add the mentions in turns to ``found``: episode → node → turns. Tool output and stock sentences are skipped."""
    for turn in turns:
        named = [] if turn.role == "tool" else matcher.find(turn.text)
        spans = split(turn.text) if named else []
        stock = [(start, end) for start, end in spans if is_stock(turn.text[start:end])]
        for each in named:
            if not any(start <= each.start < end for start, end in stock):
                found.setdefault(turn.episode, {}).setdefault(each.node, set()).add(turn.key)
