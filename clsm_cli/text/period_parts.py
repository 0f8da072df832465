"""Sort what a period brought: decisions, facts, tasks, and the remaining episodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sentences
from clsm_cli.text.plain import to_plain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.model.graph import Statement

_DATED_SENTENCE = re.compile(r"\s(?=On \d{4}-\d\d-\d\d(?: at \d\d:\d\d)?[:,] )")


class PeriodParts(NamedTuple):
    """Statements and episodes of a period, by kind."""

    decisions: list[Statement]  # also corrections, and what repeats a decision of an episode
    reported_decisions: list[tuple[EpisodeRecord, str]]  # the other decisions of episodes
    facts: list[Statement]  # all other statements but tasks, which are ``done`` or ``open``
    done: list[Statement]
    open: list[Statement]
    others: list[EpisodeRecord]  # episodes without decisions that are the source of no statement


def sort_period(
    statements: Sequence[Statement],
    episodes: Sequence[EpisodeRecord],
    turns: Mapping[str, Collection[str]],
) -> PeriodParts:
    """Sort the statements that became true in a period and still are, and the episodes that began in it.

    Each part keeps their order; ``turns`` has the keys of the turns of each episode.
    """
    reported = [(each, to_plain(text)) for each in episodes for text in each.decisions]
    tasks = [row for row in statements if row.kind == "task"]
    decisions = [
        row
        for row in statements
        if row.kind in ("decision", "correction")
        or (row.kind != "task" and any(text in row.text for _, text in reported))
    ]
    sorted_ids = {row.id for row in (*tasks, *decisions)}
    sources = {key for row in statements for key in row.sources}
    return PeriodParts(
        decisions,
        [each for each in reported if not any(each[1] in row.text for row in decisions)],
        [row for row in statements if row.id not in sorted_ids],
        [row for row in tasks if row.state == "done"],
        [row for row in tasks if row.state != "done"],
        [e for e in episodes if not e.decisions and sources.isdisjoint(turns.get(e.id, ()))],
    )


def narrative_sentences(narrative: str) -> list[str]:
    """Split a narrative before each leading day; one without leading days into sentences.

    >>> narrative_sentences("On 2026-03-18: Seit dem 1. März. On 2026-03-18 at 08:15, Ann said: No. Yes.")
    ['On 2026-03-18: Seit dem 1. März.', 'On 2026-03-18 at 08:15, Ann said: No. Yes.']
    """
    is_dated = _DATED_SENTENCE.match(f" {narrative}")
    return _DATED_SENTENCE.split(narrative) if is_dated else sentences.sentences(narrative)


def first_sentence(record: EpisodeRecord) -> str:
    """The first sentence of an episode's narrative, which has its day; else its title."""
    return next(iter(narrative_sentences(record.narrative)), "") or record.title
