"""What the ranking of concepts is compared with: names, contexts and meaning, and a walk over edges.

None of it looks at the passages that recall finds but the last, which is the plainest way to do so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas
from clsm_cli.evaluation.loaders.strangers import without_names
from clsm_cli.records import NamedTuple
from clsm_cli.scoring import activation, bm25
from clsm_cli.scoring.fusion import spread
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.dataset import Chat
    from clsm_cli.evaluation.nodes.inventory import Inventory
    from clsm_cli.evaluation.ranking.runs import Run
    from clsm_cli.model.graph import Edge
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.vectors import Embed

    Floats = NDArray[np.float64]

MOST = 10
"""Concepts returned."""
SEEDS = 5
"""Of the hybrid, that activation starts from."""
NAMES, HYBRID, SPREADING = "names in the question", "hybrid seeds", "hybrid + spreading"
PAGERANK, PASSAGES = "hybrid + PageRank", "five passages, keep .30"
CLS_M = activation.Spreading(threshold=0.15, damping=0.2)
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

    def rankings(self, question: str, run: Run) -> dict[str, list[str]]:
        """The ids that each baseline returns for a question, best first.

        Args:
            question: What is asked.
            run: The candidates that retrieval finds for it.
        """
        named = self._named(question)
        hybrid = self._hybrid(question, named)
        best = sorted(range(len(hybrid)), key=lambda node: (-hybrid[node], node))[:MOST]
        seeds = {node: min(1.0, hybrid[node]) for node in best[:SEEDS]}
        reached = activation.spread(seeds, self._links, CLS_M)
        walked = formulas.pagerank(self._texts.graph, seeds, damping=0.5)
        return {
            NAMES: self._first(dict.fromkeys(named, 1.0)),
            HYBRID: self._first({node: hybrid[node] for node in best}),
            SPREADING: self._first({node: at.activation for node, at in reached.items()}),
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
            bm25.add(scores, found, bm25.idf(len(held), len(found)), average, k1=K1, b=B)
        return [scores.get(node, 0.0) for node in range(len(held))]

    def _links(self, nodes: Sequence[int]) -> list[activation.Link]:
        graph = self._texts.graph
        return [
            activation.Link(node, other, weight, len(graph[other]), dormant=False)
            for node in nodes
            for other, weight in sorted(graph.get(node, {}).items())
        ]

    def _of_passages(self, named: Sequence[int], run: Run) -> dict[int, float]:
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
