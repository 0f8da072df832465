"""Measures of one answer: what was returned for a query, and its figures.

An item takes one place of the first ten, a statement as many as the turns that it rests on; an item
that does not fit is the last that counts. Within a budget of tokens items are taken in rank order,
passing over what does not fit, as ``recall`` would pack them.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import inf, log2
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import label_keys, single_blanks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.evaluation.dataset import Query, Unit
    from clsm_cli.evaluation.result import Figures
    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.store.index.passages import Passage


class Item(NamedTuple):
    """One thing to read.

    Attributes:
        tokens: Estimated word pieces of the text.
        turns: Ids of the turns it shows or rests on, the source's own ids where it has some; what
            is measured counts those that it shows (``credit_items``).
        day: ISO date of the first of them; empty: none.
        uses: How many of k places it takes: a statement that rests on three turns takes three.
    """

    id: str
    text: str
    tokens: int
    turns: tuple[str, ...]
    day: str
    uses: int = 1

    def holds(self, gold: str, unit: Unit) -> bool:
        r"""Whether this is or shows a piece of evidence.

        >>> Item("m1", "The box\n is called Margaret.", 6, ("D1:3",), "2026-02-11").holds(
        ...     "box is called Margaret", "quote")
        True
        """
        if unit == "turn":
            return gold in self.turns
        if unit == "day":
            return gold == self.day
        if unit == "memory" and "\n" in gold:
            return not {self.id, *self.turns}.isdisjoint(gold.split())
        return gold in single_blanks(self.text)


SHOWN = 0.8
"""Share of the search terms of a turn from which a text shows it."""


def shows_turn(text: str, turn: str) -> bool:
    """Whether a text has the words of a turn: most of its terms, or all of one without any.

    >>> shows_turn("Ilse tunes the theremin at nine.", "Ilse tunes theremins"), shows_turn("Ilse.", "Ilse left")
    (True, False)
    """
    terms = _terms(turn)
    if not terms:
        return single_blanks(turn) in single_blanks(text)
    return len(terms & _terms(text)) >= SHOWN * len(terms)


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def credit_items(
    items: Iterable[Item], gold: Collection[str], told: Mapping[str, str]
) -> tuple[Item, ...]:
    """Items that count as those turns of some gold whose words they show, not all they rest on.

    Args:
        items: Best first.
        gold: Ids of turns.
        told: Id → text of every turn of the case; one that is not known counts by its id.
    """
    return tuple(
        item._replace(
            turns=tuple(
                turn
                for turn in item.turns
                if turn not in gold or turn not in told or shows_turn(item.text, told[turn])
            )
        )
        for item in items
    )


class Retrieved(NamedTuple):
    """All that a system returned for one query.

    Attributes:
        items: Best first; more than k and more than any budget, the measures cut.
        concepts: Keys of the names of each concept, best first, cut where the system cuts.
        confidence: That the memory holds an answer, on any scale that is the same for all queries;
            None: the system has none.
        packed: Tokens → what it returns when it is told that so many are left; None where it was not
            asked that. With it there are no items, and nothing else is measured.
    """

    items: tuple[Item, ...]
    concepts: tuple[tuple[str, ...], ...] = ()
    confidence: float | None = None
    packed: Mapping[int, tuple[Item, ...]] | None = None


def memory_item(memory: Memory) -> Item:
    """An item of an answer: a statement stands for the turns that it rests on, not where it stands."""
    first = 0 if memory.kind == "passage" else 1
    resting = [turn for source in memory.sources[first:] for turn in source.turn_ids]
    source = memory.sources[min(first, len(memory.sources) - 1)]
    return Item(
        id=memory.id,
        text=memory.text,
        tokens=memory.tokens,
        turns=tuple(dict.fromkeys(resting or memory.sources[0].turn_ids)),
        day=(source.timestamp or "")[:10],
        uses=max(1, len(resting)) if first else 1,
    )


def answer_result(answer: Answer) -> Retrieved:
    """The result of ``clsm recall`` in the form that is measured."""
    named = (label_keys((each.id, each.label, *each.aliases)) for each in answer.concepts)
    return Retrieved(
        items=tuple(map(memory_item, answer.memories)),
        concepts=tuple(tuple(sorted(names)) for names in named),
        confidence=answer.confidence,
    )


def passage_item(passage: Passage, tokens: int) -> Item:
    """A passage of the index by itself, as baselines return it."""
    return Item(
        id=passage.id,
        text=passage.text,
        tokens=tokens,
        turns=(passage.foreign_id or passage.key,),
        day=(passage.time or "")[:10],
    )


K = 10
"""Places of what counts as returned."""
FIRST = (1, 5, 10, 50)
"""Places at which recall is cut."""
BUDGETS = (1000, 2000)
"""Tokens that an agent may have to spare for its memory."""
DELIVERED = 2000
"""Tokens of what counts as returned: the default budget of ``recall``."""
PACKED = ("tokens@1000", "reduced")
"""Measures that are also taken of what a system packs for their budget."""
REDUCTION = 0.965
"""Share of the context that is left out in ``reduced`` (CLS-M, §5.3)."""
CONCEPTS = 10
"""Concepts that are looked at (CLS-M: top_k)."""


class Setting(NamedTuple):
    """What a set says about all its queries: the unit, and the tokens of what a memory replaces."""

    unit: Unit
    whole: int


def figures(query: Query, found: Retrieved, without: Retrieved | None, setting: Setting) -> Figures:
    """The figures of one query with an answer.

    Returns:
        Measure → value; evidence and concepts only where the query is labelled with them.
    """
    values: Figures = {}
    if found.packed is not None:
        for name in PACKED:
            items = found.packed[budgets(setting.whole)[name]]
            values[name] = _held(query.gold, items, setting.unit) if query.gold else None
        return values
    if query.gold:
        returned = delivered(found.items)
        tokens = sum(item.tokens for item in returned)
        values["tokens"] = float(tokens)
        values["efficiency"] = 1 - tokens / setting.whole if setting.whole else None
        values |= _evidence(query.gold, found.items, setting)
        values |= _loaded(query.gold, returned, without, setting)
    if query.concepts:
        values |= _concepts(query, found.concepts)
    return values


def budgets(whole: int) -> dict[str, int]:
    """The budgets of tokens at which recall is measured, by measure.

    >>> budgets(10_000)
    {'tokens@1000': 1000, 'tokens@2000': 2000, 'reduced': 350}
    """
    named = {f"tokens@{each}": each for each in BUDGETS}
    return {**named, "reduced": round((1 - REDUCTION) * whole)}


def delivered(items: Sequence[Item]) -> list[Item]:
    """What is returned by default: the first ten places, within 2,000 tokens."""
    return _fitting(items[: _cut(items)], DELIVERED)


def ranks(gold: Sequence[str], items: Sequence[Item], unit: Unit) -> list[float]:
    """Place from 1 of the first item that holds each piece of gold, ``inf`` without one.

    A statement that rests on three turns takes three places, and what it holds stands at the first.

    >>> from clsm_cli.evaluation.measures import Item
    >>> told = Item("s", "", 9, ("t1", "t2", "t3"), "", uses=3)
    >>> ranks(["t2", "t4", "t5"], [told, Item("p", "", 9, ("t4",), "")], "turn")
    [1.0, 4.0, inf]
    """
    found: list[float] = []
    for piece in gold:
        place = 1
        for item in items:
            if item.holds(piece, unit):
                found.append(float(place))
                break
            place += item.uses
        else:
            found.append(inf)
    return found


def _cut(items: Sequence[Item]) -> int:
    """How many items the first ten places hold; the last may reach beyond them."""
    before = accumulate((item.uses for item in items), initial=0)
    return sum(places < K for places in list(before)[:-1])


def _evidence(gold: Sequence[str], items: Sequence[Item], setting: Setting) -> Figures:
    """How well the ranking finds the evidence: cut at places, and at budgets of tokens."""
    unit = setting.unit
    places = ranks(gold, items, unit)
    values: Figures = {f"recall@{place}": recall(places, place) for place in FIRST}
    values[f"ndcg@{K}"] = ndcg(ranks(gold, items[: _cut(items)], unit), K)
    values["mrr"] = reciprocal_rank(places)
    for name, budget in budgets(setting.whole).items():
        values[name] = _held(gold, _fitting(items, budget), unit)
    return values


def _fitting(items: Sequence[Item], budget: int) -> list[Item]:
    kept = within_budget([item.tokens for item in items], budget)
    return [items[place] for place in kept]


def _held(gold: Sequence[str], items: Sequence[Item], unit: Unit) -> float:
    return sum(any(item.holds(piece, unit) for item in items) for piece in gold) / len(gold)


def _loaded(
    gold: Sequence[str], returned: Sequence[Item], without: Retrieved | None, setting: Setting
) -> Figures:
    """CLS-M's measures of what is loaded into a context (§5.1).

    relevance = tokens that are used / tokens loaded; retention = correct recalls / recall prompts;
    reach = useful associative results / all associative results, where an associative result is one
    that the embedding alone does not return.
    """
    useful = [item for item in returned if any(item.holds(g, setting.unit) for g in gold)]
    tokens = sum(item.tokens for item in returned)
    values: Figures = {
        "relevance": sum(item.tokens for item in useful) / tokens if tokens else 0.0,
        "retention": float(bool(useful)),
        "reach": None,
    }
    if without is not None:
        shown = {turn for item in delivered(without.items) for turn in item.turns}
        associated = [item for item in returned if not shown.issuperset(item.turns)]
        if associated:
            values["reach"] = sum(item in useful for item in associated) / len(associated)
    return values


def _concepts(query: Query, concepts: Sequence[Sequence[str]]) -> Figures:
    first = [frozenset(names) for names in concepts[:CONCEPTS]]
    found = sum(any(not names.isdisjoint(gold) for names in first) for gold in query.concepts)
    precision, recall, f1 = precision_recall_f1(found, len(first), len(query.concepts))
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "coverage": float(found > 0),
        "concepts": float(len(first)),
    }


def recall(ranks: Sequence[float], k: int) -> float:
    """Share of the gold among the first ``k``.

    >>> recall([2, 11], 10)
    0.5
    """
    return sum(rank <= k for rank in ranks) / len(ranks)


def ndcg(ranks: Sequence[float], k: int) -> float:
    """Normalised discounted cumulative gain: Σ 1/log2(rank + 1) over the best possible such sum.

    Binary gains, cut at ``k`` (Järvelin & Kekäläinen 2002).

    >>> ndcg([1, 2], 10), round(ndcg([2], 10), 4)
    (1.0, 0.6309)
    """
    gained = sum(1 / log2(rank + 1) for rank in ranks if rank <= k)
    return gained / sum(1 / log2(place + 1) for place in range(1, min(len(ranks), k) + 1))


def reciprocal_rank(ranks: Sequence[float]) -> float:
    """One over the place of the first gold unit; 0 when none was returned.

    >>> reciprocal_rank([4, 2])
    0.5
    """
    return 1 / min(ranks)


def within_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Places, from 0, of the items that fit a budget: in rank order, skipping what does not fit.

    >>> within_budget([60, 50, 30, 20], 100)
    [0, 2]
    """
    kept: list[int] = []
    for place, cost in enumerate(costs):
        if cost <= budget:
            kept.append(place)
            budget -= cost
    return kept


def precision_recall_f1(found: int, returned: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean.

    >>> precision_recall_f1(2, 4, 2)
    (0.5, 1.0, 0.6666666666666666)
    >>> precision_recall_f1(0, 0, 3)
    (0.0, 0.0, 0.0)
    """
    precision = found / returned if returned else 0.0
    share = found / gold if gold else 0.0
    total = precision + share
    return precision, share, 2 * precision * share / total if total else 0.0
