"""Ingest, in reading order: find the sources, capture each, segment, describe, index.

Everything happens under the store's lock, except a capture that cannot get it. Captured turns are durable
before anything slower starts, so a crash or a missing model loses nothing, and running the command again
completes it.

``ingest --capture``, which runs at every message of an agent, ends when the sources are read: modules for
documents or for a look-up of closed episodes are imported where they are used, and the index is opened at its
first use.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import (
    ClsmError,
    DiskError,
    LockedError,
    ModelDigestError,
    ModelMissingError,
    fault_text,
)
from clsm_cli.ingestion import capture, encodings, sources
from clsm_cli.ingestion.detection import DOCUMENTS
from clsm_cli.ingestion.ingest_report import (
    IngestReport,
    IngestRequest,
    Progress,
    Tally,
    display_path,
)
from clsm_cli.ingestion.jsonl_rows import Problem, Reading
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.episodes import Document
from clsm_cli.model.ids import document_id
from clsm_cli.model.tombstones import visible
from clsm_cli.store import atomic, cursors, inbox, logs, runs
from clsm_cli.store.layout import SIDE_MARK, Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.store.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from clsm_cli.ingestion.documents import DocumentChange
    from clsm_cli.ingestion.incremental import Tail
    from clsm_cli.ingestion.sources import Found, SourceFile
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.opening import Embedder

__all__ = ["IngestReport", "IngestRequest", "Progress", "ingest"]

_MAX_NAMED = 5  # speakers that a warning names
LOSS_SHARE, LOSS_BLOCKS = 0.2, 20
"""Share of a document's blocks, and number of them, above which a warning reports their loss."""

_BATCH, _BATCH_BYTES = 1024, 16 << 20
"""Documents, and bytes of their episodes, that are written in one step: each rewrites the shards it changes, and
a full disk or a crash takes back one step.
"""


def ingest(
    store: Store, request: IngestRequest, embedder: Embedder | None, progress: Progress
) -> IngestReport:
    """Ingest the sources of a request; unreadable ones are in the report.

    A capture never waits long: while another clsm has the lock, its turns go to a separate file.
    """
    report = IngestReport(request.dry_run)
    run = Run(store, "ingest", request.now)
    limits = store.settings.store
    wait = limits.capture_wait if request.capture_only else limits.lock_wait
    busy: LockedError | None = None
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(store.root, wait))
        except LockedError as error:
            if not request.capture_only:
                raise
            busy = error
        if busy is None and not request.dry_run:
            report.warnings += complete_interrupted(store)
            if aside := inbox.plan_merge_side_files(store.inbox):
                run.apply(aside)
        index = _index_opener(store, request, stack, is_held=busy is None)
        if request.capture_only or request.dry_run:
            Intake(store, request, report, index, run, progress, busy).read_all()
            return report
        from clsm_cli.store import joining
        from clsm_cli.store.index.opening import run_in_progress

        report.warnings += joining.join(store, run.now)
        maker = EpisodeMaker(store, index(), run, report, progress)
        with run_in_progress(index().connection):
            Intake(store, request, report, index, run, progress).read_all()
            maker.sync_edits()
        embedder = maker.embed_new(embedder)
        if embedder is not None:
            with run_in_progress(index().connection):
                maker.segment_all(embedder)
        report.open_turns = maker.open_turns()
    return report


def _index_opener(
    store: Store, request: IngestRequest, stack: contextlib.ExitStack, *, is_held: bool
) -> Callable[[], Index]:
    """A function that opens the index, up to date, at its first call: a capture of timed turns needs none.

    Without the lock it is the last published index. Later errors of its database are disk errors, too.
    """

    @cache
    def index() -> Index:
        from clsm_cli.store.index import database
        from clsm_cli.store.index.index_queries import Index
        from clsm_cli.store.index.opening import bring_up_to_date

        stack.enter_context(database.index_errors(store.derived))
        if request.dry_run or not is_held:
            disk = database.open_to_read(store.derived)
            connection = database.in_memory(disk)
            if disk is not None:
                disk.close()
        else:
            connection = database.open_to_write(store.derived)
        stack.callback(connection.close)
        if is_held:
            bring_up_to_date(store, connection, None, None)
        return Index(connection, store)

    return index


