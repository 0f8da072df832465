"""Rankings of concepts: clsm, clsm with refitted weights, and baselines.

Of what it is compared with, only the last looks at the passages that recall finds.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas, rank_fit
from clsm_cli.evaluation.loaders.locomo import without_names
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.nodes.planted import case_chat, choose_concepts, name_keys, store_edges
from clsm_cli.retrieval import concepts
from clsm_cli.scoring import match, relevance
from clsm_cli.scoring.match import spread
from clsm_cli.scoring.relevance import Evidence
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Chat, Query
    from clsm_cli.evaluation.nodes.planted import Inventory
    from clsm_cli.evaluation.rank_fit import CandidateTable
    from clsm_cli.model.graph import Edge
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.vectors import Embed

    Floats = NDArray[np.float64]

MOST = 10
"""Concepts returned."""
SEEDS = 5
"""Of the hybrid, that activation starts from."""
HYBRID, SPREADING = "hybrid seeds", "hybrid + spreading"
PASSAGES = "five passages, keep .30"
K1, B = 1.2, 0.75
"""BM25 over contexts, which are as long as pages: Lucene's."""
FIRST, POWER, KEEP = 5, 4, 0.30
"""Passages that concepts are read from, the exponent of their score, and the share of the best
concept below which one is left out."""


class Baselines:
    """Rankings of a conversation's nodes, in the order of their ids."""

    def __init__(
        self,
        chat: Chat,
        inventory: Inventory,
        edges: Sequence[Edge],
        embed: Embed,
        engine: Engine,
        weights: Sequence[float],
    ) -> None:
        import numpy as np

        concepts = {node_id(each.label): each for each in inventory.concepts}
        self._ids = tuple(sorted(concepts))
        self._people, self._engine, self._weights = chat.participants, engine, weights
        self._names = [_pattern([concepts[i].label, *concepts[i].aliases]) for i in self._ids]
        found = np.stack([each.sentence for each in embed([concepts[i].label for i in self._ids])])
        self._vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        said = {turn.id: tokens.stems(turn.text) for turn in chat.turns}
        turns = [concepts[i].turns for i in self._ids]
        self._terms = [Counter(term for turn in held for term in said[turn]) for held in turns]
        self._mentions: dict[str, list[int]] = {}
        for at, held in enumerate(turns):
            for turn in held:
                self._mentions.setdefault(turn, []).append(at)
        self._graph = _graph(edges, {node: at for at, node in enumerate(self._ids)})

    def rankings(self, question: str, run: CandidateTable) -> dict[str, list[str]]:
        """The ids that each baseline returns for a question, best first."""
        named = [at for at, name in enumerate(self._names) if name.search(question)]
        hybrid = self._hybrid(question, named)
        best = sorted(range(len(hybrid)), key=lambda node: (-hybrid[node], node))[:MOST]
        seeds = {node: min(1.0, hybrid[node]) for node in best[:SEEDS]}
        return {
            HYBRID: self._first({node: hybrid[node] for node in best}),
            SPREADING: self._first(formulas.spread(seeds, self._links)),
            PASSAGES: self._first(self._of_passages(named, run)),
        }

    def _first(self, scores: Mapping[int, float]) -> list[str]:
        order = sorted(scores, key=lambda node: (-scores[node], node))
        return [self._ids[node] for node in order[:MOST]]

    def _hybrid(self, question: str, named: Sequence[int]) -> list[float]:
        """The mean of name, BM25 over contexts and cosine of the label, each 0 … 1; a name ×1.2."""
        import numpy as np

        asked = self._engine.encode(without_names(question, self._people)).sentence
        by_meaning = spread((self._vectors @ np.asarray(asked, dtype=np.float64)).tolist())
        by_words = spread(self._bm25(question))
        return [
            (1.2 * (node in named) + by_words[node] + by_meaning[node]) / 3
            for node in range(len(self._ids))
        ]

    def _bm25(self, question: str) -> list[float]:
        lengths = [sum(counts.values()) for counts in self._terms]
        average, count = sum(lengths) / len(lengths), len(lengths)
        scores: dict[int, float] = {}
        for term in dict.fromkeys(tokens.stems(question)):
            found = [(at, n, lengths[at]) for at, c in enumerate(self._terms) if (n := c[term])]
            match.add_bm25(scores, found, match.idf(count, len(found)), average, k1=K1, b=B)
        return [scores.get(node, 0.0) for node in range(count)]

    def _links(self, nodes: Sequence[int]) -> list[formulas.Link]:
        return [
            formulas.Link(node, other, weight, len(self._graph[other]), dormant=False)
            for node in nodes
            for other, weight in sorted(self._graph.get(node, {}).items())
        ]

    def _of_passages(self, named: Sequence[int], run: CandidateTable) -> dict[int, float]:
        """Σ score⁴ of the best passages that mention a node, as a share of the most; a name has 1."""
        import numpy as np

        scores = run.signals @ np.asarray(self._weights)
        found: dict[int, float] = {}
        for at in np.argsort(-scores, kind="stable")[:FIRST].tolist():
            for node in self._mentions.get(run.units[at], ()):
                found[node] = found.get(node, 0.0) + max(0.0, float(scores[at])) ** POWER
        best = max(found.values(), default=0.0) or 1.0
        shares = {node: value / best for node, value in found.items()} | dict.fromkeys(named, 1.0)
        return {node: share for node, share in shares.items() if share >= KEEP}


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    found = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)


