"""Rankings of concepts: clsm, clsm with refitted weights, and baselines.

Of what it is compared with, only the last looks at the passages that recall finds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas, rank_fit
from clsm_cli.evaluation.loaders.locomo import without_names
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.nodes.planted import case_chat, choose_concepts, name_keys, store_edges
from clsm_cli.retrieval import concepts
from clsm_cli.scoring import match, relevance
from clsm_cli.scoring.relevance import Evidence
from clsm_cli.scoring.weighting import spread
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
    from clsm_cli.retrieval.ranking import Ranked
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.vectors import Embed

    Floats = NDArray[np.float64]

MOST = 10
"""Concepts returned."""
SEEDS = 5
"""Of the hybrid, that activation starts from."""
NAMES, HYBRID, SPREADING = "names in the question", "hybrid seeds", "hybrid + spreading"
PAGERANK, PASSAGES = "hybrid + PageRank", "five passages, keep .30"
CLS_M = formulas.Spreading(threshold=0.15, damping=0.2)
"""CLS-M after its consolidation (§5.3), with the damping of its text."""
K1, B = 1.2, 0.75
"""BM25 over contexts, which are as long as pages: Lucene's."""
FIRST, POWER, KEEP = 5, 4, 0.30
"""Passages that concepts are read from, the exponent of their score, and the share of the best
concept below which one is left out."""


class Texts(NamedTuple):
    """What the baselines know of a conversation's nodes, in the order of their ids.

    Attributes:
        names: Label and aliases of each, as a pattern of whole words.
        vectors: Unit vectors of the labels, float64 [nodes, 384].
        terms: Terms of the turns that mention each, with their number.
        mentions: Turn → the nodes that it mentions.
        graph: Node → neighbour → weight as a share of the strongest edge of either end.
    """

    ids: tuple[str, ...]
    names: tuple[re.Pattern[str], ...]
    vectors: Floats
    terms: tuple[Mapping[str, int], ...]
    mentions: Mapping[str, Sequence[int]]
    graph: dict[int, dict[int, float]]


class Baselines:
    """Rankings of a conversation's nodes.

    Args:
        chat: The turns.
        inventory: Its concepts, which are the nodes.
        edges: Between the nodes.
        embed: Makes the vectors of labels.
        engine: Makes those of questions.
        weights: Of the signals of passages, as shipped.
    """

    def __init__(
        self,
        chat: Chat,
        inventory: Inventory,
        edges: Sequence[Edge],
        embed: Embed,
        engine: Engine,
        weights: Sequence[float],
    ) -> None:
        self._texts = _texts(chat, inventory, edges, embed)
        self._people = chat.participants
        self._engine = engine
        self._weights = weights

    def rankings(self, question: str, run: CandidateTable) -> dict[str, list[str]]:
        """The ids that each baseline returns for a question, best first.

        Args:
            question: What is asked.
            run: The candidates that retrieval finds for it.
        """
        named = self._named(question)
        hybrid = self._hybrid(question, named)
        best = sorted(range(len(hybrid)), key=lambda node: (-hybrid[node], node))[:MOST]
        seeds = {node: min(1.0, hybrid[node]) for node in best[:SEEDS]}
        reached = formulas.spread(seeds, self._links, CLS_M)
        walked = formulas.pagerank(self._texts.graph, seeds, damping=0.5)
        return {
            NAMES: self._first(dict.fromkeys(named, 1.0)),
            HYBRID: self._first({node: hybrid[node] for node in best}),
            SPREADING: self._first(reached),
            PAGERANK: self._first(walked),
            PASSAGES: self._first(self._of_passages(named, run)),
        }

    def _first(self, scores: Mapping[int, float]) -> list[str]:
        order = sorted(scores, key=lambda node: (-scores[node], node))
        return [self._texts.ids[node] for node in order[:MOST]]

    def _named(self, question: str) -> list[int]:
        return [at for at, name in enumerate(self._texts.names) if name.search(question)]

    def _hybrid(self, question: str, named: Sequence[int]) -> list[float]:
        """The mean of name, BM25 over contexts and cosine of the label, each 0 … 1; a name ×1.2."""
        import numpy as np

        asked = self._engine.encode(without_names(question, self._people)).sentence
        cosines = self._texts.vectors @ np.asarray(asked, dtype=np.float64)
        by_words = spread(self._bm25(question))
        by_meaning = spread(cosines.tolist())
        return [
            (1.2 * (node in named) + by_words[node] + by_meaning[node]) / 3
            for node in range(len(cosines))
        ]

    def _bm25(self, question: str) -> list[float]:
        held = self._texts.terms
        lengths = [sum(counts.values()) for counts in held]
        average = sum(lengths) / len(lengths)
        scores: dict[int, float] = {}
        for term in dict.fromkeys(tokens.stems(question)):
            found = [
                (at, counts[term], lengths[at]) for at, counts in enumerate(held) if term in counts
            ]
            match.add_bm25(scores, found, match.idf(len(held), len(found)), average, k1=K1, b=B)
        return [scores.get(node, 0.0) for node in range(len(held))]

    def _links(self, nodes: Sequence[int]) -> list[formulas.Link]:
        graph = self._texts.graph
        return [
            formulas.Link(node, other, weight, len(graph[other]), dormant=False)
            for node in nodes
            for other, weight in sorted(graph.get(node, {}).items())
        ]

    def _of_passages(self, named: Sequence[int], run: CandidateTable) -> dict[int, float]:
        """Σ score⁴ of the best passages that mention a node, as a share of the most; a name has 1."""
        import numpy as np

        scores = run.signals @ np.asarray(self._weights)
        found: dict[int, float] = {}
        for at in np.argsort(-scores, kind="stable")[:FIRST].tolist():
            for node in self._texts.mentions.get(run.units[at], ()):
                found[node] = found.get(node, 0.0) + max(0.0, float(scores[at])) ** POWER
        best = max(found.values(), default=0.0) or 1.0
        shares = {node: value / best for node, value in found.items()} | dict.fromkeys(named, 1.0)
        return {node: share for node, share in shares.items() if share >= KEEP}


