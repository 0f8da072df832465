"""``clsm forget --secrets``: mask secrets that older versions stored in clear.

Nothing that was said is lost but the secrets. It is worked out on a copy (``mask_secrets``), as any
forget, and what differs is written whole, without preimages.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.consolidation import rehearsal
from clsm_cli.forgetting import (
    clean_writing,
    external_copies,
    purge,
    receipt,
    store_contents,
    undo_selection,
)
from clsm_cli.forgetting.mask_secrets import StoreRewriter
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, conflict_copies, logs
from clsm_cli.store.lock import locked
from clsm_cli.text.secrets import mask

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.forgetting.external_copies import ExternalCopy
    from clsm_cli.forgetting.history_purge import RewrittenHistory
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store


class MaskedFile(NamedTuple):
    """A file that held secrets in clear: its path, without secrets itself; kinds and how many."""

    path: str
    found: dict[str, int]


class MaskingReport(NamedTuple):
    """What a masking did, or would do; never a secret.

    Attributes:
        found: Kinds of secrets and in how many places of turns, statements and records they stood.
        turns: Turns and blocks that held any; ``statements`` likewise.
    """

    found: dict[str, int]
    places: tuple[MaskedFile, ...]
    turns: int
    statements: int
    files: int
    beyond: tuple[ExternalCopy, ...]
    undoable: tuple[receipt.Run, ...]
    warnings: tuple[str, ...] = ()
    run: str | None = None
    history: RewrittenHistory | None = None


class Plan(NamedTuple):
    """What a masking would do, and the writes of it."""

    receipt: MaskingReport
    writes: clean_writing.CleanWrites


def plan(store: Store, now: datetime, *, purge_history: bool = False) -> Plan:
    """Work out, on a copy, which files change and how.

    Raises:
        LockedError: Another clsm kept the lock.
        DiskError: There is no room for the copy.
    """
    with locked(store.root, store.settings.store.lock_wait):
        warnings = end_begun_run(store)
    with rehearsal.copy_store(store) as copy:
        before = {name: atomic.digest_of(path) for name, path in purge.compared_files(copy)}
        warnings += conflict_copies.join(copy, utc_text(now), everywhere=True)
        held = store_contents.read_store(copy, utc_text(now))
        work = StoreRewriter(copy, held, utc_text(now))
        work.rewrite()
        puts, removes = purge.file_differences(copy, before)
        puts |= _reviews(store, copy)
    changed = sorted({*puts, *removes})
    done = MaskingReport(
        found=dict(sorted(sum(work.found.values(), Counter()).items())),
        places=tuple(
            MaskedFile(mask(name).text, dict(sorted(kinds.items())))
            for name, kinds in sorted(work.found.items())
        ),
        turns=len(work.turns),
        statements=len(work.statements),
        files=len(changed),
        beyond=external_copies.secret_copies(store, changed, is_purged=purge_history),
        undoable=tuple(receipt.Run(e.id, e.command, e.at) for e in undo_selection.undoable(store)),
        warnings=tuple(warnings),
    )
    writes = clean_writing.CleanWrites(
        puts,
        removes,
        frozenset(work.gone),
        tuple(sorted(work.lines)),
        frozenset(work.names),
        renamed=work.renamed,
    )
    return Plan(done, writes)


def _reviews(store: Store, copy: Store) -> dict[str, tuple[bytes, str | None]]:
    """Lists of questions to a person that changed: they are logs, which ``purge`` leaves aside."""
    found: dict[str, tuple[bytes, str | None]] = {}
    for flow in copy.flows():
        path = flow / "review.jsonl"
        name = path.relative_to(copy.root)
        before = atomic.digest_of(store.root / name)
        if before is not None and atomic.digest_of(path) != before:
            found[name.as_posix()] = (atomic.read(path, logs.MAX_LOG) or b"", before)
    return found


def apply(store: Store, planned: Plan, now: datetime, embedder: Embedder | None) -> MaskingReport:
    """Do it, whole, and leave no secret in what is derived.

    Raises:
        RefusedError: The store changed since it was planned.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; the next command ends what was begun.
    """
    run, warnings = clean_writing.write_clean(store, planned.writes, now, embedder)
    done = planned.receipt._replace(run=run)
    return done._replace(warnings=(*done.warnings, *warnings))
