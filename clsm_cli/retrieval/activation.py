"""Spreading activation: passages that share concepts with the best ones and answer what those leave open.

"What does Mara's husband do for a living?" takes two memories, and only the first shares words with
the question: it contains his name, which leads to the second. Passages and concepts are the
vertices of one graph. Edges connect a passage with the concepts it mentions, and with the concepts
that a person connected with those by hand. Activation goes from a seed s over a concept c to a
passage p:

    a(p) = max over s, c:  w(s) · weight(c) · r(c) · (gain(s, p) + ``SHARED_CONCEPT_GAIN`` · r(c)³),
           divided by the largest of a question, but by ``FULL_ACTIVATION`` at least
    w(s) = e^(8 · (share(s) − 1)),  r(c) = idf(c) / idf of one passage
    gain(s, p) = MaxSim(s and p as one text) − MaxSim(s)

r is the fan effect (Anderson 1983): a concept that many passages mention leads to none of them. A
gain means that both passages together answer more than the seed alone, as in a question that takes
two steps; without it, activation returns passages that are merely on the same subject. A concept
that only these two mention is a sign by itself. Concepts that the question names are skipped, as
their passages are found by the name. docs/experiments.md has other forms, and the figures of
derived edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.scoring import match, relevance
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries, postings
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.retrieval.dense_search import LateInteraction
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index

MAX_SEEDS = 3
"""Seed passages of activation; 4 or 5 bring in more irrelevant passages."""
MAX_PASSAGES = 50
"""Passages that mention a concept, at most (own choice): activation does not cross a more frequent one."""
SHARED_CONCEPT_GAIN = 0.02
"""Gain of a concept that no other passage mentions, if MaxSim has none (docs/experiments.md, The graph)."""
FULL_ACTIVATION = 0.04
"""Activation that counts in full. The median of a question's largest gain is .037 for two-step
questions (MuSiQue), .009 for questions to strangers' notes, and 0 on LoCoMo.
"""


class ActivationSource(NamedTuple):
    """The strongest activation of a passage.

    Attributes:
        seed: Row of the passage that it came from.
        concept: Label of the concept that both mention, or that a person connected with one of
            them.
    """

    activation: float
    seed: int
    concept: str


class Neighbour(NamedTuple):
    """A concept over which a seed passes activation; ``weight`` is 1 unless reached over a person's edge."""

    node: str
    label: str
    weight: float


def linked_passages(index: Index, question: Question, rows: Iterable[int]) -> set[int]:
    """The visible passages that activation can reach from the given ones."""
    rows_by_node = _mentioning_rows(index, _neighbours(index, question, sorted(set(rows))))
    return {row for reached in rows_by_node.values() for row in reached}


def spread_activation(
    index: Index, question: Question, seeds: Mapping[int, float], late: LateInteraction
) -> dict[int, ActivationSource]:
    """How strongly the best passages activate others.

    Args:
        seeds: The best passages, best first, with their min-max normalised scores.
        late: Late interaction with the question; passages outside it are not activated.

    Returns:
        Row → strongest activation; passages without any are left out.
    """
    neighbours = _neighbours(index, question, [row for row in seeds if row in late.shares])
    rows_by_node = _mentioning_rows(index, neighbours)
    count, _ = index.size()
    most = match.idf(count, 1)
    sources: dict[int, ActivationSource] = {}
    for seed, share in seeds.items():
        seed_score = late.window_scores(seed)
        for neighbour in neighbours.get(seed, ()):
            rows = rows_by_node.get(neighbour.node, ())
            rarity = match.idf(count, len(rows)) / most
            weight = relevance.passage_weight(share) * neighbour.weight * rarity
            for row in rows:
                if row == seed or row not in late.shares:
                    continue
                activation = weight * (
                    late.window_scores(seed, row) - seed_score + SHARED_CONCEPT_GAIN * rarity**3
                )
                if row not in sources or activation > sources[row].activation:
                    sources[row] = ActivationSource(activation, seed, neighbour.label)
    largest = max((FULL_ACTIVATION, *(source.activation for source in sources.values())))
    return {
        row: source._replace(activation=source.activation / largest)
        for row, source in sources.items()
    }


def _neighbours(
    index: Index, question: Question, rows: Sequence[int]
) -> dict[int, list[Neighbour]]:
    """The concepts of each passage that the question does not name, in order of ids."""
    mentions = index.mentions(rows)
    numbers = {mention.node: graph_queries.number_of(mention.node) for mention in mentions}
    nodes = graph_queries.nodes(index.connection, numbers.values())
    edges = graph_queries.pinned_links(index.connection, nodes)
    nodes |= graph_queries.nodes(index.connection, {edge.other for edge in edges} - nodes.keys())
    asked = {*question.terms}
    by_row: dict[int, dict[str, Neighbour]] = {}
    for row, node, label, _ in mentions:
        number = numbers[node]
        names = nodes[number].names if number in nodes else (label,)
        mine = by_row.setdefault(row, {})
        if not _is_named(names, asked):
            mine[node] = Neighbour(node, label, 1.0)
        for edge in edges:
            other = nodes.get(edge.other)
            if edge.node == number and other and not _is_named((other.label,), asked):
                weight = max(
                    min(1.0, edge.weight), mine[other.id].weight if other.id in mine else 0
                )
                mine[other.id] = Neighbour(other.id, other.label, weight)
    return {row: [concepts[node] for node in sorted(concepts)] for row, concepts in by_row.items()}


def _is_named(names: Iterable[str], asked: set[str]) -> bool:
    """Whether the question contains all terms of one of the names."""
    return any(terms and asked.issuperset(terms) for terms in map(tokens.stems, names))


def _mentioning_rows(
    index: Index, neighbours: Mapping[int, Sequence[Neighbour]]
) -> dict[str, set[int]]:
    """The visible passages that mention each neighbour; nodes with too many are left out.

    Besides the mentions that consolidation recorded, passages count that contain all words of the
    label: names at the start of a sentence, or in text told since.
    """
    hidden = index.hidden()
    labels = {neighbour.node: neighbour.label for own in neighbours.values() for neighbour in own}
    rows_by_node = {node: _rows_with_name(index, name) for node, name in labels.items()}
    for node, row in graph_queries.rows_mentioning(index.connection, labels):
        if row not in hidden:
            rows_by_node[node].add(row)
    return {node: rows for node, rows in rows_by_node.items() if len(rows) <= MAX_PASSAGES}


def _rows_with_name(index: Index, name: str) -> set[int]:
    """The visible passages with all words of a name; none if every word is common."""
    connection = index.connection
    counts = {term: postings.document_frequency(connection, term) for term in tokens.stems(name)}
    if not counts or min(counts.values()) > MAX_PASSAGES:
        return set()
    return set.intersection(*({row for row, _, _ in index.postings(term)} for term in counts))