def _texts(chat: Chat, inventory: Inventory, edges: Sequence[Edge], embed: Embed) -> Texts:
    import numpy as np

    concepts = {node_id(each.label): each for each in inventory.concepts}
    ids = tuple(sorted(concepts))
    number = {node: at for at, node in enumerate(ids)}
    noted: dict[str, list[int]] = {}
    for each in inventory.concepts:
        for held in each.turns:
            noted.setdefault(held, []).append(number[node_id(each.label)])
    terms: list[dict[str, int]] = [{} for _ in ids]
    for turn in chat.turns:
        stems = tokens.stems(turn.text)
        for node in noted.get(turn.id, ()):
            for term in stems:
                terms[node][term] = terms[node].get(term, 0) + 1
    vectors = np.stack([each.sentence for each in embed([concepts[i].label for i in ids])])
    return Texts(
        ids=ids,
        names=tuple(_pattern([concepts[i].label, *concepts[i].aliases]) for i in ids),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        terms=tuple(terms),
        mentions=noted,
        graph=_graph(edges, number),
    )


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    found = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)


def _graph(edges: Sequence[Edge], number: Mapping[str, int]) -> dict[int, dict[int, float]]:
    """Weights as shares of the strongest edge of either end: association is .17 at most."""
    pairs = [(number[e.source], number[e.target], e.weight) for e in edges]
    strongest: dict[int, float] = {}
    for a, b, weight in pairs:
        strongest[a] = max(strongest.get(a, 0.0), weight)
        strongest[b] = max(strongest.get(b, 0.0), weight)
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


def score_nodes(index: Index, question: str, ranked: Ranked) -> list[ScoredNode]:
    """What recall weighs for a question, in order of ids; every confidence counts.

    Args:
        index: As ``ranked`` left it.
        question: What is asked.
        ranked: The passages that were found for it.
    """
    found = concepts.score_concepts(index, question, ranked.candidates, ranked.cosines)
    return sorted(
        ScoredNode(each.node.id, each.evidence, each.seed in concepts.BY_NAME) for each in found
    )


def best_nodes(weighed: Sequence[ScoredNode], weights: Sequence[float], most: int) -> list[str]:
    """The likeliest nodes under some weights."""
    return [node for _, node in _ordered(weighed, weights)[:most]]


