"""Learn from pending episodes: calibrate their claims, and write their records."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from clsm_cli.consolidation import (
    active_learning,
    calibrate,
    claims,
    monthly_gists,
)
from clsm_cli.consolidation.adviser_packet import drafts_of, related_statements, split_parts
from clsm_cli.consolidation.calibrate import Calibration
from clsm_cli.consolidation.claims import Claim
from clsm_cli.consolidation.consolidation_report import Report
from clsm_cli.consolidation.entity_mentions import Vocabulary, find_mentions
from clsm_cli.consolidation.entity_resolution import near_pairs
from clsm_cli.consolidation.graph_update import GraphUpdate
from clsm_cli.consolidation.llm_adviser import Adviser
from clsm_cli.consolidation.lookup import index_statements
from clsm_cli.consolidation.statement_selection import ScoredUnit, StatementScorer, UnitScores
from clsm_cli.consolidation.store_state import NEAR_NAMES, StoreState
from clsm_cli.consolidation.supersession_check import since
from clsm_cli.errors import fault_text
from clsm_cli.model.episodes import Episode, EpisodeRecord
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import digest
from clsm_cli.store import logs, settle
from clsm_cli.store.index import evidence_queries

MAX_ITEMS = 20
"""Maximum review items of one reason per run."""


@dataclass
class Learner:
    """Reads episodes in order of time, and updates the statements.

    Attributes:
        episodes: New records of the episodes that were read; one that failed is reported and stays pending.
        questions: Review items for a person.
        allow_loss: Whether a person allowed to end many statements at once.
    """

    state: StoreState
    words: Vocabulary
    adviser: Adviser
    report: Report
    allow_loss: bool

    def __post_init__(self) -> None:
        state = self.state
        self.episodes: dict[str, EpisodeRecord] = {}
        self._months: set[str] = set()
        self.questions: list[logs.ReviewItem] = []
        self._matcher = self.words.matcher()
        self._owner = active_learning.owner_of(state)
        self._scorer = StatementScorer(state, self._owner)
        self._candidates: list[ScoredUnit] = []
        is_shared = len(state.store.flows()) > 1
        rows = state.statements
        if is_shared:
            rows = calibrate.restore_closings(rows, state.now)
        known = index_statements(state, rows.values())
        self._calibration = Calibration(state, known, self.report.statements)
        if is_shared:
            calibrate.compare_machines(self._calibration, state.store.device)

    @property
    def statements(self) -> dict[str, Statement]:
        """All statements as they are now, by id."""
        return self._calibration.known.rows

    def learn_from(self, chosen: Sequence[str]) -> None:
        """Learn from episodes, given in order of time."""
        state = self.state
        turns = evidence_queries.turns_in_episodes(state.connection, chosen)
        current = {key for key, turn in turns.items() if turn.is_current}
        found: list[Claim] = []
        mentions: dict[str, dict[str, set[str]]] = {}
        find_mentions(turns.values(), self._matcher, mentions)
        for episode in filter(None, map(state.read_episode, chosen)):
            found += self._read(episode, current, mentions.get(episode.id, {}))
        known = state.vectors_of([claim.text for claim in found])
        for claim in claims.sort_claims(found, state.store.zone):
            self._calibration.read(claim, known.get(claim.text))

    def _read(
        self, episode: Episode, current: Collection[str], mentions: Mapping[str, set[str]]
    ) -> list[Claim]:
        """The claims of an episode, whose record is updated; none if clsm fails on its text."""
        file = self.state.files[episode.id]
        try:
            record = self._record(episode, mentions)
            scores = self._scorer.score(episode, current)
            by_rules = claims.episode_claims(episode, scores)
        except Exception as error:  # noqa: BLE001  # one text must not block all others
            how = self.report.unread[file.path] = fault_text(error)
            self.report.warnings.append(
                f"{file.path}: clsm itself failed on this text ({how}): nothing is learnt from it"
                " until clsm is mended; recall finds its words all the same"
            )
            return []
        self._candidates += claims.claimable_units(episode, scores)
        self.episodes[episode.id] = record
        if file.start:
            self._months.add(file.start[:7])
        return self._advised(episode, by_rules, scores)

    def finish(self, network: GraphUpdate) -> None:
        """Steps that need all episodes: removed blocks, the adviser's closings, gists, review items."""
        state = self.state
        self.episodes |= {i: r for i, r in network.episodes.items() if r != state.episodes[i]}
        total = sum(row.is_current and row.kind != "gist" for row in state.statements.values())
        free = math.inf if self.allow_loss else settle.most_lost(total, state.settings.mass_loss)
        if held := self._calibration.close_vanished(state.closed_blocks, free):
            self.report.held = (
                f"{held} of {total} statements have left their documents, too many to end unasked: they"
                " stay; look at them with: clsm consolidate --dry-run --yes, and end them with: --yes"
            )
            self.report.warnings.append(self.report.held)
        for row_id, claim in sorted(self.adviser.replaced.items()):
            if (row := self.statements.get(row_id)) is not None and row.is_current:
                self._calibration.close(row, since(claim))
        self._ask_about_doubts()
        if state.embed is not None:  # without a model, gists stay as they are
            done = {i: r for i, r in state.episodes.items() if not state.is_pending(r)}
            done |= self.episodes
            monthly_gists.renew(state, self._months, done, self._calibration.known, network)
        self._ask_about_names(network)
        self.adviser.finish(state.episodes)

    def most_informative(self) -> list[ScoredUnit]:
        """The most informative sentences of this run that the owner has not decided about."""
        items = self.state.reviewed.values()
        asked = [item.kept for item in items if item.reason == active_learning.WORTH]
        asked += [each.text for each in self._owner.decisions]
        return active_learning.most_informative(self._candidates, self.state.vectors_of, asked)

    def _advised(self, episode: Episode, by_rules: list[Claim], scores: UnitScores) -> list[Claim]:
        """The adviser's version of the claims; the claims themselves without an adviser."""
        if not self.adviser.is_available:
            return by_rules
        known = self._calibration.known
        closed = {turn.key for turn in episode.turns}.difference(scores.current)
        parts = split_parts(episode, closed, drafts_of(by_rules, scores))
        related = related_statements(self.state.index, known, parts)
        return self.adviser.claims(parts, by_rules, related, known.rows)

    def _record(self, episode: Episode, mentions: Mapping[str, set[str]]) -> EpisodeRecord:
        record = self.state.episodes[episode.id]
        return replace(
            record,
            mentions={node: tuple(sorted(mentions[node])) for node in sorted(mentions)},
            stage="consolidated",
            digest=self.state.files[episode.id].digest,
        )

    def _ask_about_doubts(self) -> None:
        """Ask about contradictions, the most probable first."""
        for doubt in sorted(self._calibration.doubts, key=lambda doubt: -doubt.chance):
            row = self.statements.get(doubt.kept.id, doubt.kept)
            if row.is_current:
                claim = doubt.claim
                self._ask((row.id,), logs.CONTRADICTION, row.text, claim.text, claim.sources)

    def _ask_about_names(self, network: GraphUpdate) -> None:
        """Ask about pairs of similar names, at least one of them new."""
        entries, decided = self.words.entries, self.state.decided
        used = [entries[i] for i in network.nodes if i in entries]
        fresh = network.nodes.keys() - self.state.nodes.keys()
        for a, b, likeness in near_pairs(used, fresh):
            if (a, b) not in decided and (b, a) not in decided:
                kept, other = entries[a].label, entries[b].label
                self._ask((a, b), NEAR_NAMES, kept, f"{other} ({likeness:.0f} % alike)")

    def _ask(
        self,
        about: tuple[str, ...],
        reason: str,
        kept: str,
        other: str,
        turns: tuple[str, ...] = (),
    ) -> None:
        """Add an item; ``turns`` are the sources of the other text, so that a forget of them finds it."""
        name = f"v-{digest(reason, *about, kept, other)}"
        item = logs.ReviewItem(name, self.state.now, (*about, *turns), reason, kept, other)
        asked = Counter(each.reason for each in self.questions)
        is_new = item.id not in self.state.reviewed and item not in self.questions
        if is_new and asked[reason] < MAX_ITEMS:
            self.questions.append(item)
