"""Index queries of consolidation: turns with their texts and names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from sqlite3 import Connection
from typing import Any

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.database import column, select
from clsm_cli.store.index.passage_rows import name_candidates
from clsm_cli.store.index.passages import HEADING_SEPARATOR

_SECTION = "COALESCE(p.document || ' ' || COALESCE(p.heading, 0), p.episode)"
"""The section of a passage: the blocks under a heading, or an episode of a conversation."""
_MIN_PHRASE = 2  # minimum passages with a phrase for it to be a possible name


class SourceTurn(NamedTuple):
    """A turn or block in the index, whole except for dumps."""

    key: str
    text: str
    speaker: str
    role: str
    trust: str
    time: str | None
    session: str
    episode: str
    document: str | None
    section: str  # its heading in a document, or its episode
    heading: str
    is_current: bool  # whether its document still has it; True for turns


class Name(NamedTuple):
    """A name used by a turn; ``kind`` as in ``mentions``, or ``phrase``."""

    label: str
    kind: str
    episode: str
    section: str
    turn: str


class EpisodeFile(NamedTuple):
    """An episode: its file, and 12 digits of the file's sha256."""

    id: str
    path: str
    digest: str
    session: str
    document: str | None
    start: str | None


def episode_files(connection: Connection) -> dict[str, EpisodeFile]:
    """Every episode by id; of several copies, the one with the first path."""
    rows = connection.execute(
        "SELECT e.id, f.path, substr(f.sha256, 1, 12), e.session, e.document, e.start"
        " FROM episodes e JOIN files f ON f.id = e.file ORDER BY f.path DESC"
    )
    found = {row[0]: EpisodeFile(*row) for row in rows}
    return {episode: found[episode] for episode in sorted(found)}


def pending_since(connection: Connection) -> list[str]:
    """When each episode with a record, and without a consolidation, was recorded."""
    query = (
        "SELECT e.recorded FROM episodes e JOIN episode_stages r ON r.episode = e.id"
        " WHERE NOT r.consolidated ORDER BY e.id, e.file"
    )
    return column(connection, query)


def names_used(connection: Connection, episodes: Collection[str]) -> Iterator[Name]:
    """The names used in the turns of some episodes."""
    query = (
        f"SELECT n.label, n.kind, p.episode, {_SECTION}, p.key FROM placed_passages p"
        " JOIN mentions m ON m.passage = p.id JOIN names n ON n.id = m.name"
        " WHERE p.kind = 'passage' AND p.episode IS NOT NULL AND p.role <> 'tool'"
        " ORDER BY p.id, n.id"
    )
    yield from map(Name._make, _in_episodes(connection, query, episodes, 2))
    yield from _phrases(connection, episodes)


