"""The first half of an ingest: read every source into the inbox, or into an episode of its document.

``ingest --capture`` runs this alone, at every message of an agent: what only documents or a look-up of
closed episodes need is imported where it is used, and the index is opened at its first use.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DiskError
from clsm_cli.ingestion import capture, encodings, recalled_text, sources
from clsm_cli.ingestion.detection import DOCUMENTS
from clsm_cli.ingestion.ingest_report import SourceReport, display_path, utc_text
from clsm_cli.ingestion.jsonl_rows import Problem, Reading
from clsm_cli.ingestion.known_sessions import Sessions
from clsm_cli.store import cursors, inbox, logs, runs

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterable, Sequence

    from clsm_cli.errors import LockedError
    from clsm_cli.ingestion.incremental import Tail
    from clsm_cli.ingestion.ingest_report import Progress, Report, Request, Run
    from clsm_cli.ingestion.jsonl_rows import RawDocument
    from clsm_cli.ingestion.sources import Found, SourceFile
    from clsm_cli.ingestion.turns import Masker
    from clsm_cli.model.episodes import Document
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.layout import Store

MUCH, FEW = 0.2, 20
"""Share of a document's blocks, and number of them, beyond which it is said that they are gone."""


@dataclass(slots=True)
class Intake:
    """The first half: every source to the inbox, or to an episode of its document."""

    store: Store
    request: Request
    report: Report
    index: Opening
    run: Run
    progress: Progress
    busy: LockedError | None = None
    """Why the lock could not be had: what is captured is put aside."""
    now: str = field(init=False)
    forgotten: frozenset[str] = field(init=False)
    sessions: Sessions = field(init=False)

    def __post_init__(self) -> None:
        self.now = utc_text(self.request.now)
        self.forgotten = logs.load_tombstones(self.store)
        look_back = not self.request.capture_only
        self.sessions = Sessions(
            self.store.inbox, self.index, look_back=look_back, forgotten=self.forgotten
        )

    def read_all(self) -> None:
        """Read every source; a bad one is reported and the others go on."""
        asked = self.request
        if asked.openclaw:
            self._catch_up()
        else:
            self._each(sources.find(asked.paths, asked.format, asked.stdin, asked.exclusion))

    def _catch_up(self) -> None:
        """Read what OpenClaw wrote since the last time; the places move on once it is safe."""
        from clsm_cli.ingestion.incremental import CatchUp

        found = CatchUp(cursors.load_cursors(self.store))
        self._each(found.find(self.request.paths), found.reached)
        self.report.up_to_date = found.up_to_date
        self.report.warnings += found.warnings
        # Messages that --since left out are new to the next one.
        if found.has_moved and self.request.since is None and not self.request.dry_run:
            cursors.save_cursors(self.store, found.places)

    def _each(
        self, found: Iterable[Found | Tail], reached: Callable[[Tail], None] = lambda _tail: None
    ) -> None:
        """Read what was found; ``reached`` is told each tail that was read to its end."""
        every = list(found)
        for number, source in enumerate(every):
            self.progress("reading", number, len(every))
            if isinstance(source, Problem):
                self.report.problems.append(display_path(source))
            elif isinstance(source, sources.Skipped):
                told = display_path(source)
                self.report.skipped.append(told)
                if isinstance(told, sources.Excluded) and not self.request.capture_only:
                    self._excluded(told)
            elif self._one(source) and not isinstance(source, sources.SourceFile):
                reached(source)

    def _excluded(self, source: sources.Excluded) -> None:
        """Say that what was taken in before, of what is left out now, stays."""
        held = self.index().documents_in(source.path)
        if held:
            more = f" and {len(held) - 1} more" if len(held) > 1 else ""
            self.report.warnings.append(
                f"{held[0]}{more}: excluded now, but what was taken in before stays; to remove it:"
                f" clsm forget --source {shlex.quote(held[0])}"
            )

    def _one(self, source: SourceFile | Tail) -> bool:
        tally, is_whole = capture.Tally(), True
        if isinstance(source, sources.SourceFile):
            tally.encoding = encodings.display_name(source.encoding)
        try:
            if isinstance(source, sources.SourceFile) and source.format in DOCUMENTS:
                self._document(source, tally)
            else:
                self._transcript(source, tally)
        except OSError as error:
            if _is_of(self.store, error):
                raise DiskError(str(error.filename), error.strerror or "unreadable") from error
            tally.problems.append(Problem(source.path, None, (error.strerror or "unreadable")))
            is_whole = False
        self.report.problems.extend(map(display_path, tally.problems))
        self.report.sources.append(display_path(SourceReport(source.path, source.format, tally)))
        return is_whole

    def _transcript(self, source: SourceFile | Tail, tally: capture.Tally) -> None:
        default = self.request.session or source.inside or source.origin
        about = Reading(
            source.path,
            self.store.zone,
            self.request.now,
            default,
            known_clsm_calls=self.sessions.calls,
            day_first=self.request.day_first,
        )
        with sources.open_transcript(source, about) as items:
            batches = capture.capture(
                recalled_text.strip_items(items, self.request.fence_key, path=source.path),
                self.sessions,
                path=source.path,
                origin="" if source.origin == sources.STDIN else source.origin,
                now=self.now,
                tally=tally,
                since=self.request.since,
            )
            for batch in batches:
                rows = {session: inbox.render(found) for session, found in batch.items()}
                if self.busy is None:
                    folder = self.store.inbox
                    self._apply([runs.Append(inbox.path_of(folder, s), rows[s]) for s in rows])
                elif not self.request.dry_run:
                    for session, data in rows.items():
                        inbox.put_aside(self.store.inbox, session, data)

    def _content(self, source: SourceFile, tally: capture.Tally) -> bytes | None:
        """A document as UTF-8; None where its encoding cannot be told."""
        with source.open() as stream:
            data = stream.read(MAX_FILE + 1)
        encoding = encodings.detect_encoding(data, is_whole=len(data) <= MAX_FILE)
        if encoding == encodings.UNKNOWN:
            tally.problems.append(Problem(source.path, None, encodings.UNTOLD))
            return None
        if encoding != encodings.UTF_8:  # what its beginning did not tell
            tally.encoding = encodings.display_name(encoding)
        return encodings.to_utf_8(data, encoding)

    def _document(self, source: SourceFile, tally: capture.Tally) -> None:
        if self.busy is not None:  # an episode and its record cannot be put aside
            raise self.busy
        from clsm_cli.ingestion import markdown
        from clsm_cli.ingestion.turns import Masker
        from clsm_cli.store import atomic

        if (data := self._content(source, tally)) is None:
            return
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
        )
        if isinstance(raw, Problem):
            tally.problems.append(raw)
            return
        if raw.recalled:
            tally.dropped[recalled_text.DROPPED] += raw.recalled
        tally.problems.extend(raw.problems)
        if old is not None and old.blocks and not raw.blocks:
            reason = f"is empty now; its {len(old.blocks)} blocks stay in memory"
            tally.problems.append(Problem(source.path, None, reason))
            return
        self._apply_document(source, sha256, raw, old, tally, mask)

    def _apply_document(
        self,
        source: SourceFile,
        sha256: str,
        raw: RawDocument,
        old: Document | None,
        tally: capture.Tally,
        mask: Masker,
    ) -> None:
        from clsm_cli.ingestion import documents
        from clsm_cli.store import episodes, record_files, settle

        document, episode = documents.plan(
            raw,
            source,
            sha256,
            old,
            index=self.index(),
            now=self.now,
            device=self.store.device,
            mask=mask,
            forgotten=self.forgotten,
            tally=tally,
        )
        if old is not None and tally.closed > min(settle.MOST, max(FEW, MUCH * len(old.blocks))):
            self.report.warnings.append(
                f"{source.path}: {tally.closed} of its {len(old.blocks)} blocks are gone at once; they"
                " are closed, not deleted: if the file was cut short, mend it and ingest it again"
            )
        writes: list[runs.Write] = []
        if episode is not None:
            for turn in episode.turns:
                tally.take(turn)
            path = episodes.file_of(episode, self.store.flow)
            writes.append(runs.Put(path, episodes.render(episode)))
        if document is not None:
            writes += record_files.plan_records(self.store, "flow", [document])
        self._apply(writes)

    def _known_document(self, origin: str) -> Document | None:
        from clsm_cli.model.episodes import Document
        from clsm_cli.model.ids import document_id
        from clsm_cli.model.tombstones import visible

        record = self.index().record(document_id(origin))
        if not isinstance(record, Document):
            return None
        left = visible(record, self.forgotten)
        return left if isinstance(left, Document) else None

    def _apply(self, writes: Sequence[runs.Write]) -> None:
        if not self.request.dry_run:
            self.run.apply(writes)