@dataclass(slots=True)
class Intake:
    """The first half: every source goes to the inbox, or to an episode of its document."""

    store: Store
    request: IngestRequest
    report: IngestReport
    index: Callable[[], Index]
    run: Run
    progress: Progress
    busy: LockedError | None = None
    """Why the lock is not held; captured turns then go to a separate file."""
    lost: list[Document] | None = None
    decided: list[DocumentChange] = field(default_factory=list)
    """Changes of documents that are not written yet."""
    forgotten: frozenset[str] = field(init=False)
    sessions: capture.Sessions = field(init=False)

    def __post_init__(self) -> None:
        """Load what was forgotten, and what is known of conversations."""
        self.forgotten = logs.load_tombstones(self.store)
        look_back = not self.request.capture_only
        self.sessions = capture.Sessions(self.store.inbox, self.index, look_back, self.forgotten)

    def read_all(self) -> None:
        """Read every source; a bad one is reported and the others continue."""
        asked = self.request
        if not asked.openclaw:
            self._read_found(sources.find(asked.paths, asked.format, asked.stdin, asked.exclusion))
            return
        from clsm_cli.ingestion.incremental import CatchUp, workspaces

        found = CatchUp(cursors.load_cursors(self.store))
        self._read_found(found.find(asked.paths), found.reached)
        self.report.up_to_date = found.up_to_date
        self.report.warnings += found.warnings
        # Cursors move once everything is stored. Messages that --since skips are new to the next run.
        if found.has_moved and asked.since is None and not asked.dry_run:
            cursors.save_cursors(self.store, found.places)
        if not asked.capture_only:
            notes = workspaces(asked.paths, self.index().document_origins())
            self._read_found(sources.find(notes, exclusion=asked.exclusion))

    def _read_found(
        self, found: Iterable[Found | Tail], reached: Callable[[Tail], None] = lambda _tail: None
    ) -> None:
        """Read the found sources; ``reached`` gets each tail that was read to its end."""
        every = list(found)
        for number, source in enumerate(every):
            self.progress("reading", number, len(every))
            if isinstance(source, Problem):
                self.report.problems.append(display_path(source))
            elif isinstance(source, sources.Skipped):
                display = display_path(source)
                self.report.skipped.append(display)
                if isinstance(display, sources.Excluded) and not self.request.capture_only:
                    self._warn_of_excluded(display)
            elif self._read_source(source) and not isinstance(source, sources.SourceFile):
                reached(source)
        self._write_documents()

    def _warn_of_excluded(self, source: sources.Excluded) -> None:
        """Warn that documents ingested before their exclusion stay in memory."""
        known = self.index().documents_in(source.path)
        if known:
            more = f" and {len(known) - 1} more" if len(known) > 1 else ""
            self.report.warnings.append(
                f"{known[0]}{more}: excluded now, but what was taken in before stays; to remove it:"
                f" clsm forget --source {shlex.quote(known[0])}"
            )

    def _read_source(self, source: SourceFile | Tail) -> bool:
        """Read a source into the report; return whether it was read to its end."""
        tally, is_whole = Tally(source.path, source.format), False
        try:
            with _survived(
                self.store, lambda how: tally.problems.append(Problem(source.path, None, how))
            ):
                if isinstance(source, sources.SourceFile) and source.format in DOCUMENTS:
                    self._read_document(source, tally)
                else:
                    self._read_transcript(source, tally)
                is_whole = True
        except OSError as error:
            named = error.filename
            if isinstance(named, str | os.PathLike) and Path(named).is_relative_to(self.store.root):
                raise DiskError(str(named), error.strerror or "unreadable") from error
            tally.problems.append(Problem(source.path, None, error.strerror or "unreadable"))
        self.report.problems.extend(map(display_path, tally.problems))
        self.report.sources.append(display_path(tally))
        return is_whole

    def _read_transcript(self, source: SourceFile | Tail, tally: Tally) -> None:
        asked = self.request
        if isinstance(source, sources.SourceFile):
            tally.encoding = encodings.display_name(source.encoding)
        reading = Reading(
            source.path,
            self.store.zone,
            asked.now,
            asked.session or source.inside or source.origin,
            known_clsm_calls=lambda session: self.sessions.get(session).calls,
            knows_session=lambda session: bool(self.sessions.get(session).keys),
            day_first=asked.day_first,
            fence_key=asked.fence_key,
            me=(*self.store.settings.ingest.me, *asked.me),
        )
        origin = "" if source.origin == sources.STDIN else source.origin
        new = capture.Capture(self.sessions, source.path, origin, self.run.now, tally, asked.since)
        with source.items(reading) as items:
            for batch in new.batches(items):
                rows = {session: inbox.render(found) for session, found in batch.items()}
                if self.busy is None:
                    folder = self.store.inbox
                    self._apply([runs.Append(inbox.path_of(folder, s), rows[s]) for s in rows])
                elif not asked.dry_run:
                    for session, data in rows.items():
                        inbox.write_side_file(self.store.inbox, session, data)
        if reading.strangers and tally.added:
            self._warn_of_strangers(new.path, sorted(map(new.mask.name, reading.strangers)))

    def _warn_of_strangers(self, path: str, names: Sequence[str]) -> None:
        """Warn that nobody's words in a chat count as the owner's."""
        said = ", ".join([*names[:_MAX_NAMED], "…"] if len(names) > _MAX_NAMED else names)
        back = "" if self.request.dry_run else "take this back with clsm undo, and "
        self.report.warnings.append(
            f"{path}: no speaker is known to be you ({said}), so nobody's words count as yours; if you"
            f" are one of them, {back}ingest it with --me NAME, or ingest.me in clsm.yaml"
        )

    def _read_document(self, source: SourceFile, tally: Tally) -> None:
        if self.busy is not None:  # only turns can go to a separate file, no episode and record
            raise self.busy
        from clsm_cli.ingestion import documents, markdown

        with source.open() as stream:
            data = stream.read(MAX_FILE + 1)
        encoding = encodings.detect_encoding(data, is_whole=len(data) <= MAX_FILE)
        if encoding == encodings.UNKNOWN:  # although its head was readable
            tally.problems.append(Problem(source.path, None, encodings.UNKNOWN_REASON))
            return
        shown = source.encoding if encoding == encodings.UTF_8 else encoding
        tally.encoding = encodings.display_name(shown)
        data = encodings.to_utf_8(data, encoding)
        sha256 = atomic.sha256(data)
        mask = Masker(tally.masked)
        source = replace(source, path=mask.name(source.path), origin=mask.name(source.origin))
        old = self._known_document(source.origin)
        if old is not None and old.sha256 == sha256 and old.path == source.path:
            tally.known += len(old.blocks)
            return
        raw = markdown.read(
            data,
            path=source.path,
            zone=self.store.zone,
            fence_key=self.request.fence_key,
            in_vault=source.format == "obsidian",
            is_agents=source.is_agents,
            today=self.request.now.astimezone(self.store.zone).date(),
        )
        if isinstance(raw, Problem):
            tally.problems.append(raw)
            return
        tally.dropped.update(+raw.dropped)
        tally.problems.extend(raw.problems)
        if old is not None and old.blocks and not raw.blocks and not +raw.dropped:
            reason = f"is empty now; its {len(old.blocks)} blocks stay in memory"
            tally.problems.append(Problem(source.path, None, reason))
            return
        version = documents.DocumentVersion(
            raw, source.origin, source.path, sha256, self.run.now, mask
        )
        lost = self._lost_documents()
        found = documents.plan(version, old, self.store, self.index(), self.forgotten, tally, lost)
        self._warn_of_loss(source.path, old, tally)
        self.decided.append(found)
        size = sum(len(put.data) for each in self.decided for put in each.episodes)
        if len(self.decided) == _BATCH or size > _BATCH_BYTES:
            self._write_documents()

    def _write_documents(self) -> None:
        """Write what was decided about documents: all episodes, then the records, in one step."""
        if not self.decided:
            return
        from clsm_cli.store import record_files

        episodes = sorted(
            (put for each in self.decided for put in each.episodes), key=lambda put: put.path
        )
        records = {record.id: record for each in self.decided for record in each.records}
        self._apply([*episodes, *record_files.plan_records(self.store, "flow", records.values())])
        self.decided.clear()

    def _warn_of_loss(self, path: str, old: Document | None, tally: Tally) -> None:
        from clsm_cli.store import settle

        blocks = len(old.blocks) if old is not None else 0
        if tally.closed > min(settle.MAX_LOST, max(LOSS_BLOCKS, LOSS_SHARE * blocks)):
            self.report.warnings.append(
                f"{path}: {tally.closed} of its {blocks} blocks are gone at once; they are closed,"
                " not deleted: if the file was cut short, mend it and ingest it again"
            )

    def _lost_documents(self) -> list[Document]:
        """The documents that this machine read last, and whose file is gone."""
        if self.lost is None:
            origins = self.index().document_origins()
            gone = (each for each in origins if not os.path.exists(os.path.expanduser(each)))
            found = map(self._known_document, gone)
            self.lost = [each for each in found if each and each.rev[1] == self.store.device]
        return self.lost

    def _known_document(self, origin: str) -> Document | None:
        record = self.index().record(document_id(origin))
        left = visible(record, self.forgotten) if isinstance(record, Document) else None
        return left if isinstance(left, Document) else None

    def _apply(self, writes: Sequence[runs.Write]) -> None:
        if not self.request.dry_run:
            self.run.apply(writes)


