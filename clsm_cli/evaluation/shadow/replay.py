"""What clsm would have given before a sitting began: its briefing, and a recall for each prompt.

The store knows more by now, so recall is asked for what was known a second before the first turn
(``known_at``): nothing that was said later is seen, the sitting itself included. What carries no
exact time cannot be judged so: such a block or turn counts if the store had it by then, or if its
day is an earlier one. Of the briefing, statements count that were recorded by then.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from clsm_cli.ingestion.report import utc
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.briefing import brief
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store.index.filters import Filters
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from clsm_cli.evaluation.shadow.sittings import Sitting, Told
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

PROMPTS = 20
"""Prompts of a sitting that are asked, from its first on."""
LONGEST = 4000
"""Characters of a prompt that are asked; a page that was pasted in is no question."""


class Load(NamedTuple):
    """One thing that would have been read.

    Attributes:
        id: Of the turn, block, statement or episode.
        tokens: Estimated word pieces of ``text``.
    """

    id: str
    text: str
    tokens: int


class Replayed(NamedTuple):
    """What clsm would have given in a sitting.

    Attributes:
        briefing: At its start.
        answers: For each prompt: its place among the turns, and what recall returned.
    """

    briefing: tuple[Load, ...]
    answers: tuple[tuple[int, tuple[Load, ...]], ...]


def prompts(sitting: Sitting) -> list[int]:
    """The places of the turns that are asked: what the user said, the first ones."""
    places = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
    return places[:PROMPTS]


def replay(
    store: Store,
    told: Told,
    chosen: Sequence[Sitting],
    budget: int,
    engine: Engine,
    embedder: Embedder,
) -> Iterator[Replayed]:
    """What clsm would have given in some sittings; no trace is left.

    Args:
        store: As it is now.
        told: What it was told.
        chosen: Which sittings.
        budget: Tokens of a briefing, and of each answer.
        engine: Makes the vectors of prompts.
        embedder: Makes the vectors of passages that have none yet.
    """
    unseen = [_unseen(sitting, told, store) for sitting in chosen]
    queries = [
        Query(
            text=sitting.turns[at].text[:LONGEST],
            now=_before(sitting).isoformat(),
            k=store.settings.recall.k,
            budget=budget,
            filters=Filters(without=tuple(sorted(hidden))),
            known_at=_before(sitting).isoformat(),
            is_gated=True,
        )
        for sitting, hidden in zip(chosen, unseen, strict=True)
        for at in prompts(sitting)
    ]
    answers = recall(store, queries, engine, embedder)
    for sitting, hidden in zip(chosen, unseen, strict=True):
        found = tuple(
            (at, tuple(Load(m.id, m.text, m.tokens) for m in answer.memories if _was(m, hidden)))
            for at, answer in zip(prompts(sitting), answers, strict=False)  # the rest is others'
        )
        yield Replayed(_briefing(store, sitting, hidden, budget), found)


def _before(sitting: Sitting) -> datetime:
    return sitting.start - timedelta(seconds=1)


def _unseen(sitting: Sitting, told: Told, store: Store) -> frozenset[str]:
    """What recall cannot know to be later: the sitting itself, and what came with no exact time."""
    known = utc(_before(sitting))
    day = sitting.start.astimezone(store.zone).date().isoformat()
    later = {
        name
        for name, each in told.undated.items()
        if each.recorded_at > known and not (each.day is not None and each.day < day)
    }
    return sitting.keys | later


def _was(memory: Memory, unseen: frozenset[str]) -> bool:
    """Whether nothing later stands in the window of a note; all else was filtered."""
    return memory.kind != "passage" or unseen.isdisjoint(memory.sources[0].turn_ids)


def _briefing(
    store: Store, sitting: Sitting, unseen: frozenset[str], budget: int
) -> tuple[Load, ...]:
    found = brief(store, _before(sitting), budget)
    known = utc(_before(sitting))
    with open_index(store, None) as opened:
        return tuple(
            Load(item.id, item.text, item.tokens)
            for section in found.sections
            for item in section.items
            if not unseen & {item.id, item.id.partition("-")[0]}
            and _recorded(opened.index, item.id) <= known
        )


def _recorded(index: Index, record_id: str) -> str:
    """When a statement was recorded; "" for all else."""
    return getattr(index.record(record_id), "recorded_at", None) or ""
