"""What the pending episodes teach: their claims against what is known, and their own records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import claims, gists, habits, threads, vocabulary
from clsm_cli.consolidation.calibrate import Calibration
from clsm_cli.consolidation.inventory import near_pairs
from clsm_cli.consolidation.known import Known
from clsm_cli.consolidation.observe import observe
from clsm_cli.consolidation.state import NEAR_NAMES
from clsm_cli.errors import DamagedStoreError
from clsm_cli.ingestion.report import utc
from clsm_cli.model.episodes import Observation
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import digest
from clsm_cli.store import episodes as episode_files
from clsm_cli.store import logs, statements
from clsm_cli.store.index import evidence, vectors
from clsm_cli.text import timex
from clsm_cli.text.ontology import proposals, tags_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.edges import Told
    from clsm_cli.consolidation.network import Network
    from clsm_cli.consolidation.report import Request
    from clsm_cli.consolidation.state import State
    from clsm_cli.consolidation.thinker import Thinker
    from clsm_cli.consolidation.vocabulary import Vocabulary
    from clsm_cli.model.episodes import Episode, EpisodeRecord
    from clsm_cli.model.graph import Edge
    from clsm_cli.store.index.vectors import Embed
    from clsm_cli.store.layout import Store
    from clsm_cli.text.ontology import Ontology

MOST_VERDICTS = 20
"""Doubts that a language model is asked about in one run."""
MOST_DOUBTS = 20
"""Review items of one reason that a run adds: a list that nobody reads helps nobody."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """What a run has learnt so far.

    Attributes:
        before: The statements as they were read, by id.
        statements: As they are now, by id.
        episodes: Records of consolidated episodes that changed, by id.
        links: Edges from episodes to the gists of the months that were clustered.
        months: Those months.
        review: Items for a person.
    """

    before: dict[str, Statement]
    statements: dict[str, Statement]
    episodes: dict[str, EpisodeRecord]
    links: dict[str, Edge]
    months: frozenset[str]
    review: list[logs.ReviewItem]


class Student:
    """Reads episodes in the order of time and keeps what they teach."""

    def __init__(
        self,
        store: Store,
        connection: sqlite3.Connection,
        state: State,
        words: Vocabulary,
        ontology: Ontology,
        embed: Embed | None,
        thinker: Thinker,
        request: Request,
    ) -> None:
        self.store = store
        self.connection = connection
        self.state = state
        self.words = words
        self.ontology = ontology
        self.embed = embed
        self.thinker = thinker
        self.request = request
        self.now = utc(request.now)
        self.records: dict[str, EpisodeRecord] = {}
        self._before = statements.load(store, state.records, self.now)
        self._matcher = words.matcher()
        rows = self._before
        known = self._vectors([row.text for row in rows.values() if row.text])
        self._calibration = Calibration(
            Known(rows.values(), {i: known.get(r.text) for i, r in rows.items()}, words.node_of_id),
            store.settings.consolidation,
            lambda text: tags_of(text, ontology),
            self.now,
        )
        self._answers: list[threads.Answer] = []
        self._months: set[str] = set()
        self._links: dict[str, Edge] = {}
        self._review: list[logs.ReviewItem] = []

    @property
    def outcome(self) -> Any:
        """What became of the claims."""
        return self._calibration.outcome

    def study(self, chosen: Sequence[str]) -> None:
        """Read some episodes, given in order of time."""
        told = evidence.said_in(self.connection, chosen)
        current = {key for key, turn in told.items() if turn.is_current}
        found: list[Claim] = []
        by_episode = vocabulary.find_in(list(told.values()), self._matcher)
        for episode_id in chosen:
            episode = self._episode(episode_id)
            if episode is None:
                continue
            found += self._claims(episode, current)
            record = self._record(episode, by_episode.get(episode_id, {}))
            self.records[episode_id] = self.thinker.describe(record, episode)
            start = self.state.files[episode_id].start
            if start:
                self._months.add(start[:7])
        self._answers += threads.answers(told.values())
        self._read(claims.in_order(found))

    def conclude(self, network: Network) -> None:
        """What needs all episodes: rules, questions that were answered, gists, what vanished."""
        self.records |= {i: r for i, r in network.episodes.items() if r != self.state.episodes[i]}
        self._rules()
        self._threads()
        self._calibration.vanish(self.state.closed_blocks)
        self._gists(network)
        self._doubts()
        self._words()
        self._names(network)

    def taken(self) -> Lessons:
        """What was learnt so far."""
        return Lessons(
            self._before,
            dict(self._calibration.known.rows),
            dict(self.records),
            dict(self._links),
            frozenset(self._months),
            list(self._review),
        )

    def _names(self, network: Network) -> None:
        """Put pairs of names that may be one thing on the review list."""
        used = [self.words.entries[i] for i in network.nodes if i in self.words.entries]
        fresh = network.nodes.keys() - self.state.nodes.keys()
        for a, b, likeness in near_pairs(used, fresh)[:MOST_DOUBTS]:
            kept, other = self.words.entries[a].label, self.words.entries[b].label
            if (a, b) not in self.state.decided and (b, a) not in self.state.decided:
                self._ask((a, b), NEAR_NAMES, kept, f"{other} ({likeness:.0f} % alike)")

    def _episode(self, episode_id: str) -> Episode | None:
        try:
            return episode_files.read(self.store.root / self.state.files[episode_id].path)
        except DamagedStoreError:
            return None  # the index names it among the problems

    def _claims(self, episode: Episode, current: set[str]) -> list[Claim]:
        found = claims.of_episode(episode, current, self.store.settings.consolidation)
        if not self.thinker.is_there:
            return found
        text = " ".join(turn.text for turn in episode.turns)
        near = self._calibration.known.nearest(text, self._vectors([text]).get(text))
        return self.thinker.claims(episode, found, [row.text for row, _ in near])

    def relations(self, labels: Mapping[str, str]) -> dict[Told, set[str]]:
        """What a language model finds between the nodes of what was read; nothing without one."""
        told: dict[Told, set[str]] = {}
        for record in self.records.values():
            nodes = [node for node in record.mentions if node in labels]
            for relation, keys in self.thinker.relations(record, labels, nodes).items():
                told.setdefault(relation, set()).update(keys)
        return told

    def _record(self, episode: Episode, mentions: Mapping[str, set[str]]) -> EpisodeRecord:
        record = self.state.episodes[episode.id]
        text = "\n".join(turn.text for turn in episode.turns if turn.role != "tool")
        return replace(
            record,
            mentions={node: tuple(sorted(mentions[node])) for node in sorted(mentions)},
            observations=tuple(Observation(*each) for each in observe(episode.turns)),
            tags=tuple(sorted(tags_of(text, self.ontology))),
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

    def _rules(self) -> None:
        """Rules that enough sessions show; what contradicts one weakens it."""
        settings = self.store.settings.consolidation
        seen = self._seen()
        fresh = {i for i in self.records}
        rows = self._calibration.known
        for group in habits.groups(each for each, _ in seen):
            if habits.is_rule(group, settings):
                self._rule(group)
        new = [each for each, episode in seen if episode in fresh]
        rules = [r for r in rows.rows.values() if r.is_current and r.kind in claims.RULES]
        for rule in rules:
            against = {
                key
                for each in new
                if habits.contradicts(rule, each)
                for key in each.observation.turns
            }
            if against and not rule.pinned:
                self._calibration.contradict(rule, against)

    def _seen(self) -> list[tuple[habits.Seen, str]]:
        found: list[tuple[habits.Seen, str]] = []
        records = self._all_records()
        keys = sorted({k for r in records.values() for o in r.observations for k in o.turns})
        told = evidence.said(self.connection, keys)
        for episode, record in sorted(records.items()):
            for each in record.observations:
                turns = [told[key] for key in each.turns if key in told]
                if turns and any(turn.is_current for turn in turns):
                    trust: Any = turns[0].trust
                    session = turns[0].session
                    found.append((habits.Seen(each, session, turns[0].time, trust), episode))
        return found

    def _rule(self, group: list[habits.Seen]) -> None:
        claim = claims.of_rule([(each.observation, each.trust, each.time) for each in group])
        rows = self._calibration.known
        known = next(
            (
                r
                for r in rows.rows.values()
                if r.kind == claim.kind and set(r.sources) & set(claim.turns)
            ),
            None,
        )
        if known is None:
            first = group[0]
            turn = evidence.said(self.connection, [claim.turn])[claim.turn]
            text = claims.spoken(
                first.observation.text, turn.speaker, is_note=turn.document is not None
            )
            when = claims.day_of(first.time)
            claim = claim._replace(text=timex.absolutise(text, when) if when else text)
            self._calibration.read(claim, self._vectors([claim.text]).get(claim.text))
        elif known.is_current and not known.pinned:
            self._calibration.reinforce(known, claim)

    def _threads(self) -> None:
        records = self._all_records()
        ends = {i: start for i in records if (start := self.state.files[i].start)}
        self.records |= threads.closed(records, ends, sorted(self._answers, key=lambda a: a.time))

    def _gists(self, network: Network) -> None:
        if self.embed is None:
            self._months.clear()
            return
        records = self._all_records()
        by_month = gists.months(self.state, records)
        for month in sorted(self._months):
            group = [records[i] for i in by_month[month]]
            means, turns = self._means(group)
            found, links = gists.of_month(
                month,
                group,
                means,
                turns,
                self._calibration.known,
                network,
                self.state,
                self.thinker,
                self.now,
            )
            self._links |= {link.id: link for link in links}
            rows = self._calibration.known.rows
            for old in [r for r in rows.values() if r.kind == "gist" and r.value == month]:
                if not old.pinned:
                    del rows[old.id]
            for gist in found:
                before = self._before.get(gist.id)
                recorded = before.recorded_at if before else gist.recorded_at
                rows[gist.id] = replace(gist, recorded_at=recorded)

    def _means(self, group: Sequence[EpisodeRecord]) -> tuple[dict[str, Any], dict[str, set[str]]]:
        """Unit mean vector and keys of the turns of each episode, by id."""
        import numpy as np

        from clsm_cli.store.index.reader import Index

        told = evidence.said_in(self.connection, [record.id for record in group])
        keys: dict[str, set[str]] = {}
        for key, turn in told.items():
            if turn.role != "tool":
                keys.setdefault(turn.episode, set()).add(key)
        found = Index(self.connection, self.store).vectors_of(sorted(told))
        means: dict[str, Any] = {}
        for episode, members in keys.items():
            rows = [found[key] for key in sorted(members) if key in found]
            if rows:
                mean = np.mean(np.stack(rows).astype(np.float64), axis=0)
                length = float(np.linalg.norm(mean))
                if length > 0.0:
                    means[episode] = mean / length
        return means, keys

    def _doubts(self) -> None:
        count: dict[str, int] = {}
        asked = 0
        for doubt in self._calibration.outcome.doubts:
            if doubt.reason == "contradiction" and asked < MOST_VERDICTS:
                asked += 1
                if self.thinker.is_update(doubt.kept.text, doubt.other) is False:
                    continue
            count[doubt.reason] = count.get(doubt.reason, 0) + 1
            if count[doubt.reason] <= MOST_DOUBTS:
                self._ask((doubt.kept.id,), doubt.reason, doubt.kept.text, doubt.other)

    def _words(self) -> None:
        """New words for the ontology, where nothing fits what was said."""
        by_session: dict[str, list[str]] = {}
        for episode, record in self.records.items():
            if not record.tags:
                session = self.state.files[episode].session
                by_session.setdefault(session, []).append(f"{record.title} {record.narrative}")
        told = [text for texts in by_session.values() for text in texts] if by_session else []
        advised = [word for text in told if (word := self.thinker.word(self.ontology, text))]
        for word in dict.fromkeys([*proposals(by_session, self.ontology), *advised]):
            self._ask((f"tag-{digest(word)}",), "a new tag", word, "")

    def _ask(self, about: tuple[str, ...], reason: str, kept: str, other: str) -> None:
        item = logs.ReviewItem(
            f"v-{digest(reason, *about, kept, other)}", self.now, about, reason, kept, other
        )
        if item.id not in self.state.reviewed:
            self._review.append(item)
