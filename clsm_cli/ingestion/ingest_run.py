"""Ingest, in reading order: find the sources, capture each, segment, describe, index.

Everything happens under the store's lock, but for a capture that cannot have it. What is captured is
durable before anything slower starts, so a crash or a missing model loses nothing; running the command
again completes it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from clsm_cli.errors import LockedError, ModelDigestError, ModelMissingError
from clsm_cli.ingestion.ingest_report import Progress, Report, Request, Run
from clsm_cli.ingestion.intake import Intake, Opening
from clsm_cli.store import inbox
from clsm_cli.store.layout import ASIDE
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store
    from clsm_cli.store.lock import HeldLock

__all__ = ["Progress", "Report", "Request", "ingest"]


def ingest(store: Store, request: Request, embedder: Embedder | None, progress: Progress) -> Report:
    """Ingest the sources of a request; what could not be read is in the report.

    A capture never waits long: while another clsm has the lock, its turns are put aside.
    """
    report = Report(request.dry_run)
    run = Run(store, "ingest", request.now)
    with contextlib.ExitStack() as stack:
        try:
            lock = stack.enter_context(locked(store.root, _wait(store, request)))
        except LockedError as busy:
            if not request.capture_only:
                raise
            opening = Opening(store, request, stack, is_held=False)
            Intake(store, request, report, opening, run, progress, busy).read_all()
            return report
        opening = Opening(store, request, stack, is_held=True)
        if not request.dry_run:
            report.warnings += end_begun_run(store)
            if aside := inbox.plan_take_back(store.inbox):
                run.apply(aside)
        if request.capture_only or request.dry_run:
            Intake(store, request, report, opening, run, progress).read_all()
            return report
        from clsm_cli.store import joining
        from clsm_cli.store.index.opening import run_in_progress

        report.warnings += joining.join(store, run.now)
        index = opening()
        with run_in_progress(index.connection):
            Intake(store, request, report, opening, run, progress).read_all()
            take_in(store, index, run, report)
        embedder = embed_new(store, index, report, embedder, progress, lock)
        if embedder is not None:
            with run_in_progress(index.connection):
                segment_all(store, index, run, report, embedder, progress)
        report.open_turns = open_turns(index)
    return report


def _wait(store: Store, request: Request) -> float:
    limits = store.settings.store
    return limits.capture_wait if request.capture_only else limits.lock_wait


def end_begun_run(store: Store) -> list[str]:
    """End what a killed command began; what the user should hear of it. The caller holds the lock."""
    if not any((store.derived / name).exists() for name in ("redo", "purge")):
        return []
    from clsm_cli.store import cleanup, runs

    warnings = [
        f"{path}: was changed while a run was cut short; its new content was left out"
        for path in runs.recover(store)
    ]
    if cleanup.is_begun(store):
        cleanup.finish_begun(store)
        warnings.append("a forget that was cut short has been finished")
    return warnings


def take_in(store: Store, index: Index, run: Run, report: Report) -> None:
    """Settle hand edits; what is new is found by its words from here on."""
    from clsm_cli.store import settle
    from clsm_cli.store.index.opening import bring_up_to_date

    writes, warnings = settle.plan(store, run.now)
    run.apply(writes)
    report.warnings += warnings
    bring_up_to_date(store, index.connection, None, None)


def embed_new(
    store: Store,
    index: Index,
    report: Report,
    embedder: Embedder | None,
    progress: Progress,
    lock: HeldLock,
) -> Embedder | None:
    """Embed what has no vector, letting others have the lock in between; None without the model.

    What is captured waits then, and is found by its words.
    """
    from clsm_cli.store.index.opening import bring_up_to_date

    def embedding(done: int, total: int) -> None:
        progress("embedding", done, total)

    try:
        bring_up_to_date(store, index.connection, embedder, embedding, pause=lock.pause)
        bring_up_to_date(store, index.connection, embedder, embedding)  # what came in the pauses
    except ModelMissingError as error:
        report.warnings.append(f"{error} (until then recall answers from words)")
        return None
    except ModelDigestError as error:
        report.bad_model = error
        return None
    return embedder


def segment_all(
    store: Store,
    index: Index,
    run: Run,
    report: Report,
    embedder: Embedder,
    progress: Progress,
    over_before: datetime | None = None,
) -> None:
    """Cut what is captured into episodes, and describe every episode that has no record.

    A conversation whose last turn is older than ``over_before`` is over.
    """
    from clsm_cli.ingestion import segment
    from clsm_cli.store import logs
    from clsm_cli.store.index.opening import bring_up_to_date

    forgotten = logs.load_tombstones(store)
    run.apply(segment.plan_undescribed(store, index).writes)
    paths = [path for path in inbox.files(store.inbox) if ASIDE not in path.name]
    for number, path in enumerate(paths):
        progress("segmenting", number, len(paths))
        plan = segment.plan_session(store, index, inbox.read(path, forgotten), over_before)
        run.apply(plan.writes)
        report.episodes += len(plan.episodes)
    bring_up_to_date(store, index.connection, embedder, None)


def open_turns(index: Index) -> int:
    """Turns of conversations that are still open."""
    from clsm_cli.store.index.postings import store_counts

    return store_counts(index.connection)["waiting"]
