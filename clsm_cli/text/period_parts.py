"""What a time was about: what was decided, learnt and done in it, and of the rest what stands out."""

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

_BEGINS = re.compile(r"\s(?=On \d{4}-\d\d-\d\d(?: at \d\d:\d\d)?[:,] )")


class PeriodParts(NamedTuple):
    """What became true in a time, and was told in it.

    Attributes:
        decided: Decisions and corrections, and statements that say what an episode decided.
        reported: The other decisions of episodes, each with its episode.
        learnt: All other statements but tasks, which are ``done`` or ``open``.
        told: The episodes that none of this comes from.
    """

    decided: list[Statement]
    reported: list[tuple[EpisodeRecord, str]]
    learnt: list[Statement]
    done: list[Statement]
    open: list[Statement]
    told: list[EpisodeRecord]


def sort_out(
    statements: Sequence[Statement],
    episodes: Sequence[EpisodeRecord],
    turns: Mapping[str, Collection[str]],
) -> PeriodParts:
    """Sort what a time brought; each part is in the order given.

    Args:
        statements: Those that became true then and still are, gists left out.
        episodes: Those that began then.
        turns: Keys of the turns of episodes.
    """
    reported = [(each, to_plain(text)) for each in episodes for text in each.decisions]
    tasks = [row for row in statements if row.kind == "task"]
    decided = [
        row
        for row in statements
        if row.kind in ("decision", "correction")
        or (row.kind != "task" and any(text in row.text for _, text in reported))
    ]
    taken = {row.id for row in (*tasks, *decided)}
    said = {key for row in statements for key in row.sources}
    return PeriodParts(
        decided,
        [each for each in reported if not any(each[1] in row.text for row in decided)],
        [row for row in statements if row.id not in taken],
        [row for row in tasks if row.state == "done"],
        [row for row in tasks if row.state != "done"],
        [e for e in episodes if not e.decisions and said.isdisjoint(turns.get(e.id, ()))],
    )


def narrated(narrative: str) -> list[str]:
    """The sentences of a narrative: each begins with its day, or there is none.

    >>> narrated("On 2026-03-18: Seit dem 1. März. On 2026-03-18 at 08:15, Ann said: No. Yes.")
    ['On 2026-03-18: Seit dem 1. März.', 'On 2026-03-18 at 08:15, Ann said: No. Yes.']
    """
    told = _BEGINS.split(narrative)
    return told if _BEGINS.match(f" {narrative}") else sentences.sentences(narrative)


def opening(record: EpisodeRecord) -> str:
    """The first sentence of an episode's narrative, which says when it was; else its title."""
    return next(iter(narrated(record.narrative)), "") or record.title
