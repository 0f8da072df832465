"""Gists: one summary for each cluster of a month's episodes (CMA §4.4).

A month is clustered as a whole whenever an episode is added to it, so that its gists do not depend on the
number of runs. A gist replaces nothing: ``gist_of`` edges lead to it from every member.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import Any, cast

from clsm_cli.consolidation.claims import KINDS
from clsm_cli.consolidation.edges import unweighted_edge
from clsm_cli.consolidation.graph_update import GraphUpdate
from clsm_cli.consolidation.lookup import StatementIndex
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.model.episodes import EpisodeRecord, lowest_trust
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.tombstones import digests, first_free
from clsm_cli.model.trust import Trust
from clsm_cli.scoring.gaussian_mixture import clusters
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import evidence_queries
from clsm_cli.text import period_parts
from clsm_cli.text.tokens import terms

MAX_NAMES = 3
"""Maximum nodes that a gist names, each with a sentence."""


def renew(
    state: StoreState,
    months: Iterable[str],
    records: Mapping[str, EpisodeRecord],
    known: StatementIndex,
    network: GraphUpdate,
) -> None:
    """Replace the gists of some months in ``known``, and their edges in ``network``.

    Args:
        records: All consolidated episodes.
    """
    rows, edges = known.rows, network.edges
    started = sorted((state.files[episode].start or "", episode) for episode in records)
    by_month = grouped((start[:7], records[episode]) for start, episode in started if start)
    renewed = {
        month: month_gists(state, month, by_month[month], known, network)
        for month in sorted(months)
    }  # of all months, before a row goes that ``known`` finds by meaning
    for month, (found, links) in renewed.items():
        before = [row for row in rows.values() if row.kind == "gist" and row.value == month]
        ids = {row.id for row in before}
        for edge in [e for e in edges.values() if e.type == "gist_of" and e.target in ids]:
            del edges[edge.id]
        edges |= {each.id: each for each in links}
        for row in before:
            if not row.pinned:
                del rows[row.id]
        for gist in found:
            old = state.statements.get(gist.id, gist)
            rows[gist.id] = replace(gist, recorded_at=old.recorded_at, text_sha=old.text_sha)


def month_gists(
    state: StoreState,
    month: str,
    records: Sequence[EpisodeRecord],
    known: StatementIndex,
    network: GraphUpdate,
) -> tuple[list[Statement], list[Edge]]:
    """The gists of a month, and the edges to them from their members.

    Args:
        month: Such as ``2026-02``; also the seed of the clustering.
        records: Its episodes, in order of time.
    """
    import numpy as np

    means, turns = _episode_means(state, records)
    least = state.settings.gist_episodes
    embedded = [record for record in records if record.id in means]
    if len(embedded) < least:
        return [], []
    vectors = np.stack([means[record.id] for record in embedded]).astype(np.float32)
    everywhere = _mention_counts(embedded)
    found: list[Statement] = []
    links: list[Edge] = []
    for members in clusters(vectors, seed=int(month.replace("-", ""))):
        if len(members) < least:
            continue
        group = [embedded[place] for place in members]
        names = _distinctive(group, everywhere, network)
        mean = vectors[members].mean(axis=0)
        nearest = sorted(group, key=lambda each: -round(float(means[each.id] @ mean), 4))
        episodes = [(record, turns[record.id]) for record in nearest]
        sentences = _sentences(names, episodes, known, mean)
        gist = _gist(state, month, group, names, sentences)
        found.append(gist)
        links += [unweighted_edge(record.id, "gist_of", gist.id) for record in group]
    return found, links


def _episode_means(
    state: StoreState, records: Sequence[EpisodeRecord]
) -> tuple[dict[str, Any], dict[str, dict[str, Trust]]]:
    """Unit mean vector, and trust of the turns by key, of each episode, without tool output."""
    import numpy as np

    ids = [record.id for record in records]
    turns = evidence_queries.turns_in_episodes(state.connection, ids)
    keys: dict[str, dict[str, Trust]] = {}
    for key, turn in turns.items():
        if turn.role != "tool":
            keys.setdefault(turn.episode, {})[key] = cast("Trust", turn.trust)
    vectors = state.index.vectors_of(sorted(turns))
    found: dict[str, Any] = {}
    for episode, members in keys.items():
        rows = [vectors[key] for key in sorted(members) if key in vectors]
        if rows:
            mean = np.mean(np.stack(rows).astype(np.float64), axis=0)
            length = float(np.linalg.norm(mean))
            if length > 0.0:
                found[episode] = mean / length
    return found, keys


def _mention_counts(records: Sequence[EpisodeRecord]) -> Counter[str]:
    return Counter(node for record in records for node in record.mentions)


def _distinctive(
    group: Sequence[EpisodeRecord], everywhere: Counter[str], network: GraphUpdate
) -> list[Node]:
    """The ``MAX_NAMES`` most distinctive nodes of a cluster.

    Score: n² / N, where n episodes of the cluster and N of the month mention the node.
    """
    inside = _mention_counts(group)
    ranked = sorted(inside, key=lambda i: (-(inside[i] ** 2) / everywhere[i], -inside[i], i))
    return [node for i in ranked if (node := network.nodes.get(i)) is not None][:MAX_NAMES]


class _GistSentence(NamedTuple):
    text: str
    sources: Sequence[str]
    trust: Trust


def _sentences(
    names: Sequence[Node],
    episodes: Sequence[tuple[EpisodeRecord, Mapping[str, Trust]]],
    known: StatementIndex,
    mean: Any,
) -> list[_GistSentence]:
    """For each name, the statement with it that is nearest to the cluster's mean.

    Without any, the nearest statement of all, else the sentence of a narrative with most of the names.

    Args:
        episodes: The episodes, the nearest to the mean first, with the trust of their turns.
    """
    keys = {key for _, trusts in episodes for key in trusts}
    rows = [
        row
        for row, _ in known.alike(mean, -1.0)
        if row.is_current and row.kind in KINDS and keys.issuperset(row.sources)
    ]
    chosen: dict[str, Statement] = {}
    for node in names:
        labels = [terms(label) for label in (node.label, *node.aliases)]
        about = (row for row in rows if any(label <= terms(row.text) for label in labels))
        best = next((row for row in about if row.text not in chosen), None)
        if best is not None:
            chosen[best.text] = best
    if found := [*chosen.values()] or rows[:1]:
        return [_GistSentence(row.text, row.sources, row.trust) for row in found]
    wanted = [terms(label) for node in names for label in (node.label, *node.aliases)]
    told: list[_GistSentence] = []
    for record, trusts in episodes:
        mentions = (record.mentions.get(node.id, ()) for node in names)
        sources = sorted(trusts.keys() & chain.from_iterable(mentions)) or sorted(trusts)
        trust = lowest_trust([trusts[key] for key in sources])
        sentences = period_parts.narrative_sentences(record.narrative)
        told += [_GistSentence(text.strip(), sources, trust) for text in sentences]
    told.sort(key=lambda each: -sum(label <= terms(each.text) for label in wanted))
    return told[:1]


def _gist(
    state: StoreState,
    month: str,
    group: Sequence[EpisodeRecord],
    names: Sequence[Node],
    sentences: Sequence[_GistSentence],
) -> Statement:
    """A gist: a line with the days and the names, and a line for each sentence."""
    days = [state.files[record.id].start or "" for record in group]
    named = ", ".join(node.label for node in names)
    return Statement(
        id=first_free(
            (f"f-{each}" for each in digests("gist", month, group[0].id)), state.forgotten
        ),
        rev=(0, ""),
        text="\n".join(
            [
                f"{_date_range(days)}: {named}".removesuffix(": "),
                *(f"- {row.text}" for row in sentences),
            ]
        ),
        kind="gist",
        stream="flow",
        topic="gists",
        value=month,
        sources=tuple(sorted({key for row in sentences for key in row.sources})),
        valid_from=days[-1],  # not all of it was known before its last day
        recorded_at=state.now,
        trust=lowest_trust(["agent", *(row.trust for row in sentences)]),
    )


def _date_range(days: Sequence[str]) -> str:
    """The first and last of some days, such as "10 to 24 February 2026".

    >>> _date_range(["2026-02-10", "2026-02-24T10:00:00+01:00"]), _date_range(["2026-02-10"])
    ('10 to 24 February 2026', '10 February 2026')
    """
    first, last = (date.fromisoformat(each[:10]) for each in (days[0], days[-1]))
    end = f"{last.day} {last:%B %Y}"
    return end if first == last else f"{first.day} to {end}"
