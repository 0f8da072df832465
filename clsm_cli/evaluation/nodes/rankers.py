"""The concepts of a question by each way to rank them, in reading order: ask, fit, return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.nodes import fit
from clsm_cli.evaluation.nodes.baselines import (
    FIRST,
    HYBRID,
    KEEP,
    MOST,
    NAMES,
    PAGERANK,
    PASSAGES,
    SEEDS,
    SPREADING,
    Baselines,
)
from clsm_cli.evaluation.nodes.gold import names
from clsm_cli.evaluation.nodes.inventory import inventory
from clsm_cli.evaluation.nodes.store import chat_of, edges_of
from clsm_cli.evaluation.ranking import runs
from clsm_cli.evaluation.retrieved import Retrieved
from clsm_cli.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.nodes.fit import Weighed

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
    weighed: list[list[Weighed]]
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
    """Ask everything that needs no other conversation."""
    chat, settings = chat_of(bench.case), bench.store.settings.recall
    found = inventory(chat)
    edges, embed = edges_of(bench.store), bench.shop.embedder.embed()
    baselines = Baselines(chat, found, edges, embed, bench.engine, runs.weights(settings))
    returned: dict[str, list[list[str]]] = {}
    weighed = []
    with open_index(bench.store, bench.shop.embedder) as opened:
        asker = runs.Asker(opened.index, settings, bench.engine, "turn")
        for number, query in enumerate(queries):
            bench.shop.progress(f"concepts of {bench.case.name}", number, len(queries))
            passages = asker.find(query.text, bench.time_of(query))
            ranked = baselines.rankings(query.text, asker.run(passages))
            weighed.append(fit.weigh(opened.index, query.text, passages))
            ranked[FIRST_TEN] = fit.first(weighed[-1], fit.SHIPPED, MOST)
            for name, ids in ranked.items():
                returned.setdefault(name, []).append(ids)
    named = {node_id(concept.label): names(concept) for concept in found.concepts}
    return _Asked(tuple(queries), named, weighed, returned, settings.concept_beta)


def _refitted(asked: _Asked, others: Sequence[_Asked]) -> list[list[str]]:
    """What is returned for each question with the weights that the others teach."""
    weights = fit.fit(
        [weighed for each in others for weighed in each.weighed],
        [gold for each in others for gold in each.gold()],
    )
    return [fit.returned(weighed, weights, MOST, asked.beta) for weighed in asked.weighed]


def _concepts(
    named: Mapping[str, frozenset[str]], ids: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(named[node])) for node in ids)
