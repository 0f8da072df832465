"""An edit session on a store: lock, settle hand edits, read, change, and save as one run.

All decisions of a person go through it: interrupted runs are completed and hand edits settled before
records are changed.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from clsm_cli.consolidation import edges
from clsm_cli.consolidation.claims import FACT_TOPICS
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion import timestamps
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import normalise_text, resolve_id
from clsm_cli.model.streams import Stream
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.store import logs, record_files, runs, settle, shards, topics
from clsm_cli.store.index.opening import published
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.store.runs import Run
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.statement_streams import stream_of

Warn = Callable[[str], None]

_ARTICLE = re.compile(r"(?:the|an?|my|our)\s+", re.IGNORECASE)


class EditSession:
    """A locked store with its records, and the changes to them."""

    def __init__(self, store: Store, run: Run, now: datetime, *, dry_run: bool) -> None:
        self.store = store
        self.run = run
        self.dry_run = dry_run
        self.moment = now.astimezone(store.zone)
        self.time = timestamps.normalise(now.isoformat(), store.zone) or run.now
        folders = [*store.graphs(), *store.archives()]
        self.records = shards.load_graph(folders, logs.load_tombstones(store)).records
        self.statements = record_files.load_statements(store, self.records, run.now)
        self.extra: list[runs.Write] = []
        self._before: dict[str, Record] = {**self.records, **self.statements}
        self._changed: dict[str, Record] = {}

    @property
    def day(self) -> date:
        """The day of the run, in the store's zone."""
        return self.moment.date()

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Nodes by id."""
        return {i: r for i, r in self.records.items() if isinstance(r, Node)}

    @cached_property
    def _canonical(self) -> dict[str, str]:
        names = {
            node_id(name): node.id
            for node in self.nodes.values()
            for name in (node.label or node.id, *node.aliases)
        }
        return names | {i: i for i in self.nodes}

    def node_of(self, name: str | None) -> str:
        """The node id of a name or its id; for an unknown name, the id it would have."""
        known = node_id(name or "")
        return self._canonical.get(known, known)

    def label(self, subject: str | None) -> str:
        """The label of a statement's subject; "" without a node."""
        node = self.nodes.get(self.node_of(subject)) if subject else None
        return node.label if node is not None else ""

    def statement(self, wanted: str) -> Statement | None:
        """The statement with an id or a prefix of one; None if there is none.

        Raises:
            BadInputError: The prefix is ambiguous.
        """
        if not wanted.startswith("f-"):  # an id written by hand must match as a whole
            return self.statements.get(wanted)
        found = resolve_id(wanted, self.statements)
        return self.statements[found] if found else None

    def statements_about(self, name: str) -> list[Statement]:
        """The current statements whose subject has a name, with or without its article."""
        nodes = {self.node_of(name), self.node_of(_ARTICLE.sub("", name))}
        return [
            row
            for row in self.statements.values()
            if row.is_current and row.subject and self.node_of(row.subject) in nodes
        ]

    def find_text(self, text: str, *, but: str = "") -> Statement | None:
        """The current statement with a text, ignoring case and whitespace."""
        wanted = normalise_text(text)
        rows = (row for row in self.statements.values() if row.is_current and row.id != but)
        return next((row for row in rows if normalise_text(row.text) == wanted), None)

    def free_id(self, text: str, *salts: str | None) -> str:
        """An id for a new statement that no record has and no forgotten one had."""
        known = {*self.statements, *self.records}
        births = (i for i in birth_ids(normalise_text(text), None, *salts) if i not in known)
        return first_free(births, logs.load_tombstones(self.store))

    def sourced(self, text: str, sources: tuple[str, ...], **more: Any) -> Statement:
        """A new statement with some turns as sources; it is not added yet."""
        stream = stream_of(text)
        return Statement(
            id=self.free_id(text),
            rev=(0, ""),
            text=text,
            stream=stream,
            topic=FACT_TOPICS[stream],
            sources=sources,
            recorded_at=self.run.now,
            **more,
        )

    def put(self, record: Record) -> None:
        """Add a statement, or replace the record with its id; ``save`` sets the revision."""
        self._changed[record.id] = record
        if isinstance(record, Statement):
            self.statements[record.id] = record

    def save(self) -> str | None:
        """Write the changes atomically, and return the id of the run; None without changes."""
        if self.dry_run:
            return None
        self._end_edges()
        records: dict[Stream, list[Record]] = {}
        rows: list[Statement] = []
        for record_id, record in sorted(self._changed.items()):
            old = self._before.get(record_id)
            if record == old:
                continue
            new = replace(record, rev=((old.rev[0] if old else 0) + 1, self.store.device))
            if isinstance(new, Statement):
                rows.append(new)
                new = record_files.as_stored(new)
            records.setdefault(edges.stream_of_record(new, self.nodes), []).append(new)
        writes: list[runs.Write] = []
        for stream, group in sorted(records.items()):
            writes += record_files.plan_records(self.store, stream, group)
        writes += record_files.plan_topics(self.store, rows, lambda row: self.label(row.subject))
        writes += self.extra
        if not writes:
            return None
        with published(self.store):
            return self.run.apply(writes, whole=True)

    def _end_edges(self) -> None:
        """Update the end of edges that share sources with changed statements, as consolidation does."""
        rows = [row for row in self._changed.values() if isinstance(row, Statement)]
        touched = {key for row in rows for key in row.sources}
        found = [each for each in self.records.values() if isinstance(each, Edge)]
        found = [e for e in found if not (e.pinned or e.superseded_at)]
        if found := [e for e in found if not touched.isdisjoint(e.sources)]:
            zone = self.store.zone
            closed = edges.ended_turns(self.statements.values(), zone)
            closed |= edges.closed_blocks(self.records.values())
            for edge in found:
                ended = replace(edge, valid_until=edges.end_of_validity(edge, closed, zone))
                self._changed.setdefault(edge.id, ended)


@contextlib.contextmanager
def open_for_edit(
    store: Store, command: str, now: datetime, warn: Warn, *, dry_run: bool = False
) -> Iterator[EditSession]:
    """Lock a store, complete an interrupted run, settle hand edits, and read it."""
    with locked(store.root, store.settings.store.lock_wait):
        run = Run(store, command, now)
        if not dry_run:
            for warning in complete_interrupted(store):
                warn(warning)
        writes, warnings = settle.plan(store, run.now)
        for warning in warnings:
            warn(warning)
        if not dry_run:
            run.apply(writes, whole=True)
        yield EditSession(store, run, now, dry_run=dry_run)


def listed(rows: Sequence[Statement]) -> str:
    """The message that lists the candidates of an ambiguous reference."""
    named = ", ".join(f"{row.id} ({row.text})" for row in rows[:10])
    return f"it is not certain which statement is meant: {named}"


def check_line(row: Statement) -> None:
    """Check that a statement's line in a topic file can be parsed back.

    Raises:
        BadInputError: It cannot.
    """
    items = topics.parse(topics.render_item(row).encode(), Path(f"{row.topic}.md")).items
    if [(item.id, item.text) for item in items] != [(row.id, " ".join(row.text.split()))]:
        reason = f"{row.text!r} cannot stand as an item of a Markdown list"
        raise BadInputError(row.id, reason, "write a plain sentence")
