"""Build the packet of the pending episodes, without changing the store."""

from collections.abc import Sequence
from dataclasses import replace

from clsm_cli.consolidation import (
    active_learning,
    claims,
    consolidation_run,
    rehearsal,
    store_state,
)
from clsm_cli.consolidation.adviser_packet import (
    Part,
    drafts_of,
    first_parts,
    related_statements,
    render_packet,
    split_parts,
)
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.lookup import index_statements
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.errors import BadInputError, ModelDigestError, ModelMissingError
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import inbox
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens


class Packet(NamedTuple):
    """A packet for an adviser; ``waiting``: number of pending episodes, including its own."""

    text: str
    tokens: int
    episodes: tuple[str, ...]
    parts: int
    waiting: int


def build_packet(
    store: Store, request: Request, budget: int, embedder: Embedder | None, progress: Progress
) -> Packet:
    """The packet of the pending episodes, the most salient first, within a token budget.

    Captured turns are first put into episodes on a copy, as the next run will do, so that the answer fits
    what that run finds.

    Args:
        request: ``now``, ``limit`` and ``since`` select the episodes.

    Raises:
        BadInputError: The budget has no room for any part.
        DiskError: There is no room for the copy.
    """
    if not inbox.files(store.inbox):
        return _packet(store, request, budget, embedder)
    with rehearsal.copy_store(store) as copy:
        taken = replace(request, only=frozenset(), if_idle=None)
        consolidation_run.consolidate(copy, taken, embedder, progress)
        return _packet(copy, request, budget, embedder)


def _packet(store: Store, request: Request, budget: int, embedder: Embedder | None) -> Packet:
    usable = _usable(embedder)
    embed, meanings = (usable.embed(), usable.words) if usable is not None else (None, None)
    with store_state.opened_state(store, request.now, meanings, embed) as state:
        waiting = store_state.choose_episodes(state, request)
        chosen = _first_episodes(state, waiting, budget)
        known = index_statements(state, state.statements.values())
        related = related_statements(state.index, known, chosen)
        text = render_packet(chosen, related, budget) if chosen else ""
        episodes = tuple(dict.fromkeys(part.episode.id for part in chosen))
        return Packet(text, count_tokens(text), episodes, len(chosen), len(waiting))


def _first_episodes(
    state: store_state.StoreState, waiting: Sequence[str], budget: int
) -> list[Part]:
    """The parts of the first episodes that fit a packet, each whole, or of one that is too large.

    Raises:
        BadInputError: Not even one part fits; the message has the budget needed.
    """
    scorer = StatementScorer(state, active_learning.owner_of(state))
    turns = evidence_queries.turns_in_episodes(state.connection, waiting)
    current = {key for key, turn in turns.items() if turn.is_current}
    empty = count_tokens(render_packet([], []))
    room = budget - empty
    chosen: list[Part] = []
    for episode in filter(None, map(state.read_episode, waiting)):
        scores = scorer.score(episode, current)
        drafts = drafts_of(claims.episode_claims(episode, scores), scores)
        closed = {turn.key for turn in episode.turns} - current
        parts = split_parts(episode, closed, drafts)
        fit = first_parts(parts, room)
        if parts and not (fit or chosen):
            reason = f"has no room for a part of an episode ({budget} tokens)"
            next_step = f"allow it --budget {empty + parts[0].size}"
            raise BadInputError("the packet", reason, next_step)
        if len(fit) == len(parts) or not chosen:
            chosen += fit
        if len(fit) < len(parts):
            break
        room -= sum(part.size for part in parts)
    return chosen


def _usable(embedder: Embedder | None) -> Embedder | None:
    """The embedder if its model is installed, so that the drafts are those of the run that takes the answer."""
    try:
        if embedder is not None and embedder.words is not None:
            embedder.words(["a"])
            return embedder
    except (ModelMissingError, ModelDigestError):
        pass
    return None