def returned_nodes(
    weighed: Sequence[ScoredNode], weights: Sequence[float], most: int, beta: float
) -> list[str]:
    """What is returned under some weights: the likeliest nodes, cut as recall cuts them.

    Args:
        weighed: What speaks for each node.
        weights: Of the evidence, then the bias.
        most: Nodes at most.
        beta: By how much more recall counts than precision (``relevance.cut_size``).
    """
    found = _ordered(weighed, weights)
    return [node for _, node in found[: relevance.cut_size([-p for p, _ in found], most, beta)]]


def _ordered(weighed: Sequence[ScoredNode], weights: Sequence[float]) -> list[tuple[float, str]]:
    fitted, bias = Evidence(*weights[:-1]), weights[-1]
    return sorted(
        (-relevance.probability(each.evidence, fitted, bias, is_named=each.is_named), each.id)
        for each in weighed
    )


def fit(weighed: Sequence[Sequence[ScoredNode]], gold: Sequence[frozenset[str]]) -> list[float]:
    """The weights under which the gold nodes of some questions are likeliest.

    A gold node that nothing speaks for is left out: nothing could be learnt from it.

    Args:
        weighed: Of each question.
        gold: Its gold nodes.
    """
    import numpy as np

    table = [each.evidence for found in weighed for each in found]
    labels = [each.id in ids for found, ids in zip(weighed, gold, strict=True) for each in found]
    found = logistic(np.asarray(table, np.float64), np.asarray(labels, np.float64))
    return [float(weight) for weight in found]


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


FIRST_TEN, REFIT = "clsm, first ten", "clsm refit"
ABOUT = {
    NAMES: "the nodes whose label or alias stands in the question",
    HYBRID: "name, BM25 over the turns that mention a node, cosine of its label: the mean of the three",
    SPREADING: f"the same, activation from the best {SEEDS} over the edges as CLS-M spreads it",
    PAGERANK: f"the same, Personalised PageRank from the best {SEEDS}",
    PASSAGES: f"nodes in the best {FIRST} passages, above {KEEP:g} of the best one",
    FIRST_TEN: f"the first {MOST} that recall weighs, without its cut",
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

    def gold(self) -> list[frozenset[str]]:
        """The gold nodes of each question, by id."""
        return [
            frozenset(
                node
                for node, found in self.names.items()
                if any(not found.isdisjoint(concept) for concept in query.concepts)
            )
            for query in self.queries
        ]


def rank(
    benches: Sequence[Bench], queries: Sequence[Sequence[Query]]
) -> dict[str, list[list[Retrieved]]]:
    """The concepts that each way returns for each question of each conversation.

    Args:
        benches: All cases of a node set.
        queries: What each is asked.

    Returns:
        System → by case, by query: concepts alone. ``clsm, first ten`` is what recall weighs, not
        cut; ``clsm refit`` what it would return with weights fitted on the other conversations,
        and there with two or more.
    """
    asked = [_ask(bench, those) for bench, those in zip(benches, queries, strict=True)]
    for each in asked:
        others = [other for other in asked if other is not each and other.queries]
        if others:
            each.returned[REFIT] = _refitted(each, others)
    systems = dict.fromkeys(name for each in asked for name in each.returned)
    return {
        name: [
            [Retrieved((), _concepts(each.names, ids)) for ids in each.returned.get(name, ())]
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
            ranked = baselines.rankings(query.text, asker.run(passages))
            weighed.append(score_nodes(opened.index, query.text, passages))
            ranked[FIRST_TEN] = best_nodes(weighed[-1], SHIPPED, MOST)
            for name, ids in ranked.items():
                returned.setdefault(name, []).append(ids)
    named = {node_id(concept.label): name_keys(concept) for concept in found.concepts}
    return _Asked(tuple(queries), named, weighed, returned, settings.concept_beta)


def _refitted(asked: _Asked, others: Sequence[_Asked]) -> list[list[str]]:
    weights = fit(
        [weighed for each in others for weighed in each.weighed],
        [gold for each in others for gold in each.gold()],
    )
    return [returned_nodes(weighed, weights, MOST, asked.beta) for weighed in asked.weighed]


def _concepts(
    named: Mapping[str, frozenset[str]], ids: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(named[node])) for node in ids)
