"""LoCoMo with concepts as CLS-M measured them: chosen by counts alone, labelled, and planted as nodes.

A node is a stem or a pair of neighbouring stems. Taken are the most bursty ones, those whose turns
gather in a few sessions: by Dunning's G² of their turns over the sessions against an even spread
(Dunning 1993),

    G² = 2 Σ_s o_s · ln(o_s / e_s)     e_s = df · turns of s / all turns

with o_s the turns of session s that hold the node. Subjects come and go (Church & Gale 1995), words
that are about nothing are spread evenly. The store's own writers put the records into the shards;
edges are weighed by consolidation's own association.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from math import log
from operator import attrgetter

from clsm_cli.consolidation import descriptions
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Case, Chat, LabelledQuery, LabelledTurn, label_keys
from clsm_cli.evaluation.stores import MadeStore, StoreFactory
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.model.grouping import grouped
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, runs, shards
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index, updated_index
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

SIZE = 132  # nodes of a conversation; CLS-M's graph has as many
LEAST = 3  # turns that hold a node, at least
MOST = 0.12  # share of all turns that hold it: in so many it is no subject
SHORTEST = 3  # letters of a stem
LEAST_GOLD = 2  # gold concepts of a question that counts
_GENERIC = files("clsm_cli.evaluation").joinpath("generic.txt")
# Stems of words that any chat is full of, and of those by which photos are described.
GENERIC = frozenset(tokens.stems(_GENERIC.read_text("utf-8")))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W_]+)?")
_OWNER = re.compile(r"['’]s\Z")

Stems = tuple[str, ...]  # one stem, or two


class LabelledConcept(NamedTuple):
    """A node to be: the form in which most turns have it, the others, and ids of the turns."""

    stems: Stems
    label: str
    aliases: tuple[str, ...]
    turns: tuple[str, ...]
    id: str
    names: frozenset[str]  # the keys of all its names


def choose_concepts(chat: Chat, size: int = SIZE) -> tuple[LabelledConcept, ...]:
    """The most bursty concepts; of equally bursty ones the first by their stems."""
    ignored = GENERIC | _names(chat.participants)
    turns: defaultdict[Stems, dict[str, str]] = defaultdict(dict)
    forms: defaultdict[Stems, Counter[str]] = defaultdict(Counter)
    for turn in chat.turns:
        for stems, form in occurrences(turn.text, ignored):
            forms[stems][form] += 1
            turns[stems][turn.id] = turn.session
    sizes = Counter(turn.session for turn in chat.turns)
    scores = {
        stems: round(burstiness(Counter(held.values()), sizes), 9)
        for stems, held in turns.items()
        if LEAST <= len(held) < MOST * len(chat.turns)
    }
    found = []
    for stems in sorted(scores, key=lambda stems: (-scores[stems], stems))[:size]:
        label, *others = sorted(forms[stems], key=lambda form: (-forms[stems][form], form))
        id_, aliases = node_id(label), tuple(sorted(others))
        names = label_keys((id_, label, *others))
        found.append(LabelledConcept(stems, label, aliases, tuple(turns[stems]), id_, names))
    return tuple(found)


def burstiness(held: Mapping[str, int], sizes: Mapping[str, int]) -> float:
    """G² of the turns that hold a node over sessions; see the top of the module.

    ``held`` counts by session the turns that hold it, at least 1, and ``sizes`` all turns.

    Twice all three turns in one of two sessions of three, and once in the same share of both:

    >>> round(burstiness({"a": 3}, {"a": 3, "b": 3}), 4), burstiness({"a": 1, "b": 1}, {"a": 3, "b": 3})
    (4.1589, 0.0)
    """
    share = sum(held.values()) / sum(sizes.values())
    return 2 * sum(count * log(count / (share * sizes[session])) for session, count in held.items())


def occurrences(text: str, ignored: Collection[str]) -> Iterator[tuple[Stems, str]]:
    """Each stem and each pair of neighbouring stems of a text, with the form it has there.

    Between the two words of a pair stands one blank or hyphen.

    >>> list(occurrences("Support-groups, and yoga", {"yoga"}))
    [(('support',), 'support'), (('support', 'group'), 'support groups'), (('group',), 'groups')]
    """
    before: tuple[str, str, int] | None = None
    for match in _WORD.finditer(text):
        form = _OWNER.sub("", match.group().casefold())
        stem = next(iter(tokens.stems(form)), "")
        if len(stem) < SHORTEST or stem in ignored:
            before = None
            continue
        if before is not None and text[before[2] : match.start()] in (" ", "-"):
            yield (before[0], stem), f"{before[1]} {form}"
        yield (stem,), form
        before = stem, form, match.end()


def _names(participants: Collection[str]) -> set[str]:
    """The stems of names, and of what they may be shortened to."""
    whole = {stem for name in participants for stem in tokens.stems(name)}
    return {stem[:length] for stem in whole for length in range(SHORTEST, len(stem) + 1)}


def label_queries(chat: Chat, queries: Sequence[LabelledQuery]) -> tuple[LabelledQuery, ...]:
    """The questions with at least two gold concepts, labelled with these instead of with turns.

    Gold are the concepts in the evidence of a question and in its answer.
    """
    ignored, concepts = GENERIC | _names(chat.participants), choose_concepts(chat)
    posed = []
    for query in (each for each in queries if not each.negative):
        said = {stems for stems, _ in occurrences(query.answer, ignored)}
        gold = tuple(
            each.names
            for each in concepts
            if each.stems in said or not set(query.gold).isdisjoint(each.turns)
        )
        if len(gold) >= LEAST_GOLD:
            posed.append(query._replace(gold=(), concepts=gold))
    return tuple(posed)


def plant_nodes(factory: StoreFactory, case: Case, made: MadeStore) -> Store:
    """A copy of a conversation's store, as it was ingested, in which its concepts are nodes."""
    # These two decide what is written, besides the parts of the program that make any store.
    name = f"nodes {stores.code_digest(('evaluation/nodes.py', 'evaluation/generic.txt'))}"
    plant = partial(_plant, factory, made, case_chat(case))
    return stores.cached_copy(made, name, plant)


