"""The signals of a passage, each 0 … 1; their weighted sum is its score."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.graph_queries import SourceDates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.ranking_queries import Traits


class Signals(NamedTuple):
    """The signals of a passage.

    Attributes:
        bm25: Its words, as a share of the best of this query, times the square of the largest
            share of the question's idf that stands in one group: where the store hardly has the
            question's words, words decide little.
        maxsim: Late interaction with the passage and the one before it, min-max over candidates.
        context: The same with the one after it too.
        episode: Its group (eight turns of a conversation, eight blocks of a section): half BM25,
            half mean cosine.
        participant: Whether it is by, or in a note about, the one person the question names.
        date: Whether it was told at, or speaks of, the time that the question names; most for a
            single day (``match.period_match``).
        temporal: Whether it speaks of a time, where the question asks for one.
        question: Whether it is a question itself; that speaks against it.
        echo: Late interaction with the turn before alone, where that asks nothing; it speaks
            against: what is found stands there already.
        names: How many names it mentions.
        session: The best passage of its conversation at first sight.
        meaning: The cosine to the question, as far as that asks for several things
            (``text.breadth``) or names no speaker; ``episode`` and ``session`` count as far as it
            does neither, or as the passage is near itself (``rerank.add_second_stage``).
        outdated: Whether all that was learnt from it holds no longer, where the question asks
            for what does; that speaks against it.
        literal: What it holds, as it is written, of the question's words that the model does not
            know: the share Σ strangeness · idf (``dense_search.unfamiliarity``, ``words``).
        graph: How strongly the best passages lead to it, by what both mention (``activation``).
    """

    bm25: float = 0.0
    maxsim: float = 0.0
    context: float = 0.0
    episode: float = 0.0
    participant: float = 0.0
    date: float = 0.0
    temporal: float = 0.0
    question: float = 0.0
    echo: float = 0.0
    names: float = 0.0
    session: float = 0.0
    meaning: float = 0.0
    outdated: float = 0.0
    graph: float = 0.0
    literal: float = 0.0


def weights(settings: RecallSettings) -> Signals:
    """The weight of each signal."""
    return Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))


def participant_signal(question: Question, traits: Traits, *, is_about: bool) -> float:
    """Whether a passage is by the person asked about.

    Args:
        is_about: Whether its own words name that person.

    Returns:
        1: said by the only participant the question names, or a note that names them. ½: a note
        that does not, or said by the first of two ("What does Mara think of Brian?") unless both
        are meant. 0: said by another, or the question names nobody or several.
    """
    if len(question.named_speakers) == 2:
        return 0.5 * (not question.means_both and traits.speaker == question.named_speakers[0])
    if len(question.named_speakers) != 1:
        return 0.0
    if traits.is_document or not traits.speaker:
        return 1.0 if is_about else 0.5
    return float(traits.speaker == question.named_speakers[0])


def date_signal(question: Question, traits: Traits, fits: float) -> float:
    """The date signal: how much it counts that a passage fits the time asked about (``time_fit``).

    The evidence of a dated question often stands in the note of another day, so that of a note
    counts 1 / (1 + n), n the terms that the question has besides its time and its names: "what
    happened on 2 March" asks for a day, and what else is in a question says more of what is meant.
    """
    return fits / (1 + question.besides) if traits.is_document else fits


def time_fit(question: Question, traits: Traits, sources: Sequence[SourceDates] = ()) -> float:
    """How well a passage fits the time asked about, see ``days.match``.

    A statement is as much of a day as the turns are that it rests on, on average; what was said on
    many days is no news of one. A gist has no day of its own, only its month.

    Args:
        sources: When those turns were told, and what days they speak of.
    """
    if not question.periods:
        return 0.0
    asked = question.periods
    if traits.kind == "gist":
        asked = tuple(each for each in asked if each[1] - each[0] > 1)
        sources = ()
    told = sources or (SourceDates(traits.day, traits.periods),)
    found = [
        match.period_match(asked, each.day, json.loads(each.periods) if each.periods else [])
        for each in told
    ]
    return sum(found) / len(found)
