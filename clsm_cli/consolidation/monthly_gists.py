"""Gists: one summary for each cluster of a month's episodes (CMA §4.4).

A month is clustered as a whole whenever an episode of it comes, so that its gists do not depend on
how many nights it took. Nothing is replaced by its gist: ``gist_of`` edges lead from every member.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.ids import edge_id
from clsm_cli.model.tombstones import digests, first_free
from clsm_cli.scoring.gaussian_mixture import clusters
from clsm_cli.store.index import evidence_queries

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from clsm_cli.consolidation.graph_update import GraphUpdate
    from clsm_cli.consolidation.llm_adviser import Adviser
    from clsm_cli.consolidation.lookup import StatementIndex
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.store.index.index_queries import Index

NAMES = 3
"""Nodes that a gist names."""


def episodes_by_month(state: StoreState, episodes: Collection[str]) -> dict[str, list[str]]:
    """Dated episodes by month, in order of time."""
    found: dict[str, list[str]] = {}
    for episode in sorted(episodes, key=lambda i: (state.files[i].start or "", i)):
        start = state.files[episode].start
        if start:
            found.setdefault(start[:7], []).append(episode)
    return found


def month_gists(
    month: str,
    records: Sequence[EpisodeRecord],
    vectors_of: Mapping[str, Any],
    turns: Mapping[str, Collection[str]],
    known: StatementIndex,
    network: GraphUpdate,
    state: StoreState,
    adviser: Adviser,
    now: str,
    least: int,
) -> tuple[list[Statement], list[Edge]]:
    """The gists of a month and the edges that lead from their members to them.

    Args:
        month: As ``2026-02``; the seed of the clustering.
        records: Its episodes, in order of time.
        vectors_of: Unit mean vector of each episode's turns, by id.
        turns: Keys of each episode's turns, by id.
        known: The statements; the one nearest to the middle of a cluster speaks for it.
        network: For the names of nodes.
        state: The store.
        adviser: Writes the sentence, if there is a language model.
        now: UTC time of the run.
        least: Episodes of a cluster from which it has a gist.
    """
    import numpy as np

    there = [record for record in records if record.id in vectors_of]
    if len(there) < least:
        return [], []
    vectors = np.stack([vectors_of[record.id] for record in there]).astype(np.float32)
    everywhere = _names(there)
    found: list[Statement] = []
    links: list[Edge] = []
    for members in clusters(vectors, seed=int(month.replace("-", ""))):
        if len(members) < least:
            continue
        group = [there[place] for place in members]
        keys = {key for record in group for key in turns[record.id]}
        rows = [
            i
            for i, row in known.rows.items()
            if row.is_current and row.kind not in ("gist", "task") and keys.issuperset(row.sources)
        ]
        centre = known.most_like(vectors[members].mean(axis=0), rows)
        words = adviser.gist([known.rows[i].text for i in rows]) if rows else None
        gist = _gist(month, group, everywhere, centre, network, state, now)
        if words is not None:
            gist = replace(gist, text=words)
        found.append(gist)
        links += [_link(record.id, gist.id) for record in group]
    return found, links


def episode_means(
    index: Index, records: Sequence[EpisodeRecord]
) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """Unit mean vector, and keys of the turns, of each episode, by id; what tools said left out."""
    import numpy as np

    told = evidence_queries.turns_in_episodes(index.connection, [record.id for record in records])
    keys: dict[str, set[str]] = {}
    for key, turn in told.items():
        if turn.role != "tool":
            keys.setdefault(turn.episode, set()).add(key)
    vectors = index.vectors_of(sorted(told))
    found: dict[str, Any] = {}
    for episode, members in keys.items():
        rows = [vectors[key] for key in sorted(members) if key in vectors]
        if rows:
            mean = np.mean(np.stack(rows).astype(np.float64), axis=0)
            length = float(np.linalg.norm(mean))
            if length > 0.0:
                found[episode] = mean / length
    return found, keys


def _names(records: Sequence[EpisodeRecord]) -> Counter[str]:
    """Node → episodes that mention it."""
    return Counter(node for record in records for node in record.mentions)


def _gist(
    month: str,
    group: Sequence[EpisodeRecord],
    everywhere: Counter[str],
    centre: Statement | None,
    network: GraphUpdate,
    state: StoreState,
    now: str,
) -> Statement:
    """The text: when, what it has more of than the month, and the sentence in its middle.

    A node counts n² / N: n episodes of the cluster mention it, N of the month.
    """
    days = [state.files[record.id].start or "" for record in group]
    inside = _names(group)
    ranked = sorted(inside, key=lambda i: (-(inside[i] ** 2) / everywhere[i], -inside[i], i))
    labels = [node.label for i in ranked if (node := network.nodes.get(i)) is not None]
    named = ", ".join(labels[:NAMES])
    sentence = centre.text if centre is not None else ""
    return Statement(
        id=first_free(
            (f"f-{each}" for each in digests("gist", month, group[0].id)), state.forgotten
        ),
        rev=(0, ""),
        text=" ".join(
            part for part in (f"{_when(days)}:", named and f"{named}.", sentence) if part
        ),
        kind="gist",
        stream="flow",
        topic="gists",
        value=month,
        sources=centre.sources if centre is not None else (),
        valid_from=days[-1],  # before its last day not all of it had been said
        recorded_at=now,
        trust="agent",
    )


def _when(days: Sequence[str]) -> str:
    """Written as "10 to 24 February 2026".

    >>> _when(["2026-02-10", "2026-02-24T10:00:00+01:00"]), _when(["2026-02-10"])
    ('10 to 24 February 2026', '10 February 2026')
    """
    first, last = (date.fromisoformat(each[:10]) for each in (days[0], days[-1]))
    end = f"{last.day} {last:%B %Y}"
    return end if first == last else f"{first.day} to {end}"


def _link(episode: str, gist: str) -> Edge:
    return Edge(
        id=edge_id(episode, "gist_of", gist),
        rev=(0, ""),
        source=episode,
        target=gist,
        type="gist_of",
        directed=True,
        n=1,
        weight=1.0,
    )
