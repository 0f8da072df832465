"""Active learning: apply the owner's decisions, and choose the sentences whose decision would teach most.

Decided is what a person answered in ``clsm review``, pinned, corrected, or took out by hand. Offered are
the sentences of the last run that are nearest the threshold and least alike: they tell most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.heads.owner_model import Decision, Owner, is_unsure, logit
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs
from clsm_cli.store.index import evidence_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.consolidation.statement_selection import ScoredUnit
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.store.layout import Store

    Vectors = Callable[[Sequence[str]], Mapping[str, Any]]

WORTH = "worth keeping?"
STILL_WORTH = "still worth keeping?"
"""Reasons of a review item about one sentence, the second where it is a statement already; its other
text is the head's probability."""
MOST, LOOKED_AT = 20, 80
"""Sentences that are offered, and that they are chosen from."""
NEWEST = 200
"""Decisions that count; a fit takes the cube of their number."""


class _Decided(NamedTuple):
    """A sentence that the owner decided about, with the turn that says it, and when that was."""

    at: str
    name: str
    text: str
    source: str
    chance: float
    is_kept: bool


def owner_of(state: StoreState) -> Owner:
    """What the owner decided last; where an answer and a statement have one text, the answer counts."""
    found = {each.text: each for each in (*_decided_rows(state), *_answers(state))}
    newest = sorted(found.values(), key=lambda each: each[:2])[-NEWEST:]
    known = state.vectors_of([each.text for each in newest])
    sources = sorted({each.source for each in newest if each.source})
    turns = evidence_queries.turns_by_key(state.connection, sources)
    places = {key: turn.document or turn.session for key, turn in turns.items()}
    return Owner(
        [
            Decision(name, text, places.get(source, ""), known[text], chance, is_kept)
            for _, name, text, source, chance, is_kept in newest
            if text in known
        ]
    )


def _decided_rows(state: StoreState) -> Iterator[_Decided]:
    """The statements that the owner pinned, corrected or took out; no chance of theirs was noted."""
    rows = state.statements.values()
    corrected = {row.supersedes for row in rows if row.pinned and row.supersedes}
    undone = {entry.at for entry in ledger.entries(state.store.flow) if entry.command == "undo"}
    for row in rows:
        # Whoever edits a row pins it, also to take it out; what was corrected was worth keeping.
        is_kept = row.id in corrected or (row.pinned and not row.withdrawn)
        # What went with an undone run nobody judged.
        is_out = row.withdrawn and not is_kept and row.superseded_at not in undone
        # What a person wrote without a source says nothing of what sources say.
        is_of_source = row.text and row.sources and row.kind not in ("gist", "task")
        if is_of_source and (is_kept or is_out):
            at = row.superseded_at or row.recorded_at or ""
            yield _Decided(at, row.id, row.text, row.sources[0], state.settings.worth, is_kept)


def _answers(state: StoreState) -> Iterator[_Decided]:
    """The questions of ``clsm review`` about single sentences that the owner answered."""
    for item in state.reviewed.values():
        if item.reason == WORTH and item.state in ("accepted", "rejected"):
            chance, source = _chance(item.other, state.settings.worth), next(iter(item.about), "")
            is_kept = item.state == "accepted"
            yield _Decided(item.at, item.id, item.kept, source, chance, is_kept)


def _chance(text: str, otherwise: float) -> float:
    """The probability that a question noted; a line may come damaged, or from another machine.

    >>> _chance("0.41", 0.6), _chance("nan", 0.6), _chance("", 0.6)
    (0.41, 0.6, 0.6)
    """
    try:
        chance = float(text)
    except ValueError:
        return otherwise
    return chance if 0 <= chance <= 1 else otherwise


def most_informative(
    found: Iterable[ScoredUnit], vectors: Vectors, asked: Iterable[str]
) -> list[ScoredUnit]:
    """The sentences whose decision would teach most: each unsure and unlike those before it.

    The next is the one with the highest 4·p·(1 − p)·(1 − 0.7·c), p its probability moved so that the
    threshold lies at one half, c its greatest cosine to one already chosen.
    """
    import numpy as np

    def margin(each: ScoredUnit) -> float:
        return logit(each.keep) - logit(each.worth)

    left = {each.statement: each for each in found if is_unsure(each.keep, each.worth)}
    for text in asked:
        left.pop(text, None)
    near = sorted(left.values(), key=lambda c: (abs(margin(c)), c.statement))
    pool = near[:LOOKED_AT]
    known = vectors([each.statement for each in pool])
    pool = [each for each in pool if each.statement in known]
    if not pool:
        return []
    matrix = np.array([known[each.statement] for each in pool], np.float64)
    moved = 1 / (1 + np.exp(-np.array([margin(each) for each in pool])))
    doubt = 4 * moved * (1 - moved)
    nearest = np.zeros(len(pool))
    chosen: list[int] = []
    while len(chosen) < min(MOST, len(pool)):
        value = doubt * (1 - 0.7 * nearest)
        value[chosen] = -1
        best = int(np.argmax(value))
        chosen.append(best)
        nearest = np.maximum(nearest, np.maximum(matrix @ matrix[best], 0))
    return [pool[place] for place in chosen]


def save_offer(state: StoreState, chosen: Sequence[ScoredUnit]) -> None:
    """Write down what is offered until the next run; a forget destroys it with all that is derived.

    Raises:
        DiskError: The operating system refused.
    """
    items = [
        logs.ReviewItem(
            f"v-{digest(WORTH, each.turn, each.statement)}",
            state.now,
            (each.turn,),
            WORTH,
            each.statement,
            f"{each.chance:.2f}",
        )
        for each in chosen
    ]
    data = b"".join(logs.render(item) + b"\n" for item in items)
    atomic.put(state.store.derived / "offered.jsonl", data)


def load_offer(store: Store) -> list[logs.ReviewItem]:
    """What the last run offered, the most telling first."""
    return list(logs.review_items_in(store.derived / "offered.jsonl", logs.load_tombstones(store)))