def _in_episodes(
    connection: Connection, query: str, episodes: Collection[str], place: int
) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that have one of some episodes at a place."""
    return (row for row in connection.execute(query) if row[place] in episodes)


def _phrases(connection: Connection, episodes: Collection[str]) -> Iterator[Name]:
    often = "SELECT phrase FROM phrases GROUP BY phrase HAVING COUNT(*) >= ?"
    known: dict[int, str] = {}
    for phrase, episode, section, key, text in connection.execute(
        f"SELECT h.phrase, p.episode, {_SECTION}, p.key, p.text FROM placed_passages p"
        f" JOIN phrases h ON h.passage = p.id WHERE h.phrase IN ({often})"
        " AND p.episode IS NOT NULL ORDER BY h.phrase, p.key, p.part",
        (_MIN_PHRASE,),
    ):
        if episode not in episodes:
            continue
        if phrase not in known:
            for candidate, form in name_candidates(text).items():
                known.setdefault(candidate, form)
        if phrase in known:
            yield Name(known[phrase], "phrase", episode, section, key)


def passage_texts(
    connection: Connection, episodes: Collection[str]
) -> Iterator[tuple[str, str, str, str]]:
    """The passages of some episodes without tool output: text, episode, section, turn."""
    query = (
        f"SELECT p.text, p.episode, {_SECTION}, p.key FROM placed_passages p"
        " WHERE p.kind = 'passage' AND p.episode IS NOT NULL AND p.role <> 'tool' ORDER BY p.id"
    )
    return _in_episodes(connection, query, episodes, 1)


def episode_texts(connection: Connection, episodes: Collection[str]) -> Iterator[str]:
    """The texts of some episodes, one for each note or conversation.

    Headings are in Markdown; speaker names precede their turns; tool output is left out.
    """
    last, above, lines = "", "", list[str]()
    for place, episode, heading, speaker, text in connection.execute(
        "SELECT COALESCE(p.document, p.session), p.episode, COALESCE(h.text, ''),"
        " CASE WHEN p.document IS NULL AND p.part = 0"
        " AND p.speaker NOT IN ('', 'user', 'assistant', 'system') THEN p.speaker ELSE '' END,"
        " p.text FROM placed_passages p LEFT JOIN headings h ON h.id = p.heading"
        " WHERE p.kind = 'passage' AND p.episode IS NOT NULL AND p.role <> 'tool'"
        " ORDER BY 1, p.episode, p.id"
    ):
        if episode not in episodes:
            continue
        if place != last and lines:
            yield "\n".join(lines)
            lines = []
        if heading and (place, heading) != (last, above):
            *path, title = heading.split(HEADING_SEPARATOR)
            lines.append(f"{'#' * min(6, len(path) + 1)} {title}")
        lines.append(f"{speaker}: {text}" if speaker else text)
        last, above = place, heading
    if lines:
        yield "\n".join(lines)


def stated_aliases(
    connection: Connection, episodes: Collection[str]
) -> Iterator[tuple[str, str, str]]:
    """Aliases stated in texts: name, alias, turn."""
    for name, alias, turn, episode in connection.execute(
        "SELECT name, alias, key, episode FROM placed_passages p"
        " JOIN stated_aliases s ON s.passage = p.id"
        " WHERE episode IS NOT NULL ORDER BY key, name, alias"
    ):
        if episode in episodes:
            yield name, alias, turn


def named_speakers(connection: Connection) -> frozenset[str]:
    """The names of all speakers."""
    return frozenset(column(connection, "SELECT DISTINCT speaker FROM passages"))


def speakers(connection: Connection, episodes: Collection[str]) -> Iterator[Name]:
    """The speaker of each turn, role names left out."""
    query = (
        f"SELECT p.speaker, 'name', p.episode, {_SECTION}, p.key FROM placed_passages p"
        " WHERE p.episode IS NOT NULL AND p.part = 0 AND p.role <> 'tool'"
        " AND p.speaker NOT IN ('', 'user', 'assistant', 'system', 'tool') ORDER BY p.key"
    )
    return map(Name._make, _in_episodes(connection, query, episodes, 2))


def turns_by_key(connection: Connection, keys: Sequence[str]) -> dict[str, SourceTurn]:
    """Turns of episodes, by key."""
    return _turns(connection, "p.key", keys)


def turns_in_episodes(connection: Connection, episodes: Sequence[str]) -> dict[str, SourceTurn]:
    """The turns of some episodes by key, in file order."""
    return _turns(connection, "p.episode", episodes)


def _turns(connection: Connection, where: str, values: Sequence[str]) -> dict[str, SourceTurn]:
    found: dict[str, SourceTurn] = {}
    query = (
        "SELECT p.key, p.text, p.speaker, p.role, p.trust, p.time, p.session, p.episode, p.document,"
        f" {_SECTION}, COALESCE(h.text, ''), p.current FROM placed_passages p"
        f" LEFT JOIN headings h ON h.id = p.heading WHERE {where} IN ({{}})"
        " AND p.episode IS NOT NULL AND p.embedded IS NOT NULL ORDER BY p.episode, p.id, p.part"
    )
    for row in select(connection, query, values):
        part = SourceTurn(*row)._replace(is_current=bool(row[-1]))
        known = found.get(part.key)
        if known is None:
            found[part.key] = part
        elif known.episode == part.episode:  # skip copies in other machines' episodes
            found[part.key] = known._replace(text=f"{known.text}\n{part.text}")
    return found


def closed_since(connection: Connection, keys: Sequence[str]) -> set[str]:
    """The keys whose document no longer has them."""
    query = (
        "SELECT key FROM placed_passages WHERE key IN ({}) AND document IS NOT NULL"
        " GROUP BY key HAVING MAX(current) = 0"
    )
    return {str(key) for (key,) in select(connection, query, keys)}


def turn_order(connection: Connection) -> Iterator[tuple[str, str, str]]:
    """Episode, section and key of every episode turn, in order."""
    last = ""
    for episode, section, key in connection.execute(
        f"SELECT p.episode, {_SECTION}, p.key FROM placed_passages p"
        " WHERE p.episode IS NOT NULL ORDER BY p.episode, p.id"
    ):
        if key != last:
            yield episode, section, key
        last = key


def turn_times(connection: Connection, keys: Sequence[str]) -> dict[str, str]:
    """Key → time of the turns that have one."""
    query = "SELECT key, time FROM passages WHERE key IN ({}) AND time IS NOT NULL"
    return dict(select(connection, query, keys))


def section_openings(connection: Connection) -> list[tuple[str, str]]:
    """Heading path and key of the first block of each section of an undated document."""
    query = (
        "SELECT h.text, b.key, MIN(b.line_start) FROM blocks b JOIN headings h ON h.id = b.heading"
        " JOIN passages p ON p.key = b.key WHERE p.time IS NULL AND p.current"
        " GROUP BY b.document, b.heading ORDER BY b.document, b.heading"
    )
    return [(heading, key) for heading, key, _ in connection.execute(query)]


def user_shares(connection: Connection) -> dict[str, float]:
    """Episode → share of its turns by the user."""
    query = "SELECT episode, AVG(trust = 'user') FROM placed_passages WHERE episode IS NOT NULL"
    return dict(connection.execute(f"{query} GROUP BY episode"))


def continuations(connection: Connection) -> dict[str, str]:
    """Episode → the one it continues without a boundary."""
    query = "SELECT id, continues FROM episodes WHERE continues IS NOT NULL ORDER BY id"
    return dict(connection.execute(query))
