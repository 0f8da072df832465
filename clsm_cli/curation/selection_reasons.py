"""Explain why a sentence became a statement or a review item, by the heads and the owner's decisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from clsm_cli.consolidation import active_learning, claims, store_state
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.errors import BadInputError
from clsm_cli.heads.meanings import installed_meanings
from clsm_cli.heads.owner_model import Decision, is_unsure
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import resolve_id
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.evidence_queries import SourceTurn
from clsm_cli.store.layout import Store

MAX_SHARES = 5
"""Maximum decisions that are named, by their effect."""
_MIN_SHARE = 0.05
"""Minimum contribution to the logit of a decision that is named."""


class Explanation(NamedTuple):
    """How a sentence was scored.

    Attributes:
        reason: The ``statement_selection.Verdict`` of consolidation; or the origin of a statement that was
            not scored, or its later status.
        chance: Probability of being worth keeping, by the shipped heads; None if it was not scored because
            a person or an adviser made it.
        keep: The same, corrected by the owner's decisions.
        worth: Minimum ``keep`` of a kept sentence.
        noise: Probability of being junk, at most ``noise_limit`` for a kept sentence.
        shares: Contributions of decisions to the logit, the strongest first, with the decisions.
        is_held: Whether it is a current statement.
    """

    id: str
    text: str
    reason: str
    worth: float
    noise_limit: float
    is_held: bool
    chance: float | None = None
    keep: float | None = None
    noise: float | None = None
    shares: Sequence[tuple[float, Decision]] = ()


def explain(store: Store, wanted: str, now: datetime) -> Explanation:
    """Explain a statement or an item of ``clsm review``; no record is written.

    Decisions since the last run only count from the next one on, which embeds them.

    Raises:
        BadInputError: The id is unknown or ambiguous.
    """
    with store_state.opened_state(store, now, installed_meanings()) as state:
        name, text, key = _resolve(state, wanted)
        row = state.statements.get(name) or _with_text(state, text)
        unscored = Explanation(
            name,
            text,
            _reason_unscored(row),
            worth=state.settings.worth,
            noise_limit=state.settings.noise,
            is_held=row is not None and row.is_current,
        )
        source = evidence_queries.turns_by_key(state.connection, [key]).get(key)
        return unscored if source is None else _scored(state, unscored, source, row)


def _scored(
    state: store_state.StoreState, unscored: Explanation, source: SourceTurn, row: Statement | None
) -> Explanation:
    """An explanation with the scores of its sentence, if the source still has it."""
    owner, key, text = active_learning.owner_of(state), source.key, unscored.text
    episode = state.read_episode(source.episode)
    if episode is None:
        return unscored
    scores = StatementScorer(state, owner).score(episode, {key} if source.is_current else ())
    piece = next((each for each in scores.pieces.get(key, ()) if each.statement == text), None)
    if piece is None:
        return unscored
    turn = next(turn for turn in episode.turns if turn.key == key)
    vector = state.vectors_of([text]).get(text) if is_unsure(piece.chance, piece.worth) else None
    shares = (
        owner.contributions(vector, source.document or source.session) if vector is not None else []
    )
    return unscored._replace(
        reason=_reason_since(row) or claims.verdict(turn, piece, scores),
        chance=piece.chance,
        keep=piece.keep,
        worth=piece.worth,
        noise=piece.noise,
        noise_limit=scores.noise_limit,
        shares=[share for share in shares if abs(share[0]) >= _MIN_SHARE][:MAX_SHARES],
    )


def _with_text(state: store_state.StoreState, text: str) -> Statement | None:
    """The statement with a text: the current one, else a withdrawn one."""
    same = [row for row in state.statements.values() if row.text == text]
    found = sorted((r for r in same if r.is_current or r.withdrawn), key=lambda r: r.withdrawn)
    return next(iter(found), None)


def _reason_since(row: Statement | None) -> str | None:
    """The status of a statement if it overrides the scores of its sentence."""
    if row is None or (row.is_current and not row.pinned):
        return None
    return "withdrawn" if row.withdrawn else "pinned" if row.is_current else "ended"


def _reason_unscored(row: Statement | None) -> str:
    """The origin of a statement that is no sentence of its source."""
    if row is not None and row.kind in ("task", "gist"):
        return row.kind
    return _reason_since(row) or ("adviser" if row is not None and row.sources else "by hand")


def _resolve(state: store_state.StoreState, wanted: str) -> tuple[str, str, str]:
    """Id, text and turn of the statement or sentence with an id or a prefix of one."""
    known = {i: (row.text, next(iter(row.sources), "")) for i, row in state.statements.items()}
    for item in (*state.reviewed.values(), *active_learning.load_offer(state.store)):
        if item.reason == active_learning.WORTH:
            known[item.id] = (item.kept, next(iter(item.about), ""))
    name = resolve_id(wanted, known)
    if name is None:
        reason = "is no statement, and no sentence to decide"
        raise BadInputError(wanted, reason, "list what is to decide with: clsm review --json")
    return (name, *known[name])