def _graph(edges: Sequence[Edge], number: Mapping[str, int]) -> dict[int, dict[int, float]]:
    """Weights as shares of the strongest edge of either end: association is .17 at most."""
    pairs = [(number[e.source], number[e.target], e.weight) for e in edges]
    strongest: dict[int, float] = {}
    for a, b, weight in pairs:
        strongest |= {node: max(strongest.get(node, 0.0), weight) for node in (a, b)}
    graph: dict[int, dict[int, float]] = {}
    for a, b, weight in pairs:
        share = weight / min(strongest[a], strongest[b])
        graph.setdefault(a, {})[b] = graph.setdefault(b, {})[a] = share
    return graph


SHIPPED = (*relevance.WEIGHTS, relevance.BIAS)
"""Weights of the evidence in its order, then the bias."""
RIDGE = 1e-2
"""Pull of the weights to 0; keeps evidence that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about ten are needed."""


class ScoredNode(NamedTuple):
    """A node with evidence that a question is about it."""

    id: str
    evidence: Evidence
    is_named: bool


def returned_nodes(
    weighed: Sequence[ScoredNode], weights: Sequence[float], most: int, beta: float
) -> list[str]:
    """What is returned under some weights (the bias last): the likeliest nodes, cut as recall does."""
    fitted, bias = Evidence(*weights[:-1]), weights[-1]
    found = sorted(
        (-relevance.probability(each.evidence, fitted, bias, is_named=each.is_named), each.id)
        for each in weighed
    )
    return [node for _, node in found[: relevance.cut_size([-p for p, _ in found], most, beta)]]


def logistic(table: Floats, labels: Floats, counts: Floats | None = None) -> Floats:
    """Logistic regression by Newton's method: the weights w and, last, the bias.

    L(w) = Σ c (y log p + (1 − y) log(1 − p)) − ½ · ridge · |w|²,  p = 1 / (1 + exp(−w·x)), is concave,
    so there is one maximum.

    Args:
        table: float64 [samples, evidence].
        labels: float64 [samples], 0 or 1.
        counts: float64 [samples], what each counts; None: 1.

    >>> import numpy as np
    >>> weights = logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 0.0, 1.0]))
    >>> bool(weights[0] > 1 and weights[1] < -1)
    True
    """
    import numpy as np

    rows = np.hstack([table, np.ones((len(table), 1))])
    each = np.ones(len(table)) if counts is None else counts
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (each * (labels - chances)) - RIDGE * weights
        curvature = (rows * (each * chances * (1 - chances))[:, None]).T @ rows
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(weights)), gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights


