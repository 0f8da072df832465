"""The concepts of a query, in reading order: passages → names → probability → cut-off.

A node counts by the passages that mention it: going through the episodes beats ranking nodes by their
own name, and activation over edges that the night drew adds nothing to it (docs/experiments.md). What a
person has connected by hand belongs together: such an edge passes on its weight.

A query names a concept by a label or alias that stands in it, or by being a part of one, on the borders of
words; where there is none, by the names that its words misspell.
"""

from __future__ import annotations

import re
from math import log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval.answer import Concept
from clsm_cli.retrieval.dense_search import cosine_at
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.scoring import relevance
from clsm_cli.scoring.match import weighted
from clsm_cli.scoring.relevance import Evidence
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.graph_queries import LinkRow, NodeRow
    from clsm_cli.store.index.index_queries import Index


BY_NAME = frozenset({"exact", "alias"})
"""Seeds that stand in the query, or it in them."""


class ScoredConcept(NamedTuple):
    """A node with its evidence, how the query names it, and an edge by a person that made it so likely."""

    node: NodeRow
    evidence: Evidence
    probability: float
    seed: str | None
    edge: LinkRow | None = None


def rank_concepts(
    index: Index, query: str, candidates: Sequence[Candidate], limit: int, cosines: Sequence[float]
) -> tuple[Concept, ...]:
    """The concepts of a query, likeliest first.

    Args:
        cosines: Of every stored sentence vector to the query; none without a model.
    """
    weighed = score_concepts(index, query, candidates, cosines)
    is_cue = _is_cue(query, weighed)
    if is_cue:
        weighed = _named_first(weighed)
    probabilities = [each.probability for each in weighed]
    kept = relevance.cut_size(probabilities, limit, index.store.settings.recall.concept_beta)
    if is_cue:
        kept = max(kept, sum(p >= relevance.LEAST for p in probabilities[:limit]))
    ids = {each.node.number: each.node.id for each in weighed}
    return tuple(
        Concept(
            id=node.id,
            label=node.label,
            aliases=node.aliases,
            kind=node.kind,
            stream=node.stream,
            activation=round(p, 4),
            seed=seed,
            path=(ids[edge.node], node.id) if edge else (node.id,),
            steps=((edge.type, edge.weight),) if edge else (),
        )
        for node, _, p, seed, edge in weighed[:kept]
    )


def score_concepts(
    index: Index, query: str, candidates: Sequence[Candidate], cosines: Sequence[float]
) -> list[ScoredConcept]:
    """Every node with any evidence, likeliest first; see ``rank_concepts``."""
    settings = index.store.settings.recall
    own = _by_sense(candidates, settings)
    found = _Passages(index, own[: settings.concept_passages])
    named = link_entities(index, query, found.nodes)
    known = found.nodes | graph_queries.nodes(index.connection, named.keys() - found.nodes.keys())
    edges = graph_queries.set_by_hand(index.connection, known)
    known |= graph_queries.nodes(index.connection, {edge.other for edge in edges} - known.keys())
    weighed: dict[int, ScoredConcept] = {}
    for number, node in known.items():
        meaning = max(0.0, cosine_at(cosines, node.vector) or 0.0)
        is_note = number in found.written
        evidence = Evidence(
            mentioned=float(number in found.best),
            best=found.best.get(number, 0.0),
            mass=found.mass.get(number, 0.0),
            meaning=meaning,
            common=log1p(node.n),
            note_meaning=meaning if is_note else 0.0,
            note_common=log1p(node.n) if is_note else 0.0,
        )
        seed = named.get(number)
        p = relevance.probability(evidence, is_named=seed is not None)
        weighed[number] = ScoredConcept(node, evidence, p, seed)
    # A node connected by a person's edge is as likely as its neighbour, times the weight of the edge.
    before = {number: each.probability for number, each in weighed.items()}
    for edge in edges:
        target = weighed.get(edge.other)
        given = before[edge.node] * min(1.0, edge.weight)
        if target is not None and given > target.probability:
            weighed[edge.other] = target._replace(probability=given, edge=edge)
    return sorted(weighed.values(), key=lambda each: (-each.probability, each.node.id))


def _by_sense(candidates: Sequence[Candidate], settings: RecallSettings) -> list[Candidate]:
    """Passages by their own signals alone, best first.

    What activation leads to answers, but is of something else; and where words decide, what the other
    passages are about is no less near to the question.
    """
    weights = signal_weights(settings)._replace(graph=0.0, literal=0.0)
    own = [each._replace(score=weighted(each.signals, weights)) for each in candidates]
    return sorted(own, key=lambda each: -each.score)


