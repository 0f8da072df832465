"""What a system returned for a query, in the one form that is measured."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import key, single_blanks
from clsm_cli.records import NamedTuple
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from clsm_cli.evaluation.dataset import Unit
    from clsm_cli.retrieval.answer import Answer, Concept, Memory
    from clsm_cli.store.index.passages import Passage


class Item(NamedTuple):
    """One thing to read.

    Attributes:
        id: Of the memory or passage.
        text: What a reader sees.
        tokens: Estimated word pieces of it.
        turns: Ids of the turns it shows or rests on, the source's own ids where it has some; what
            is measured counts those that it shows (``credited``).
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


def shows(text: str, turn: str) -> bool:
    """Whether a text has the words of a turn: most of its terms, or all of one without any.

    >>> shows("Ilse tunes the theremin at nine.", "Ilse tunes theremins"), shows("Ilse.", "Ilse left")
    (True, False)
    """
    terms = _terms(turn)
    if not terms:
        return single_blanks(turn) in single_blanks(text)
    return len(terms & _terms(text)) >= SHOWN * len(terms)


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def credited(
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
                if turn not in gold or turn not in told or shows(item.text, told[turn])
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
        milliseconds: Processor time it took; None: not measured for the query alone.
        packed: Tokens → what it returns when it is told that so many are left; None where it was not
            asked that. With it there are no items, and nothing else is measured.
    """

    items: tuple[Item, ...]
    concepts: tuple[tuple[str, ...], ...] = ()
    confidence: float | None = None
    milliseconds: float | None = None
    packed: Mapping[int, tuple[Item, ...]] | None = None


def of_memory(memory: Memory) -> Item:
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


def of_answer(answer: Answer, milliseconds: float | None = None) -> Retrieved:
    """What ``recall`` returned."""
    found = of_found(answer.concepts, answer.memories, milliseconds)
    return found._replace(confidence=answer.confidence)


def of_found(
    concepts: Iterable[Concept], memories: Iterable[Memory], milliseconds: float | None
) -> Retrieved:
    """What was found by who has no confidence that it answers."""
    named = ((each.id, each.label, *each.aliases) for each in concepts)
    return Retrieved(
        items=tuple(map(of_memory, memories)),
        concepts=tuple(tuple(sorted({key(name) for name in names} - {""})) for names in named),
        milliseconds=milliseconds,
    )


def of_passage(passage: Passage, tokens: int) -> Item:
    """A passage of the index by itself, as baselines return it."""
    return Item(
        id=passage.id,
        text=passage.text,
        tokens=tokens,
        turns=(passage.foreign_id or passage.key,),
        day=(passage.time or "")[:10],
    )
