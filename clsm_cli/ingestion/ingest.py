"""Ingest, in reading order: find the sources, capture each, segment, describe, index.

Everything happens under the store's lock. What is captured is durable before anything slower
starts, so a crash or a missing model loses nothing; running the command again completes it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.ingestion.intake import Intake, Run
from clsm_cli.ingestion.late_index import Opening
from clsm_cli.ingestion.report import Progress, Report, Request
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store
    from clsm_cli.store.lock import Held

__all__ = ["Progress", "Report", "Request", "ingest"]


def ingest(
    store: Store,
    request: Request,
    embedder: Embedder | None,
    progress: Progress,
) -> Report:
    """Ingest the sources of a request; what could not be read is in the report.

    Raises:
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; what was reported as captured is safe.
    """
    limits = store.settings.store
    report = Report(request.dry_run)
    wait = limits.capture_wait if request.capture_only else limits.lock_wait
    with locked(store.root, wait) as lock, contextlib.ExitStack() as stack:
        report.warnings += end_begun_run(store) if not request.dry_run else []
        opening = Opening(store, request, stack)
        run = Run(store, "ingest", request.now)
        if not request.capture_only and not request.dry_run:
            from clsm_cli.store import conflict_copies

            report.warnings += conflict_copies.join(store, run.now)
        Intake(store, request, report, opening, run, progress).read_all()
        if not request.capture_only and not request.dry_run:
            segment_all(store, opening(), run, report, embedder, progress, lock)
    return report


def end_begun_run(store: Store) -> list[str]:
    """End what a killed command began; what the user should hear of it. The caller holds the lock."""
    if not any((store.derived / name).exists() for name in ("redo", "purge")):
        return []
    from clsm_cli.store import runs, wiping

    warnings = [
        f"{path}: was changed while a run was cut short; its new content was left out"
        for path in runs.recover(store)
    ]
    if wiping.is_begun(store):
        wiping.finish_begun(store)
        warnings.append("a forget that was cut short has been finished")
    return warnings


def segment_all(
    store: Store,
    index: Index,
    run: Run,
    report: Report,
    embedder: Embedder | None,
    progress: Progress,
    lock: Held,
    *,
    over_before: datetime | None = None,
) -> None:
    """The second half: settle hand edits, embed what is new, cut it into episodes, describe them.

    Without the model nothing is cut: what is captured waits, and is found by its words. A
    conversation whose last turn is older than ``over_before`` is over.
    """
    from clsm_cli.ingestion import segment
    from clsm_cli.store import inbox, logs, settle
    from clsm_cli.store.index.counts import counts
    from clsm_cli.store.index.opening import bring_up_to_date

    def embedding(done: int, total: int) -> None:
        progress("embedding", done, total)

    connection = index.connection
    forgotten = logs.forgotten(store)
    writes, warnings = settle.plan(store, run.now)
    run.apply(writes)
    report.warnings += warnings
    try:
        bring_up_to_date(store, connection, embedder, embedding, pause=lock.pause)
        bring_up_to_date(store, connection, embedder, embedding)  # what came in the pauses
    except ModelMissingError as error:
        embedder = None
        report.warnings.append(f"{error} (until then recall answers from words)")
    except ModelDigestError as error:
        embedder, report.bad_model = None, error
    if embedder is not None:
        run.apply(segment.plan_undescribed(store, index).writes)
        paths = inbox.files(store.inbox)
        for number, path in enumerate(paths):
            progress("segmenting", number, len(paths))
            box = inbox.read(path, forgotten)
            plan = segment.plan_session(store, index, box, over_before)
            run.apply(plan.writes)
            report.episodes += len(plan.episodes)
        bring_up_to_date(store, connection, embedder, embedding)
    report.open_turns = counts(index.connection)["waiting"]