def _is_cue(query: str, weighed: Sequence[ScoredConcept]) -> bool:
    """Whether a query consists of names only: then it is no question but asks for everything about them."""
    names = [name for each in weighed if each.seed in BY_NAME for name in _names(each.node)]
    terms = {term for name in names for term in tokens.stems(name)}
    return bool(names) and {*tokens.stems(query)} <= terms


def _named_first(weighed: Sequence[ScoredConcept]) -> list[ScoredConcept]:
    """A query of names only is about these, whatever else the passages mention."""
    best = weighed[0].probability
    named = [each._replace(probability=best) if each.seed in BY_NAME else each for each in weighed]
    return sorted(named, key=lambda each: (-each.probability, each.seed not in BY_NAME))


def _names(node: NodeRow) -> tuple[str, ...]:
    return (node.label, *node.aliases)


class _Passages:
    """What the best passages mention.

    Attributes:
        best: Score of the best passage that mentions a node, as a share of the best score.
        mass: Share of the passages' weight that mentions it.
        written: Numbers of those whose best passage is a block of a note.
    """

    def __init__(self, index: Index, candidates: Sequence[Candidate]) -> None:
        top = max((candidate.score for candidate in candidates), default=0.0)
        self.nodes: dict[int, NodeRow] = {}
        self.best: dict[int, float] = {}
        self.mass: dict[int, float] = {}
        self.written: set[int] = set()
        mentions = self._mentions(index, candidates)
        whole = 0.0
        for candidate in candidates:
            share = max(0.0, candidate.score / top) if top > 0 else 0.0
            weight = relevance.passage_weight(share)
            whole += weight
            for number in mentions.get(candidate.row, ()):
                if number not in self.best and candidate.traits.is_document:
                    self.written.add(number)
                self.best[number] = max(self.best.get(number, 0.0), share)
                self.mass[number] = self.mass.get(number, 0.0) + weight
        self.mass = {number: mass / whole for number, mass in self.mass.items()}

    def _mentions(self, index: Index, candidates: Sequence[Candidate]) -> dict[int, set[int]]:
        """Passage → the nodes it mentions, by number; fills ``nodes``."""
        stated = [each.row for each in candidates if each.traits.kind == "statement"]
        sources = graph_queries.source_keys(index.connection, sorted(stated))
        keys = {each.traits.key for each in candidates if each.traits.kind == "passage"}
        keys |= {key for _, key in sources}
        noted = graph_queries.nodes_of_turns(index.connection, keys)
        mentioned = {number for each in noted.values() for number in each}
        self.nodes = graph_queries.nodes(index.connection, mentioned)
        found: dict[int, set[int]] = {
            each.row: {*noted[each.traits.key]}
            for each in candidates
            if each.traits.key in noted and self.nodes.keys() >= {*noted[each.traits.key]}
        }
        # Of a statement those nodes of its turns that its own text names.
        texts = {row: {*tokens.stems(each.text)} for row, each in index.passages(stated).items()}
        for row, number in ((row, n) for row, key in sources for n in noted.get(key, ())):
            node = self.nodes.get(number)
            if node and any(texts[row].issuperset(tokens.stems(n)) for n in _names(node)):
                found.setdefault(row, set()).add(number)
        # A turn with a name that no night has made a node of.
        rest = [candidate.row for candidate in candidates if candidate.row not in found]
        ids: dict[int, str] = {}
        labels: dict[int, list[str]] = {}
        for mention in index.mentions(rest) if rest else ():
            number = graph_queries.number_of(mention.node)
            ids[number] = mention.node
            labels.setdefault(number, []).append(mention.label)
            found.setdefault(mention.passage, set()).add(number)
        self.nodes |= graph_queries.nodes(index.connection, ids.keys() - self.nodes.keys())
        for number in sorted(ids.keys() - self.nodes.keys()):
            self.nodes[number] = _unrecorded(number, ids[number], labels[number])
        return found


def _unrecorded(number: int, node: str, labels: Sequence[str]) -> NodeRow:
    """A name used only in texts not yet consolidated, as an otherwise empty node."""
    label = max(labels, key=lambda each: (labels.count(each), each))
    aliases = tuple(sorted({*labels} - {label}))
    return graph_queries.NodeRow(number, node, label, aliases, "concept", "flow", 1, None, "", -1)


INSIDE = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z][\w-]+")
"""A word with a capital inside a sentence."""
LONGEST_NAME = 5
"""Words of a name that is looked for in the query."""
SHORT_QUERY = 3
"""Words, without those that say nothing, of a query that is looked for in names."""
MISSPELT, MIXED_UP = 5, 4
"""Letters of a word that may be misspelt, and of one of which two may have changed places."""
ONE_OF_FOUR = 0.75
ALIKE = 0.8
"""Share of letters that stay (1 − edits / letters, neighbours that changed places being one edit) from
which a word is a misspelt name: one edit in five to nine letters, two in ten."""
_MAX_QUERY_WORDS = 64
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")


