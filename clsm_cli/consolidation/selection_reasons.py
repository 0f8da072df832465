"""Explain why a sentence became a statement, or a question: what the heads and the owner's decisions say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.consolidation import active_learning, store_state
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.errors import BadInputError
from clsm_cli.model.ids import resolve_id
from clsm_cli.store.index import evidence_queries

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.heads.judge import Meanings
    from clsm_cli.heads.owner_model import Decision
    from clsm_cli.store.layout import Store

SHOWN = 5
"""Decisions that are named, of those that moved a sentence most."""
_LEAST = 0.05
"""Share of a decision in the logit below which it is not worth naming."""


class Explanation(NamedTuple):
    """How a sentence was weighed.

    Attributes:
        chance: Probability of being worth keeping, by the shipped heads; None where it was not
            weighed: a person or an adviser made it.
        keep: The same as the owner's decisions correct it.
        worth: From which probability on a sentence is kept.
        shares: Logits that decisions add, the strongest first, and the decisions.
    """

    id: str
    text: str
    chance: float | None
    keep: float | None
    worth: float
    shares: list[tuple[float, Decision]]


def explain(store: Store, wanted: str, now: datetime, meanings: Meanings | None) -> Explanation:
    """Explain a statement or a question of ``clsm review``; no record is written.

    What was decided since the last run counts from the next one on, which embeds it.

    Raises:
        BadInputError: Nothing, or more than one thing, has such an id.
    """
    with store_state.opened_state(store, now, meanings) as state:
        name, text, turn = _meant(state, wanted)
        worth, owner = state.settings.worth, active_learning.owner_of(state)
        said = evidence_queries.turns_by_key(state.connection, [turn]).get(turn)
        episode = state.read_episode(said.episode) if said is not None else None
        if said is None or episode is None:
            return Explanation(name, text, None, None, worth, [])
        weights = StatementScorer(state, owner).score(episode)
        pieces = weights.pieces.get(turn, ())
        piece = next((each for each in pieces if each.statement == text), None)
        if piece is None:
            return Explanation(name, text, None, None, worth, [])
        vector = state.vectors_of([text]).get(text)
        shares = owner.why(vector, said.document or said.session) if vector is not None else []
        named = [share for share in shares if abs(share[0]) >= _LEAST][:SHOWN]
        return Explanation(name, text, piece.chance, piece.keep, weights.least(worth), named)


def _meant(state: store_state.StoreState, wanted: str) -> tuple[str, str, str]:
    """Id, text and turn of what an id stands for."""
    known = {i: (row.text, next(iter(row.sources), "")) for i, row in state.statements.items()}
    for item in (*state.reviewed.values(), *active_learning.load_offer(state.store)):
        if item.reason == active_learning.WORTH:
            known[item.id] = (item.kept, next(iter(item.about), ""))
    name = resolve_id(wanted, known)
    if name is None:
        reason = "is no statement, and no sentence to decide"
        raise BadInputError(wanted, reason, "list what is to decide with: clsm review --json")
    return (name, *known[name])
