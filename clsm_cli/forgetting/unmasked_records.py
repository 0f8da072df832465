"""What is derived from masked turns, and whatever quotes them, rewritten without their secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.codec import decode, encode
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.ids import edge_id
from clsm_cli.store import atomic, graph, logs, runs, shards, topic_edit, topics
from clsm_cli.store.jsonlines import LineError, dump, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.forgetting.unmasked import Rewriting
    from clsm_cli.model.codec import Record

_LARGEST = 1 << 30
"""Bytes of a file that is no record."""


class Derived:
    """Rewrites files whose texts came from turns.

    Args:
        work: What is known by then: the secrets, new ids, and what goes.
    """

    def __init__(self, work: Rewriting) -> None:
        self._work = work

    def topic(self, topic: topics.Topic) -> None:
        """A file of statements: its items get their new texts and ids, all else is masked."""
        mask = Masker()
        change: dict[str, Statement] = {}
        for item in topic.items:
            row = self._work.held.statements.get(item.id or "")
            if row is not None and row.id in self._work.statements:
                text = self._work.known.masked(
                    item.text, mask, self._work.known.of((*row.sources, row.id))
                )
                new = replace(row, id=self._work.renamed[row.id], text=text, state=item.state)
                change[row.id] = new
        text = topic_edit.edited(topic, change=change).decode("utf-8", "surrogateescape")
        data = self._work.known.masked(text, mask).encode("utf-8", "surrogateescape")
        if atomic.sha256(data) != topic.sha256 and mask.found:
            self._work.count(topic.path, mask)
            atomic.put(topic.path, data)

    def raw(self, path: Path) -> None:
        """A file that is no record."""
        data = atomic.read(path, _LARGEST) or b""
        mask = Masker()
        text = self._work.known.masked(data.decode("utf-8", "surrogateescape"), mask)
        if mask.found:
            self._work.count(path, mask)
            atomic.put(path, text.encode("utf-8", "surrogateescape"))

    def review(self, path: Path) -> None:
        """Questions to a person quote both texts."""
        data = atomic.read(path, logs.MAX_LOG) or b""
        mask = Masker()
        lines = [self._line(line, mask) for line in data.split(b"\n")]
        if b"\n".join(lines) != data:
            self._work.count(path, mask)
            atomic.put(path, b"\n".join(lines))

    def _line(self, line: bytes, mask: Masker) -> bytes:
        try:
            row = load(line.decode("utf-8", "replace")) if line.strip() else None
        except LineError:
            return line
        made = self._walked(row, mask, self._work.known.of(_strings(row)))
        return line if made == row else dump(made).encode()

    def shards(self, folder: Path) -> None:
        """All records of a folder; those with a new id move to the shard that is theirs."""
        forgotten = logs.forgotten(self._work.store)
        mask = Masker()
        changed: dict[str, Record] = {}
        removed: set[str] = set()
        for path in shards.shard_files(folder):
            mask = Masker()
            for record in shards.read(path).records:
                if record.id in self._work.gone:
                    removed.add(record.id)
                    continue
                made = self._record(record, mask)
                if made != record:
                    changed[made.id] = made
                    if made.id != record.id:
                        removed.add(record.id)
            self._work.count(path, mask)
        limit = self._work.store.settings.store.shard_records
        plan = shards.plan_update(folder, changed.values(), limit, removed, forgotten)
        place = folder.relative_to(self._work.store.root).parts
        name = "-".join(part for part in place if part != "graph")
        for path, (data, before) in plan.items():
            for write in graph.rewrite(self._work.store, name, path, data, before):
                if isinstance(write, runs.Put):
                    atomic.put(write.path, write.data)

    def _record(self, record: Record, mask: Masker) -> Record:
        """A record without secrets, that names everything by its new id."""
        mapping = encode(record)
        rests = {record.id, *_strings(mapping)}
        made = decode(self._walked(mapping, mask, self._work.known.of(rests)))
        if made == record:
            return record
        made = replace(made, rev=(record.rev[0] + 1, self._work.store.device))
        if isinstance(made, Statement):
            row = self._work.held.statements.get(record.id)
            if row is not None and row.id in self._work.statements:
                text = self._work.known.masked(
                    row.text, Masker(), self._work.known.of((*row.sources, row.id))
                )
                made = replace(made, text_sha=topics.text_sha(text))
            return replace(made, subject=None) if made.subject in self._work.gone else made
        if isinstance(made, EpisodeRecord):
            mentions = {
                node: keys for node, keys in made.mentions.items() if node not in self._work.gone
            }
            again = made.id in self._work.again
            return replace(made, mentions=mentions, stage="pending" if again else made.stage)
        if isinstance(made, Edge) and isinstance(record, Edge):
            ends = (record.source, record.type, record.target, record.valid_from)
            if record.id == edge_id(*ends):
                return replace(
                    made, id=edge_id(made.source, made.type, made.target, made.valid_from)
                )
        return made

    def _walked(self, value: Any, mask: Masker, secrets: frozenset[str], name: str = "") -> Any:
        if isinstance(value, str):
            if value in self._work.renamed:
                return self._work.renamed[value]
            if name in ("origin", "path"):
                return mask.name(value)
            return self._work.known.masked(value, mask, secrets)
        if isinstance(value, list):
            return [self._walked(each, mask, secrets) for each in value]
        if isinstance(value, dict):
            return {
                self._work.renamed.get(key, key): item
                if key in ("record", "rev")
                else self._walked(item, mask, secrets, key)
                for key, item in value.items()
            }
        return value


def _strings(value: Any) -> Iterator[str]:
    """All texts in a mapping, its keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _strings(each)
