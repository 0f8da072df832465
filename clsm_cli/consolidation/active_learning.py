"""Active learning: collect the owner's decisions, and choose the most informative sentences to ask about.

Decisions are answers in ``clsm review`` and statements that were pinned, corrected or withdrawn by hand.
Offered are the sentences of the last run that are nearest the threshold and least similar to each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from clsm_cli.consolidation.statement_selection import ScoredUnit
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.heads.owner_model import Decision, Owner, is_unsure, logit
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.layout import Store

Vectors = Callable[[Sequence[str]], Mapping[str, Any]]

WORTH = "worth keeping?"
STILL_WORTH = "still worth keeping?"
"""Reasons of a review item about one sentence; the second: it is already a statement. The item's ``other``
is the head's probability."""
MAX_OFFERED, MAX_COMPARED = 20, 80
"""Maximum sentences that are offered, and among which they are chosen."""
MAX_DECISIONS = 200
"""Newest decisions used; a fit takes cubic time."""


class _Example(NamedTuple):
    """A sentence that the owner decided about, its turn, and the time of the decision."""

    at: str
    name: str
    text: str
    source: str
    chance: float
    is_kept: bool


def owner_of(state: StoreState) -> Owner:
    """The owner model of the newest decisions; of equal texts, a review answer overrides a statement."""
    found = {each.text: each for each in (*_decided_statements(state), *_review_answers(state))}
    newest = sorted(found.values(), key=lambda each: each[:2])[-MAX_DECISIONS:]
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


def _decided_statements(state: StoreState) -> Iterator[_Example]:
    """Statements that the owner pinned, corrected or withdrew; their probability is unknown."""
    rows = state.statements.values()
    corrected = {row.supersedes for row in rows if row.pinned and row.supersedes}
    undone = {entry.at for entry in ledger.entries(state.store.flow) if entry.command == "undo"}
    for row in rows:
        # Every edit pins a row, even one that withdraws it; a corrected row was worth keeping.
        is_kept = row.id in corrected or (row.pinned and not row.withdrawn)
        # A row withdrawn by an undo was not judged.
        is_out = row.withdrawn and not is_kept and row.superseded_at not in undone
        # A statement written by hand, without sources, is no example of a source's sentence.
        is_of_source = row.text and row.sources and row.kind not in ("gist", "task")
        if is_of_source and (is_kept or is_out):
            at = row.superseded_at or row.recorded_at or ""
            yield _Example(at, row.id, row.text, row.sources[0], state.settings.worth, is_kept)


def _review_answers(state: StoreState) -> Iterator[_Example]:
    """Answered review items about single sentences."""
    for item in state.reviewed.values():
        if item.reason == WORTH and item.state in ("accepted", "rejected"):
            chance, source = _chance(item.other, state.settings.worth), next(iter(item.about), "")
            is_kept = item.state == "accepted"
            yield _Example(item.at, item.id, item.kept, source, chance, is_kept)


def _chance(text: str, otherwise: float) -> float:
    """The probability in a review item, or a default if the line is damaged.

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
    """The most informative sentences: uncertain, and unlike those chosen before.

    Greedy: the next maximises 4·p·(1 − p)·(1 − 0.7·c), where p is its probability shifted so that the
    threshold is at ½, and c its greatest cosine to a chosen one.
    """
    import numpy as np

    def margin(each: ScoredUnit) -> float:
        return logit(each.keep) - logit(each.worth)

    left = {each.statement: each for each in found if is_unsure(each.keep, each.worth)}
    for text in asked:
        left.pop(text, None)
    near = sorted(left.values(), key=lambda c: (abs(margin(c)), c.statement))
    pool = near[:MAX_COMPARED]
    known = vectors([each.statement for each in pool])
    pool = [each for each in pool if each.statement in known]
    if not pool:
        return []
    matrix = np.array([known[each.statement] for each in pool], np.float64)
    moved = 1 / (1 + np.exp(-np.array([margin(each) for each in pool])))
    doubt = 4 * moved * (1 - moved)
    nearest = np.zeros(len(pool))
    chosen: list[int] = []
    while len(chosen) < min(MAX_OFFERED, len(pool)):
        value = doubt * (1 - 0.7 * nearest)
        value[chosen] = -1
        best = int(np.argmax(value))
        chosen.append(best)
        nearest = np.maximum(nearest, np.maximum(matrix @ matrix[best], 0))
    return [pool[place] for place in chosen]


def save_offer(state: StoreState, chosen: Sequence[ScoredUnit]) -> None:
    """Save the offer for ``clsm review`` in the derived folder, which a forget deletes.

    Raises:
        DiskError: The write failed.
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
    """The offer of the last run, the most informative first."""
    return list(logs.review_items_in(store.derived / "offered.jsonl", logs.load_tombstones(store)))
