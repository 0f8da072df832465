"""Run a consolidation: pending episodes become statements and a graph.

The stages, a module each: ``store_state`` (read the store, choose episodes),
``entity_mentions`` (names and mentions), ``claims`` (what sentences would add), ``calibrate`` (what they
add to what is known), ``graph_update`` (nodes and edges), ``monthly_gists``, ``write_plan``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from clsm_cli.consolidation import (
    active_learning,
    edges,
    entity_mentions,
    learning,
    rehearsal,
    store_state,
    write_plan,
)
from clsm_cli.consolidation.consolidation_report import Report
from clsm_cli.consolidation.graph_update import GraphBuilder
from clsm_cli.consolidation.llm_adviser import Adviser
from clsm_cli.ingestion.ingest_report import Report as IngestReport
from clsm_cli.ingestion.ingest_report import Run, utc_text
from clsm_cli.ingestion.ingest_run import embed_new, end_begun_run, open_turns, segment_all, take_in
from clsm_cli.ingestion.timestamps import instant
from clsm_cli.store import cleanup, inbox, joining
from clsm_cli.store import ontology as store_ontology
from clsm_cli.store.index import database, evidence_queries, vectors
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import bring_up_to_date, run_in_progress
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.consolidation.consolidation_report import Progress, Request
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store


def consolidate(
    store: Store, request: Request, embedder: Embedder | None, progress: Progress
) -> Report:
    """Consolidate a store.

    Raises:
        RefusedError: Much would be withdrawn at once.
        DiskError: The disk refused; what was written is whole, and the next run goes on.
    """
    if request.dry_run:
        return rehearsal.dry_run(
            store,
            lambda copy: consolidate(copy, replace(request, dry_run=False), embedder, progress),
        )
    report = Report()
    with (
        locked(store.root, store.settings.store.lock_wait) as lock,
        contextlib.ExitStack() as stack,
    ):
        if request.if_idle is not None and not _is_idle(store, request):
            report.is_busy = True
            return report
        report.warnings += end_begun_run(store)
        run = Run(store, "consolidate", request.now)
        run.apply(inbox.plan_take_back(store.inbox))
        report.warnings += joining.join(store, utc_text(request.now))
        cleanup.sweep(store, utc_text(request.now))
        stack.enter_context(database.disk_errors(store.derived))
        connection = database.open_to_write(store.derived)
        stack.callback(connection.close)
        bring_up_to_date(store, connection, None, None)
        index = Index(connection, store)
        taken = IngestReport(dry_run=False)
        with run_in_progress(connection):
            take_in(store, index, run, taken)
        usable = embed_new(store, index, taken, embedder, progress, lock)
        with run_in_progress(connection):
            if usable is not None:
                silence = timedelta(minutes=store.settings.boundary.gap_certain)
                over = request.now - silence
                segment_all(store, index, run, taken, usable, progress, over)
            report.warnings += taken.warnings
            report.bad_model = taken.bad_model
            report.lacks_model = embedder is not usable and taken.bad_model is None
            report.open_turns = open_turns(index)
            _Run(store, request, index, run, report, usable, progress).consolidate()
    return report


def _is_idle(store: Store, request: Request) -> bool:
    spoken = [
        moment
        for path in inbox.files(store.inbox)
        for item in inbox.read(path).turns
        if (moment := instant(item.recorded_at)) is not None
    ]
    quiet = timedelta(minutes=request.if_idle or 0.0)
    return not spoken or max(spoken) <= request.now - quiet


@dataclass
class _Run:
    """One run, step by step."""

    store: Store
    request: Request
    index: Index
    run: Run
    report: Report
    embedder: Embedder | None
    progress: Progress

    def __post_init__(self) -> None:
        embedder = self.embedder
        self.embed = embed = embedder.embed() if embedder is not None else None
        self.embedder = embed and embedder and embedder._replace(embed=lambda: embed)
        self.meanings = embedder.words if embedder is not None else None
        self.ontology, problems = store_ontology.load(self.store)
        self.report.warnings += [
            f"{p.path}{f', line {p.line}' if p.line else ''}: {p.reason}" for p in problems
        ]

    def consolidate(self) -> None:
        """Learn from the pending episodes in steps, then build the graph once."""
        found = store_state.load_state(self.store, self.index)
        episodes = found.episodes
        self.report.pending = sum(found.is_pending(record) for record in episodes.values())
        chosen = store_state.choose_episodes(
            found, evidence_queries.user_shares(self.index.connection), self.request
        )
        taken = {i for i, r in episodes.items() if not found.is_pending(r)} | {*chosen}
        words = self._words(found, taken)
        adviser = Adviser(self.request)
        student = learning.Learner(
            self.store,
            self.index.connection,
            found,
            words,
            self.ontology,
            self.embed,
            self.meanings,
            adviser,
            utc_text(self.request.now),
        )
        writer = write_plan.Writer(self.store, found, words, self.request, self.run, self.report)
        self._study(student, writer, sorted(chosen, key=lambda i: (found.files[i].start or "", i)))
        self.progress("weaving", 0, 2)
        weaver = GraphBuilder(
            self.index.connection,
            found,
            words,
            self.ontology,
            self.store.settings.graph,
            (0, self.store.device),
            self.meanings,
            edges.over(student.learned_so_far().statements.values()),
        )
        records = {i: student.records.get(i, episodes[i]) for i in sorted(taken)}
        network = weaver.build(records, chosen, student.relations, rebuild=self.request.rebuild)
        student.finish(network)
        self._tell(student, adviser, found, chosen)
        telling = student.most_informative()
        if chosen:  # before the run is written: if it is cut short, the next one offers the same
            active_learning.save_offer(self.store, telling, utc_text(self.request.now))
        writer.write(student.learned_so_far(), network)
        self.progress("weaving", 2, 2)
        bring_up_to_date(self.store, self.index.connection, self.embedder, None)

    def _tell(
        self,
        student: learning.Learner,
        adviser: Adviser,
        found: store_state.StoreState,
        chosen: Sequence[str],
    ) -> None:
        self.report.consolidated = len(chosen) - len(student.unread)
        self.report.unread = student.unread
        self.report.warnings += [
            f"{path}: clsm itself failed on this text ({how}): nothing is learnt from it until clsm is"
            " mended; recall finds its words all the same"
            for path, how in sorted(student.unread.items())
        ]
        self.report.statements.update(student.outcome.counts)
        self.report.warnings += adviser.warnings
        self.report.usage = adviser.usage
        self.report.advised = adviser.accepted
        self.report.refused = [*adviser.refused, *adviser.unread(found.episodes)]
        if self.request.answer is not None:
            self.report.stale = sum(not found.is_pending(found.episodes[i]) for i in chosen)

    def _words(self, found: store_state.StoreState, taken: set[str]) -> entity_mentions.Vocabulary:
        decided = sorted(found.decided.items())
        return entity_mentions.build_vocabulary(
            self.index.connection,
            taken,
            {} if self.request.rebuild else found.nodes,
            [pair for pair, is_one in decided if is_one],
            [pair for pair, is_one in decided if not is_one],
            lambda names: vectors.of_texts(
                self.index.connection, self.store.derived, names, self.embed
            ),
        )

    def _study(
        self, student: learning.Learner, writer: write_plan.Writer, chosen: Sequence[str]
    ) -> None:
        """Read episodes in steps; each but the last, which the graph joins, is written down."""
        size = self.store.settings.consolidation.step
        for start in range(0, len(chosen), size):
            self.progress("consolidating", start, len(chosen))
            student.learn_from(chosen[start : start + size])
            if start + size < len(chosen):
                writer.write(student.learned_so_far(), None)
