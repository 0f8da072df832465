"""Every version of a statement or edge, on both clocks (``model.clocks``), as rows of a history.

A *thread* groups versions: statements by subject, edges by source and type.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeVar

from clsm_cli.inspection.item_lookup import not_found
from clsm_cli.model import clocks
from clsm_cli.model.codec import TYPE_NAMES
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import resolve_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.passages import Passage
from clsm_cli.store.index.source_locations import locate, store_location
from clsm_cli.store.layout import Store
from clsm_cli.text.known_names import Matcher, NameForm
from clsm_cli.text.node_ids import node_id

Row = Statement | Edge
R = TypeVar("R", EpisodeRecord, Document, Statement, Node, Edge)
State = Literal["current", "done", "future", "ended", "superseded", "withdrawn"]


class Version(NamedTuple):
    """One version of a statement or edge; ``value``: its text, or the label of an edge's target.

    Its ``state``: current, done (a task), future (not true yet), ended (was true until ``valid_until``),
    superseded (no longer believed), withdrawn. Its ``source``: ``path:line``, as ingested, of the
    earliest one, for a done task of the one that ticks it; else of its line in a topic file.
    ``file``: absolute path that can be opened, or "".
    """

    id: str
    kind: str
    value: str
    text: str
    valid_from: str | None
    valid_until: str | None
    recorded_at: str | None
    superseded_at: str | None
    state: State
    supersedes: str | None
    sources: tuple[str, ...]
    source: str | None
    file: str
    line: int
    by_hand: bool  # A person wrote it in place of what it supersedes; no source supports it


def state_of(row: Row, now: str) -> State:
    """The state of a row at ``now``.

    >>> state_of(Edge(id="g-1", rev=(1, "pi"), valid_until="2026-02-20"), "2026-02-20")
    'ended'
    """
    if isinstance(row, Statement) and row.withdrawn:
        return "withdrawn"
    if row.superseded_at is not None:
        return "superseded"
    if clocks.is_true(row, now):
        return "done" if isinstance(row, Statement) and row.state == "done" else "current"
    return "ended" if clocks.has_ended(row.valid_until, now) else "future"


def version(row: Row, value: str, index: Index, now: str, before: Statement | None) -> Version:
    """A row with its state and source; ``before`` is the statement it supersedes."""
    by_hand = before is not None and row.pinned and {*row.sources} <= {*before.sources}
    sources = () if by_hand else row.sources
    done_at = row.done_at if isinstance(row, Statement) else None
    passage = earliest(index, sources, done_at or "") or earliest(index, (row.id,))
    place = place_of(index, passage, row.id)
    kind, text, old = "edge", "", None
    if isinstance(row, Statement):
        kind, text, old = row.kind, row.text, row.supersedes
    times = (row.valid_from, row.valid_until, row.recorded_at, row.superseded_at)
    made = (row.id, kind, value, text, *times, state_of(row, now), old, row.sources)
    return Version(*made, *place, by_hand=by_hand)


def place_of(index: Index, passage: Passage | None, record: str) -> tuple[str | None, str, int]:
    """``source``, ``file`` and ``line`` of a ``Version``: of the passage, else of the record."""
    source = f"{passage.path}:{passage.line_start}" if passage and passage.line_start else None
    return source, *(locate(index, passage) if passage else store_location(index, record))


def statements_naming(
    rows: Iterable[Statement], nodes: Iterable[Node]
) -> dict[str, list[Statement]]:
    """Node id → the statements, except gists, whose text contains its label or an alias.

    >>> tea = Statement(id="f-1", rev=(1, "pi"), text="May drinks green tea.")
    >>> may = Node(id="may", rev=(1, "pi"), label="May", exact=("May",))
    >>> [s.id for s in statements_naming([tea], [may])["may"]]
    ['f-1']
    >>> statements_naming([tea], [Node(id="ma", rev=(1, "pi"), label="Ma")])
    {}
    """
    matcher = Matcher(
        NameForm(name, node.id, name in node.exact)
        for node in nodes
        for name in (node.label, *node.aliases)
    )
    found: dict[str, list[Statement]] = {}
    for row in rows:
        for node in {each.node for each in matcher.find(row.text)} if row.kind != "gist" else ():
            found.setdefault(node, []).append(row)
    return found


def name_of(node: Node) -> str:
    """The display name of a node: its label on one line, else its id."""
    return " ".join(node.label.split()) or node.id


def ids_within(
    beside: Mapping[str, Collection[str]], seeds: Iterable[str], depth: float = math.inf
) -> set[str]:
    """Ids within ``depth`` steps of the seeds, including these (breadth-first)."""
    found = last = {*seeds}
    while last and depth > 0:
        last = {other for each in last for other in beside.get(each, ())} - found
        found = found | last
        depth -= 1
    return found


def earliest(index: Index, keys: Iterable[str], since: str = "") -> Passage | None:
    """The earliest passage of some keys; those with a line, then current ones, come first."""

    def order(passage: Passage) -> tuple[bool, bool, bool, str, str, int]:
        time, line = passage.time, passage.line_start
        return not line, not passage.current, time is None, time or "", passage.path, line

    found = [each for key in keys for each in index.by_key(key) if (each.time or since) >= since]
    return min(found, key=order, default=None)


class Thread(NamedTuple):
    """Versions of one subject, by the time they became true; ``type`` is "" for statements."""

    kind: Literal["statement", "edge"]
    subject: str
    label: str
    type: str
    versions: tuple[Version, ...]


class History(NamedTuple):
    """The threads of one argument."""

    wanted: str
    threads: tuple[Thread, ...]


class View(NamedTuple):
    """Selects versions: true ``as_of`` a time or day, as believed at ``known_at``.

    ``now`` and ``known_at`` are instants.
    """

    now: str
    as_of: str | None = None
    known_at: str | None = None

    @property
    def at(self) -> str | None:
        """The past time of the view; None for now."""
        return self.as_of or self.known_at

    def shows(self, row: Row) -> bool:
        """Whether to list a version; ``known_at`` alone includes what had ended by then."""
        if self.as_of is not None:
            return clocks.holds(row, self.as_of, self.known_at)
        return self.known_at is None or clocks.is_believed(row, self.known_at)

    def holds(self, row: Row) -> bool:
        """Whether a row was true at the view's time, as in ``recall``; without one, is current."""
        if self.at is not None:
            return clocks.holds(row, self.at, self.known_at)
        return clocks.is_believed(row) and row.valid_until is None


