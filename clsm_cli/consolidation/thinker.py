"""A language model as an adviser: what it says is checked, and without it the rules go on alone.

It never sees what tools printed or pages said, and nothing that it writes is kept unless the turns
that it cites hold every number and name of it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import claims
from clsm_cli.model.episodes import OpenQuestion, lowest_trust
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.streams import stream_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.config import LlmSettings
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.edges import Told
    from clsm_cli.integrations.llm import Llm
    from clsm_cli.model.episodes import Episode, EpisodeRecord, Turn
    from clsm_cli.model.graph import StatementKind
    from clsm_cli.text.ontology import Ontology

MOST_NAMES = 20
"""Names among which relations are asked for."""
_CHECKED = re.compile(r"\d+(?:[.,]\d+)*|\b[A-Z]\w+")


class Thinker:
    """Asks the model, or gives None: then the rules decide.

    Attributes:
        warnings: What the user should hear, each thing once.
    """

    def __init__(self, settings: LlmSettings, key: str | None) -> None:
        self.warnings: list[str] = []
        self._llm: Llm | None = None
        if settings.enabled:
            from clsm_cli.integrations.llm import Llm, LlmError

            try:
                self._llm = Llm(settings, key)
            except LlmError as error:
                self._fail(error)

    @property
    def is_there(self) -> bool:
        """Whether there is a model to ask."""
        return self._llm is not None

    @property
    def usage(self) -> dict[str, float]:
        """Calls, tokens and cost of the run; empty without a model."""
        return dict(self._llm.usage._asdict()) if self._llm is not None else {}

    def describe(self, record: EpisodeRecord, episode: Episode) -> EpisodeRecord:
        """The record with title, narrative, topic and threads by the model, if it gives them."""
        found = self._ask("extract", _lines(_said(episode)))
        if found is None or not found.title:
            return record
        known = {question.text: question for question in record.open_questions}
        return replace(
            record,
            title=found.title,
            narrative=found.narrative or record.narrative,
            topic=found.topic or record.topic,
            valence=round(found.valence, 4),
            decisions=found.decisions or record.decisions,
            open_questions=tuple(
                known.get(text, OpenQuestion(text)) for text in found.open_questions
            )
            or record.open_questions,
        )

    def claims(
        self, episode: Episode, by_rules: Sequence[Claim], known: Sequence[str]
    ) -> list[Claim]:
        """What an episode adds by the model's judgement; tasks and slots stay with the rules."""
        said = _said(episode)
        drafts = self._ask("calibrate", known, _lines(said))
        if drafts is None:
            return list(by_rules)
        kept = [claim for claim in by_rules if claim.kind == "task" or claim.slot]
        for draft in drafts:
            cited = [said[number - 1] for number in draft.turn_numbers]
            if not _is_grounded(draft.text, cited):
                continue
            kept.append(_claim(draft.text, draft.kind, draft.subject, cited, episode.recorded_at))
        return kept

    def is_update(self, old: str, new: str) -> bool | None:
        """Whether ``new`` means that ``old`` holds no longer; None when nobody can tell."""
        verdict = self._ask("judge", old, new)
        return None if verdict is None else verdict == "update"

    def gist(self, sentences: Sequence[str]) -> str | None:
        """One sentence for many; None where its numbers or names are not theirs."""
        found = self._ask("gist", sentences)
        return found if found and _holds(found, " ".join(sentences)) else None

    def relations(
        self, record: EpisodeRecord, labels: Mapping[str, str], nodes: Sequence[str]
    ) -> dict[Told, set[str]]:
        """Relations that the narrative of an episode states between its nodes."""
        chosen = list(nodes)[:MOST_NAMES]
        by_label = {labels[node]: node for node in chosen}
        found = self._ask("relate", list(by_label), record.narrative) if len(chosen) > 1 else None
        told: dict[Told, set[str]] = {}
        for source, name, target in found or ():
            a, b = by_label[source], by_label[target]
            keys = set(record.mentions.get(a, ())) & set(record.mentions.get(b, ()))
            if keys:
                told.setdefault((a, name, b, True), set()).update(keys)
        return told

    def word(self, ontology: Ontology, text: str) -> str | None:
        """A tag that the ontology lacks for a text."""
        found: str | None = self._ask("tag_word", [tag.word for tag in ontology.tags], text)
        return found

    def _ask(self, task: str, *values: Any) -> Any:
        """The answer to a task of ``integrations.llm_tasks``; None where there is none."""
        if self._llm is None:
            return None
        from clsm_cli.integrations import llm_tasks
        from clsm_cli.integrations.llm import LlmError

        try:
            return getattr(llm_tasks, task)(self._llm, *values)
        except LlmError as error:
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        told = f"{error}; the rules decided instead"
        if told not in self.warnings:
            self.warnings.append(told)


def _said(episode: Episode) -> list[Turn]:
    return [
        turn
        for turn in episode.turns
        if turn.role in ("user", "assistant") and claims.is_trusted(turn.trust)
    ]


def _lines(turns: Sequence[Turn]) -> list[tuple[str, str, str]]:
    return [(turn.speaker, turn.time or "", turn.text) for turn in turns]


def _claim(
    text: str, kind: StatementKind, subject: str, cited: Sequence[Turn], recorded_at: str
) -> Claim:
    stream = "identity" if kind in ("preference", "correction") else stream_of(text)
    first = cited[0]
    return claims.Claim(
        text=text,
        kind=kind,
        stream=stream,
        topic=claims.TOPICS.get(kind) or claims.FACTS[stream],
        turn=first.key,
        more_turns=tuple(turn.key for turn in cited[1:]),
        trust=lowest_trust([turn.trust for turn in cited]),
        valid_from=first.time,
        observed=first.time or recorded_at,
        subject=node_id(subject) if subject else None,
    )


def _is_grounded(text: str, cited: Sequence[Turn]) -> bool:
    told = " ".join(f"{turn.speaker} {turn.time or ''} {turn.text}" for turn in cited)
    return bool(cited) and _holds(text, told)


def _holds(text: str, source: str) -> bool:
    """Whether a source has every number and every name of a text (its first word aside).

    >>> _holds("Mara has 3 cats.", "I, Mara, have 3 cats"), _holds("Mara has 4 cats.", "3 cats, Mara")
    (True, False)
    """
    words = _CHECKED.finditer(text)
    plain = source.casefold()
    return all(match.start() == 0 or match.group().casefold() in plain for match in words)
