"""Plan, check and apply the writes of a consolidation."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from clsm_cli.consolidation.consolidation_report import Report, Request
from clsm_cli.consolidation.edges import stream_of_record
from clsm_cli.consolidation.entity_mentions import Vocabulary
from clsm_cli.consolidation.graph_update import DERIVED_TYPES, GraphUpdate
from clsm_cli.consolidation.learning import Learner
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.errors import RefusedError
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.streams import Stream
from clsm_cli.store import logs, record_files, runs, settle
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.runs import Run

Row = TypeVar("Row", bound="Record")
FLOW: Stream = "flow"


@dataclass
class Writer:
    """Writes the differences to the store, and tracks its content over the batches of a run."""

    state: StoreState
    words: Vocabulary
    request: Request
    run: Run
    report: Report

    def __post_init__(self) -> None:
        self._statements = self.state.statements
        self._episodes = dict(self.state.episodes)
        self._asked: set[str] = set()

    def write(self, learner: Learner, network: GraphUpdate | None) -> None:
        """Write a batch; the last one has the graph.

        Raises:
            RefusedError: It would withdraw too large a share of the store.
        """
        rows = learner.statements
        changed = self._revised(rows, self._statements)
        writes = self._record_writes(learner, changed, network)
        fresh = [item for item in learner.questions if item.id not in self._asked]
        path = self.state.store.flow / "review.jsonl"
        writes += [runs.Append(path, logs.render(item)) for item in fresh]
        self.report.review += len(fresh)
        if network is not None:
            self.report.gists = sum(row.kind == "gist" for row in rows.values())
            current = sum(row.is_current and row.kind != "gist" for row in rows.values())
            self.report.statements["current"] = current
        self.report.run = self.run.apply(writes, whole=True) or self.report.run
        self._statements = dict(rows) | {row.id: row for row in changed}
        self._episodes |= learner.episodes
        self._asked |= {item.id for item in fresh}

    def _record_writes(
        self, learner: Learner, changed: Sequence[Statement], network: GraphUpdate | None
    ) -> list[runs.Write]:
        """The writes of shards and topics, those of flow last."""
        store, rows = self.state.store, learner.statements
        records: dict[Stream, list[Record]] = defaultdict(list)
        for row in changed:
            records[row.stream].append(record_files.as_stored(row))
        records["flow"] += self._revised(learner.episodes, self._episodes)
        removed: dict[Stream, set[str]] = defaultdict(set)
        removed["flow"] = self._statements.keys() - rows.keys()
        if network is not None:
            self._place(network, records, removed)
        self._guard(rows, removed)

        def planned(stream: Stream) -> list[runs.Write]:
            return record_files.plan_records(
                store, stream, records[stream], sorted(removed[stream])
            )

        writes = [write for stream in TOPIC_STREAMS for write in planned(stream)]
        writes += record_files.plan_topics(store, changed, self._heading(network))
        return writes + planned(FLOW)

    def _place(
        self,
        network: GraphUpdate,
        records: dict[Stream, list[Record]],
        removed: dict[Stream, set[str]],
    ) -> None:
        """Sort changed nodes and edges into their streams, and list those to remove from others."""
        wanted: dict[str, Node | Edge] = {**network.nodes, **network.edges}
        streams = {i: stream_of_record(record, network.nodes) for i, record in wanted.items()}
        for record_id, record in sorted(wanted.items()):
            old = self.state.records.get(record_id)
            new, stream = self._next(record, old), streams[record_id]
            present = self.state.records if stream == FLOW else self.state.places[stream]
            if _is_new(new, old) or record_id not in present:  # flow has one folder per machine
                records[stream].append(new)
                self._tally(record)["new" if old is None else "changed"] += 1
        for stream, ids in self.state.places.items():
            for record_id in ids:
                known = self.state.records.get(record_id)
                if isinstance(known, (Node, Edge)) and streams.get(record_id) != stream:
                    removed[stream].add(record_id)
                    if record_id not in wanted:
                        self._tally(known)["removed"] += 1
        self.report.nodes["total"] = len(network.nodes)
        ends = [(e.source, e.target) for e in network.edges.values() if not e.valid_until]
        self.report.edges["total"] = len(network.edges)
        self.report.edges["current"] = sum(network.nodes.keys() >= {*each} for each in ends)

    def _tally(self, record: Record) -> Counter[str]:
        return self.report.nodes if isinstance(record, Node) else self.report.edges

    def _guard(self, now: Mapping[str, Statement], removed: Mapping[Stream, Iterable[str]]) -> None:
        """Refuse to withdraw too much at once, unless it was allowed."""
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
                sum(isinstance(e, Edge) and e.type not in DERIVED_TYPES for e in gone),
                sum(e.type not in DERIVED_TYPES for e in self.state.edges.values()),
            ),
        }
        share = self.state.settings.mass_loss
        for what, (count, total) in counts.items():
            most = settle.most_lost(total, share)
            if count > (most if what == "statements" else max(settle.FREE_LOSS, share * total)):
                raise RefusedError(
                    str(self.state.store.root),
                    f"this run would withdraw {count} of {total} {what}",
                    "look at it with: clsm consolidate --dry-run, and allow it with: --yes",
                )

    def _heading(self, network: GraphUpdate | None) -> Callable[[Statement], str]:
        """A function from a statement to its heading, the label of its subject."""
        nodes = network.nodes if network is not None else self.state.nodes

        def heading_of(statement: Statement) -> str:
            node = nodes.get(self.words.node_of_id(statement.subject or ""))
            return node.label if node is not None else ""

        return heading_of

    def _revised(self, rows: Mapping[str, Row], before: Mapping[str, Record]) -> list[Row]:
        """New and changed rows, with their next revision."""
        pairs = [(self._next(row, before.get(i)), before.get(i)) for i, row in sorted(rows.items())]
        return [new for new, old in pairs if _is_new(new, old)]

    def _next(self, record: Row, old: Record | None) -> Row:
        """A record as it is written: unchanged, or with its next revision."""
        if old is not None:
            record = replace(record, rev=old.rev, extra=old.extra)
        if isinstance(record, Edge) and record.recorded_at is None:
            at = old.recorded_at if isinstance(old, Edge) else self.run.now
            record = replace(record, recorded_at=at)
        if record == old:
            return record
        number = old.rev[0] + 1 if old is not None else 1
        return replace(record, rev=(number, self.state.store.device))


def _is_new(record: Record, old: Record | None) -> bool:
    return old is None or record.rev != old.rev
