"""Activation: passages that share concepts with the best ones and contain what those leave open.

"What does Mara's husband do for a living?" takes two memories, and only the first shares anything with
the question: it names him, and his name is the key to the second. Passages and concepts are the
vertices of one graph. A passage is tied to the concepts it mentions, and to those that a person has
connected with them by hand. From a seed s activation crosses a concept c to a passage p:

    a(p) = max over s, c:  w(s) · weight(c) · r(c) · (gain(s, p) + ``BARE`` · r(c)³),
           divided by the largest of a question, but by ``ENOUGH`` at least
    w(s) = e^(8 · (share(s) − 1)),  r(c) = idf(c) / idf of one passage
    gain(s, p) = MaxSim(s and p as one text) − MaxSim(s)

r is the fan effect (Anderson 1983): what many passages mention leads to none of them. The gain says that
both together answer more than the first alone, the sign of a question that takes two steps; without it
activation brings what is merely about the same. What only these two mention is a sign by itself. A
concept that the question names leads nowhere new, as its passages are found by the name. Other forms, and
edges that the night drew: docs/experiments.md.
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

SEEDS = 3
"""Passages that lead to others; with four or five more is led to that is not meant."""
MOST = 50
"""Passages with a concept above which it leads to none: it would lead anywhere."""
BARE = 0.02
"""What a concept counts that no other passage mentions, where both say nothing more together."""
ENOUGH = 0.04
"""Activation from which a way counts in full. The largest gain of a question is .037 in the middle where it
takes two steps (MuSiQue), .009 where strangers' notes are asked, and 0 on LoCoMo."""


class ActivationSource(NamedTuple):
    """How activation reached a passage.

    Attributes:
        start: Row of the passage that it came from.
        concept: Label of what both mention, or of what a person has connected with that.
    """

    worth: float
    start: int
    concept: str


class Neighbour(NamedTuple):
    """A concept through which a seed passes activation; ``weight`` is 1 unless a person's edge leads to it."""

    node: str
    label: str
    weight: float


def linked_passages(index: Index, question: Question, rows: Iterable[int]) -> set[int]:
    """The visible passages that activation reaches from some others."""
    ties = _ties(index, question, sorted(set(rows)))
    held = _held(index, {tie.node: tie.label for found in ties.values() for tie in found})
    return {row for found in held.values() for row in found}


def spread(
    index: Index, question: Question, seeds: Mapping[int, float], late: LateInteraction
) -> dict[int, ActivationSource]:
    """How strongly the best passages activate others.

    Args:
        seeds: The best passages, best first, with their scores as shares of the range of all.
        late: Late interaction with the question; what it did not look at is not led to.

    Returns:
        Row → way; what nothing leads to is left out.
    """
    ties = _ties(index, question, [row for row in seeds if row in late.shares])
    held = _held(index, {tie.node: tie.label for found in ties.values() for tie in found})
    count, _ = index.size()
    most = match.idf(count, 1)
    found: dict[int, ActivationSource] = {}
    for start, share in seeds.items():
        alone = late.window_scores(start)
        for tie in ties.get(start, ()):
            rows = held.get(tie.node, ())
            rarity = match.idf(count, len(rows)) / most
            conducts = relevance.passage_weight(share) * tie.weight * rarity
            for row in rows:
                if row == start or row not in late.shares:
                    continue
                worth = conducts * (late.window_scores(start, row) - alone + BARE * rarity**3)
                if row not in found or worth > found[row].worth:
                    found[row] = ActivationSource(worth, start, tie.label)
    largest = max((ENOUGH, *(way.worth for way in found.values())))
    return {row: way._replace(worth=way.worth / largest) for row, way in found.items()}


def _ties(index: Index, question: Question, rows: Sequence[int]) -> dict[int, list[Neighbour]]:
    """What each passage mentions that the question does not name, in order of ids."""
    mentions = index.mentions(rows)
    numbers = {mention.node: graph_queries.number_of(mention.node) for mention in mentions}
    known = graph_queries.nodes(index.connection, numbers.values())
    edges = graph_queries.set_by_hand(index.connection, known)
    others = graph_queries.nodes(index.connection, {edge.other for edge in edges} - known.keys())
    known |= others
    asked = {*question.terms}
    found: dict[int, dict[str, Neighbour]] = {}
    for row, node, label, _ in mentions:
        number = numbers[node]
        names = known[number].names if number in known else (label,)
        mine = found.setdefault(row, {})
        if not _is_named(names, asked):
            mine[node] = Neighbour(node, label, 1.0)
        for edge in edges:
            other = known.get(edge.other)
            if edge.node == number and other and not _is_named((other.label,), asked):
                weight = max(
                    min(1.0, edge.weight), mine[other.id].weight if other.id in mine else 0
                )
                mine[other.id] = Neighbour(other.id, other.label, weight)
    return {row: [ties[node] for node in sorted(ties)] for row, ties in found.items()}


def _is_named(names: Iterable[str], asked: set[str]) -> bool:
    """Whether the question contains all terms of one of the names."""
    return any(terms and asked.issuperset(terms) for terms in map(tokens.stems, names))


def _held(index: Index, labels: Mapping[str, str]) -> dict[str, set[int]]:
    """The visible passages that mention some nodes; none if there are many.

    What a night has noted counts, and what has all words of the label: a name that begins a sentence,
    or was told since, is found by them.
    """
    hidden = index.hidden()
    found: dict[str, set[int]] = {node: _with_words(index, name) for node, name in labels.items()}
    for node, row in graph_queries.rows_mentioning(index.connection, labels):
        if row not in hidden:
            found[node].add(row)
    return {node: rows for node, rows in found.items() if len(rows) <= MOST}


def _with_words(index: Index, name: str) -> set[int]:
    """The visible passages with all words of a name; none if each word is common."""
    counts = {
        term: postings.document_frequency(index.connection, term) for term in tokens.stems(name)
    }
    if not counts or min(counts.values()) > MOST:
        return set()
    rows = (
        {row for row, _, _ in index.postings(term)}
        for term in sorted(counts, key=lambda term: (counts[term], term))
    )
    found = next(rows)
    for more in rows:
        found &= more
    return found
