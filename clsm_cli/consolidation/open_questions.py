"""Open questions, and the turns that answered them.

A question is answered by the earliest later turn, in whatever episode, that does not ask and either
takes up most of the question's words or says that it answers and takes up some of them.

Questions for a person: what a run would rather ask than decide.

Few at a time: a list that nobody reads helps nobody. What was asked once is not asked again.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation.entity_resolution import near_pairs
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs
from clsm_cli.text.ontology import proposals
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.consolidation.calibrate import Calibration
    from clsm_cli.consolidation.entity_mentions import Vocabulary
    from clsm_cli.consolidation.graph_update import Network
    from clsm_cli.consolidation.llm_adviser import Thinker
    from clsm_cli.consolidation.store_state import State
    from clsm_cli.model.episodes import EpisodeRecord, OpenQuestion
    from clsm_cli.store.index.evidence_queries import Said
    from clsm_cli.text.ontology import Ontology

COVERED = 0.6
"""Share of a question's stems that a turn must take up."""
COVERED_BY_ANSWER = 0.4
"""The same where the turn itself says that it is the answer."""
LEAST = 3
"""Stems of a question that can be told from others."""
_ANSWERS = re.compile(
    r"#answered\b|\banswered\b|\bthe answer\b|\bit turns? out\b|\bturned out\b|\bexplained\b|"
    r"\bbecause\b|\bfound out\b|\bsolved\b",
    re.IGNORECASE,
)


class Answer(NamedTuple):
    """A turn that may answer: its key, its time, and the stems of what it states."""

    key: str
    time: str
    stems: frozenset[str]
    is_answer: bool


def answers(turns: Iterable[Said]) -> list[Answer]:
    """Turns that state something, in order of time."""
    found = []
    for turn in turns:
        if turn.role == "tool" or turn.time is None:
            continue
        told = " ".join(s for s in sentences(turn.text) if not s.rstrip("\"'”’)*_ ").endswith("?"))
        heading = f"{turn.heading} {told}" if turn.document else told
        is_answer = _ANSWERS.search(heading) is not None
        found.append(Answer(turn.key, turn.time, frozenset(stems(heading)), is_answer))
    return sorted(found, key=lambda each: (each.time, each.key))


def closed(
    records: Mapping[str, EpisodeRecord], asked: Mapping[str, str], found: Sequence[Answer]
) -> dict[str, EpisodeRecord]:
    """Records of which a question is answered now.

    Args:
        records: Episodes by id.
        asked: Episode → its end, where it has one.
        found: Turns that may answer, in order of time.
    """
    by_stem: dict[str, list[int]] = {}
    for place, answer in enumerate(found):
        for stem in answer.stems:
            by_stem.setdefault(stem, []).append(place)
    changed: dict[str, EpisodeRecord] = {}
    for episode, record in records.items():
        if episode not in asked or not record.open_questions:
            continue
        questions = tuple(
            question if question.answered_by else _closed(question, asked[episode], found, by_stem)
            for question in record.open_questions
        )
        if questions != record.open_questions:
            changed[episode] = replace(record, open_questions=questions)
    return changed


def _closed(
    question: OpenQuestion,
    asked: str,
    found: Sequence[Answer],
    by_stem: Mapping[str, Sequence[int]],
) -> OpenQuestion:
    wanted = set(stems(question.text))
    if len(wanted) < LEAST:
        return question
    places = sorted({place for stem in wanted for place in by_stem.get(stem, ())})
    for place in places:
        answer = found[place]
        share = len(wanted & answer.stems) / len(wanted)
        need = COVERED_BY_ANSWER if answer.is_answer else COVERED
        if answer.time > asked and share >= need:
            return replace(question, answered_by=answer.key)
    return question


MOST = 20
"""Items of one reason that a run adds, and doubts that a language model is asked about."""
NEW_TAG = "a new tag"


class Questions:
    """The review items of a run.

    Args:
        state: Knows what was asked before.
        now: UTC time of the run.
    """

    def __init__(self, state: State, now: str) -> None:
        self.items: list[logs.ReviewItem] = []
        self._state = state
        self._now = now

    def about_doubts(self, calibration: Calibration, thinker: Thinker) -> None:
        """Contradictions and near duplicates; a language model may decide the former."""
        asked = 0
        for doubt in calibration.outcome.doubts:
            verdict = None
            if doubt.reason == "contradiction" and asked < MOST:
                asked += 1
                verdict = thinker.is_update(doubt.kept, doubt.other)
            row = calibration.known.rows.get(doubt.kept.id, doubt.kept)
            if verdict and doubt.at is not None and row.is_current:
                calibration.close(row, doubt.at)
            elif verdict is None and row.is_current:
                self._ask((row.id,), doubt.reason, row.text, doubt.other)

    def about_tags(
        self, records: Mapping[str, EpisodeRecord], ontology: Ontology, thinker: Thinker
    ) -> None:
        """New words for the ontology, where nothing fits what was said."""
        by_session: dict[str, list[str]] = {}
        for episode, record in records.items():
            if not record.tags:
                session = self._state.files[episode].session
                by_session.setdefault(session, []).append(f"{record.title} {record.narrative}")
        texts = [text for told in by_session.values() for text in told]
        advised = [word for text in texts if (word := thinker.word(ontology, text))]
        for word in dict.fromkeys([*proposals(by_session, ontology), *advised]):
            self._ask((f"tag-{digest(word)}",), NEW_TAG, word, "")

    def about_names(self, words: Vocabulary, network: Network) -> None:
        """Pairs of names that may be one thing, one of them new."""
        used = [words.entries[i] for i in network.nodes if i in words.entries]
        fresh = network.nodes.keys() - self._state.nodes.keys()
        decided = self._state.decided
        for a, b, likeness in near_pairs(used, fresh):
            if (a, b) not in decided and (b, a) not in decided:
                kept, other = words.entries[a].label, words.entries[b].label
                self._ask((a, b), NEAR_NAMES, kept, f"{other} ({likeness:.0f} % alike)")

    def _ask(self, about: tuple[str, ...], reason: str, kept: str, other: str) -> None:
        item = logs.ReviewItem(
            f"v-{digest(reason, *about, kept, other)}", self._now, about, reason, kept, other
        )
        asked = Counter(each.reason for each in self.items)
        is_new = item.id not in self._state.reviewed and item not in self.items
        if is_new and asked[reason] < MOST:
            self.items.append(item)
