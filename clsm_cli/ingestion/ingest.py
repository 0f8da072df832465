"""Ingest, in reading order: find the sources, capture each, segment, describe, index.

Everything happens under the store's lock. What is captured is durable before anything slower
starts, so a crash or a missing model loses nothing; running the command again completes it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

from clsm_cli.errors import BadInputError, ModelMissingError
from clsm_cli.ingestion import capture, documents, jsonl, markdown, openclaw, rows, sources
from clsm_cli.ingestion.items import Problem
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.episodes import Document
from clsm_cli.model.ids import document_id
from clsm_cli.store import atomic, episodes, graph, inbox, runs, settle
from clsm_cli.store.index import database
from clsm_cli.store.index.opening import Embedder, bring_up_to_date
from clsm_cli.store.index.reader import Index
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from clsm_cli.ingestion.items import RawDocument, TranscriptItem
    from clsm_cli.ingestion.sources import Format, Skipped, SourceFile
    from clsm_cli.store.layout import Store
    from clsm_cli.store.lock import Held


class Progress(Protocol):
    """Called with what is being done, how much is done and how much there is."""

    def __call__(self, what: str, done: int, total: int, /) -> None:
        """Report."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ingest, and how.

    Attributes:
        paths: Files, folders, or ``-``.
        format: Forced format, else detected.
        session: Conversation of rows that name none.
        capture_only: Write to the inbox and stop.
        since: Pass over earlier turns.
        dry_run: Only say what would happen.
        now: Time of the run, with offset.
    """

    paths: tuple[str, ...]
    now: datetime
    format: Format | None = None
    session: str | None = None
    capture_only: bool = False
    since: datetime | None = None
    dry_run: bool = False
    stdin: BinaryIO | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What became of one file."""

    path: str
    format: str
    tally: capture.Tally


@dataclass(slots=True)
class Report:
    """What an ingest did (or, for a dry run, would do)."""

    dry_run: bool
    sources: list[SourceReport] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    episodes: int = 0
    open_turns: int = 0

    @property
    def masked(self) -> Counter[str]:
        """Secrets that were masked, by kind."""
        total: Counter[str] = Counter()
        for source in self.sources:
            total.update(source.tally.masked)
        return total


def ingest(
    store: Store,
    request: Request,
    embedder: Embedder | None,
    progress: Progress,
) -> Report:
    """Ingest the sources of a request.

    Raises:
        BadInputError: A named path is missing, or nothing could be read.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; what was reported as captured is safe.
    """
    limits = store.settings.store
    report = Report(request.dry_run)
    wait = limits.capture_wait if request.capture_only else limits.lock_wait
    with locked(store.root, wait) as lock, contextlib.ExitStack() as stack:
        opening = _Opening(store, request, stack)
        run = Run(store, "ingest", request.now)
        _Capture(store, request, report, opening, run, progress).read_all()
        if not request.capture_only and not request.dry_run:
            segment_all(store, opening().connection, run, report, embedder, progress, lock)
    _check(report)
    return report


class _Opening:
    """The index, fresh at its first use: a plain capture of timed turns does without."""

    def __init__(self, store: Store, request: Request, stack: contextlib.ExitStack) -> None:
        self._store = store
        self._dry_run = request.dry_run
        self._stack = stack
        self._index: Index | None = None

    def __call__(self) -> Index:
        if self._index is None:
            if self._dry_run:
                disk = database.open_to_read(self._store.derived)
                connection = database.in_memory(disk)
                if disk is not None:
                    disk.close()
            else:
                connection = database.open_to_write(self._store.derived)
            self._stack.callback(connection.close)
            bring_up_to_date(self._store, connection, None, None)
            self._index = Index(connection, self._store)
        return self._index


def _check(report: Report) -> None:
    """A named path that is missing, or nothing readable at all, is the caller's error."""
    missing = [p for p in report.problems if isinstance(p, sources.Missing)]
    if missing:
        raise BadInputError(missing[0].path, missing[0].reason, "check the path and run again")
    if report.problems and not report.sources:
        first = report.problems[0]
        raise BadInputError(first.path, first.reason, "nothing could be ingested", line=first.line)


