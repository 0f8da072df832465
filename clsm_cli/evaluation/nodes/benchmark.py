"""The node benchmark, in reading order: load, make stores, find concepts, write them, ask, compare.

What CLS-M measured on its own 45 queries, on a public set: which nodes of a graph of 132 does a
question activate? Gold are the nodes in the turns that answer it, and in its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.loaders.cases import load_json
from clsm_cli.evaluation.nodes import fit as nodes_fit
from clsm_cli.evaluation.nodes import inventory as nodes_inventory
from clsm_cli.evaluation.nodes import report as nodes_report
from clsm_cli.evaluation.nodes import store as nodes_store
from clsm_cli.evaluation.nodes.baselines import Baselines
from clsm_cli.evaluation.nodes.report import NodeReport, Posed, QuestionFigures
from clsm_cli.evaluation.ranking import runs
from clsm_cli.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.loaders.cases import Conversation
    from clsm_cli.evaluation.nodes.fit import Weighed
    from clsm_cli.evaluation.nodes.inventory import Inventory
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

CLSM, FIRST_TEN, REFIT = "clsm", "clsm, first ten", "clsm refit"
LEAST_GOLD = 2
"""Gold nodes of a question that counts."""
HUBS = 0.1
"""Share of the nodes, those with the most neighbours, that are hubs."""


class Asked(NamedTuple):
    """The questions of a conversation, and what each system returned for them in turn.

    Attributes:
        weighed: What recall weighs for each.
        hubs: Nodes with the most neighbours.
        returned: System → ids by question, best first.
    """

    posed: list[Posed]
    weighed: list[list[Weighed]]
    hubs: frozenset[str]
    returned: dict[str, list[list[str]]]


def run_nodes(path: Path, shop: Workshop, engine: Engine, seed: int) -> NodeReport:
    """Evaluate the concepts of recall on LoCoMo.

    Adversarial questions have no answer and are left out.

    Args:
        path: Folder of conversations, or the one file of all.
        shop: Where stores are made.
        engine: Makes the vectors of questions.
        seed: Of the bootstrap.

    Raises:
        BadInputError: The set cannot be read, or no question has two gold nodes.
    """
    conversations = locomo.load(path).conversations
    told = answers(path, conversations)
    asked: list[Asked] = []
    for number, conversation in enumerate(conversations):
        shop.progress("conversations", number, len(conversations))
        asked.append(_ask(conversation, told, shop, engine))
    posed = [each for found in asked for each in found.posed]
    if not posed:
        raise BadInputError(str(path), "has no question with two gold nodes", "give the whole set")
    weights = _fitted(asked)
    returned = _returned(asked, weights)
    hubs = [found.hubs for found in asked for _ in found.posed]
    measured = {
        name: [nodes_report.measures(*each) for each in zip(posed, ids, hubs, strict=True)]
        for name, ids in returned.items()
    }
    return NodeReport(
        data={
            "conversations": len(conversations),
            "questions": len(posed),
            "with further nodes in the answer": sum(bool(each.told) for each in posed),
            "gold nodes": sum(len(each.gold) for each in posed),
        },
        systems=tuple(
            nodes_report.figures(name, posed, each, seed) for name, each in measured.items()
        ),
        weights={
            name: dict(zip(nodes_fit.NAMES, found, strict=True)) for name, found in weights.items()
        },
        questions=tuple(
            QuestionFigures(
                each.id,
                each.conversation,
                each.category,
                tuple(sorted(each.gold)),
                tuple(sorted(each.told)),
                {name: tuple(found[at]) for name, found in returned.items()},
            )
            for at, each in enumerate(posed)
        ),
    )


def answers(path: Path, conversations: Iterable[Conversation]) -> dict[str, str]:
    """The answers of a set that was loaded from ``path``, by the ids of the questions."""
    samples: list[Any] = (
        [load_json(file) for file in sorted(path.glob("*.json"))]
        if path.is_dir()
        else load_json(path)
    )
    return {
        f"{conversation.name}-{number}": str(row.get("answer", ""))
        for conversation, sample in zip(conversations, samples, strict=True)
        for number, row in enumerate(sample["qa"], 1)
    }


def pose(
    conversation: Conversation, told: Mapping[str, str], inventory: Inventory
) -> tuple[list[Posed], list[str]]:
    """The questions with enough gold nodes, and their texts."""
    ids = {concept.stems: node_id(concept.label) for concept in inventory.concepts}
    held: dict[str, set[str]] = {}
    for concept in inventory.concepts:
        for turn in concept.turns:
            held.setdefault(turn, set()).add(ids[concept.stems])
    posed: list[Posed] = []
    texts: list[str] = []
    for question in conversation.questions:
        if question.category == locomo.ADVERSARIAL:
            continue
        named = {ids[stems] for stems in inventory.found_in(question.text)}
        answer = {ids[stems] for stems in inventory.found_in(told[question.id])}
        gold = answer.union(*(held.get(turn, set()) for turn in question.gold))
        if len(gold) >= LEAST_GOLD:
            posed.append(
                Posed(
                    question.id,
                    conversation.name,
                    question.category,
                    frozenset(gold),
                    frozenset(answer - named),
                )
            )
            texts.append(question.text)
    return posed, texts


def _ask(
    conversation: Conversation, told: Mapping[str, str], shop: Workshop, engine: Engine
) -> Asked:
    inventory = nodes_inventory.inventory(conversation)
    made = stores.of_conversation(shop, conversation)
    noded = nodes_store.with_nodes(shop, made, conversation, inventory, "nodes")
    posed, texts = pose(conversation, told, inventory)
    mentions: dict[str, list[str]] = {}
    for concept in inventory.concepts:
        for turn in concept.turns:
            mentions.setdefault(turn, []).append(node_id(concept.label))
    returned: dict[str, list[list[str]]] = {}
    baselines = Baselines(conversation, noded, mentions, shop.embedder.embed(), engine)
    units = {turn.id: turn.unit for turn in conversation.turns}
    with runs.asking(
        noded.store, lambda p: units.get(p.foreign_id or ""), shop.embedder, engine, made.now
    ) as asker:
        for number, text in enumerate(texts):
            shop.progress(f"questions to {conversation.name}", number, len(texts))
            for name, ids in baselines.rankings(text, asker).items():
                returned.setdefault(name, []).append(ids)
    found = runs.answered(noded.store, texts, shop.embedder, engine, made.now)
    returned[CLSM] = [[concept.id for concept in answer.concepts] for answer in found]
    with open_index(noded.store, shop.embedder) as opened:
        weighed = [
            nodes_fit.weigh(opened.index, engine, text, made.now.isoformat()) for text in texts
        ]
    returned[FIRST_TEN] = [
        nodes_fit.first(each, nodes_fit.SHIPPED, nodes_report.K) for each in weighed
    ]
    return Asked(posed, weighed, _hubs(mentions), returned)


def _returned(
    asked: Sequence[Asked], weights: Mapping[str, Sequence[float]]
) -> dict[str, list[list[str]]]:
    """What each system returned for all questions, with the weights fitted elsewhere at the end."""
    returned: dict[str, list[list[str]]] = {}
    for found in asked:
        for name, ids in found.returned.items():
            returned.setdefault(name, []).extend(ids)
        for posed, weighed in zip(found.posed, found.weighed, strict=True):
            fitted = weights.get(f"without {posed.conversation}")
            if fitted is not None:
                chosen = nodes_fit.returned(weighed, fitted, nodes_report.K)
                returned.setdefault(REFIT, []).append(chosen)
    return returned


def _fitted(asked: Sequence[Asked]) -> dict[str, Sequence[float]]:
    """The shipped weights, and those fitted on all conversations but one; none from one alone."""
    found: dict[str, Sequence[float]] = {"shipped": nodes_fit.SHIPPED}
    known = [each for each in asked if each.posed]
    for left_out in known if len(known) > 1 else ():
        others = [each for each in known if each is not left_out]
        found[f"without {left_out.posed[0].conversation}"] = nodes_fit.fit(
            [weighed for each in others for weighed in each.weighed],
            [posed.gold for each in others for posed in each.posed],
        )
    return found


def _hubs(mentions: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The nodes that share turns with the most others."""
    beside: dict[str, set[str]] = {}
    for found in mentions.values():
        for node in found:
            beside.setdefault(node, set()).update(found)
    order = sorted(beside, key=lambda node: (-len(beside[node]), node))
    return frozenset(order[: int(HUBS * len(order))])
