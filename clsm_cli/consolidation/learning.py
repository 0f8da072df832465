"""Learn from pending episodes: calibrate their claims, and write their records."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import (
    active_learning,
    calibrate,
    claims,
    entity_mentions,
    monthly_gists,
)
from clsm_cli.consolidation.calibrate import Calibration
from clsm_cli.consolidation.entity_resolution import near_pairs
from clsm_cli.consolidation.lookup import StatementIndex
from clsm_cli.consolidation.statement_selection import StatementScorer
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.model.ids import digest
from clsm_cli.store import logs, record_files
from clsm_cli.store.index import evidence_queries, vectors
from clsm_cli.store.index.index_queries import Index
from clsm_cli.text.tagging import tags_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.edges import Told
    from clsm_cli.consolidation.entity_mentions import Vocabulary
    from clsm_cli.consolidation.graph_update import GraphUpdate
    from clsm_cli.consolidation.llm_adviser import Adviser
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.heads.judge import Meanings
    from clsm_cli.model.episodes import Episode, EpisodeRecord
    from clsm_cli.model.graph import Edge, Statement
    from clsm_cli.store.index.vectors import Embed
    from clsm_cli.store.layout import Store
    from clsm_cli.text.tagging import Ontology


@dataclass(frozen=True, slots=True)
class LearnedRecords:
    """What a run has learnt so far.

    Attributes:
        links: Edges from episodes to the gists of the months that were clustered.
    """

    before: dict[str, Statement]
    statements: dict[str, Statement]
    episodes: dict[str, EpisodeRecord]
    links: dict[str, Edge]
    months: frozenset[str]
    review: list[logs.ReviewItem]


@dataclass
class Learner:
    """Reads episodes in the order of time and keeps what they teach."""

    store: Store
    connection: sqlite3.Connection
    state: StoreState
    words: Vocabulary
    ontology: Ontology
    embed: Embed | None
    meanings: Meanings | None
    adviser: Adviser
    now: str

    def __post_init__(self) -> None:
        self.records: dict[str, EpisodeRecord] = {}
        self.unread: dict[str, str] = {}
        """Path of an episode that a rule failed on → how; it stays pending."""
        self._before = record_files.load_statements(self.store, self.state.records, self.now)
        self._matcher = self.words.matcher()
        self._owner = active_learning.owner_of(
            self.connection, self.state, self._before.values(), self.store, self._vectors
        )
        self._weighing = StatementScorer(
            self.state,
            self._episode,
            self.meanings,
            self._owner,
            self._vectors,
            self.store.settings.consolidation.worth,
        )
        self._candidates: list[active_learning.Candidate] = []
        is_shared = len(self.store.flows()) > 1
        rows = calibrate.settled(self._before, self.now) if is_shared else self._before
        self._calibration = self._calibrate(rows.values())
        if is_shared:
            calibrate.compare(self._calibration, self.store.device)
        self._months: set[str] = set()
        self._links: dict[str, Edge] = {}
        self._questions = ReviewQuestions(self.state, self.now)

    @property
    def outcome(self) -> Any:
        """Counts and doubts of the calibration."""
        return self._calibration.outcome

    def learn_from(self, chosen: Sequence[str]) -> None:
        """Learn from episodes, given in order of time."""
        told = evidence_queries.turns_in_episodes(self.connection, chosen)
        current = {key for key, turn in told.items() if turn.is_current}
        found: list[Claim] = []
        settings = self.store.settings.consolidation
        by_episode = entity_mentions.find_mentions(list(told.values()), self._matcher)
        for episode_id in chosen:
            episode = self._episode(episode_id)
            if episode is None:
                continue
            try:
                record = self._record(episode, by_episode.get(episode_id, {}))
                weights = self._weighing.score(episode)
                said = claims.episode_claims(episode, weights, current, settings)
            except Exception as error:  # noqa: BLE001  # one text must not keep all others waiting
                self.unread[self.state.files[episode_id].path] = _fault(error)
                continue
            found += self._advised(episode, said, current)
            self._candidates += claims.candidates(episode, weights, current, settings.worth)
            self.records[episode_id] = record
            start = self.state.files[episode_id].start
            if start:
                self._months.add(start[:7])
        self._read(claims.sort_claims(found))
        self._calibration.outcome.doubts += self.adviser.doubts(self._calibration.known.rows)

    def finish(self, network: GraphUpdate) -> None:
        """What needs all episodes: gists, questions for a person, what vanished."""
        self.records |= {i: r for i, r in network.episodes.items() if r != self.state.episodes[i]}
        self._calibration.vanish(self.state.closed_blocks)
        self._questions.about_doubts(self._calibration, self.adviser)
        self._gists(network)
        self._questions.about_names(self.words, network)

    def most_informative(self) -> list[active_learning.Candidate]:
        """The sentences of this run whose decision by the owner would teach most."""
        asked = [
            item.kept
            for item in self.state.reviewed.values()
            if item.reason == active_learning.WORTH
        ]
        asked += [each.text for each in self._owner.decisions]
        return active_learning.most_informative(self._candidates, self._vectors, asked)

    def learned_so_far(self) -> LearnedRecords:
        """The records learnt so far."""
        return LearnedRecords(
            self._before,
            dict(self._calibration.known.rows),
            dict(self.records),
            dict(self._links),
            frozenset(self._months),
            list(self._questions.items),
        )

    def _calibrate(self, rows: Iterable[Statement]) -> Calibration:
        """What some statements tell, ready to read claims."""
        found = list(rows)
        known = self._vectors([row.text for row in found if row.text])
        by_id = {row.id: known.get(row.text) for row in found}
        return Calibration(
            StatementIndex(found, by_id, self.state.forgotten),
            self.store.settings.consolidation,
            lambda text: tags_of(text, self.ontology),
            self.now,
            self.state.rewritten,
        )

    def _episode(self, episode_id: str) -> Episode | None:
        return self.state.read_episode(self.store.root, episode_id)

    def _advised(self, episode: Episode, said: list[Claim], current: set[str]) -> list[Claim]:
        """What an adviser makes of what the rules found; that itself without one."""
        if not self.adviser.is_available:
            return said
        text = " ".join(turn.text for turn in episode.turns)
        known = self._calibration.known
        near = known.nearest(text, self._vectors([text]).get(text))
        closed = {turn.key for turn in episode.turns} - current
        return self.adviser.claims(episode, said, [row for row, _ in near], known.rows, closed)

    def relations(self, labels: Mapping[str, str]) -> dict[Told, set[str]]:
        """What an adviser finds between the nodes of what was read; nothing without one."""
        told: dict[Told, set[str]] = {}
        for record in self.records.values():
            found = self.adviser.relations(record, self.words.node_of_id, labels)
            for relation, keys in found.items():
                told.setdefault(relation, set()).update(keys)
        return told

    def _record(self, episode: Episode, mentions: Mapping[str, set[str]]) -> EpisodeRecord:
        record = self.state.episodes[episode.id]
        text = "\n".join(turn.text for turn in episode.turns if turn.role != "tool")
        return replace(
            record,
            mentions={node: tuple(sorted(mentions[node])) for node in sorted(mentions)},
            tags=record.tags
            if record.pinned and record.tags
            else tuple(sorted(tags_of(text, self.ontology))),
            stage="consolidated",
            digest=self.state.files[episode.id].digest,
        )

    def _vectors(self, texts: Sequence[str]) -> dict[str, Any]:
        return vectors.of_texts(self.connection, self.store.derived, texts, self.embed)

    def _read(self, found: Sequence[Claim]) -> None:
        known = self._vectors([claim.text for claim in found])
        for claim in found:
            self._calibration.read(claim, known.get(claim.text))

    def _all_records(self) -> dict[str, EpisodeRecord]:
        return {
            i: self.records.get(i, record)
            for i, record in self.state.episodes.items()
            if i in self.records or not self.state.is_pending(record)
        }

    def _gists(self, network: GraphUpdate) -> None:
        if self.embed is None:
            self._months.clear()
            return
        records = self._all_records()
        by_month = monthly_gists.episodes_by_month(self.state, records)
        for month in sorted(self._months):
            group = [records[i] for i in by_month[month]]
            means, turns = monthly_gists.episode_means(Index(self.connection, self.store), group)
            found, links = monthly_gists.month_gists(
                month,
                group,
                means,
                turns,
                self._calibration.known,
                network,
                self.state,
                self.now,
                self.store.settings.consolidation.gist_episodes,
            )
            self._links |= {link.id: link for link in links}
            rows = self._calibration.known.rows
            for old in [r for r in rows.values() if r.kind == "gist" and r.value == month]:
                if not old.pinned:
                    del rows[old.id]
            for gist in found:
                rows[gist.id] = _renewed(self._before.get(gist.id), gist)


def _renewed(before: Statement | None, gist: Statement) -> Statement:
    """A gist in place of the one of its id: that itself where it says the same."""
    if before is None:
        return gist
    again = replace(gist, recorded_at=before.recorded_at, text_sha=before.text_sha)
    return before if replace(before, rev=gist.rev) == again else again


def _fault(error: Exception) -> str:
    """What went wrong and where, for somebody who will mend it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    name = place.filename.rpartition("clsm_cli/")[2]
    return f"{type(error).__name__} in {name}, line {place.lineno}: {error}"