def history(store: Store, wanted: Sequence[str], view: View) -> list[History]:
    """The versions of each id or name; the store is only read."""
    facts = Facts(store, view.now)
    chosen = [facts.find(each) for each in wanted]
    with open_index(store, None) as opened:
        return [
            History(each, _threads(facts, filter(view.shows, rows), opened.index, about, each))
            for each, (rows, about) in zip(wanted, chosen, strict=True)
        ]


def _threads(
    facts: Facts, rows: Iterable[Row], index: Index, about: str, wanted: str
) -> tuple[Thread, ...]:
    """Group statements by ``about``, else by subject, and edges by source and type.

    A name that is no node's is labelled as the user wrote it.
    """
    groups: dict[tuple[bool, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Edge):
            groups[True, row.source, row.type].append(row)
        else:
            groups[False, about or facts.subject(row), ""].append(row)
    zone = facts.store.zone

    def order(each: Version) -> tuple[float, float, str]:
        begins = clocks.seconds(each.valid_from, zone)
        return begins, clocks.seconds(each.recorded_at, zone), each.id

    found = []
    for (is_edge, subject, kind), group in sorted(groups.items()):
        told = ((row, facts.value(row), facts.before(row)) for row in group)
        versions = [version(row, value, index, facts.now, old) for row, value, old in told]
        subjects = {subject if isinstance(row, Edge) else facts.subject(row) for row in group}
        is_named = subject in facts.nodes or subject in subjects
        label = facts.label(subject) if is_named or not about else " ".join(wanted.split())
        name: Literal["edge", "statement"] = "edge" if is_edge else "statement"
        found.append(Thread(name, subject, label, kind, tuple(sorted(versions, key=order))))
    return tuple(found)


class Facts:
    """The records of a store by id, including archived, without forgotten ones.

    The store is only read, each type of records when it is asked for; statements are as in the topic files, with
    hand edits.
    """

    def __init__(self, store: Store, now: str) -> None:
        self.store, self.now = store, now

    def records(self, kind: type[R]) -> dict[str, R]:
        """The records of a class."""
        folders = [*self.store.graphs(), *self.store.archives()]
        forgotten = logs.load_tombstones(self.store)
        found = shards.load_graph(folders, forgotten, TYPE_NAMES[kind]).records
        return {i: record for i, record in found.items() if isinstance(record, kind)}

    @cached_property
    def statements(self) -> dict[str, Statement]:
        """The statements."""
        return record_files.load_statements(self.store, self.records(Statement), self.now)

    @cached_property
    def edges(self) -> dict[str, Edge]:
        """The edges."""
        return self.records(Edge)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes."""
        return self.records(Node)

    @cached_property
    def _named(self) -> dict[str, set[str]]:
        """Node ids by the id form of their labels and aliases."""
        found: dict[str, set[str]] = defaultdict(set)
        for node in self.nodes.values():
            for name in (node.label or node.id, *node.aliases):
                found[node_id(name)].add(node.id)
        return found

    def about(self, wanted: str) -> tuple[set[str], dict[str, Statement]]:
        """The nodes of a name, and the statements that have one as subject or name it."""
        key = node_id(wanted) if wanted.strip() else ""
        nodes = self._named.get(key) or ({key} if key else set())
        nodes = {wanted} if wanted in self.nodes else nodes
        meant = [self.nodes[each] for each in sorted(nodes) if each in self.nodes]
        meant = meant or [Node(id="", rev=(0, ""), label=wanted.strip())]
        naming = statements_naming(self.statements.values(), meant).values()
        named = {row.id for rows in naming for row in rows}
        about = (r for r in self.statements.values() if r.id in named or self.subject(r) in nodes)
        return nodes, {row.id: row for row in about}

    def find(self, wanted: str) -> tuple[list[Row], str]:
        """The rows of an id or a name, and for a name its node."""
        known: dict[str, Row] = {**self.statements, **self.edges}
        row = known.get(resolve_id(wanted, known) or "" if wanted[:2] in ("f-", "g-") else wanted)
        if isinstance(row, Edge):
            at = (row.source, row.type)
            return [each for each in self.edges.values() if (each.source, each.type) == at], ""
        if row is not None:
            return self._family(row), ""
        nodes, said = self.about(wanted)
        rows: list[Row] = self._with_heirs(said)
        # Only stated or corrected edges have versions, not co-occurrence or sequence edges.
        rows += [
            e
            for e in self.edges.values()
            if nodes & {e.source, e.target}
            and (e.sources or e.valid_from or e.valid_until or e.superseded_at)
        ]
        if rows or nodes & self.nodes.keys():
            return rows, min(nodes, default="") if rows else ""
        raise self.missing(wanted, "is no statement, edge or concept of this store", known)

    def missing(self, wanted: str, reason: str, ids: Iterable[str] = ()) -> Exception:
        """The error for an unknown name, with similar names."""
        names = [(each, each) for each in (*ids, *self.nodes)]
        names += [(name, each) for name, found in self._named.items() for each in sorted(found)]
        return not_found(wanted, reason, names, "find ids with: clsm recall")

    def subject(self, row: Statement) -> str:
        """The subject node of a statement; "" for none."""
        if not row.subject or row.subject in self.nodes:
            return row.subject or ""
        key = node_id(row.subject)
        return min(self._named.get(key, {key}))

    def label(self, node: str) -> str:
        """The display name of a node; any other id as it is."""
        return name_of(self.nodes[node]) if node in self.nodes else node

    def before(self, row: Row) -> Statement | None:
        """The statement that a row supersedes."""
        return self.statements.get(row.supersedes or "") if isinstance(row, Statement) else None

    def value(self, row: Row) -> str:
        """The displayed value: a statement's text, or the label of an edge's target."""
        return self.label(row.target) if isinstance(row, Edge) else row.text

    def _with_heirs(self, rows: Iterable[str]) -> list[Row]:
        """Statements, and what took their place in other words: "the database is X", "we went to Y"."""
        later: dict[str, set[str]] = defaultdict(set)
        for row in self.statements.values():
            later[row.supersedes or ""].add(row.id)
        return [self.statements[each] for each in sorted(ids_within(later, rows))]

    def _family(self, first: Statement) -> list[Row]:
        """A statement, its chain of supersession, and their closed copies.

        A closed copy is linked to its original only by equal text.
        """
        kin: dict[str, set[str]] = defaultdict(set)
        same: dict[tuple[str, str], str] = {}
        for row in self.statements.values():
            other = same.setdefault((self.subject(row), row.text), row.id) if row.text else row.id
            for each in {other, row.supersedes} & self.statements.keys():
                kin[row.id].add(str(each))
                kin[str(each)].add(row.id)
        return [self.statements[each] for each in sorted(ids_within(kin, [first.id]))]