@contextlib.contextmanager
def _survived(store: Store, tell: Callable[[str], None]) -> Iterator[None]:
    """Go on after a fault of clsm itself, and tell of it: one text must not block all others."""
    try:
        yield
    except (ClsmError, OSError):
        raise
    except Exception as error:
        from clsm_cli.store.index import database

        with contextlib.suppress(type(error)), database.index_errors(store.derived):
            raise  # a damaged index is not the text's
        tell(f"clsm itself failed on it ({fault_text(error)})")


@dataclass(frozen=True, slots=True)
class EpisodeMaker:
    """The second half: captured turns become episodes; the caller holds the lock."""

    store: Store
    index: Index
    run: Run
    report: IngestReport
    progress: Progress

    def sync_edits(self) -> None:
        """Apply hand edits; from here on, new texts are found by their words."""
        from clsm_cli.store import settle
        from clsm_cli.store.index.opening import bring_up_to_date

        writes, warnings = settle.plan(self.store, self.run.now)
        self.run.apply(writes)
        self.report.warnings += warnings
        bring_up_to_date(self.store, self.index.connection, None, None)

    def embed_new(self, embedder: Embedder | None) -> Embedder | None:
        """Embed new passages; None without the model.

        Without it, captured turns wait and are found by their words.
        """
        from clsm_cli.store.index.opening import bring_up_to_date

        progress, connection = partial(self.progress, "embedding"), self.index.connection
        try:
            bring_up_to_date(self.store, connection, embedder, progress)
        except ModelMissingError as error:
            self.report.warnings.append(f"{error} (until then recall answers from words)")
            return None
        except ModelDigestError as error:
            self.report.bad_model = error
            return None
        return embedder

    def segment_all(self, embedder: Embedder, ended_before: datetime | None = None) -> None:
        """Cut captured turns into episodes, and describe every episode that has no record.

        Conversations whose last turn is older than ``ended_before`` are closed.
        """
        from clsm_cli.ingestion import segment
        from clsm_cli.store.index.opening import bring_up_to_date

        store, index = self.store, self.index
        forgotten = logs.load_tombstones(store)
        self.run.apply(segment.plan_undescribed(store, index, self._survived))
        paths = [path for path in inbox.files(store.inbox) if SIDE_MARK not in path.name]
        for number, path in enumerate(paths):
            self.progress("segmenting", number, len(paths))
            turns = inbox.read(path, forgotten)
            with self._survived(path):
                made, writes = segment.plan_session(store, index, turns, ended_before)
                self.run.apply(writes)
                self.report.episodes += len(made)
        bring_up_to_date(store, index.connection, embedder, None)

    def _survived(self, path: Path) -> contextlib.AbstractContextManager[None]:
        return _survived(self.store, lambda how: self.report.warnings.append(f"{path}: {how}"))

    def open_turns(self) -> int:
        """Number of turns in conversations that are still open."""
        from clsm_cli.store.index.postings import store_counts

        return store_counts(self.index.connection)["waiting"]
