"""Build the packet of the pending episodes, without changing the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

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
    render_packet,
    select_parts,
    split_parts,
)
from clsm_cli.consolidation.claims import KINDS
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.lookup import index_statements
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.errors import BadInputError, ModelDigestError, ModelMissingError
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import inbox
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens

MIN_COSINE = 0.35
"""Minimum cosine of a statement and a turn for the packet to list the statement as known."""
_MAX_KNOWN = 40
"""Maximum known statements in a packet."""


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
        if not waiting:
            return Packet("", 0, (), 0, 0)
        turns = evidence_queries.turns_in_episodes(state.connection, waiting)
        closed = {key for key, turn in turns.items() if not turn.is_current}
        read = map(state.read_episode, waiting)
        parts = (split_parts(episode, closed) for episode in read if episode is not None)
        groups = [group for group in parts if group]
        chosen = select_parts(groups, budget)
        if chosen:
            chosen = select_parts(_with_drafts(state, chosen), budget)
        if groups and not chosen:
            chosen = [_smallest(state, groups, budget)]
        text = render_packet(chosen, _related_statements(state, chosen), budget) if chosen else ""
        episodes = tuple(dict.fromkeys(part.episode.id for part in chosen))
        return Packet(text, count_tokens(text), episodes, len(chosen), len(waiting))


def _usable(embedder: Embedder | None) -> Embedder | None:
    """The embedder if its model is installed, so that the drafts are those of the run that takes the answer."""
    try:
        if embedder is not None and embedder.words is not None:
            embedder.words(["a"])
            return embedder
    except (ModelMissingError, ModelDigestError):
        pass
    return None


def _with_drafts(state: store_state.StoreState, chosen: Iterable[Part]) -> list[list[Part]]:
    """The chosen parts by episode, with drafts."""
    scorer = StatementScorer(state, active_learning.owner_of(state))
    groups = []
    for _, parts in groupby(chosen, lambda part: part.episode.id):
        group = list(parts)
        episode, closed = group[0].episode, group[0].closed
        scores = scorer.score(episode, {turn.key for turn in episode.turns} - {*closed})
        drafts = drafts_of(claims.episode_claims(episode, scores), scores)
        groups.append(split_parts(episode, closed, drafts)[: len(group)])
    return groups


def _smallest(state: store_state.StoreState, groups: Iterable[Sequence[Part]], budget: int) -> Part:
    """The shortest first part of an episode, if nothing larger fits.

    Raises:
        BadInputError: It does not fit either; the message has the budget needed.
    """
    first = min((group[0] for group in groups), key=lambda part: part.size)
    [[part]] = _with_drafts(state, [first])
    tokens = part.size + count_tokens(render_packet([], []))
    if tokens > budget:
        reason = f"has no room for a part of an episode ({budget} tokens)"
        raise BadInputError("the packet", reason, f"allow it --budget {tokens}")
    return part


def _related_statements(state: store_state.StoreState, chosen: Sequence[Part]) -> list[Statement]:
    """Current statements similar to turns of the parts, the most similar first."""
    rows = {i: row for i, row in state.statements.items() if row.is_current and row.kind in KINDS}
    index = index_statements(state, rows.values())
    best: dict[str, float] = {}
    keys = [turn.key for part in chosen for turn in part.turns]
    for vector in state.index.vectors_of(keys).values():
        for row, cosine in index.alike(vector, MIN_COSINE):
            best[row.id] = max(cosine, best.get(row.id, 0.0))
    return [rows[i] for i in sorted(best, key=lambda i: (-best[i], i))[:_MAX_KNOWN]]
