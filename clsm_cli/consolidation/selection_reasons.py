"""Explain why a sentence became a statement, or a question: what the heads and the owner's decisions say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.consolidation import active_learning, store_state
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.model.ids import resolve_id
from clsm_cli.store import record_files
from clsm_cli.store.index import evidence_queries, vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from clsm_cli.heads.judge import Meanings
    from clsm_cli.heads.owner_model import Decision
    from clsm_cli.model.episodes import Episode
    from clsm_cli.model.graph import Statement
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
    worth = store.settings.consolidation.worth
    with store_state.opened_state(store) as (index, found):
        connection = index.connection
        rows = record_files.load_statements(store, found.records, utc_text(now))
        name, text, turn = _meant(store, found, rows, wanted)

        def of_texts(texts: Sequence[str]) -> Mapping[str, Any]:
            return vectors.of_texts(connection, store.derived, texts, None)

        owner = active_learning.owner_of(connection, found, rows.values(), store, of_texts)
        said = evidence_queries.turns_by_key(connection, [turn] if turn else []).get(turn)

        def read(episode: str) -> Episode | None:
            return found.read_episode(store.root, episode)

        episode = read(said.episode) if said is not None else None
        if said is None or episode is None:
            return Explanation(name, text, None, None, worth, [])
        weighing = StatementScorer(found, read, meanings, owner, of_texts, worth)
        weights = weighing.score(episode)
        pieces = weights.pieces.get(turn, ())
        piece = next((each for each in pieces if each.statement == text), None)
        if piece is None:
            return Explanation(name, text, None, None, worth, [])
        vector = of_texts([text]).get(text)
        shares = owner.why(vector, said.document or said.session) if vector is not None else []
        named = [share for share in shares if abs(share[0]) >= _LEAST][:SHOWN]
        return Explanation(name, text, piece.chance, piece.keep, weights.least(worth), named)


def _meant(
    store: Store, found: store_state.StoreState, rows: Mapping[str, Statement], wanted: str
) -> tuple[str, str, str]:
    """Id, text and turn of what an id stands for."""
    known = {row.id: (row.text, row.sources[0] if row.sources else "") for row in rows.values()}
    for item in (*found.reviewed.values(), *active_learning.load_offer(store)):
        if item.reason == active_learning.WORTH:
            known[item.id] = (item.kept, next(iter(item.about), ""))
    name = resolve_id(wanted, known)
    if name is None:
        reason = "is no statement, and no sentence to decide"
        raise BadInputError(wanted, reason, "list what is to decide with: clsm review --json")
    return (name, *known[name])
