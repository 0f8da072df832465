"""Index queries of ingestion, inspection and concepts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clsm_cli.model.grouping import grouped, in_order
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.database import FOLDER, IN_SESSION, column, json_list, select, unpack
from clsm_cli.store.index.ranking_queries import NODE_MENTIONS, Search

if TYPE_CHECKING:
    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Node
    from clsm_cli.store.index.passages import Passage


MAX_NEIGHBOURS = 20  # maximum blocks of a section on either side


class Mention(NamedTuple):
    """A node mentioned by a passage, with the name used there."""

    passage: int
    node: str
    label: str
    kind: str


class KnownTurn(NamedTuple):
    """What is needed to recognise a stored turn."""

    key: str
    speaker: str
    time: str | None
    path: str
    line: int


class Index(Search):
    """The database, as fresh as possible, and its vectors."""

    def vectors_of(self, keys: Sequence[str]) -> dict[str, Any]:
        """Unit vectors float32 [384] of the first part of turns, by key, quantised."""
        from clsm_cli.store.index import vectors

        query = (
            "SELECT p.key, v.row FROM passages p JOIN vectors v ON v.digest = p.embedded"
            " WHERE p.part = 0 AND p.key IN ({}) ORDER BY p.id"
        )
        rows = dict(select(self.connection, query, keys))
        return vectors.unit_vectors(self.vectors, rows)

    def by_key(self, key: str) -> list[Passage]:
        """The distinct parts of a turn, block or statement, in order."""
        query = "SELECT id FROM placed_passages WHERE key = ? ORDER BY part, episode"
        rows = column(self.connection, query, (key,))
        found = self.passages(rows)
        return list({found[row].id: found[row] for row in rows}.values())

    def section(self, row: int) -> list[Passage]:
        """The visible blocks around a block in its section, in order."""
        before = self._follow(row, "previous")
        after = self._follow(row, "next")
        around = [*reversed(before), row, *after]
        rows = [each for each in around if each == row or each not in self.hidden()]
        found = self.passages(rows)
        return [found[each] for each in rows]

    def _follow(self, row: int, link: str) -> list[int]:
        query = (
            "WITH RECURSIVE along (id, steps) AS (SELECT ?, 0 UNION ALL"
            f" SELECT p.{link}, a.steps + 1 FROM along a JOIN passages p ON p.id = a.id"
            f" WHERE a.steps < {MAX_NEIGHBOURS} AND p.{link} IS NOT NULL)"
            " SELECT id FROM along WHERE steps ORDER BY steps"
        )
        return column(self.connection, query, (row,))

    def current_rows(self) -> list[int]:
        """Rows of all current passages."""
        return column(self.connection, "SELECT id FROM passages WHERE current ORDER BY id")

    def current_passages(self) -> dict[int, Passage]:
        """All current passages, by row."""
        return self.passages(self.current_rows())

    def mentions(self, rows: Sequence[int]) -> list[Mention]:
        """The mentions of some passages; an alias counts as its node.

        They come from the record of a consolidated episode, from the marked names of a text not yet
        consolidated, and from a statement's names that are nodes.
        """
        noted: dict[str, list[int]] = {}
        marked: list[int] = []
        query = (
            "SELECT p.id, p.key, COALESCE(e.consolidated, 0) FROM placed_passages p"
            " LEFT JOIN episode_stages e ON e.episode = p.episode WHERE p.id IN ({})"
        )
        for row, key, is_noted in select(self.connection, query, rows):
            if is_noted:
                noted.setdefault(key, []).append(row)
            else:
                marked.append(row)
        return sorted([*self._noted(noted), *self._marked(marked)])

    def _noted(self, rows_of: dict[str, list[int]]) -> Iterator[Mention]:
        found = graph_queries.nodes_of_turns(self.connection, rows_of)
        named = {node for numbers in found.values() for node in numbers}
        nodes = graph_queries.nodes(self.connection, named)
        for key, numbers in found.items():
            for node in (nodes[number] for number in numbers if number in nodes):
                for row in rows_of[key]:
                    yield Mention(row, node.id, node.label, node.kind)

    def _marked(self, rows: Sequence[int]) -> Iterator[Mention]:
        query = (
            "SELECT m.passage, COALESCE(a.node, n.node), n.label, n.kind FROM mentions m"
            " JOIN names n ON n.id = m.name JOIN placed_passages p ON p.id = m.passage"
            " LEFT JOIN aliases a ON a.alias = n.node"
            " WHERE m.passage IN ({}) AND (a.node IS NOT NULL OR p.kind = 'passage')"
            " ORDER BY m.passage, n.node, a.node"
        )
        yield from (Mention(*row) for row in select(self.connection, query, rows))

    def name_counts(self, node: str) -> list[tuple[str, int]]:
        """The names of a node in current passages, with the number of passages."""
        query = f"SELECT n.label, COUNT(*) {NODE_MENTIONS} GROUP BY n.label ORDER BY n.label"
        return self.connection.execute(query, (node, node)).fetchall()

    def node_of(self, name_id: str) -> str:
        """The node of a name id: the one it is an alias of, else itself."""
        query = "SELECT node FROM aliases WHERE alias = ? ORDER BY node LIMIT 1"
        return next(iter(column(self.connection, query, (name_id,))), name_id)

    def names(self) -> list[tuple[str, str]]:
        """All names of nodes, as ids, each with its node."""
        query = "SELECT alias, node FROM aliases ORDER BY node, alias"
        return self.connection.execute(query).fetchall()

    def record(self, record_id: str) -> Record | None:
        """The joined record of an id, without forgotten content."""
        lines = column(self.connection, "SELECT line FROM records WHERE id = ?", (record_id,))
        if not lines:
            return None
        from clsm_cli.model.join import join_all
        from clsm_cli.store.index import hidden

        joined = join_all([unpack(line) for line in lines])
        return hidden.visible_record(self.connection, joined.record)

    def node(self, node_id: str) -> Node | None:
        """The record of a node, if there is one."""
        record = self.record(node_id)
        if record is None:
            return None
        from clsm_cli.model.graph import Node

        return record if isinstance(record, Node) else None

    def ids(self, prefix: str) -> set[str]:
        """Ids of records and episodes and keys of passages with a prefix."""
        tables = (("id", "records"), ("id", "episodes"), ("key", "passages"))
        query = "SELECT {0} FROM {1} WHERE {0} >= ? AND {0} < ?"
        union = " UNION ".join(query.format(*each) for each in tables)
        return {*column(self.connection, union, 3 * (prefix, prefix + "\U0010ffff"))}

    def known_turns(self, session: str) -> list[KnownTurn]:
        """The distinct turns of a session, in episodes and inboxes."""
        rows = self.connection.execute(
            "SELECT key, speaker, time, path, line_start FROM placed_passages p"
            f" WHERE {IN_SESSION} AND part = 0 ORDER BY path, line_start, id",
            (session,),
        )
        return list({row[0]: KnownTurn(*row) for row in rows}.values())

    def documents_in(self, path: str) -> list[str]:
        """Paths of the documents from a file or folder, as given at ingest."""
        folder = path.rstrip("/") + "/"
        query = "SELECT path FROM documents WHERE path = ? OR substr(path, 1, ?) = ? ORDER BY path"
        return column(self.connection, query, (path, len(folder), folder))

    def document_origins(self) -> list[str]:
        """The origins of all documents."""
        query = "SELECT DISTINCT session FROM places WHERE document IS NOT NULL ORDER BY session"
        return column(self.connection, query)

    def episode_files(self, episode: str) -> list[str]:
        """The files of an episode, one on each machine, relative to the store."""
        query = (
            "SELECT f.path FROM episodes e JOIN files f ON f.id = e.file"
            " WHERE e.id = ? ORDER BY f.path"
        )
        return column(self.connection, query, (episode,))

    def episode_of(self, key: str) -> str | None:
        """The episode of a turn or block; None for a statement and an unknown key."""
        query = (
            "SELECT l.episode FROM passages p JOIN places l ON l.id = p.place"
            " WHERE p.key = ? ORDER BY p.part, l.episode LIMIT 1"
        )
        return next(iter(column(self.connection, query, (key,))), None)

    def capture_times(self, episode: str) -> tuple[str | None, str | None]:
        """Capture times of a document before and with an episode; its blocks were written between.

        The first is None for an unknown episode, and before the first capture, unless other documents
        of the folder were captured before: then the file is new (a moved one is not).
        """
        row = self.connection.execute(
            "SELECT e.recorded, (SELECT MAX(o.recorded) FROM episodes o WHERE o.document = e.document"
            f" AND o.recorded < e.recorded), {FOLDER.format('d.path')}, EXISTS (SELECT 1"
            " FROM placed_passages p JOIN passages c ON c.embedded = p.embedded"
            " WHERE p.document = e.document AND p.episode = e.id AND NOT c.current AND c.id <> p.id)"
            " FROM episodes e LEFT JOIN documents d ON d.id = e.document WHERE e.id = ? LIMIT 1",
            (episode,),
        ).fetchone()
        if row is None:
            return None, None
        at, before, folder, is_moved = row
        if before is None and at is not None and not is_moved:
            captures = self._captures.get(folder, [])
            earlier = captures[: bisect_left(captures, at)]
            before = earlier[-1] if earlier else None
        return before, at

    @cached_property
    def _captures(self) -> dict[str, list[str]]:
        """Folder → when documents of it were captured, in order."""
        rows = self.connection.execute(
            f"SELECT DISTINCT {FOLDER.format('d.path')}, e.recorded FROM documents d"
            " JOIN episodes e ON e.document = d.id WHERE e.recorded IS NOT NULL ORDER BY 2"
        )
        return grouped(rows)

    def last_episode(self, session: str) -> str | None:
        """The newest episode of a session: the one that is no other's previous."""
        query = (
            "SELECT id FROM episodes e WHERE session = ? AND NOT EXISTS"
            " (SELECT 1 FROM episodes n WHERE n.previous = e.id) ORDER BY id LIMIT 1"
        )
        return next(iter(column(self.connection, query, (session,))), None)

    def undescribed(self) -> list[tuple[str, str]]:
        """Episodes without a record: id and file; within a session, the earlier first."""
        rows = self.connection.execute(
            "SELECT e.id, f.path, e.previous FROM episodes e JOIN files f ON f.id = e.file"
            " WHERE e.id NOT IN (SELECT id FROM records) ORDER BY e.id, f.path DESC"
        )
        waiting = {episode: (path, previous) for episode, path, previous in rows}
        ordered = in_order({episode: before for episode, (_, before) in waiting.items()})
        return [(episode, waiting[episode][0]) for episode in ordered]

    def keys_in_episodes(self, session: str) -> set[str]:
        """Keys of a session's turns that are in episodes."""
        query = (
            f"SELECT DISTINCT key FROM placed_passages p WHERE {IN_SESSION} AND episode IS NOT NULL"
        )
        return set(column(self.connection, query, (session,)))

    def problems(self) -> Iterator[tuple[str, int | None, str]]:
        """Problems found while reading files: path, line, reason."""
        for path, problems in self.connection.execute(
            "SELECT path, problems FROM files WHERE problems IS NOT NULL ORDER BY path"
        ):
            for line, reason in json_list(problems):
                yield path, line, reason

    def problem_warnings(self, rest: str) -> list[str]:
        """A warning about the first problem, the number of others, and what happened to the rest."""
        found = list(self.problems())
        if not found:
            return []
        path, line, reason = found[0]
        where = path if line is None else f"{path}, line {line}"
        more = f" (and {len(found) - 1} more places)" if len(found) > 1 else ""
        return [f"{where}: {reason}{more}; the rest was {rest}. See: clsm status"]
