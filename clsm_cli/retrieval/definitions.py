"""Definitions answer a question about one thing alone ("who is Noor?", "the garage", "Lantern").

Every passage with its name has all words of such a question, so nothing in them decides which one says what
it is. The graph does: a node knows the turns that its summary is taken from. Those are passages that are
reached from the question's node over one edge, so they join the candidates and stand before the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval import entity_linking
from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.graph_queries import NodeRow
    from clsm_cli.store.index.index_queries import Index

MAX_NODES = 2
"""Things of one name that are defined, at most; the more often mentioned come first."""
MIN_SCORE = 0.6
"""How well a sentence of a passage must define the thing (``text.summaries``): "Noor: Ilse's niece" does,
"Noor is tired" does not."""
_STEP = 1e-3
"""Difference of scores by which a definition precedes the next item."""


def defining_rows(index: Index, question: Question) -> list[int]:
    """The passages that define what a question is only about, the best first; none for other questions."""
    if not 0 < len(question.terms) <= entity_linking.MAX_NAME_WORDS or question.periods:
        return []
    nodes = graph_queries.nodes(
        index.connection, entity_linking.link_entities(index, question.text, {})
    )
    asked = {*question.terms}
    about = [
        node
        for node in nodes.values()
        if node.summary and any(asked.issubset(tokens.stems(name)) for name in node.names)
    ]
    about.sort(key=lambda node: (-node.n, node.id))
    return list(dict.fromkeys(row for each in about[:MAX_NODES] for row in _of_node(index, each)))


def _of_node(index: Index, node: NodeRow) -> Iterator[int]:
    """The passages of a node's summary that define it, the best first."""
    from clsm_cli.text.plain import to_plain
    from clsm_cli.text.sentences import sentences
    from clsm_cli.text.summaries import definition_score, opening

    record = index.node(node.id)
    rows = index.rows_of(record.sources) if record else []
    scores: dict[int, float] = {}
    for row, passage in index.passages(rows).items():
        told = [to_plain(each) for each in sentences(passage.text)]
        name, below = opening(passage.heading, passage.text)
        if passage.time is None and name in node.names:
            told.append(below)
        scores[row] = max((definition_score(each, node.label) for each in told), default=0.0)
    yield from sorted((r for r in scores if scores[r] >= MIN_SCORE), key=lambda r: -scores[r])


def to_front(candidates: Sequence[Candidate], rows: Sequence[int]) -> list[Candidate]:
    """The candidates, with some rows before all others, in their order."""
    top = max((each.score for each in candidates), default=0.0)
    scores = {row: round(top + _STEP * (len(rows) - n), 6) for n, row in enumerate(rows)}
    found = [_raised(each, scores.get(each.row, each.score)) for each in candidates]
    return sorted(found, key=lambda each: -each.score)


def _raised(candidate: Candidate, score: float) -> Candidate:
    """A candidate with a higher score, for which the graph gets the credit."""
    gain = score - candidate.score
    if gain <= 0:
        return candidate
    return candidate._replace(
        score=score,
        signals=candidate.signals._replace(graph=1.0),
        shares=candidate.shares._replace(graph=candidate.shares.graph + gain),
    )
