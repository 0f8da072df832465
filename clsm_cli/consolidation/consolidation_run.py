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

from clsm_cli.consolidation import active_learning, edges, rehearsal, store_state
from clsm_cli.consolidation.consolidation_report import Report
from clsm_cli.consolidation.entity_mentions import build_vocabulary
from clsm_cli.consolidation.graph_update import GraphBuilder
from clsm_cli.consolidation.learning import Learner
from clsm_cli.consolidation.llm_adviser import Adviser
from clsm_cli.consolidation.write_plan import Writer
from clsm_cli.ingestion.ingest_report import Report as IngestReport
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.ingest_run import EpisodeMaker, end_begun_run
from clsm_cli.ingestion.timestamps import instant
from clsm_cli.model.clocks import utc_text
from clsm_cli.store import cleanup, inbox, joining
from clsm_cli.store.index import database
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import bring_up_to_date, run_in_progress
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.consolidation.consolidation_report import Request
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.ingestion.ingest_report import Progress
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
        locked(store.root, store.settings.store.lock_wait),
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
        maker = EpisodeMaker(store, index, run, taken, progress)
        with run_in_progress(connection):
            maker.take_in()
        usable = maker.embed_new(embedder)
        with run_in_progress(connection):
            if usable is not None:
                silence = timedelta(minutes=store.settings.boundary.gap_certain)
                maker.segment_all(usable, over_before=request.now - silence)
            report.warnings += taken.warnings
            report.bad_model = taken.bad_model
            report.lacks_model = embedder is not usable and taken.bad_model is None
            report.open_turns = maker.open_turns()
            embed, meanings = (usable.embed(), usable.words) if usable is not None else (None, None)
            state = store_state.load_state(store, index, request.now, embed, meanings)
            _Run(state, request, run, report, progress).consolidate()
            bring_up_to_date(store, connection, usable, None)
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

    state: StoreState
    request: Request
    run: Run
    report: Report
    progress: Progress

    def consolidate(self) -> None:
        """Learn from the pending episodes in steps, then build the graph once."""
        state, episodes = self.state, self.state.episodes
        self.report.warnings += [
            f"{p.path}{f', line {p.line}' if p.line else ''}: {p.reason}" for p in state.ontology[1]
        ]
        self.report.pending = sum(map(state.is_pending, episodes.values()))
        chosen = store_state.choose_episodes(state, self.request)
        taken = {i for i, r in episodes.items() if not state.is_pending(r)} | {*chosen}
        words = build_vocabulary(state, taken, {} if self.request.rebuild else state.nodes)
        adviser = Adviser(self.request, state.meanings)
        student = Learner(state, words, adviser)
        writer = Writer(state, words, self.request, self.run, self.report)
        self._study(student, writer, sorted(chosen, key=lambda i: (state.files[i].start or "", i)))
        self.progress("weaving", 0, 2)
        weaver = GraphBuilder(state, words, edges.over(student.statements.values()))
        records = {i: student.episodes.get(i, episodes[i]) for i in sorted(taken)}
        network = weaver.build(records, chosen, student.relations, rebuild=self.request.rebuild)
        student.finish(network)
        self._tell(student, adviser, chosen)
        telling = student.most_informative()
        if chosen:  # before the run is written: if it is cut short, the next one offers the same
            active_learning.save_offer(state, telling)
        writer.write(student, network)
        if self.report.run is None:  # the memory is as it was
            self.report.known = self.report.advised
            self.report.advised = self.report.dropped = 0
        self.progress("weaving", 2, 2)

    def _study(self, student: Learner, writer: Writer, chosen: Sequence[str]) -> None:
        """Read episodes in steps; each but the last, which the graph joins, is written down."""
        size = self.state.settings.step
        for start in range(0, len(chosen), size):
            self.progress("consolidating", start, len(chosen))
            student.learn_from(chosen[start : start + size])
            if start + size < len(chosen):
                writer.write(student, None)

    def _tell(self, student: Learner, adviser: Adviser, chosen: Sequence[str]) -> None:
        self.report.consolidated = len(chosen) - len(student.unread)
        self.report.unread = student.unread
        self.report.warnings += [
            f"{path}: clsm itself failed on this text ({how}): nothing is learnt from it until clsm is"
            " mended; recall finds its words all the same"
            for path, how in sorted(student.unread.items())
        ]
        self.report.statements.update(student.counts)
        self.report.warnings += adviser.warnings
        self.report.usage = adviser.usage
        self.report.advised = adviser.accepted
        self.report.dropped = adviser.dropped
        self.report.refused = [*adviser.refused, *adviser.unread(self.state.episodes)]
        if self.request.answer is not None:
            self.report.is_answered = True
            self.report.stale = sum(
                not self.state.is_pending(self.state.episodes[i]) for i in chosen
            )
            self.report.consolidated -= self.report.stale
