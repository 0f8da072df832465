"""Open questions, and the turns that answered them.

A question is answered by the earliest later turn, in whatever episode, that does not ask and either
takes up most of the question's words or says that it answers and takes up some of them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.model.episodes import EpisodeRecord, OpenQuestion
    from clsm_cli.store.index.evidence import Said

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
