"""The concepts of a query, in reading order: passages → names → probability → cut-off.

A node is scored by the passages that mention it: this ranks better than its own name, and
activation over derived edges adds nothing (docs/experiments.md). An edge set by hand passes on its
weight.
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval import entity_linking
from clsm_cli.retrieval.answer import Concept
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.scoring import relevance
from clsm_cli.scoring.match import cosine_at, weighted
from clsm_cli.scoring.relevance import ConceptEvidence
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.graph_queries import LinkRow, NodeRow
    from clsm_cli.store.index.index_queries import Index


BY_NAME = frozenset({"exact", "alias"})
"""Seeds whose name contains the query, or is contained in it."""


class ScoredConcept(NamedTuple):
    """A node with its evidence, how the query names it, and the edge by a person that raised its probability."""

    node: NodeRow
    evidence: ConceptEvidence
    probability: float
    seed: str | None
    edge: LinkRow | None = None


def rank_concepts(
    index: Index, query: str, candidates: Sequence[Candidate], limit: int, cosines: Sequence[float]
) -> tuple[Concept, ...]:
    """The concepts of a query, by descending probability.

    Args:
        cosines: Of every stored sentence vector to the query; empty without a model.
    """
    scored = score_concepts(index, query, candidates, cosines)
    is_cue = _is_cue(query, scored)
    if is_cue:  # the named nodes come first
        top = scored[0].probability
        scored = [s._replace(probability=top) if s.seed in BY_NAME else s for s in scored]
        scored.sort(key=lambda concept: (-concept.probability, concept.seed not in BY_NAME))
    probabilities = [concept.probability for concept in scored]
    kept = relevance.cut_size(probabilities, limit, index.store.settings.recall.concept_beta)
    if is_cue:
        kept = max(kept, sum(p >= relevance.MIN_PROBABILITY for p in probabilities[:limit]))
    ids = {concept.node.number: concept.node.id for concept in scored}
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
        for node, _, p, seed, edge in scored[:kept]
    )


def score_concepts(
    index: Index, query: str, candidates: Sequence[Candidate], cosines: Sequence[float]
) -> list[ScoredConcept]:
    """Every node with evidence, by descending probability; see ``rank_concepts``."""
    settings = index.store.settings.recall
    # By their own signals alone: activated passages are about something else, and exact matches of single
    # words say nothing about the subject of the other passages.
    weights = signal_weights(settings)._replace(graph=0.0, literal=0.0)
    own = [
        candidate._replace(score=weighted(candidate.signals, weights)) for candidate in candidates
    ]
    own.sort(key=lambda candidate: -candidate.score)
    mentioned = _MentionedNodes(index, own[: settings.concept_passages])
    named = entity_linking.link_entities(index, query, mentioned.nodes)
    nodes = mentioned.nodes | graph_queries.nodes(
        index.connection, named.keys() - mentioned.nodes.keys()
    )
    edges = graph_queries.pinned_links(index.connection, nodes)
    nodes |= graph_queries.nodes(index.connection, {edge.other for edge in edges} - nodes.keys())
    scored: dict[int, ScoredConcept] = {}
    for number, node in nodes.items():
        meaning = max(0.0, cosine_at(cosines, node.vector) or 0.0)
        is_note = number in mentioned.in_notes
        evidence = ConceptEvidence(
            mentioned=float(number in mentioned.best),
            best=mentioned.best.get(number, 0.0),
            mass=mentioned.mass.get(number, 0.0),
            meaning=meaning,
            common=log1p(node.n),
            note_meaning=meaning if is_note else 0.0,
            note_common=log1p(node.n) if is_note else 0.0,
        )
        seed = named.get(number)
        p = relevance.concept_probability(evidence, is_named=seed is not None)
        scored[number] = ScoredConcept(node, evidence, p, seed)
    # Over a person's edge, a node gets the probability of its neighbour times the weight of the edge.
    before = {number: concept.probability for number, concept in scored.items()}
    for edge in edges:
        target = scored.get(edge.other)
        given = before[edge.node] * min(1.0, edge.weight)
        if target is not None and given > target.probability:
            scored[edge.other] = target._replace(probability=given, edge=edge)
    return sorted(scored.values(), key=lambda concept: (-concept.probability, concept.node.id))


def _is_cue(query: str, scored: Sequence[ScoredConcept]) -> bool:
    """Whether a query consists of names only, and so asks for everything about them."""
    seeds = [name for concept in scored if concept.seed in BY_NAME for name in concept.node.names]
    terms = {term for name in seeds for term in tokens.stems(name)}
    return bool(seeds) and {*tokens.stems(query)} <= terms


class _MentionedNodes:
    """The nodes that the best passages mention.

    Attributes:
        best: Score of the best passage that mentions a node, as a share of the best score.
        mass: Weight of the passages that mention it, as a share of the weight of all.
        in_notes: Numbers of the nodes whose best passage is a block of a note.
    """

    def __init__(self, index: Index, candidates: Sequence[Candidate]) -> None:
        top = max((candidate.score for candidate in candidates), default=0.0)
        self.nodes: dict[int, NodeRow] = {}
        self.best: dict[int, float] = {}
        self.mass: dict[int, float] = {}
        self.in_notes: set[int] = set()
        mentions = self._mentions(index, candidates)
        whole = 0.0
        for candidate in candidates:
            share = max(0.0, candidate.score / top) if top > 0 else 0.0
            weight = relevance.passage_weight(share)
            whole += weight
            for number in mentions.get(candidate.row, ()):
                if number not in self.best and candidate.traits.is_document:
                    self.in_notes.add(number)
                self.best[number] = max(self.best.get(number, 0.0), share)
                self.mass[number] = self.mass.get(number, 0.0) + weight
        self.mass = {number: mass / whole for number, mass in self.mass.items()}

    def _mentions(self, index: Index, candidates: Sequence[Candidate]) -> dict[int, set[int]]:
        """Passage → the nodes it mentions, by number; fills ``nodes``."""
        traits = {candidate.row: candidate.traits for candidate in candidates}
        statement_rows = [row for row, own in traits.items() if own.kind == "statement"]
        sources = graph_queries.source_keys(index.connection, sorted(statement_rows))
        keys = {own.key for own in traits.values() if own.kind == "passage"}
        keys |= {key for _, key in sources}
        recorded = graph_queries.nodes_of_turns(index.connection, keys)
        mentioned = {number for numbers in recorded.values() for number in numbers}
        self.nodes = graph_queries.nodes(index.connection, mentioned)
        by_row: dict[int, set[int]] = {
            row: {*recorded[own.key]}
            for row, own in traits.items()
            if own.key in recorded and self.nodes.keys() >= {*recorded[own.key]}
        }
        # A statement mentions those nodes of its turns that its own text names.
        texts = {
            row: {*tokens.stems(passage.text)}
            for row, passage in index.passages(statement_rows).items()
        }
        for row, number in ((row, n) for row, key in sources for n in recorded.get(key, ())):
            node = self.nodes.get(number)
            if node and any(texts[row].issuperset(tokens.stems(n)) for n in node.names):
                by_row.setdefault(row, set()).add(number)
        # Turns with names that consolidation has not made nodes of yet.
        rest = [candidate.row for candidate in candidates if candidate.row not in by_row]
        ids: dict[int, str] = {}
        labels: dict[int, list[str]] = {}
        for mention in index.mentions(rest) if rest else ():
            number = graph_queries.number_of(mention.node)
            ids[number] = mention.node
            labels.setdefault(number, []).append(mention.label)
            by_row.setdefault(mention.passage, set()).add(number)
        self.nodes |= graph_queries.nodes(index.connection, ids.keys() - self.nodes.keys())
        for number in sorted(ids.keys() - self.nodes.keys()):
            label = max(labels[number], key=lambda text: (labels[number].count(text), text))
            self.nodes[number] = graph_queries.NodeRow(
                number=number,
                id=ids[number],
                label=label,
                aliases=tuple(sorted({*labels[number]} - {label})),
                kind="concept",
                stream="flow",
                n=1,
                last=None,  # no record
                summary="",
                vector=-1,
            )
        return by_row