REFIT = "clsm refit"
ABOUT = {
    HYBRID: "name, BM25 over the turns that mention a node, cosine of its label: the mean of the three",
    SPREADING: f"the same, activation from the best {SEEDS} over the edges as CLS-M spreads it",
    PASSAGES: f"nodes in the best {FIRST} passages, above {KEEP:g} of the best one",
    REFIT: "recall's probability fitted on the other conversations, leave one out; its cut",
}
"""Each system in a line."""


class _Asked(NamedTuple):
    """A conversation, and what each system returned for its questions in turn.

    Attributes:
        names: Node → the keys of its names.
        weighed: What recall weighs for each question.
        returned: System → ids by question, best first.
        beta: Of the cut of recall.
    """

    queries: tuple[Query, ...]
    names: Mapping[str, frozenset[str]]
    weighed: list[list[ScoredNode]]
    returned: dict[str, list[list[str]]]
    beta: float

    def is_gold(self) -> list[bool]:
        """Of each node that is weighed for each question, whether it is a gold one."""
        return [
            any(concept & self.names.get(node.id, frozenset()) for concept in query.concepts)
            for query, found in zip(self.queries, self.weighed, strict=True)
            for node in found
        ]


def rank(
    benches: Sequence[Bench], queries: Sequence[Sequence[Query]]
) -> dict[str, list[list[Retrieved]]]:
    """The concepts that each way returns for each question of each conversation.

    Returns:
        System → by case, by query: concepts alone. ``clsm refit`` is there with two cases or more.
    """
    asked = [_ask(bench, those) for bench, those in zip(benches, queries, strict=True)]
    for each in asked:
        others = [other for other in asked if other is not each and other.queries]
        if others:
            each.returned[REFIT] = _refitted(each, others)
    systems = dict.fromkeys(name for each in asked for name in each.returned)
    return {
        name: [
            [
                Retrieved((), tuple(tuple(sorted(each.names[node])) for node in ids))
                for ids in each.returned.get(name, ())
            ]
            for each in asked
        ]
        for name in systems
        if all(name in each.returned for each in asked if each.queries)
    }


def _ask(bench: Bench, queries: Sequence[Query]) -> _Asked:
    chat, settings = case_chat(bench.case), bench.store.settings.recall
    found = choose_concepts(chat)
    edges, embed = store_edges(bench.store), bench.factory.embedder.embed()
    baselines = Baselines(chat, found, edges, embed, bench.engine, rank_fit.weights(settings))
    returned: dict[str, list[list[str]]] = {}
    weighed = []
    with open_index(bench.store, bench.factory.embedder) as opened:
        asker = rank_fit.QueryRunner(opened.index, settings, bench.engine, "turn")
        for number, query in enumerate(queries):
            bench.factory.progress(f"concepts of {bench.case.name}", number, len(queries))
            passages = asker.find(query.text, bench.time_of(query))
            scored = concepts.score_concepts(
                opened.index, query.text, passages.candidates, passages.cosines
            )
            weighed.append(
                sorted(
                    ScoredNode(each.node.id, each.evidence, each.seed in concepts.BY_NAME)
                    for each in scored
                )
            )
            for name, ids in baselines.rankings(query.text, asker.run(passages)).items():
                returned.setdefault(name, []).append(ids)
    named = {node_id(concept.label): name_keys(concept) for concept in found.concepts}
    return _Asked(tuple(queries), named, weighed, returned, settings.concept_beta)


def _refitted(asked: _Asked, others: Sequence[_Asked]) -> list[list[str]]:
    """What recall would return with the weights under which the gold of the others is likeliest."""
    import numpy as np

    table = [node.evidence for each in others for found in each.weighed for node in found]
    labels = [label for each in others for label in each.is_gold()]
    weights = logistic(np.asarray(table, np.float64), np.asarray(labels, np.float64)).tolist()
    return [returned_nodes(weighed, weights, MOST, asked.beta) for weighed in asked.weighed]