def case_chat(case: Case) -> Chat:
    """The conversation that a case is."""
    assert isinstance(case.source, Chat)
    return case.source


def _plant(factory: StoreFactory, made: MadeStore, chat: Chat, store: Store) -> None:
    with open_index(store, factory.embedder) as opened:
        records, episodes = _records(store, opened.index, chat)
    with locked(store.root, store.settings.store.lock_wait):
        # Consolidation keeps nodes of kind "concept" among the projects.
        writes = record_files.plan_records(store, "projects", records)
        writes += record_files.plan_records(store, "flow", episodes)
        runs.apply(store, "eval", made.now.isoformat(), writes, whole=True)
        with updated_index(store, factory.embedder):
            pass


def _records(store: Store, index: Index, chat: Chat) -> tuple[list[Record], list[Record]]:
    """Nodes and edges; and the records of all episodes, consolidated, with what their turns mention."""
    said = {turn.id: turn for turn in chat.turns}
    keys = {each.foreign_id: each.key for each in index.current_passages().values()}
    concepts = choose_concepts(chat)
    mentioned = grouped(
        (key, each.id)
        for each in sorted(concepts, key=attrgetter("id"))
        for key in sorted({keys[turn] for turn in each.turns})
    )
    order = list(evidence_queries.turn_order(index.connection))
    noted = grouped(
        (episode, (node, key)) for episode, _, key in order for node in mentioned.get(key, ())
    )
    stored = evidence_queries.episode_files(index.connection)
    episodes: list[Record] = []
    for record in shards.load_graph(store.graphs(), logs.load_tombstones(store)).records.values():
        if isinstance(record, EpisodeRecord):
            found = grouped(sorted(noted.get(record.id, []))).items()
            mentions = {node: tuple(turns) for node, turns in found}
            rev, digest = (record.rev[0] + 1, store.device), stored[record.id].digest
            made = replace(record, rev=rev, mentions=mentions, digest=digest)
            episodes.append(replace(made, stage="consolidated"))
    edges = co_occurrences(order, mentioned, store.settings.graph, (1, store.device))
    nodes = (_node(each, [said[turn] for turn in each.turns], keys, store) for each in concepts)
    return [*nodes, *edges.values()], episodes


def _node(
    concept: LabelledConcept,
    turns: Sequence[LabelledTurn],
    keys: Mapping[str | None, str],
    store: Store,
) -> Node:
    quotes = [
        quote
        for turn in turns
        for form in (concept.label, *concept.aliases)
        for quote in descriptions.quotes_of(turn.text, form, turn.time, keys[turn.id])
    ]
    summary = descriptions.best_quotes(quotes)
    return Node(
        id=concept.id,
        rev=(1, store.device),
        label=concept.label,
        aliases=concept.aliases,
        summary=" ".join(each.text for each in summary),
        n=len(turns),
        first=min(turn.time for turn in turns),
        last=max(turn.time for turn in turns),
        sources=tuple(dict.fromkeys(each.key for each in summary)),
    )
