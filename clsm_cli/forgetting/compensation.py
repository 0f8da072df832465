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
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, ledger, logs, record_files, runs, shards, topics
from clsm_cli.store.joining import kind_of
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.record_files import reconcile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    """Work out newer records that take a run back."""
    before: dict[str, bytes | None] = {}
    for kept in steps:
        for place, change in enumerate(kept.line.changes):
            if kind_of(change.path) in ("shard", "topic") and change.path not in before:
                before[change.path] = kept.preimage(place)
    files = restore_files(store, steps, lambda path: kind_of(path) not in ("shard", "topic"))
    conflicts = tuple(Conflict("", path) for path in files.changed)
    logs_alone = Plan(tuple(plan_writes(store, files.now, files.before)), (), (), (), conflicts)
    folders = sorted({_folder(path) for path in before if kind_of(path) == "shard"})
    parts = [_Folder(store, steps, before, folder, at, now).plan() for folder in folders]
    columns = zip(logs_alone, *parts, strict=True)
    return Plan._make(tuple(chain.from_iterable(column)) for column in columns)


@dataclass
class _Folder:
    """The shards of one folder, with the topic files that go with them.

    ``before`` has all shards and topic files of the run as they were; None: the file was new.
    """

    store: Store
    steps: Sequence[ledger.KeptStep]
    before: Mapping[str, bytes | None]
    folder: str
    at: str
    now: str

    def __post_init__(self) -> None:
        self.forgotten = logs.load_tombstones(self.store)
        self.path = self.store.root / self.folder
        self.here = shards.load_graph([self.path], self.forgotten).records
        self.marks = self._marks_now()
        first = PurePosixPath(self.folder).parts[0]
        self.stream: Stream | None = next((s for s in TOPIC_STREAMS if s == first), None)
        self.is_archive = first == "archive"
        read = [(self.store.root / p, d) for p, d in self.before.items() if d is not None]
        parsed = [shards.parse(data, path) for path, data in read if path.parent == self.path]
        self.old = shards.fold(parsed, self.forgotten).records
        pages = self.store.root / (self.stream or "flow")
        parsed_pages = [topics.parse(data, path) for path, data in read if path.parent == pages]
        self.pages = record_files.without(parsed_pages, (), self.forgotten)

    def plan(self) -> Plan:
        wrote = self._wrote()
        todo = [i for i in sorted(wrote) if self.old.get(i) != self.here.get(i)]
        before, here = self._statements(todo)
        conflicts, records, withdrawn, removed = [], [], [], []
        rows: list[Statement] = []
        for record_id in todo:
            if _is_untouched(before.get(record_id), self.here.get(record_id)):
                continue
            if (where := self._changed_since(record_id, wrote[record_id], here)) is not None:
                conflicts.append(Conflict(record_id, where))
            elif (new := self._new(record_id, before, here)) is None:
                removed.append(record_id)
            else:
                if isinstance(new, Statement):
                    rows.append(new)
                    new = record_files.as_stored(new)
                records.append(new)
                withdrawn += [] if record_id in self.old or record_id in before else [record_id]
        made = record_files.plan_shards(self.store, self.path, records, removed)
        if self.stream is not None:
            made += self._topic_writes(rows)
        changed = tuple(record.id for record in records if record.id not in withdrawn)
        return Plan(tuple(made), changed, tuple(withdrawn), tuple(removed), tuple(conflicts))

    def _changed_since(
        self, record_id: str, wrote: str | None, here: Mapping[str, Statement]
    ) -> str | None:
        """The file in which somebody changed it after the run; None: it is as the run left it."""
        if self.marks.get(record_id, frozenset()) != ({wrote} if wrote else frozenset()):
            return self._place_of(record_id)
        if self.stream is None or self.is_archive:
            return None
        record, row = self.here.get(record_id), here.get(record_id)
        known = record.rev if isinstance(record, Statement) else None
        if known == (row.rev if row is not None else None):
            return None
        return f"{self.stream}/{row.topic}.md" if row is not None else self.folder

    def _new(
        self, record_id: str, before: Mapping[str, Statement], here: Mapping[str, Statement]
    ) -> Record | None:
        """The record as it shall be; None: its line goes."""
        now, old = self.here.get(record_id), self.old.get(record_id)
        number = max(record.rev[0] for record in (now, old) if record is not None) + 1
        rev = (number, self.store.device)
        known = before.get(record_id) or old
        if known is not None:
            return replace(known, rev=rev)
        if not isinstance(now, Statement) or now.kind == "gist" or self.is_archive:
            return None
        gone = now.superseded_at or self.now
        return replace(here.get(record_id, now), withdrawn=True, superseded_at=gone, rev=rev)

    def _statements(self, todo: Sequence[str]) -> tuple[dict[str, Statement], dict[str, Statement]]:
        """Statements with their texts, hand edits included: before the run, and now."""
        if self.stream is None:
            return {}, {}
        found = record_files.visible_topics(self.store, self.stream, self.here, self.forgotten)
        now = {i: r for i, r in self.here.items() if isinstance(r, Statement)}
        then = {i: r for i, r in now.items() if i not in todo}
        then |= {i: r for i in todo if isinstance(r := self.old.get(i), Statement)}
        wrote = {self.store.root / path for path in self.before}
        topics_then = [*self.pages, *(each for each in found if each.path not in wrote)]
        topics_then.sort(key=lambda topic: topic.path)
        told = partial(
            reconcile, stream=self.stream, device=self.store.device, forgotten=self.forgotten
        )
        old = told(topics_then, then, now=self.at).statements
        return {i: old[i] for i in todo if i in old}, told(found, now, now=self.now).statements

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

    def _wrote(self) -> dict[str, str | None]:
        """Records that the run wrote → mark of its last line; None: it removed them."""
        found: dict[str, str | None] = {}
        for kept in self.steps:
            for lines, is_added in ((kept.removed, False), (kept.added, True)):
                for path, marks in lines.items():
                    if kind_of(path) == "shard" and _folder(path) == self.folder:
                        ids = ((mark.partition(" ")[2], mark) for mark in marks)
                        found |= {i: mark if is_added else None for i, mark in ids if i}
        return found

    def _marks_now(self) -> dict[str, frozenset[str]]:
        """Marks of the lines of each record, in all shards as they are.

        Of several lines those with the highest revision: after a merge an older one may stand there
        still, and a join lets it lose.
        """
        found: dict[str, dict[int, set[str]]] = {}
        for path in shards.shard_files(self.path):
            for line in (atomic.read(path, MAX_FILE) or b"").split(b"\n"):
                mark = ledger.mark_of(line)
                of_record = found.setdefault(mark.partition(" ")[2], {})
                of_record.setdefault(_revision(line), set()).add(mark)
        return {i: frozenset(marks[max(marks)]) for i, marks in found.items() if i}

    def _place_of(self, record_id: str) -> str:
        """The shard that a record stands in, or would stand in."""
        names = [shards.shard_name(record_id, digits) for digits in (2, 1)]
        there = [name for name in names if (self.path / name).exists()]
        return f"{self.folder}/{(there or names[1:])[0]}"


def _is_untouched(before: Statement | None, here: Record | None) -> bool:
    """Whether the run only wrote down what a person had put into the Markdown before it."""
    if before is None or here is None:
        return False
    return record_files.as_stored(replace(before, rev=here.rev)) == here


def _revision(line: bytes) -> int:
    digits = line.partition(b'"rev": [')[2].partition(b",")[0]
    return int(digits) if digits.isdigit() else 0


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
