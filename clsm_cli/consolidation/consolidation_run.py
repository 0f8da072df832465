"""Run a consolidation: pending episodes become statements and a graph.

Stages, one module each: ``store_state`` (read the store, choose episodes), ``entity_mentions`` (names and
mentions), ``claims`` (candidate statements), ``calibrate`` (compare them with the known statements),
``graph_update`` (nodes and edges), ``monthly_gists``, ``write_plan``.
"""

import contextlib
from dataclasses import replace
from datetime import timedelta
from functools import partial

from clsm_cli.consolidation import active_learning, edges, rehearsal, store_state
from clsm_cli.consolidation.consolidation_report import Report, Request
from clsm_cli.consolidation.entity_mentions import build_vocabulary
from clsm_cli.consolidation.graph_update import GraphBuilder
from clsm_cli.consolidation.learning import Learner
from clsm_cli.consolidation.llm_adviser import Adviser
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.consolidation.write_plan import Writer
from clsm_cli.ingestion.ingest_report import IngestReport, Progress
from clsm_cli.ingestion.ingest_run import EpisodeMaker
from clsm_cli.model.clocks import instant, utc_text
from clsm_cli.store import cleanup, inbox, joining
from clsm_cli.store.index.opening import Embedder, bring_up_to_date, run_in_progress
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.store.runs import Run


def consolidate(
    store: Store, request: Request, embedder: Embedder | None, progress: Progress
) -> Report:
    """Consolidate a store.

    Raises:
        RefusedError: The run would withdraw too much.
        DiskError: A write failed; what was written is consistent, and the next run continues.
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
        report.warnings += complete_interrupted(store)
        run = Run(store, "consolidate", request.now)
        run.apply(inbox.plan_merge_side_files(store.inbox))
        report.warnings += joining.join(store, utc_text(request.now))
        cleanup.sweep(store, utc_text(request.now))
        index = stack.enter_context(store_state.opened_index(store))
        taken = IngestReport(dry_run=False)
        maker = EpisodeMaker(store, index, run, taken, progress)
        with run_in_progress(index.connection):
            maker.sync_edits()
        usable = maker.embed_new(embedder)
        with run_in_progress(index.connection):
            if usable is not None:
                silence = timedelta(minutes=store.settings.boundary.gap_certain)
                maker.segment_all(usable, ended_before=request.now - silence)
            report.warnings += taken.warnings
            report.bad_model = taken.bad_model
            report.lacks_model = embedder is not usable and taken.bad_model is None
            report.open_turns = maker.open_turns()
            embed, meanings = (usable.embed(), usable.words) if usable is not None else (None, None)
            state = store_state.load_state(store, index, request.now, embed, meanings)
            _learn(state, request, run, report, progress)
            bring_up_to_date(store, index.connection, usable, None)
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


def _learn(
    state: StoreState, request: Request, run: Run, report: Report, progress: Progress
) -> None:
    """Learn from the pending episodes in batches, then build the graph once."""
    episodes = state.episodes
    report.pending = sum(map(state.is_pending, episodes.values()))
    chosen = store_state.choose_episodes(state, request)
    taken = {i for i, r in episodes.items() if not state.is_pending(r)} | {*chosen}
    words = build_vocabulary(state, taken, {} if request.rebuild else state.nodes)
    adviser = Adviser(request, state.meanings, state.store.zone, report)
    learner = Learner(state, words, adviser, report, request.allow_loss)
    writer = Writer(state, words, request, run, report)
    chosen.sort(key=lambda i: (state.files[i].start or "", i))
    step = state.settings.step
    for start in range(0, len(chosen), step):
        progress("consolidating", start, len(chosen))
        learner.learn_from(chosen[start : start + step])
        if start + step < len(chosen):  # the last batch is written with the graph
            writer.write(learner, None)
    progress("weaving", 0, 2)
    over = edges.ended_turns(learner.statements.values(), state.store.zone)
    builder = GraphBuilder(state, words, over, request.rebuild)
    records = {i: learner.episodes.get(i, episodes[i]) for i in sorted(taken)}
    relations = partial(adviser.relations, learner.episodes, words.node_of_id)
    network = builder.build(records, learner.episodes.keys(), relations)
    learner.finish(network)
    report.consolidated = len(chosen) - len(report.unread)
    if request.answer is not None:
        report.stale = sum(not state.is_pending(episodes[i]) for i in chosen)
        report.consolidated -= report.stale
    telling = learner.most_informative()
    if chosen:  # before the run is written: an interrupted run will offer the same again
        active_learning.save_offer(state, telling)
    writer.write(learner, network)
    if report.run is None:  # nothing changed
        report.known = report.advised
        report.advised = report.dropped = 0
    progress("weaving", 2, 2)
