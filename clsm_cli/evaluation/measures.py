"""Measures of one answer: what was returned for a query, and its figures.

An item takes one place of the first ten, a statement as many as the turns that it rests on; an item
that does not fit is the last that counts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import inf, log2

from clsm_cli.evaluation.dataset import EvidenceUnit, LabelledQuery, label_keys, single_blanks
from clsm_cli.evaluation.result import Figures
from clsm_cli.retrieval.answer import Answer, Memory
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.passages import Passage
from clsm_cli.text.tokens import stems


class Item(NamedTuple):
    """One thing to read."""

    id: str
    text: str
    tokens: int  # estimated word pieces of the text
    # Ids of the turns it shows or rests on, the source's own where it has some; what is measured
    # counts those that it shows (``credit_items``).
    turns: tuple[str, ...]
    day: str  # ISO date of the first of them; empty: none
    uses: int = 1  # how many of k places it takes: a statement that rests on three turns three

    def holds(self, gold: str, unit: EvidenceUnit) -> bool:
        r"""Whether this is or shows a piece of evidence.

        >>> item = Item("m1", "The box\n is called Margaret.", 6, ("D1:3",), "2026-02-11")
        >>> item.holds("box is called Margaret", "quote"), item.holds("2026-02-11", "day")
        (True, True)
        """
        if unit == "turn":
            return gold in self.turns
        if unit == "day":
            return gold == self.day
        return gold in single_blanks(self.text)


SHOWN = 0.8  # share of the search terms of a turn from which a text shows it


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
    items: Iterable[Item], gold: Collection[str], texts: Mapping[str, str]
) -> tuple[Item, ...]:
    """Items that count as those turns of some gold whose words they show, not all they rest on.

    ``texts`` has that of every turn of the case by its id; one that is not known counts by its id.
    """
    known = texts.keys() & gold

    def credited(item: Item) -> Item:
        shown = (t for t in item.turns if t not in known or shows_turn(item.text, texts[t]))
        return item._replace(turns=tuple(shown))

    return tuple(map(credited, items))


class Retrieved(NamedTuple):
    """All that a system returned for one query."""

    items: tuple[Item, ...]  # best first; more than k and than any budget, the measures cut
    concepts: tuple[frozenset[str], ...] = ()  # keys of the names of each, best first
    confidence: float | None = None  # that there is an answer, on one scale for all queries
    # Tokens → what it returns when it is told that so many are left. With it there are no items,
    # and nothing else is measured.
    packed: Mapping[int, tuple[Item, ...]] | None = None


def memory_item(memory: Memory) -> Item:
    """An item of an answer: a statement stands for the turns that it rests on, not where it stands."""
    first = 0 if memory.kind == "passage" else 1
    resting = [turn for source in memory.sources[first:] for turn in source.turn_ids]
    turns = tuple(dict.fromkeys(resting or memory.sources[0].turn_ids))
    day = (memory.sources[min(first, len(memory.sources) - 1)].timestamp or "")[:10]
    uses = max(1, len(resting)) if first else 1
    return Item(memory.id, memory.text, memory.tokens, turns, day, uses)


def answer_result(answer: Answer) -> Retrieved:
    """What ``clsm recall`` returned in the form that is measured."""
    named = (label_keys((each.id, each.label, *each.aliases)) for each in answer.concepts)
    return Retrieved(tuple(map(memory_item, answer.memories)), tuple(named), answer.confidence)


def passage_item(passage: Passage, tokens: int) -> Item:
    """A passage of the index by itself, as baselines return it."""
    turns, day = (passage.foreign_id or passage.key,), (passage.time or "")[:10]
    return Item(passage.id, passage.text, tokens, turns, day)


K = 10  # places of what counts as returned
FIRST = (1, 5, 10, 50)  # places at which recall is cut
BUDGETS = (1000, 2000)  # tokens that an agent may have to spare for its memory
DELIVERED = 2000  # tokens of what counts as returned: the default budget of ``recall``
PACKED = ("tokens@1000", "reduced")  # also taken of what a system packs for their budget
REDUCTION = 0.965  # share of the context that is left out in ``reduced`` (CLS-M, §5.3)
CONCEPTS = 10  # concepts that are looked at (CLS-M: top_k)


def figures(
    query: LabelledQuery,
    found: Retrieved,
    without: Retrieved | None,
    unit: EvidenceUnit,
    whole: int,
) -> Figures:
    """The figures of one query with an answer: of evidence and concepts where it is labelled with them.

    ``without`` is what MiniLM alone returns, if known; ``whole`` the tokens of what a memory replaces.
    """
    gold, limits = query.gold, budgets(whole)
    if found.packed is not None:
        packed = {name: found.packed[limits[name]] for name in PACKED}
        return {
            name: _share_held(gold, each, unit) if gold else None for name, each in packed.items()
        }
    values: Figures = {}
    if gold:
        values |= _context_figures(gold, delivered(found.items), without, unit)
        values["efficiency"] = 1 - (values["tokens"] or 0.0) / whole if whole else None
        first = ranks(gold, _first_places(found.items), unit)
        values |= rank_figures(ranks(gold, found.items, unit), first)
        for name, budget in limits.items():
            values[name] = _share_held(gold, within_budget(found.items, budget), unit)
    if query.concepts:
        values |= _concept_figures(query, found.concepts)
    return values


def budgets(whole: int) -> dict[str, int]:
    """The budgets of tokens at which recall is measured, by measure.

    >>> budgets(10_000)
    {'tokens@1000': 1000, 'tokens@2000': 2000, 'reduced': 350}
    """
    return {f"tokens@{n}": n for n in BUDGETS} | {"reduced": round((1 - REDUCTION) * whole)}


def delivered(items: Sequence[Item]) -> list[Item]:
    """What is returned by default: the first ten places, within 2,000 tokens."""
    return within_budget(_first_places(items), DELIVERED)


def ranks(gold: Sequence[str], items: Sequence[Item], unit: EvidenceUnit) -> list[float]:
    """Place from 1 of the first item that holds each piece of gold, ``inf`` without one.

    A statement that rests on three turns takes three places, and what it holds stands at the first.

    >>> told = Item("s", "", 9, ("t1", "t2", "t3"), "", uses=3)
    >>> ranks(["t2", "t4", "t5"], [told, Item("p", "", 9, ("t4",), "")], "turn")
    [1, 4, inf]
    """
    starts = list(accumulate((item.uses for item in items), initial=1))
    placed = list(zip(starts, items, strict=False))
    return [next((at for at, item in placed if item.holds(g, unit)), inf) for g in gold]


def _first_places(items: Sequence[Item]) -> Sequence[Item]:
    """The items in the first ten places; the last may reach beyond them."""
    before = accumulate((item.uses for item in items[:-1]), initial=0)
    return items[: sum(places < K for places in before)]


def rank_figures(places: Sequence[float], first: Sequence[float]) -> Figures:
    """Recall at some places, nDCG, and one over the place of the first gold.

        ndcg = Σ 1 / log2(rank + 1) over gold with rank ≤ 10, over the best possible such sum

    Gains are binary (Järvelin & Kekäläinen 2002). ``places`` are from 1, of each piece of gold
    (``inf``: not returned), ``first`` those among the items of the first ten places.

    >>> rank_figures([2, 11], [2, 11])["recall@10"], rank_figures([4, 2], [4, 2])["mrr"]
    (0.5, 0.5)
    """
    values: Figures = {f"recall@{k}": sum(at <= k for at in places) / len(places) for k in FIRST}
    gained = sum(1 / log2(place + 1) for place in first if place <= K)
    best = sum(1 / log2(place + 1) for place in range(1, min(len(places), K) + 1))
    return {**values, f"ndcg@{K}": gained / best, "mrr": 1 / min(places)}


def within_budget(items: Sequence[Item], budget: int) -> list[Item]:
    """The items that fit a budget of tokens: in rank order, skipping what does not fit.

    >>> items = [Item(name, "", size, (), "") for name, size in (("a", 60), ("b", 50), ("c", 40))]
    >>> [item.id for item in within_budget(items, 100)]
    ['a', 'c']
    """
    kept: list[Item] = []
    for item in items:
        if item.tokens <= budget:
            kept.append(item)
            budget -= item.tokens
    return kept


def _share_held(gold: Sequence[str], items: Sequence[Item], unit: EvidenceUnit) -> float:
    return sum(any(i.holds(g, unit) for i in items) for g in gold) / max(1, len(gold))


def _context_figures(
    gold: Sequence[str], returned: Sequence[Item], without: Retrieved | None, unit: EvidenceUnit
) -> Figures:
    """CLS-M's measures of what is loaded into a context (§5.1).

    relevance = tokens that are used / tokens loaded; retention = correct recalls / recall prompts;
    reach = useful associative results / all associative results, where an associative result is one
    that the embedding alone does not return.
    """
    useful = [item for item in returned if any(item.holds(g, unit) for g in gold)]
    tokens = sum(item.tokens for item in returned)
    values: Figures = {
        "tokens": float(tokens),
        "relevance": sum(item.tokens for item in useful) / max(1, tokens),
        "retention": float(bool(useful)),
        "reach": None,
    }
    if without is not None:
        shown = {turn for item in delivered(without.items) for turn in item.turns}
        associated = [item for item in returned if not shown.issuperset(item.turns)]
        if associated:
            values["reach"] = sum(item in useful for item in associated) / len(associated)
    return values


def _concept_figures(query: LabelledQuery, concepts: Sequence[frozenset[str]]) -> Figures:
    first = concepts[:CONCEPTS]
    found = sum(any(not names.isdisjoint(gold) for names in first) for gold in query.concepts)
    return {
        "precision": found / len(first) if first else 0.0,
        "recall": found / len(query.concepts),
        "f1": 2 * found / (len(first) + len(query.concepts)),
        "coverage": float(found > 0),
        "concepts": float(len(first)),
    }
