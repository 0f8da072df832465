"""The order of passages: neighbours in a session or section, and fixed groups of eight.

A group stands for the episode in ranking: recall gains 6 points from a score of what stands around
a turn, and how the surroundings are cut does not matter. Groups count from the beginning of the
session or section, so they do not depend on how the input was split.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

GROUP = 8
"""Passages of a group."""


def settle_session(connection: sqlite3.Connection, session: str) -> None:
    """Put the turns of a session in order: episode by episode, then what waits in inboxes."""
    rows = connection.execute(
        "SELECT p.id, l.episode, p.previous, p.next, p.grp FROM places l"
        " JOIN passages p ON p.place = l.id JOIN files f ON f.id = l.file"
        " WHERE l.session = ? AND l.document IS NULL AND l.kind = 'passage' ORDER BY f.path, p.id",
        (session,),
    ).fetchall()
    places = {episode: i for i, episode in enumerate(_chain(connection, session))}
    last = len(places)
    rows.sort(key=lambda row: last if row[1] is None else places.get(row[1], last))
    _settle(connection, [(row[0], *row[2:]) for row in rows])


def settle_document(connection: sqlite3.Connection, document: str) -> None:
    """Put the current blocks of a document in order, section by section; others stand alone."""
    rows = connection.execute(
        "SELECT b.heading, p.id, p.previous, p.next, p.grp FROM blocks b JOIN passages p"
        " ON p.key = b.key JOIN places l ON l.id = p.place AND l.document = b.document"
        " JOIN files f ON f.id = l.file"
        " WHERE b.document = ? AND p.current ORDER BY b.line_start, b.key, p.part, f.path",
        (document,),
    ).fetchall()
    for _, section in groupby(rows, key=lambda row: row[0]):
        _settle(connection, [row[1:] for row in section])
    connection.execute(
        "UPDATE passages SET previous = NULL, next = NULL, grp = id WHERE NOT current"
        " AND (grp <> id OR previous IS NOT NULL OR next IS NOT NULL)"
        " AND place IN (SELECT id FROM places WHERE document = ?)",
        (document,),
    )


def _chain(connection: sqlite3.Connection, session: str) -> list[str]:
    """The episodes of a session, each after the one it names as its previous."""
    previous = dict(
        connection.execute(
            "SELECT e.id, e.previous FROM episodes e JOIN files f ON f.id = e.file"
            " WHERE e.session = ? ORDER BY e.start, e.id, f.path",
            (session,),
        )
    )
    followers: dict[str | None, list[str]] = {}
    for episode, before in previous.items():
        followers.setdefault(before if before in previous else None, []).append(episode)
    ordered: dict[str, None] = {}
    waiting = list(reversed(followers.get(None, [])))
    while waiting:
        episode = waiting.pop()
        if episode not in ordered:
            ordered[episode] = None
            waiting += reversed(followers.get(episode, []))
    return [*ordered, *(episode for episode in previous if episode not in ordered)]


def _settle(connection: sqlite3.Connection, rows: Sequence[Sequence[int | None]]) -> None:
    """Write neighbours and groups where they differ from those in ``rows``: id, previous, next, group."""
    connection.executemany(
        "UPDATE passages SET previous = ?, next = ?, grp = ? WHERE id = ?",
        [
            (*wanted, row[0])
            for row, wanted in zip(rows, _wanted([row[0] for row in rows]), strict=True)
            if wanted != tuple(row[1:])
        ],
    )


def _wanted(ids: Iterable[int | None]) -> Iterator[tuple[int | None, int | None, int | None]]:
    """Previous, next and group of each of a run of passages.

    >>> list(_wanted([5, 9, 7]))
    [(None, 9, 5), (5, 7, 5), (9, None, 5)]
    """
    listed = list(ids)
    for i, _ in enumerate(listed):
        before = listed[i - 1] if i else None
        after = listed[i + 1] if i + 1 < len(listed) else None
        yield before, after, listed[i // GROUP * GROUP]
