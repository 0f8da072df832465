"""Lines of records and statements: which of them a run wrote, and what stood there before.

Files of records are looked at line by line, since many runs write into one file: a run is known by
the marks (``ledger.mark_of``) of the lines that it added and removed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.store import atomic, ledger, runs, shards, statements, topic_edit, topics
from clsm_cli.store.layout import TOPIC_STREAMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


class Lines:
    """The files of records that a run wrote.

    Attributes:
        folders: Of shards, relative to the store, sorted.
        before: Path → bytes before the run; None: the file was new.
    """

    def __init__(self, store: Store, steps: Sequence[ledger.Kept]) -> None:
        self.store = store
        self.steps = steps
        self.before: dict[str, bytes | None] = {}
        for kept in steps:
            for place, change in enumerate(kept.line.changes):
                if self.is_of_records(change.path) and change.path not in self.before:
                    self.before[change.path] = kept.preimage(place)
        self.folders = sorted({_folder(path) for path in self.before if _is_shard(path)})

    @staticmethod
    def is_of_records(path: str) -> bool:
        """Whether a file is a shard or a topic file.

        >>> [Lines.is_of_records(p) for p in ("tasks/a.md", "flow/pi/graph/a.yaml", "clsm.yaml")]
        [True, True, False]
        """
        return _is_shard(path) or _is_topic(path)

    def wrote(self, folder: str) -> dict[str, str | None]:
        """Records of a folder that the run wrote → mark of its last line; None: it removed them."""
        found: dict[str, str | None] = {}
        for kept in self.steps:
            for lines, is_added in ((kept.removed, False), (kept.added, True)):
                for path, marks in lines.items():
                    if _is_shard(path) and _folder(path) == folder:
                        ids = ((mark.partition(" ")[2], mark) for mark in marks)
                        found |= {i: mark if is_added else None for i, mark in ids if i}
        return found

    def records_before(self, folder: str, forgotten: frozenset[str]) -> dict[str, Record]:
        """Records of the shards that the run wrote, as they were."""
        parsed = [
            shards.parse(data, self.store.root / path)
            for path, data in self.before.items()
            if data is not None and _is_shard(path) and _folder(path) == folder
        ]
        return shards.fold(parsed, forgotten).records

    def marks_now(self, folder: str) -> dict[str, frozenset[str]]:
        """Marks of the lines of each record, in all shards of a folder as they are.

        Of several lines those with the highest revision: after a merge an older one may stand there
        still, and a join lets it lose.
        """
        found: dict[str, tuple[int, frozenset[str]]] = {}
        for path in shards.shard_files(self.store.root / folder):
            for line in (atomic.read(path, MAX_FILE) or b"").split(b"\n"):
                mark = ledger.mark_of(line)
                record_id, number = mark.partition(" ")[2], _revision(line)
                if record_id:
                    top, marks = found.get(record_id, (number, frozenset()))
                    marks = marks if number <= top else frozenset()
                    marks = marks | {mark} if number >= top else marks
                    found[record_id] = (max(top, number), marks)
        return {record_id: marks for record_id, (_, marks) in found.items()}

    def place_of(self, folder: str, record_id: str) -> str:
        """The shard that a record stands in, or would stand in."""
        names = [shards.shard_name(record_id, digits) for digits in (2, 1)]
        there = [name for name in names if (self.store.root / folder / name).exists()]
        return f"{folder}/{(there or names[1:])[0]}"

    def topics_before(self, stream: Stream, found: Sequence[topics.Topic]) -> list[topics.Topic]:
        """The topic files of a stream as they were; those that the run did not write as they are."""
        then = [topic for topic in found if self._name(topic) not in self.before]
        for path, data in self.before.items():
            if data is not None and _is_topic(path) and _folder(path) == stream:
                then.append(topics.parse(data, self.store.root / path))
        return sorted(then, key=lambda topic: topic.path)

    def headings(self, stream: Stream) -> dict[str, str]:
        """Statement → the heading it stood under before the run."""
        found: dict[str, str] = {}
        for path, data in self.before.items():
            if data is None or not _is_topic(path) or _folder(path) != stream:
                continue
            topic = topics.parse(data, self.store.root / path)
            for item in topic.items:
                above = [line for line in topic.lines[: item.line] if line.startswith("## ")]
                if item.id is not None and above:
                    found[item.id] = above[-1].removeprefix("## ").strip()
        return found

    def _name(self, topic: topics.Topic) -> str:
        return topic.path.relative_to(self.store.root).as_posix()


def topic_writes(
    store: Store, lines: Lines, stream: Stream, rows: Sequence[Statement]
) -> list[runs.Write]:
    """Writes that bring the topic files of a stream up to some statements.

    A line comes back under the heading it stood under. Headings that become empty go. A file stays,
    empty: another clone may have changed it, and git cannot merge that with a file that is gone.
    """
    headings = lines.headings(stream)
    planned = statements.plan_topics(
        store, rows, lambda row: headings.get(row.id, ""), lambda _, stem: stem.capitalize()
    )
    made: list[runs.Write] = []
    for write in planned:
        if not isinstance(write, runs.Put):
            made.append(write)
            continue
        old = topics.parse(atomic.read(write.path, MAX_FILE) or b"", write.path)
        made.append(replace(write, data=topic_edit.without_empty(write.data, old)))
    return made


def _revision(line: bytes) -> int:
    digits = line.partition(b'"rev": [')[2].partition(b",")[0]
    return int(digits) if digits.isdigit() else 0


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _is_shard(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        path.endswith(".yaml")
        and len(parts) > 2
        and (parts[-2] == "graph" or parts[0] == "archive")
    )


def _is_topic(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return len(parts) == 2 and parts[0] in TOPIC_STREAMS and path.endswith(".md")
