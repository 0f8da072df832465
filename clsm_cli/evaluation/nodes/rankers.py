"""Rankings of concepts: those of the best passages, and clsm's with refitted weights."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.evaluation import rank_fit
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.nodes.planted import case_chat, choose_concepts, name_keys
from clsm_cli.retrieval import concepts
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.scoring import relevance
from clsm_cli.scoring.relevance import Evidence
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.nodes.planted import Concept
    from clsm_cli.evaluation.rank_fit import CandidateTable

    Floats = NDArray[np.float64]

MOST = 10
"""Concepts returned."""
FIRST, POWER, KEEP = 5, 4, 0.30
"""Passages that concepts are read from, the exponent of their score, and the share of the best
concept below which one is left out."""
PASSAGES, REFIT = "five passages, keep .30", "clsm refit"
"""The nodes of the best five passages; recall with weights fitted on the other conversations."""
SHIPPED = (*relevance.WEIGHTS, relevance.BIAS)
"""Weights of the evidence in its order, then the bias."""
RIDGE = 1e-2
"""Pull of the weights to 0; keeps evidence that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about ten are needed."""


def passage_ranker(
    found: Sequence[Concept], weights: Sequence[float]
) -> Callable[[str, CandidateTable], list[str]]:
    """Ranks nodes by Σ score⁴ of the best passages that mention them; one that is named comes first."""
    import numpy as np

    names = {node_id(each.label): _pattern((each.label, *each.aliases)) for each in found}
    mentions: dict[str, list[str]] = {}
    for each in found:
        for turn in each.turns:
            mentions.setdefault(turn, []).append(node_id(each.label))

    def ranked(question: str, run: CandidateTable) -> list[str]:
        scores = run.signals @ np.asarray(weights)
        worth: dict[str, float] = {}
        for at in np.argsort(-scores, kind="stable")[:FIRST].tolist():
            for node in mentions.get(run.units[at], ()):
                worth[node] = worth.get(node, 0.0) + max(0.0, float(scores[at])) ** POWER
        best = max(worth.values(), default=0.0) or 1.0
        shares = {node: value / best for node, value in worth.items()}
        shares |= {node: 1.0 for node, pattern in names.items() if pattern.search(question)}
        kept = [node for node, share in shares.items() if share >= KEEP]
        return sorted(kept, key=lambda node: (-shares[node], node))[:MOST]

    return ranked


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    found = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)


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


class _Asked(NamedTuple):
    """A conversation: the names of its nodes, what recall weighs for each question, what is returned."""

    bench: Bench
    queries: Sequence[Query]
    names: Mapping[str, frozenset[str]]
    weighed: list[list[ScoredNode]]
    by_passages: list[list[str]]

    def retrieved(self, returned: Sequence[Sequence[str]]) -> list[Retrieved]:
        """Nodes by question, as answers."""
        return [
            Retrieved((), tuple(tuple(sorted(self.names[node])) for node in ids))
            for ids in returned
        ]


def rank(
    benches: Sequence[Bench], queries: Sequence[Sequence[Query]]
) -> dict[str, list[list[Retrieved]]]:
    """The concepts that each way returns for each question of each conversation.

    Returns:
        System → by case, by query: concepts alone. ``clsm refit`` is there with two cases or more.
    """
    asked = [_ask(bench, those) for bench, those in zip(benches, queries, strict=True)]
    found = {PASSAGES: [each.retrieved(each.by_passages) for each in asked]}
    if sum(bool(each.queries) for each in asked) > 1:
        found[REFIT] = [
            each.retrieved(_refitted(each, [other for other in asked if other is not each]))
            for each in asked
        ]
    return found


def _ask(bench: Bench, queries: Sequence[Query]) -> _Asked:
    settings = bench.store.settings.recall
    found = choose_concepts(case_chat(bench.case)).concepts
    ranked = passage_ranker(found, signal_weights(settings))
    weighed: list[list[ScoredNode]] = []
    by_passages = []
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
            by_passages.append(ranked(query.text, asker.run(passages)))
    names = {node_id(concept.label): name_keys(concept) for concept in found}
    return _Asked(bench, queries, names, weighed, by_passages)


def _refitted(asked: _Asked, others: Sequence[_Asked]) -> list[list[str]]:
    """What recall would return with the weights under which the gold of the others is likeliest."""
    import numpy as np

    table, labels = [], []
    for each in others:
        for query, found in zip(each.queries, each.weighed, strict=True):
            for node in found:
                names = each.names.get(node.id, frozenset())
                table.append(node.evidence)
                labels.append(any(concept & names for concept in query.concepts))
    weights = logistic(np.asarray(table, np.float64), np.asarray(labels, np.float64)).tolist()
    beta = asked.bench.store.settings.recall.concept_beta
    return [returned_nodes(weighed, weights, MOST, beta) for weighed in asked.weighed]
