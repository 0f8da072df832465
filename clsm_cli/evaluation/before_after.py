"""LoCoMo before and after consolidation, as recall answers; the same questions, in pairs."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics, stores
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.ranking import runs
from clsm_cli.evaluation.report import Pair, grouped
from clsm_cli.evaluation.studies import memory_contents
from clsm_cli.evaluation.studies.memory_report import Gain, GainReport
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.evaluation.loaders.cases import Conversation
    from clsm_cli.evaluation.report import Figures
    from clsm_cli.evaluation.stores import Made, Workshop
    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.retrieval.meaning import Engine

K, BUDGET = 10, 1000
RECALL, IN_BUDGET = f"recall@{K}", f"tokens@{BUDGET}"
ITEMS = 200
"""Items of an answer that are looked at: more than fit ``BUDGET``."""
EVERYTHING = "all"


def run_consolidated(path: Path, shop: Workshop, engine: Engine, seed: int) -> GainReport:
    """Ask LoCoMo's questions of each store as it was ingested, and of a consolidated copy.

    Both are asked through ``recall`` with the shipped weights and floor. Adversarial questions are
    left out.

    Args:
        path: Folder of conversations, or the one file of all.
        shop: Where stores are made.
        engine: Makes the vectors of questions.
        seed: Of the bootstrap and of the random signs.

    Raises:
        BadInputError: The set cannot be read.
    """
    data = locomo.load(path)
    sizes: Counter[str] = Counter()
    gains: list[Gain] = []
    for number, conversation in enumerate(data.conversations):
        shop.progress("conversations", number, len(data.conversations))
        made = stores.of_conversation(shop, conversation)
        after = stores.Made(stores.consolidated(shop, made), made.now)
        held = memory_contents.read(after.store)
        gists = sum(row.kind == "gist" for row in held.rows.values())
        sizes.update(
            statements=len(held.held), gists=gists, nodes=len(held.nodes), edges=len(held.edges)
        )
        gains += _gains(conversation, made, after, shop, engine)
    groups = {EVERYTHING: list(range(len(gains)))}
    groups |= grouped([gain.category for gain in gains], range(len(gains)))
    pairs = {name: _pairs([gains[at] for at in places], seed) for name, places in groups.items()}
    return GainReport(
        data={"conversations": len(data.conversations), "questions": len(gains), **sizes},
        before={
            name: _means([gains[at].before for at in places]) for name, places in groups.items()
        },
        after={name: _means([gains[at].after for at in places]) for name, places in groups.items()},
        pairs=pairs,
        worse=tuple(
            f"{name}, {pair.measure}"
            for name, found in pairs.items()
            for pair in found
            if pair.interval[1] < 0
        ),
        questions=tuple(gains),
    )


class Item(NamedTuple):
    """One item of an answer: the turns it covers, how many of k it uses, and its tokens."""

    turns: frozenset[str]
    uses: int
    cost: int


def item(memory: Memory) -> Item:
    """What an item of an answer counts for: a statement stands for the turns that it rests on."""
    first = 0 if memory.kind == "passage" else 1
    resting = [turn for source in memory.sources[first:] for turn in source.turn_ids]
    turns = frozenset(resting or memory.sources[0].turn_ids)
    return Item(turns, max(1, len(resting)), memory.tokens)


def shares(items: Sequence[Item], gold: Sequence[str]) -> Figures:
    """Share of the gold turns that the first ``K`` places, and ``BUDGET`` tokens, hold.

    Items are taken as ``recall`` takes them: as long as a place is left, whole; and into the budget
    in rank order, passing over what does not fit.

    >>> one = Item(frozenset({"a", "b"}), 2, 30)
    >>> shares([one, Item(frozenset({"c"}), 1, 2000)], ["b", "c"])
    {'recall@10': 1.0, 'tokens@1000': 0.5}
    """
    first: set[str] = set()
    left = K
    for each in items:
        if left <= 0:
            break
        first |= each.turns
        left -= each.uses
    fitting = metrics.within_budget([each.cost for each in items], BUDGET)
    within = {turn for place in fitting for turn in items[place].turns}
    return {
        name: sum(turn in found for turn in gold) / len(gold)
        for name, found in ((RECALL, first), (IN_BUDGET, within))
    }


def _gains(
    conversation: Conversation, before: Made, after: Made, shop: Workshop, engine: Engine
) -> list[Gain]:
    questions = [each for each in conversation.questions if each.category != locomo.ADVERSARIAL]
    texts = [question.text for question in questions]
    answers: list[list[Answer]] = []
    for name, made in (("before", before), ("after", after)):
        shop.progress(f"questions to {conversation.name}, {name}", 0, len(texts))
        answers.append(
            runs.answered(made.store, texts, shop.embedder, engine, made.now, items=ITEMS)
        )
    return [
        Gain(
            question.id,
            conversation.name,
            question.category,
            *(shares([item(each) for each in found.memories], question.gold) for found in pair),
        )
        for question, *pair in zip(questions, *answers, strict=True)
    ]


def _means(figures: Sequence[Figures]) -> Figures:
    return {name: fmean(each[name] for each in figures) for name in figures[0]}


def _pairs(gains: Sequence[Gain], seed: int) -> tuple[Pair, ...]:
    """The difference of each measure, conversations being clusters."""
    clusters = [gain.conversation for gain in gains]
    found: list[Pair] = []
    for name in (RECALL, IN_BUDGET):
        gained = [gain.after[name] - gain.before[name] for gain in gains]
        found.append(
            Pair(
                measure=name,
                against="before",
                difference=fmean(gained),
                interval=metrics.cluster_interval(gained, clusters, seed),
                p=metrics.sign_flip(gained, seed),
            )
        )
    return tuple(found)
