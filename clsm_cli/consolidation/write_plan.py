"""Plan, check and apply the writes of a consolidation."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from clsm_cli.consolidation.graph_update import WOVEN
from clsm_cli.errors import RefusedError
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import logs, record_files, runs, settle
from clsm_cli.store.layout import TOPIC_STREAMS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clsm_cli.consolidation.consolidation_report import Report, Request
    from clsm_cli.consolidation.entity_mentions import Vocabulary
    from clsm_cli.consolidation.graph_update import GraphUpdate
    from clsm_cli.consolidation.learning import Learner
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.ingestion.ingest_report import Run
    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream

Revised = TypeVar("Revised", "Statement", "EpisodeRecord")
FEW = 20
"""Records that may always go."""


@dataclass
class Writer:
    """Writes what differs from what the store holds, and knows afterwards what it holds."""

    state: StoreState
    words: Vocabulary
    request: Request
    run: Run
    report: Report

    def __post_init__(self) -> None:
        self._store = self.state.store
        self._statements = self.state.statements
        self._episodes = dict(self.state.episodes)
        self._asked: set[str] = set()

    def write(self, learner: Learner, network: GraphUpdate | None) -> None:
        """Write a step; with the network it is the last.

        Raises:
            RefusedError: It would withdraw a large share of what the store holds.
        """
        before = self._statements
        changed = _revised(learner.statements, before, self._store.device)
        gone = [i for i in before if i not in learner.statements]
        records: dict[Stream, list[Record]] = {}
        removed: dict[Stream, set[str]] = {"flow": set(gone)}
        for statement in changed:
            records.setdefault(statement.stream, []).append(record_files.as_stored(statement))
        told = learner.episodes
        for record in _revised(told, self._episodes, self._store.device):
            records.setdefault("flow", []).append(record)
        if network is not None:
            self._place(network, learner, records, removed)
        self._guard(learner.statements, removed)
        writes: list[runs.Write] = []
        for stream in TOPIC_STREAMS:
            writes += self._shards(stream, records, removed)
        writes += record_files.plan_topics(self._store, changed, self._heading(network))
        writes += self._shards("flow", records, removed)
        fresh = [item for item in learner.questions.items if item.id not in self._asked]
        path = self._store.flow / "review.jsonl"
        writes += [runs.Append(path, logs.render(item)) for item in fresh]
        self.report.review += len(fresh)
        if network is not None:
            rows = learner.statements.values()
            self.report.gists = sum(row.kind == "gist" for row in rows)
            held = sum(row.is_current and row.kind != "gist" for row in rows)
            self.report.statements["current"] = held
        self.report.run = self.run.apply(writes, whole=True) or self.report.run
        self._statements = dict(learner.statements) | {s.id: s for s in changed}
        self._episodes |= told
        self._asked |= {item.id for item in fresh}

    def _shards(
        self,
        stream: Stream,
        records: Mapping[Stream, Sequence[Record]],
        removed: Mapping[Stream, Iterable[str]],
    ) -> list[runs.Write]:
        gone = sorted(removed.get(stream, ()))
        return record_files.plan_records(self._store, stream, records.get(stream, ()), gone)

    def _place(
        self,
        network: GraphUpdate,
        learner: Learner,
        records: dict[Stream, list[Record]],
        removed: dict[Stream, set[str]],
    ) -> None:
        """Put nodes and edges where they belong, and take them from where they do not."""
        edges = {
            i: e
            for i, e in network.edges.items()
            if e.type != "gist_of" or self._month(e) not in learner.months
        } | learner.links
        wanted: dict[str, Node | Edge] = {**network.nodes, **edges}
        streams = {i: _stream(record, network.nodes) for i, record in wanted.items()}
        for record_id, record in sorted(wanted.items()):
            old = self.state.records.get(record_id)
            new = _next(record, old, self.run.now, self._store.device)
            stream = streams[record_id]
            held = self.state.records if stream == "flow" else self.state.places[stream]
            if new is not old or record_id not in held:  # flow has one folder a machine
                records.setdefault(stream, []).append(new)
                self._tally(record)["new" if old is None else "changed"] += 1
        for stream, ids in self.state.places.items():
            for record_id in ids:
                known = self.state.records.get(record_id)
                if isinstance(known, (Node, Edge)) and streams.get(record_id) != stream:
                    removed.setdefault(stream, set()).add(record_id)
                    if record_id not in wanted:
                        self._tally(known)["removed"] += 1
        self.report.nodes["total"] = len(network.nodes)
        self.report.edges["total"] = len(edges)

    def _tally(self, record: Record) -> Counter[str]:
        return self.report.nodes if isinstance(record, Node) else self.report.edges

    def _month(self, edge: Edge) -> str | None:
        """The month of the gist that an edge leads to."""
        gist = self.state.statements.get(edge.target)
        return gist.value if gist is not None else None

    def _guard(self, now: Mapping[str, Statement], removed: Mapping[Stream, Iterable[str]]) -> None:
        """Refuse what would withdraw much at once, unless it was allowed."""
        if self.request.allow_loss:
            return
        current = [
            i for i, row in self._statements.items() if row.is_current and row.kind != "gist"
        ]
        lost = [i for i in current if i not in now or not now[i].is_current]
        replaced = {row.supersedes for row in now.values()}
        gone = [self.state.records.get(i) for ids in removed.values() for i in ids]
        counts = {
            "statements": (sum(i not in replaced for i in lost), len(current)),
            "nodes": (self.report.nodes["removed"], len(self.state.nodes)),
            "typed edges": (
                sum(isinstance(e, Edge) and e.type not in WOVEN for e in gone),
                sum(e.type not in WOVEN for e in self.state.edges.values()),
            ),
        }
        share = self.state.settings.mass_loss
        most = {"statements": settle.MOST}
        for what, (count, total) in counts.items():
            if count > min(max(FEW, share * total), most.get(what, count)):
                raise RefusedError(
                    str(self._store.root),
                    f"this run would withdraw {count} of {total} {what}",
                    "look at it with: clsm consolidate --dry-run, and allow it with: --yes",
                )

    def _heading(self, network: GraphUpdate | None) -> Callable[[Statement], str]:
        """The heading of a statement: the name of what it is about."""
        nodes = network.nodes if network is not None else self.state.nodes

        def heading_of(statement: Statement) -> str:
            node = nodes.get(self.words.node_of_id(statement.subject or ""))
            return node.label if node is not None else ""

        return heading_of


def _revised(
    now: Mapping[str, Revised], before: Mapping[str, Revised], device: str
) -> list[Revised]:
    """Those that are new, or other than before, with their next revision."""
    found = []
    for record_id, row in sorted(now.items()):
        old = before.get(record_id)
        if old is None or replace(row, rev=old.rev) != old:
            found.append(replace(row, rev=((old.rev[0] if old else 0) + 1, device)))
    return found


def _next(record: Node | Edge, old: Record | None, now: str, device: str) -> Node | Edge:
    """The record as it is written: the old one where nothing changed, else with the next revision."""
    known = old if isinstance(old, (Node, Edge)) and type(old) is type(record) else None
    if known is not None and all(
        getattr(record, name) == getattr(known, name) for name in _TOLD[type(record)]
    ):
        return known
    if isinstance(record, Edge) and record.recorded_at is None:
        before = known.recorded_at if isinstance(known, Edge) else None
        record = replace(record, recorded_at=before or now)
    if known is None:
        return replace(record, rev=(1, device))
    return replace(record, rev=(known.rev[0] + 1, device), extra=known.extra)


_TOLD = {
    cls: tuple(f.name for f in fields(cls) if f.name not in ("rev", "extra", "recorded_at"))
    for cls in (Node, Edge)
}
"""Fields that make a record another one."""


def _stream(record: Node | Edge, nodes: Mapping[str, Node]) -> Stream:
    if isinstance(record, Node):
        return record.stream
    source = nodes.get(record.source)
    return source.stream if source is not None else "flow"
