"""What an undo writes: bytes from before the run, or newer records where these cannot simply come back.

**Bytes.** The steps are taken back from the last to the first, on the files as they are now; logs line
by line, so that the lines of others stay.

**Newer records.** Other clones may have what the run wrote, or later runs wrote other records into the
same files. So each record that the run changed gets its earlier value under a higher revision; what the
run added is withdrawn or, where it is derived, removed. What somebody changed after the run is theirs:
it is reported as a conflict. The lines of a run are known by their marks (``ledger.mark_of``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs, record_files, runs, shards, topics
from clsm_cli.store.joining import kind_of
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.record_files import reconcile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


class RestoredFiles(NamedTuple):
    """The files of a run, taken back.

    Attributes:
        now: Path → its bytes, and ``before``: those before the run; None: there is no file.
        changed: Paths that somebody changed since, sorted; the other two do not hold them.
    """

    now: dict[str, bytes | None]
    before: dict[str, bytes | None]
    changed: tuple[str, ...]


def restore_files(
    store: Store, steps: Sequence[ledger.KeptStep], wanted: Callable[[str], bool] = lambda _: True
) -> RestoredFiles:
    """Take the steps of a run back, in memory."""
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
                before[path] = _taken_back(before[path], kept, path)
            except _ChangedError:
                changed.add(path)
                del now[path], before[path]
    return RestoredFiles(now, before, tuple(sorted(changed)))


class _ChangedError(Exception):
    """A file is not as the run left it."""


def _taken_back(data: bytes | None, kept: ledger.KeptStep, path: str) -> bytes | None:
    """A file without the changes of a step."""
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
    data: bytes, kept: ledger.KeptStep, path: str, old: bytes, *, is_new: bool
) -> bytes | None:
    """A log without the lines of a step; None where the step made it and nothing else is in it."""
    added = Counter(kept.added.get(path, ()))
    left: list[bytes] = []
    cut = False
    for line in reversed(data.split(b"\n")):
        mark = ledger.mark_of(line)
        if added[mark] > 0:
            added[mark] -= 1
            cut = True
        elif cut and not line:
            cut = False  # the newline that was written before it
        else:
            left.append(line)
    if added.total() > 0:
        raise _ChangedError
    gone = set(kept.removed.get(path, ()))
    back = [line for line in old.split(b"\n") if ledger.mark_of(line) in gone]
    rest = b"\n".join([*([b"", *back] if back else []), *reversed(left)])
    return None if is_new and not rest.strip() else rest


def plan_writes(
    store: Store, now: Mapping[str, bytes | None], wanted: Mapping[str, bytes | None]
) -> list[runs.Write]:
    """Writes that make files what they should be.

    What comes back is there before anything goes: the turns of an episode are in the inbox again
    when its file is removed, so that a reader finds them at every moment.
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
    """Something that the run wrote and somebody changed since: an id, or "" for a whole file."""

    id: str
    path: str


class Plan(NamedTuple):
    """What an undo by newer records writes: nothing if there is a conflict."""

    writes: tuple[runs.Write, ...]
    changed: tuple[str, ...]
    withdrawn: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def plan(store: Store, steps: Sequence[ledger.KeptStep], at: str, now: str) -> Plan:
    """Work out newer records that take a run back; ``at`` is when it was made."""
    before: dict[str, bytes | None] = {}
    for kept in steps:
        for place, change in enumerate(kept.line.changes):
            if kind_of(change.path) in ("shard", "topic") and change.path not in before:
                before[change.path] = kept.preimage(place)
    files = restore_files(store, steps, lambda path: kind_of(path) not in ("shard", "topic"))
    conflicts = tuple(Conflict("", path) for path in files.changed)
    logs_alone = Plan(tuple(plan_writes(store, files.now, files.before)), (), (), (), conflicts)
    folders = sorted({_folder(path) for path in before if kind_of(path) == "shard"})
    parts = [_Folder(store, folder, steps, before, at, now).plan(now) for folder in folders]
    columns = zip(logs_alone, *parts, strict=True)
    return Plan._make(tuple(chain.from_iterable(column)) for column in columns)


class _Version(NamedTuple):
    """The records of a folder at a time."""

    records: Mapping[str, Record]
    told: Mapping[str, Statement]  # of topic files, as these tell them, edits by hand included


