"""What an undo writes: the bytes from before the run, or newer records if those cannot be restored.

**Bytes.** Steps are reverted on the current files, last step first; logs line by line, so that lines of
other writers stay.

**Newer records.** Other clones may have what the run wrote, or later runs changed the same files. So
each record the run changed gets its earlier value under a higher revision. What the run added is
withdrawn or, if derived, removed. A record changed after the run is a conflict. A run's lines are
recognised by their marks (``ledger.line_mark``).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from clsm_cli.config import MAX_FILE
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.streams import Stream
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs, record_files, runs, shards, topics
from clsm_cli.store.file_kinds import kind_of
from clsm_cli.store.layout import TOPIC_STREAMS, Store
from clsm_cli.store.record_files import reconcile


class RestoredFiles(NamedTuple):
    """The files of a run, reverted."""

    now: dict[str, bytes | None]  # path → current bytes; None: no file
    before: dict[str, bytes | None]  # those before the run
    changed: tuple[str, ...]  # paths changed since the run, sorted; not in the other two


def restore_files(
    store: Store, steps: Sequence[ledger.SavedStep], wanted: Callable[[str], bool] = lambda _: True
) -> RestoredFiles:
    """Revert the steps of a run, in memory."""
    now: dict[str, bytes | None] = {}
    before: dict[str, bytes | None] = {}
    changed: set[str] = set()
    for kept in reversed(steps):
        for path in {change.path for change in kept.line.changes} - changed:
            if not wanted(path):
                continue
            if path not in now:
                now[path] = before[path] = atomic.read(store.root / path, logs.MAX_LOG)
            try:
                before[path] = _reverted(before[path], kept, path)
            except _ChangedError:
                changed.add(path)
                del now[path], before[path]
    return RestoredFiles(now, before, tuple(sorted(changed)))


class _ChangedError(Exception):
    """A file is not as the run left it."""


def _reverted(data: bytes | None, kept: ledger.SavedStep, path: str) -> bytes | None:
    changes = [(n, change) for n, change in enumerate(kept.line.changes) if change.path == path]
    replaced = [(n, change) for n, change in changes if change.after != ""]  # the rest are appends
    sha = None if data is None else atomic.sha256(data)
    if replaced and sha == replaced[0][1].before:
        return data
    if replaced and sha == changes[-1][1].after:
        return kept.preimage(replaced[0][0])
    if not path.endswith(".jsonl"):
        raise _ChangedError
    old = kept.preimage(replaced[0][0]) if replaced else None
    is_new = old is None and not any(change.size for _, change in changes)
    return _without_lines(data or b"", kept, path, old or b"", is_new=is_new)


def _without_lines(
    data: bytes, kept: ledger.SavedStep, path: str, old: bytes, *, is_new: bool
) -> bytes | None:
    """A log without the lines of a step; None if the step created it and nothing else is in it."""
    added = Counter(kept.added.get(path, ()))
    left: list[bytes] = []
    cut = False
    for line in reversed(data.split(b"\n")):
        mark = ledger.line_mark(line)
        if added[mark] > 0:
            added[mark] -= 1
            cut = True
        elif cut and not line:
            cut = False  # the newline written before the line
        else:
            left.append(line)
    if added.total() > 0:
        raise _ChangedError
    gone = set(kept.removed.get(path, ()))
    back = [line for line in old.split(b"\n") if ledger.line_mark(line) in gone]
    rest = b"\n".join([*([b"", *back] if back else []), *reversed(left)])
    return None if is_new and not rest.strip() else rest


def plan_writes(
    store: Store, now: Mapping[str, bytes | None], wanted: Mapping[str, bytes | None]
) -> list[runs.Write]:
    """Writes that bring files from ``now`` to ``wanted``.

    Puts come before removals: the turns of an episode are back in the inbox before its file goes, so
    a reader finds them at any time.
    """
    found: list[runs.Write] = []
    for path, data in sorted(wanted.items(), key=lambda item: (item[1] is None, item[0])):
        if data == now[path]:
            continue
        if data is None:
            found.append(runs.Remove(store.root / path))
        else:
            old = now[path]
            sha = None if old is None else atomic.sha256(old)
            found.append(runs.Put(store.root / path, data, read_as=sha))
    return found


class Conflict(NamedTuple):
    """A record changed since the run wrote it; ``id`` is "" for a whole file."""

    id: str
    path: str


class Compensation(NamedTuple):
    """What an undo by newer records writes; it applies only without conflicts."""

    writes: tuple[runs.Write, ...]
    changed: tuple[str, ...]
    withdrawn: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def plan(store: Store, steps: Sequence[ledger.SavedStep], at: str, now: str) -> Compensation:
    """Plan the newer records that revert a run made at time ``at``."""
    before: dict[str, bytes | None] = {}
    for kept in steps:
        for place, change in enumerate(kept.line.changes):
            if kind_of(change.path) in ("shard", "topic") and change.path not in before:
                before[change.path] = kept.preimage(place)
    files = restore_files(store, steps, lambda path: kind_of(path) not in ("shard", "topic"))
    conflicts = tuple(Conflict("", path) for path in files.changed)
    logs_alone = Compensation(
        tuple(plan_writes(store, files.now, files.before)), (), (), (), conflicts
    )
    folders = sorted({path.rpartition("/")[0] for path in before if kind_of(path) == "shard"})
    parts = [_Folder(store, folder, steps, before, at, now).plan(now) for folder in folders]
    columns = zip(logs_alone, *parts, strict=True)
    return Compensation._make(tuple(chain.from_iterable(column)) for column in columns)


class _Version(NamedTuple):
    """The records of a folder at one time."""

    records: Mapping[str, Record]
    statements: Mapping[str, Statement]  # of topic files, hand edits included


class _Folder:
    """A folder of shards and the topic files of its stream.

    Attributes:
        previous: The version before the run; ``current``: that of now.
        written: Id → mark of the last line the run wrote; None: it removed the record.
        changed: Those ids whose records differ from before the run.
        pages: The topic files the run wrote, as they were before.
    """

    def __init__(
        self,
        store: Store,
        folder: str,
        steps: Sequence[ledger.SavedStep],
        before: Mapping[str, bytes | None],
        at: str,
        now: str,
    ) -> None:
        self.store, self.path = store, store.root / folder
        first = folder.partition("/")[0]
        self.is_archive = first == "archive"
        self.stream: Stream | None = next((s for s in TOPIC_STREAMS if s == first), None)
        self.written = _written(steps, folder)
        self._marks = _marks_of(self.path)
        forgotten = logs.load_tombstones(store)
        read = [(store.root / path, data) for path, data in before.items() if data is not None]
        parsed = [shards.parse(data, path) for path, data in read if path.parent == self.path]
        old = shards.fold(parsed, forgotten).records
        new = shards.load_graph([self.path], forgotten).records
        self.changed = [i for i in sorted(self.written) if old.get(i) != new.get(i)]
        self.pages: Sequence[topics.Topic] = ()
        self.previous, self.current = _Version(old, {}), _Version(new, {})
        if self.stream is not None:
            parsed_pages = [topics.parse(d, p) for p, d in read if p.parent == self.path.parent]
            self.pages = record_files.without_items(parsed_pages, (), forgotten)
            here = record_files.visible_topics(store, self.stream, new, forgotten)
            paths = {store.root / path for path in before}
            there = [*self.pages, *(page for page in here if page.path not in paths)]
            there.sort(key=lambda page: page.path)
            edits = partial(reconcile, stream=self.stream, device=store.device, forgotten=forgotten)
            was = {**new, **{record_id: old.get(record_id) for record_id in self.changed}}
            self.previous = _Version(old, edits(there, _statements(was), now=at).statements)
            self.current = _Version(new, edits(here, _statements(new), now=now).statements)

    def decide(self, record_id: str) -> str:
        """The action for a record: ``keep``, ``restore``, ``withdraw``, ``remove`` or ``conflict``."""
        old, record = self.previous.statements.get(record_id), self.current.records.get(record_id)
        if old and record and record_files.as_stored(replace(old, rev=record.rev)) == record:
            return "keep"  # the run only recorded an earlier edit of the Markdown
        if self.conflict_path(record_id) is not None:
            return "conflict"
        if old is not None or record_id in self.previous.records:
            return "restore"
        is_statement = isinstance(record, Statement) and record.kind != "gist"
        return "withdraw" if is_statement and not self.is_archive else "remove"

    def conflict_path(self, record_id: str) -> str | None:
        """The file with a change of the record after the run; None: unchanged since."""
        mark = self.written[record_id]
        if self._marks.get(record_id, frozenset()) != ({mark} if mark else frozenset()):
            names = [shards.shard_name(record_id, digits) for digits in (2, 1)]
            there = [name for name in names if (self.path / name).exists()]
            return (self.path / (there or names[1:])[0]).relative_to(self.store.root).as_posix()
        if self.stream is None:
            return None
        record, row = self.current.records.get(record_id), self.current.statements.get(record_id)
        known = record.rev if isinstance(record, Statement) else None
        if known == (row.rev if row is not None else None):
            return None
        page = self.path.parent / f"{row.topic}.md" if row is not None else self.path
        return page.relative_to(self.store.root).as_posix()

    def plan(self, now: str) -> Compensation:
        """Writes that revert the run in this folder."""
        ids = grouped((self.decide(record_id), record_id) for record_id in self.changed)
        restored, withdrawn = ids.get("restore", []), ids.get("withdraw", [])
        removed = ids.get("remove", [])
        conflicts = [Conflict(i, str(self.conflict_path(i))) for i in ids.get("conflict", [])]
        was, here = ({**each.records, **each.statements} for each in (self.previous, self.current))
        made = [self._newer(was[record_id]) for record_id in restored]
        for row in (here[record_id] for record_id in withdrawn):
            if isinstance(row, Statement):
                gone = row.superseded_at or now
                made.append(self._newer(replace(row, withdrawn=True, superseded_at=gone)))
        rows = [record for record in made if isinstance(record, Statement)]
        others = [record for record in made if not isinstance(record, Statement)]
        stored = [*others, *map(record_files.as_stored, rows)]
        writes = record_files.plan_shards(self.store, self.path, stored, removed)
        writes += self._topic_writes(rows) if self.stream is not None else []
        parts: tuple[Sequence[object], ...] = (writes, restored, withdrawn, removed, conflicts)
        return Compensation._make(tuple(part) for part in parts)

    def _newer(self, record: Record) -> Record:
        """The record with a revision above those before the run and now."""
        versions = (each.records.get(record.id) for each in (self.previous, self.current))
        number = max(each.rev[0] for each in versions if each is not None)
        return replace(record, rev=(number + 1, self.store.device))

    def _topic_writes(self, rows: Sequence[Statement]) -> list[runs.Write]:
        """Writes that update the topic files to ``rows``.

        A line returns under its old heading. Empty headings are removed; an empty file stays: another
        clone may have changed it, and git cannot merge that with a deleted file.
        """
        items = ((page, item) for page in self.pages for item in page.items)
        headings = {item.id: topics.heading_of(page, item) for page, item in items}
        planned = record_files.plan_topics(self.store, rows, lambda row: headings.get(row.id, ""))
        for place, write in enumerate(planned):
            if isinstance(write, runs.Put):
                old = topics.parse(atomic.read(write.path, MAX_FILE) or b"", write.path)
                planned[place] = replace(write, data=topics.drop_empty_headings(write.data, old))
        return planned


def _statements(records: Mapping[str, Record | None]) -> dict[str, Statement]:
    return {i: record for i, record in records.items() if isinstance(record, Statement)}


def _written(steps: Sequence[ledger.SavedStep], folder: str) -> dict[str, str | None]:
    """Ids a run wrote in a folder → mark of the last line; None: removed."""
    found: dict[str, str | None] = {}
    for kept in steps:
        for lines, is_added in ((kept.removed, False), (kept.added, True)):
            for path, marks in lines.items():
                if kind_of(path) == "shard" and path.rpartition("/")[0] == folder:
                    ids = ((mark.partition(" ")[2], mark) for mark in marks)
                    found |= {i: mark if is_added else None for i, mark in ids if i}
    return found


def _marks_of(folder: Path) -> dict[str, frozenset[str]]:
    """Record id → marks of its lines, over all shards of a folder.

    Only lines with the highest revision count: after a merge, an older one may remain, which loses
    in a join.
    """
    found: dict[str, dict[int, set[str]]] = {}
    for path in shards.shard_files(folder):
        for line in (atomic.read(path, MAX_FILE) or b"").split(b"\n"):
            mark = ledger.line_mark(line)
            digits = line.partition(b'"rev": [')[2].partition(b",")[0]
            of_record = found.setdefault(mark.partition(" ")[2], {})
            of_record.setdefault(int(digits) if digits.isdigit() else 0, set()).add(mark)
    return {i: frozenset(marks[max(marks)]) for i, marks in found.items() if i}