class _Capture:
    """The first half: every source to the inbox, or to an episode of its document."""

    def __init__(
        self,
        store: Store,
        request: Request,
        report: Report,
        index: _Opening,
        run: Run,
        progress: Progress,
    ) -> None:
        self.store = store
        self.request = request
        self.report = report
        self.index = index
        self.run = run
        self.progress = progress
        self.sessions = capture.Sessions(store.inbox, index, look_back=not request.capture_only)
        self.now = utc(request.now)

    def read_all(self) -> None:
        """Read every source; a bad one is reported and the others go on."""
        found = list(
            sources.find(self.request.paths, format=self.request.format, stdin=self.request.stdin)
        )
        for number, source in enumerate(found):
            self.progress("reading", number, len(found))
            if isinstance(source, Problem):
                self.report.problems.append(source)
            elif isinstance(source, sources.Skipped):
                self.report.skipped.append(source)
            else:
                self._one(source)

    def _one(self, source: SourceFile) -> None:
        tally = capture.Tally()
        try:
            if source.format == "markdown":
                self._document(source, tally)
            else:
                self._transcript(source, tally)
        except OSError as error:
            tally.problems.append(Problem(source.path, None, (error.strerror or "unreadable")))
        self.report.problems.extend(tally.problems)
        self.report.sources.append(SourceReport(source.path, source.format, tally))

    def _transcript(self, source: SourceFile, tally: capture.Tally) -> None:
        with source.open() as stream:
            lines = rows.bounded_lines(stream)
            batches = capture.capture(
                self._items(source, lines),
                self.sessions,
                path=source.path,
                now=self.now,
                tally=tally,
                since=self.request.since,
            )
            for batch in batches:
                writes: list[runs.Write] = [
                    runs.Append(inbox.path_of(self.store.inbox, session), inbox.render(found))
                    for session, found in batch.items()
                ]
                self._apply(writes)

    def _items(self, source: SourceFile, lines: Iterator[rows.Line]) -> Iterator[TranscriptItem]:
        now, zone = self.request.now, self.store.zone
        session = self.request.session or source.origin
        if source.format == "openclaw":
            return openclaw.read(
                lines,
                path=source.path,
                zone=zone,
                now=now,
                session=session,
                known_clsm_calls=self.sessions.calls,
            )
        return jsonl.read(lines, path=source.path, zone=zone, now=now, session=session)

    def _document(self, source: SourceFile, tally: capture.Tally) -> None:
        limit = self.store.settings.store.max_file
        with source.open() as stream:
            data = stream.read(limit + 1)
        sha256 = atomic.sha256(data)
        old = self._known_document(source.origin)
        if old is not None and old.sha256 == sha256 and old.path == source.path:
            tally.known += len(old.blocks)
            return
        raw = markdown.read(data, path=source.path, zone=self.store.zone)
        if isinstance(raw, Problem):
            tally.problems.append(raw)
            return
        tally.problems.extend(raw.problems)
        if old is not None and old.blocks and not raw.blocks:
            reason = f"is empty now; its {len(old.blocks)} blocks stay in memory"
            tally.problems.append(Problem(source.path, None, reason))
            return
        self._apply_document(source, sha256, raw, old, tally)

    def _apply_document(
        self,
        source: SourceFile,
        sha256: str,
        raw: RawDocument,
        old: Document | None,
        tally: capture.Tally,
    ) -> None:
        plan = documents.plan(
            raw,
            origin=source.origin,
            path=source.path,
            sha256=sha256,
            old=old,
            text_of=self._text_of,
            stored=self.index().closed_keys(source.origin),
            previous=self.index().last_episode(source.origin),
            now=self.now,
            device=self.store.device,
            mask=Masker(tally.masked),
        )
        tally.added, tally.changed = plan.added, plan.changed
        tally.closed, tally.known = plan.closed, plan.kept
        writes: list[runs.Write] = []
        if plan.episode is not None:
            path = episodes.file_of(plan.episode, self.store.flow)
            writes.append(runs.Put(path, episodes.render(plan.episode)))
        if plan.document is not None:
            writes += graph.plan(self.store, "flow", [plan.document])
        self._apply(writes)

    def _known_document(self, origin: str) -> Document | None:
        record = self.index().record(document_id(origin))
        return record if isinstance(record, Document) else None

    def _text_of(self, key: str) -> str:
        found = self.index().by_key(key)
        return "\n".join(passage.text for passage in found if passage.key == key)

    def _apply(self, writes: Sequence[runs.Write]) -> None:
        if not self.request.dry_run:
            self.run.apply(writes)


class Run:
    """The steps of one run in the ledger."""

    def __init__(self, store: Store, command: str, now: datetime) -> None:
        self.store = store
        self.command = command
        self.now = utc(now)
        self._id: str | None = None

    def apply(self, writes: Sequence[runs.Write]) -> None:
        """Do the writes of a step."""
        line = runs.apply(self.store, self.command, self.now, writes, run_id=self._id)
        if line is not None:
            self._id = line.id


def segment_all(
    store: Store,
    connection: sqlite3.Connection,
    run: Run,
    report: Report,
    embedder: Embedder | None,
    progress: Progress,
    lock: Held,
) -> None:
    """The second half: settle hand edits, embed what is new, cut it into episodes, describe them, index the result.

    Without the model nothing is cut: what is captured waits, and is found by its words.
    """
    from clsm_cli.ingestion import segment

    def embedding(done: int, total: int) -> None:
        progress("embedding", done, total)

    index = Index(connection, store)
    writes, warnings = settle.plan(store, run.now)
    run.apply(writes)
    report.warnings += warnings
    try:
        bring_up_to_date(store, connection, embedder, embedding, pause=lock.pause)
        bring_up_to_date(store, connection, embedder, embedding)  # what came in the pauses
    except ModelMissingError as error:
        embedder = None
        report.warnings.append(f"{error} (until then recall answers from words)")
    if embedder is not None:
        run.apply(segment.plan_undescribed(store, index).writes)
        paths = inbox.files(store.inbox)
        for number, path in enumerate(paths):
            progress("segmenting", number, len(paths))
            box = inbox.read(path)
            plan = segment.plan_session(store, index, box)
            run.apply(plan.writes)
            report.episodes += len(plan.episodes)
        bring_up_to_date(store, connection, embedder, embedding)
    report.open_turns = index.counts()["waiting"]


def utc(now: datetime) -> str:
    """The record axis: UTC, seconds, always the same form."""
    from datetime import UTC

    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
