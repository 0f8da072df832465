"""Questions for a person: what a run would rather ask than decide.

Few at a time: a list that nobody reads helps nobody. What was asked once is not asked again.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.consolidation.entity_resolution import near_pairs
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.model.ids import digest
from clsm_cli.store import logs
from clsm_cli.text.ontology import proposals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.entity_mentions import Vocabulary
    from clsm_cli.consolidation.graph_update import GraphUpdate
    from clsm_cli.consolidation.llm_adviser import Adviser
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.text.ontology import Ontology

MOST = 20
"""Items of one reason that a run adds, and doubts that a language model is asked about."""
NEW_TAG = "a new tag"


class ReviewQuestions:
    """The review items of a run.

    Args:
        state: Knows what was asked before.
        now: UTC time of the run.
    """

    def __init__(self, state: StoreState, now: str) -> None:
        self.items: list[logs.ReviewItem] = []
        self._state = state
        self._now = now

    def about_doubts(self, calibration: Calibration, adviser: Adviser) -> None:
        """Contradictions and near duplicates; a language model may decide the former."""
        asked = 0
        doubts = calibration.outcome.doubts
        opposed = {(d.kept.id, d.other) for d in doubts if d.reason == "contradiction"}
        for doubt in doubts:
            verdict = None
            if doubt.reason != "contradiction" and (doubt.kept.id, doubt.other) in opposed:
                continue  # one question about two sentences
            if doubt.reason == "contradiction" and asked < MOST:
                asked += 1
                verdict = adviser.is_update(doubt.kept, doubt.other)
            row = calibration.known.rows.get(doubt.kept.id, doubt.kept)
            if verdict and doubt.at is not None and row.is_current:
                calibration.close(row, doubt.at)
            elif verdict is None and row.is_current:
                self._ask((row.id,), doubt.reason, row.text, doubt.other, doubt.turns)

    def about_tags(
        self, records: Mapping[str, EpisodeRecord], ontology: Ontology, adviser: Adviser
    ) -> None:
        """New words for the ontology, where nothing fits what was said."""
        by_session: dict[str, list[str]] = {}
        for episode, record in records.items():
            if not record.tags:
                session = self._state.files[episode].session
                by_session.setdefault(session, []).append(f"{record.title} {record.narrative}")
        texts = [text for told in by_session.values() for text in told]
        advised = [word for text in texts if (word := adviser.word(ontology, text))]
        for word in dict.fromkeys([*proposals(by_session, ontology), *advised]):
            self._ask((f"tag-{digest(word)}",), NEW_TAG, word, "")

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
