"""What of the derived records still has something to rest on when turns go (CMA's unlearning).

A statement rests on its sources, but its words came from one of them. Where the words are not in
what stays, the statement goes too, and the episodes of its other sources are read again: they may
say it in words of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.graph import Node
from clsm_cli.records import NamedTuple
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from clsm_cli.forgetting.memory import Memory
    from clsm_cli.forgetting.selection import Chosen
    from clsm_cli.model.codec import Record

_MONTHS = frozenset(
    stem
    for month in [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    for stem in stems(month)
)
"""Dates stand in statements where the source said "yesterday"."""


class Support(NamedTuple):
    """What has lost its support.

    Attributes:
        episodes: Ids of those that lose turns.
        statements: Ids of those that go.
        nodes: Ids of those that a person pinned and that nothing mentions any more.
        again: Ids of episodes that have to be read again.
        months: Whose gists are made anew, as ``2026-02``.
    """

    episodes: frozenset[str]
    statements: frozenset[str]
    nodes: frozenset[str]
    again: frozenset[str]
    months: frozenset[str]


def weigh(memory: Memory, chosen: Chosen) -> Support:
    """Find out what goes with some turns and statements."""
    gone = chosen.turns
    touched = {e for key in gone if (e := memory.episode_of(key)) is not None}
    starts = {e.id: e.start for _, e in memory.episodes}
    months = {start[:7] for e in touched if (start := starts.get(e))}
    lost = set(chosen.statements)
    again: set[str] = set()
    for row in memory.statements.values():
        left = set(row.sources) - gone
        if row.kind == "gist":
            if row.value in months or left != {*row.sources}:
                lost.add(row.id)
                months |= {row.value} if row.value else set()
        elif left != {*row.sources} and not (left and _says(memory, left, row.text)):
            lost.add(row.id)
            again |= {e for key in left if (e := memory.episode_of(key)) is not None}
    unmentioned = {
        node
        for node, keys in memory.mentions.items()
        if keys and keys <= gone and _is_pinned(memory.records.get(node))
    }
    return Support(
        frozenset(touched),
        frozenset(lost),
        frozenset(unmentioned),
        frozenset(again - touched) | _one_of_each(memory, months, touched | again),
        frozenset(months),
    )


def _one_of_each(memory: Memory, months: set[str], known: Collection[str]) -> frozenset[str]:
    """An episode of each month, so that the month's gists are made anew."""
    found: dict[str, str] = {}
    for _, episode in memory.episodes:
        month = (episode.start or "")[:7]
        if month in months and episode.id not in known:
            found[month] = min(found.get(month, episode.id), episode.id)
    return frozenset(found.values())


def _is_pinned(record: Record | None) -> bool:
    return isinstance(record, Node) and record.pinned


def _says(memory: Memory, keys: Iterable[str], text: str) -> bool:
    """Whether turns hold all words of a text; names of speakers and dates may have been put in."""
    held: set[str] = set()
    for key in keys:
        told = memory.told.get(key)
        if told is not None:
            held.update(stems(" ".join((told.turn.text, told.turn.speaker, *told.turn.heading))))
    return all(word in held or word.isdigit() or word in _MONTHS for word in stems(text))