def link_entities(index: Index, query: str, near: Mapping[int, NodeRow]) -> dict[int, str]:
    """The nodes that a query names: number → how (exact, alias, fuzzy)."""
    words = _words(query)
    return (
        _in_query(index, words, near) or _around_query(words, near) or _misspelt(index, words, near)
    )


def names_something(index: Index, query: str) -> bool:
    """Whether a query names a node, by a part of its name too where that is written as a name."""
    return bool(link_entities(index, query, {}) or names_inside(index, query))


def names_inside(index: Index, query: str) -> list[str]:
    """The words inside the sentences of a query that are written as names, and are or begin one."""
    words = dict.fromkeys(INSIDE.findall(query))
    return [w for w in words if graph_queries.begins_name(index.connection, node_id(w))]


def _words(query: str) -> list[str]:
    words = [word.strip(".'’") for word in _WORD.findall(query)[:_MAX_QUERY_WORDS]]
    return [word.removesuffix("'s").removesuffix("’s") for word in words]


def _in_query(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Names in the query; of overlapping ones the longest, then the first."""
    runs = [
        (start, end, node_id(" ".join(words[start:end])))
        for length in range(min(LONGEST_NAME, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        for end in [start + length]
        if length > 1 or words[start].casefold() not in tokens.STOP_WORDS
    ]
    known = graph_queries.nodes_by_name(index.connection, sorted({name for _, _, name in runs}))
    unrecorded = {node.id: [number] for number, node in near.items() if node.last is None}
    found: dict[int, str] = {}
    taken: set[int] = set()
    for start, end, name in runs:
        numbers = known.get(name) or unrecorded.get(name) or []
        if numbers and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            own = graph_queries.number_of(name)
            for number in numbers:
                found.setdefault(number, "exact" if number == own else "alias")
    return found


def _around_query(words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Names that contain a short query."""
    asked = [word.casefold() for word in words if word.casefold() not in tokens.STOP_WORDS]
    if not 0 < len(asked) <= SHORT_QUERY:
        return {}
    wanted = f" {' '.join(asked)} "
    return {
        number: "alias"
        for number, node in near.items()
        for name in _names(node)
        if wanted in f" {name.casefold().replace('-', ' ')} "
    }


def _misspelt(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Nodes with a word in their name that resembles a query word unknown to the store."""
    parts: dict[str, set[int]] = {}
    for number, node in near.items():
        for part in node.label.casefold().replace("-", " ").split():
            parts.setdefault(part, set()).add(number)
    found = _likely_names(index, words, parts)
    return {number: "fuzzy" for _, likely in found for each in likely for number in each.numbers}


class LikelyName(NamedTuple):
    """A word of names that another word may be a slip for, the nodes that have it, and how like it is."""

    part: str
    numbers: set[int]
    likeness: float


def likely_names(index: Index, query: str) -> dict[str, LikelyName]:
    """The words of a query that the store does not know, each with the word of a name most like it."""
    found = _likely_names(index, _words(query), {})
    return {
        word: min(likely, key=lambda each: (-each.likeness, each.part)) for word, likely in found
    }


def _likely_names(
    index: Index, words: list[str], known: Mapping[str, set[int]]
) -> Iterator[tuple[str, list[LikelyName]]]:
    """The words that no passage has, each with the words of names that resemble it, if any.

    Args:
        known: Words of names that are looked at whatever they begin with, and their nodes.
    """
    for written in (word for word in words if len(word) >= MIXED_UP):
        word = written.casefold()
        if any(index.postings(stem) for stem in tokens.stems(word)):
            continue
        parts = {part: {*numbers} for part, numbers in known.items()}
        for name, node in graph_queries.names_from(index.connection, word[0]):
            parts.setdefault(name.split("-")[0], set()).add(graph_queries.number_of(node))
        # rapidfuzz takes 10 ms to load, so it is asked only about what has nearly the same letters.
        near_by = [part for part in parts if len({*word} ^ {*part}) <= 2 + len(word) // 10]
        if near_by:
            from rapidfuzz.distance import OSA

            likely = [
                LikelyName(part, parts[part], OSA.normalized_similarity(word, part))
                for part in near_by
            ]
            if likely := [each for each in likely if _is_slip(word, each)]:
                yield written, likely


def _is_slip(word: str, name: LikelyName) -> bool:
    """Whether a word may be a misspelt name; one of four letters only where two have changed places."""
    if len(word) < MISSPELT:
        return name.likeness >= ONE_OF_FOUR and sorted(word) == sorted(name.part)
    return name.likeness >= ALIKE