class _Folder:
    """A folder of shards and the topic files of its stream.

    Attributes:
        previous: Its version before the run, and ``current``: as it is.
        written: Id → mark of the last line that the run wrote; None: it removed the record.
        changed: Ids of those that are not as before.
        pages: The topic files that the run wrote, as they were.
    """

    def __init__(
        self,
        store: Store,
        folder: str,
        steps: Sequence[ledger.KeptStep],
        before: Mapping[str, bytes | None],
        at: str,
        now: str,
    ) -> None:
        self.store, self.path = store, store.root / folder
        first = PurePosixPath(folder).parts[0]
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
            self.pages = record_files.without(parsed_pages, (), forgotten)
            here = record_files.visible_topics(store, self.stream, new, forgotten)
            paths = {store.root / path for path in before}
            there = [*self.pages, *(page for page in here if page.path not in paths)]
            there.sort(key=lambda page: page.path)
            tell = partial(reconcile, stream=self.stream, device=store.device, forgotten=forgotten)
            was = {**new, **{record_id: old.get(record_id) for record_id in self.changed}}
            self.previous = _Version(old, tell(there, _statements(was), now=at).statements)
            self.current = _Version(new, tell(here, _statements(new), now=now).statements)

    def decide(self, record_id: str) -> str:
        """What becomes of a record: ``keep``, ``restore``, ``withdraw``, ``remove`` or ``conflict``."""
        told, record = self.previous.told.get(record_id), self.current.records.get(record_id)
        if told and record and record_files.as_stored(replace(told, rev=record.rev)) == record:
            return "keep"  # the run only wrote down what a person had put into the Markdown before
        if self.changed_in(record_id) is not None:
            return "conflict"
        if told is not None or record_id in self.previous.records:
            return "restore"
        is_told = isinstance(record, Statement) and record.kind != "gist"
        return "withdraw" if is_told and not self.is_archive else "remove"

    def changed_in(self, record_id: str) -> str | None:
        """The file in which somebody changed it after the run; None: it is as the run left it."""
        mark = self.written[record_id]
        if self._marks.get(record_id, frozenset()) != ({mark} if mark else frozenset()):
            names = [shards.shard_name(record_id, digits) for digits in (2, 1)]
            there = [name for name in names if (self.path / name).exists()]
            return (self.path / (there or names[1:])[0]).relative_to(self.store.root).as_posix()
        if self.stream is None:
            return None
        record, row = self.current.records.get(record_id), self.current.told.get(record_id)
        known = record.rev if isinstance(record, Statement) else None
        if known == (row.rev if row is not None else None):
            return None
        page = self.path.parent / f"{row.topic}.md" if row is not None else self.path
        return page.relative_to(self.store.root).as_posix()

    def plan(self, now: str) -> Plan:
        """Writes that take back what the run wrote here."""
        ids = grouped((self.decide(record_id), record_id) for record_id in self.changed)
        restored, withdrawn = ids.get("restore", []), ids.get("withdraw", [])
        removed, conflicts = ids.get("remove", []), ids.get("conflict", [])
        was, here = ({**each.records, **each.told} for each in (self.previous, self.current))
        made = [self._newer(was[record_id]) for record_id in restored]
        for row in (here[record_id] for record_id in withdrawn):
            if isinstance(row, Statement):
                gone = row.superseded_at or now
                made.append(self._newer(replace(row, withdrawn=True, superseded_at=gone)))
        rows = [record for record in made if isinstance(record, Statement)]
        others = [record for record in made if not isinstance(record, Statement)]
        stored = [*others, *map(record_files.as_stored, rows)]
        writes = record_files.plan_shards(self.store, self.path, stored, removed)
        return Plan(
            (*writes, *(self._topic_writes(rows) if self.stream is not None else ())),
            tuple(restored),
            tuple(withdrawn),
            tuple(removed),
            tuple(Conflict(record_id, str(self.changed_in(record_id))) for record_id in conflicts),
        )

    def _newer(self, record: Record) -> Record:
        """A record under a higher revision than it had before the run and has now."""
        versions = (each.records.get(record.id) for each in (self.previous, self.current))
        number = max(each.rev[0] for each in versions if each is not None)
        return replace(record, rev=(number + 1, self.store.device))

    def _topic_writes(self, rows: Sequence[Statement]) -> list[runs.Write]:
        """Writes that bring the topic files up to some statements.

        A line comes back under the heading it stood under. Headings that become empty go. A file stays,
        empty: another clone may have changed it, and git cannot merge that with a file that is gone.
        """
        headings = {
            item.id: topics.heading_of(topic, item) for topic in self.pages for item in topic.items
        }
        planned = record_files.plan_topics(self.store, rows, lambda row: headings.get(row.id, ""))
        for place, write in enumerate(planned):
            if isinstance(write, runs.Put):
                old = topics.parse(atomic.read(write.path, MAX_FILE) or b"", write.path)
                planned[place] = replace(write, data=topics.without_empty(write.data, old))
        return planned


def _statements(records: Mapping[str, Record | None]) -> dict[str, Statement]:
    return {i: record for i, record in records.items() if isinstance(record, Statement)}


def _written(steps: Sequence[ledger.KeptStep], folder: str) -> dict[str, str | None]:
    """Records that a run wrote in a folder → mark of the last line; None: it removed them."""
    found: dict[str, str | None] = {}
    for kept in steps:
        for lines, is_added in ((kept.removed, False), (kept.added, True)):
            for path, marks in lines.items():
                if kind_of(path) == "shard" and _folder(path) == folder:
                    ids = ((mark.partition(" ")[2], mark) for mark in marks)
                    found |= {i: mark if is_added else None for i, mark in ids if i}
    return found


def _marks_of(folder: Path) -> dict[str, frozenset[str]]:
    """Marks of the lines of each record, in all shards of a folder as they are.

    Of several lines those with the highest revision: after a merge an older one may stand there
    still, and a join lets it lose.
    """
    found: dict[str, dict[int, set[str]]] = {}
    for path in shards.shard_files(folder):
        for line in (atomic.read(path, MAX_FILE) or b"").split(b"\n"):
            mark = ledger.mark_of(line)
            of_record = found.setdefault(mark.partition(" ")[2], {})
            of_record.setdefault(_revision(line), set()).add(mark)
    return {i: frozenset(marks[max(marks)]) for i, marks in found.items() if i}


def _revision(line: bytes) -> int:
    digits = line.partition(b'"rev": [')[2].partition(b",")[0]
    return int(digits) if digits.isdigit() else 0


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