MOST = 20
"""Items of one reason that a run adds."""


class ReviewQuestions:
    """The review items of a run."""

    def __init__(self, state: StoreState, now: str) -> None:
        self.items: list[logs.ReviewItem] = []
        self._state = state
        self._now = now

    def about_doubts(self, calibration: Calibration, adviser: Adviser) -> None:
        """Contradictions, unless an adviser decided them, and near duplicates."""
        doubts = calibration.outcome.doubts
        opposed = {(d.kept.id, d.other) for d in doubts if d.reason == "contradiction"}
        for doubt in doubts:
            if doubt.reason != "contradiction" and (doubt.kept.id, doubt.other) in opposed:
                continue  # one question about two sentences
            row = calibration.known.rows.get(doubt.kept.id, doubt.kept)
            if not row.is_current:
                continue
            if doubt.at is not None and adviser.is_update(doubt.kept, doubt.other):
                calibration.close(row, doubt.at)
            else:
                self._ask((row.id,), doubt.reason, row.text, doubt.other, doubt.turns)

    def about_names(self, words: Vocabulary, network: GraphUpdate) -> None:
        """Pairs of names that may be one thing, one of them new."""
        used = [words.entries[i] for i in network.nodes if i in words.entries]
        fresh = network.nodes.keys() - self._state.nodes.keys()
        decided = self._state.decided
        for a, b, likeness in near_pairs(used, fresh):
            if (a, b) not in decided and (b, a) not in decided:
                kept, other = words.entries[a].label, words.entries[b].label
                self._ask((a, b), NEAR_NAMES, kept, f"{other} ({likeness:.0f} % alike)")

    def _ask(
        self,
        about: tuple[str, ...],
        reason: str,
        kept: str,
        other: str,
        turns: tuple[str, ...] = (),
    ) -> None:
        """Add an item; ``turns`` say the other text, so that a forget of them finds it."""
        name = f"v-{digest(reason, *about, kept, other)}"
        item = logs.ReviewItem(name, self._now, (*about, *turns), reason, kept, other)
        asked = Counter(each.reason for each in self.items)
        is_new = item.id not in self._state.reviewed and item not in self.items
        if is_new and asked[reason] < MOST:
            self.items.append(item)