def _is_of(store: Store, error: OSError) -> bool:
    """Whether it is the store that could not be read or written, and not a source."""
    named = error.filename
    return isinstance(named, str | os.PathLike) and Path(named).is_relative_to(store.root)


class Opening:
    """The index, fresh at its first use: a plain capture of timed turns does without.

    Without the lock it is what the last run published.
    """

    def __init__(
        self, store: Store, request: Request, stack: contextlib.ExitStack, *, is_held: bool
    ) -> None:
        self._store = store
        self._dry_run = request.dry_run
        self._stack = stack
        self._is_held = is_held
        self._index: Index | None = None

    def __call__(self) -> Index:
        """The index; what goes wrong with its database later is a disk error too."""
        if self._index is None:
            from clsm_cli.store.index import database
            from clsm_cli.store.index.index_queries import Index
            from clsm_cli.store.index.opening import bring_up_to_date

            self._stack.enter_context(database.disk_errors(self._store.derived))
            if self._dry_run or not self._is_held:
                disk = database.open_to_read(self._store.derived)
                connection = database.in_memory(disk)
                if disk is not None:
                    disk.close()
            else:
                connection = database.open_to_write(self._store.derived)
            self._stack.callback(connection.close)
            if self._is_held:
                bring_up_to_date(self._store, connection, None, None)
            self._index = Index(connection, self._store)
        return self._index
