"""``clsm forget --secrets``: mask secrets that a store holds in clear, as if masked at ingest.

Only the secrets are lost. Like any forget, it works on a copy, and changed files are written whole,
without preimages. Turns come first and get the keys that their source would give them now. Then derived
records: a secret found in a turn is recognised in its statements and records, even without the words
that revealed it. Ids follow the masked text; the old ones get tombstones, so that no old copy brings
them back. Derived nodes with a secret in their name are removed; the next consolidation rebuilds them
from the masked turns.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from clsm_cli.forgetting import erasure, receipt, selection
from clsm_cli.forgetting.clean_writing import MAX_BYTES, CleanWrites, ErasurePlan, map_rows
from clsm_cli.forgetting.erasure import compared_files
from clsm_cli.forgetting.receipt import ExternalCopy
from clsm_cli.forgetting.run_reversal import UndoableRun, undoable
from clsm_cli.forgetting.selection import StoreContents
from clsm_cli.ingestion.turns import Masker, masked_text, masked_turn, own_texts
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.codec import Record, decode, encode
from clsm_cli.model.episodes import EndMark, Episode, EpisodeRecord, Turn
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import digest, document_id, edge_id, tombstone_hash
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episode_files, inbox, logs, record_files, runs, shards, topics
from clsm_cli.store.inbox import CallMark, CapturedTurn, Inbox
from clsm_cli.store.jsonlines import strings
from clsm_cli.store.layout import TOPIC_STREAMS, Store
from clsm_cli.text.secrets import mask_name, secrets_of
from clsm_cli.text.secrets.secret_values import is_mixed


class MaskedFile(NamedTuple):
    """A file that held secrets: its path, masked, and kind → count."""

    path: str
    found: dict[str, int]


class MaskingReport(NamedTuple):
    """What a masking did or would do: kinds and counts of secrets, never a secret."""

    found: dict[str, int]
    places: tuple[MaskedFile, ...]
    turns: int
    statements: int
    files: int
    beyond: tuple[ExternalCopy, ...]
    undoable: tuple[UndoableRun, ...]
    warnings: tuple[str, ...] = ()
    run: str | None = None


def plan(store: Store, now: datetime) -> ErasurePlan:
    """Compute the file changes, on a copy of the store."""
    with erasure.scratch_copy(store, now) as (copy, before, warnings):
        work = _Rewriter(copy, selection.read_store(copy, utc_text(now)))
        work.rewrite(utc_text(now))
        puts, removes = erasure.file_differences(copy, before)
    for flow in store.flows():  # review lists are logs, which ``file_differences`` skips
        path = flow / logs.REVIEW
        name, data = path.relative_to(store.root).as_posix(), atomic.read(path, logs.MAX_LOG) or b""
        if (made := work.mask_review(name, data)) != data:
            puts[name] = (made, atomic.sha256(data))
    changed = sorted({*puts, *removes})
    done = MaskingReport(
        found=dict(sorted(sum(work.found.values(), Counter()).items())),
        places=tuple(
            MaskedFile(mask_name(name).text, dict(sorted(kinds.items())))
            for name, kinds in sorted(work.found.items())
        ),
        turns=len(work.turns),
        statements=len(work.texts),
        files=len(changed),
        beyond=(_SOURCES, *receipt.copies_of(store, changed)) if changed else (),
        undoable=undoable(store),
        warnings=tuple(warnings),
    )
    gone, names = frozenset(work.gone), frozenset(work.names)
    return ErasurePlan(done, CleanWrites(puts, removes, gone, names, renamed=work.renamed))


_SOURCES = ExternalCopy(
    "the sources",
    "what was ingested is never changed, and holds them still; change them where they count",
)
_PLAIN_TEXT = "quarantine/"
"""Folder of files without records, masked as plain text."""


class _Rewriter:
    """Rewrites a copy of a store.

    Attributes:
        found: Path → kinds and counts of its secrets.
        turns: Keys of turns with secrets.
        texts: Id of a statement with secrets → its masked text.
        renamed: Old id → new id.
        gone: Ids of derived records to remove.
        names: Old names of renamed inbox files.
    """

    def __init__(self, store: Store, contents: StoreContents) -> None:
        self.store = store
        self.contents = contents
        self.found: dict[str, Counter[str]] = {}
        self.turns: set[str] = set()
        self.texts: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.gone: set[str] = set()
        self.names: set[str] = set()
        self.secrets = _Secrets()

    def rewrite(self, now: str) -> None:
        """Rewrite the copy, turns first; an episode that cannot be read is masked as plain text."""
        read = {path for path, _ in self.contents.episodes}
        damaged = {*episode_files.all_files(self.store)} - read
        for path, episode in self.contents.episodes:
            self._episode(path, episode)
        for box in self.contents.inboxes:
            self._box(box)
        self._name_statements()
        self._name_nodes()
        buried = [name for name in sorted(self.renamed) if not name.startswith("d-")]
        if buried:  # a document has no tombstone
            hashes = map(tombstone_hash, buried)
            atomic.append(*logs.new_tombstones(self.store, hashes, now))
        for stream in TOPIC_STREAMS:
            for topic in topics.read_topics(self.store.root / stream):
                self._topic(topic)
        for folder in (*self.store.graphs(), *self.store.archives()):
            self._shards(folder)
        for name, path in list(compared_files(self.store)):
            if name.startswith(_PLAIN_TEXT) or path in damaged:
                self._text(path, (atomic.read(path, MAX_BYTES) or b"").decode(*_LOSSLESS), Masker())

    def mask_review(self, name: str, data: bytes) -> bytes:
        """Mask a review list, whose questions quote texts and contain ids."""
        mask = Masker()
        made = map_rows(
            data, lambda row: self._mask_value(row, mask, {*strings(row)}, {*strings(row)})
        )
        self._count(name, mask)
        return made

    def _count(self, path: Path | str, mask: Masker) -> None:
        if mask.counts:
            name = (self.store.root / path).relative_to(self.store.root).as_posix()
            self.found.setdefault(name, Counter()).update(mask.counts)

    def _turn(self, turn: Turn, session: str, mask: Masker) -> Turn:
        made = masked_turn(turn, session, mask)[0]
        if made != turn:
            self.turns.add(turn.key)
            tool = "" if turn.tool is None else turn.tool.input or ""
            for text in (turn.text, tool, *turn.heading):
                self.secrets.add(turn.key, text)
        if made.key != turn.key:
            self.renamed[turn.key] = made.key
        return made

    def _episode(self, path: Path, episode: Episode) -> None:
        mask = Masker()
        turns = [self._turn(turn, episode.session, mask) for turn in episode.turns]
        made = replace(
            episode,
            session=mask.name(episode.session),
            turns=tuple({turn.key: turn for turn in turns}.values()),
            participants=tuple(map(mask.name, episode.participants)),
        )
        if made == episode:
            return
        self._count(path, mask)
        made = replace(made, id=f"e-{digest('episode', made.turns[0].key, episode.id)}")
        if episode.document is not None and made.session != episode.session:
            made = replace(made, document=document_id(made.session))
            self.renamed[episode.document] = document_id(made.session)
        self.renamed[episode.id] = made.id
        atomic.remove(path)
        atomic.put(episode_files.file_of(made, path.parents[3]), episode_files.render(made))

    def _box(self, box: Inbox) -> None:
        mask = Masker()
        rows: list[CapturedTurn | EndMark] = []
        for item in box.items:
            row = replace(item, session=mask.name(item.session))
            if isinstance(row, CapturedTurn):
                rows.append(replace(row, turn=self._turn(row.turn, item.session, mask)))
            else:
                rows.append(replace(row, after=self.renamed.get(row.after, row.after)))
        calls = [CallMark(mask.name(each.session), mask.name(each.call)) for each in box.calls]
        if (tuple(rows), tuple(calls)) == (box.items, box.calls):
            return
        self._count(box.path, mask)
        path = inbox.path_of(box.path.parent, [*rows, *calls][0].session)
        if path != box.path:
            self.names.add(box.path.name)
            atomic.remove(box.path)
        atomic.put(path, b"\n" + inbox.render([*calls, *rows]) + b"\n")

    def _name_statements(self) -> None:
        """Assign new texts and ids to statements with a secret."""
        forgotten = logs.load_tombstones(self.store)
        known = set(self.contents.statements)
        for row in self.contents.statements.values():
            self.secrets.add(row.id, row.text)
            text = self.secrets.masked(row.text, Masker(), (*row.sources, row.id))
            if text != row.text:
                new_id = topics.birth_id(text, forgotten)
                new_id = f"f-{digest('masked', row.id)}" if new_id in known else new_id
                self.texts[row.id], self.renamed[row.id] = text, new_id
                known.add(new_id)

    def _name_nodes(self) -> None:
        """Mark nodes with a secret in a name for removal, and their edges."""
        records = self.contents.records.values()
        for node in (each for each in records if isinstance(each, Node)):
            names = (node.label or node.id, *node.aliases)
            if any(self.secrets.masked(n, Masker(), node.sources) != n for n in names):
                self.gone.add(node.id)
        edges = (each for each in records if isinstance(each, Edge))
        self.gone |= {each.id for each in edges if self.gone & {each.source, each.target}}

    def _topic(self, topic: topics.Topic) -> None:
        """Rewrite a topic file: items get their new texts and ids, the rest is masked."""
        mask = Masker()
        change: dict[str, Statement] = {}
        for item in topic.items:
            if item.id in self.texts:
                row = self.contents.statements[item.id]
                text = self.secrets.masked(item.text, mask, (*row.sources, row.id))
                change[row.id] = replace(row, id=self.renamed[row.id], text=text, state=item.state)
        self._text(topic.path, topics.apply_edits(topic, change=change).decode(*_LOSSLESS), mask)

    def _text(self, path: Path, text: str, mask: Masker) -> None:
        """Mask a file as plain text."""
        data = self.secrets.masked(text, mask).encode(*_LOSSLESS)
        if mask.counts:
            self._count(path, mask)
            atomic.put(path, data)

    def _shards(self, folder: Path) -> None:
        """Rewrite the records of a folder; a new id may move one to another shard."""
        changed: dict[str, Record] = {}
        removed: set[str] = set()
        for path in shards.shard_files(folder):
            mask = Masker()
            for record in shards.read(path).records:
                made = None if record.id in self.gone else self._record(record, mask)
                if made is None or made.id != record.id:
                    removed.add(record.id)
                if made is not None and made != record:
                    changed[made.id] = made
            self._count(path, mask)
        for write in record_files.plan_shards(self.store, folder, changed.values(), removed):
            if isinstance(write, runs.Put):
                atomic.put(write.path, write.data)

    def _record(self, record: Record, mask: Masker) -> Record:
        """Mask a record and replace renamed ids in it."""
        mapping = encode(record)
        known, own = {record.id, *strings(mapping)}, {*own_texts(record)}
        made = decode(self._mask_value(mapping, mask, known, own))
        if made == record:
            return record
        made = replace(made, rev=(record.rev[0] + 1, self.store.device))
        if isinstance(made, Statement):
            text = self.texts.get(record.id)
            sha = made.text_sha if text is None else topics.text_sha(text)
            subject = None if made.subject in self.gone else made.subject
            return replace(made, text_sha=sha, subject=subject)
        if isinstance(made, EpisodeRecord):
            mentions = {node: keys for node, keys in made.mentions.items() if node not in self.gone}
            stage = "pending" if made.id != record.id else made.stage
            return replace(made, mentions=mentions, stage=stage)
        if isinstance(made, Edge) and isinstance(record, Edge) and record.id == _edge_id(record):
            return replace(made, id=_edge_id(made))
        return made

    def _mask_value(
        self, value: Any, mask: Masker, sources: set[str], own: set[str], name: str = ""
    ) -> Any:
        """Mask the secrets of ``sources`` in a JSON value, and those of its ``own`` texts; replace ids."""
        if isinstance(value, str):
            if value in self.renamed:
                return self.renamed[value]
            if name in ("origin", "path"):
                return mask.name(value)
            return self.secrets.masked(value, mask, sources, is_own=value in own)
        if isinstance(value, list):
            return [self._mask_value(each, mask, sources, own) for each in value]
        if isinstance(value, dict):
            return {
                self.renamed.get(key, key): item
                if key in ("record", "rev")
                else self._mask_value(item, mask, sources, own, key)
                for key, item in value.items()
            }
        return value


_LOSSLESS = ("utf-8", "surrogateescape")


def _edge_id(edge: Edge) -> str:
    return edge_id(edge.source, edge.type, edge.target, edge.valid_from)


MIN_GLOBAL_LENGTH = 8
"""Minimum length of a secret to recognise anywhere; a shorter one, such as a PIN, only in records
derived from its text."""
_MIN_LENGTH = 3  # minimum length of a secret


class _Secrets:
    """Secrets by key of their text."""

    def __init__(self) -> None:
        self._by_key: dict[str, set[str]] = {}
        self._global: set[str] = set()

    def add(self, key: str, text: str) -> None:
        """Collect the secrets of the text of a turn or statement."""
        found = {text[each.start : each.end].strip() for each in secrets_of(text)}
        found = {each for each in found if len(each) >= _MIN_LENGTH}
        # A title is made of words: of "Tulip99!" it has "Tulip99".
        parts = [re.findall(r"\w+", each) for each in found]
        words = {word for each in parts for word in each if len(each) == 1 or is_mixed(word)}
        words = {each for each in words if len(each) >= _MIN_LENGTH}
        self._by_key.setdefault(key, set()).update(found, words)
        self._global |= {each for each in found if len(each) >= MIN_GLOBAL_LENGTH}

    def masked(
        self, text: str, mask: Masker, sources: Iterable[str] = (), *, is_own: bool = True
    ) -> str:
        """Mask the secrets of the sources of a text, all long ones, and those that it shows if ``is_own``."""
        text = masked_text(text, mask) if is_own else text
        known = self._global.union(*(self._by_key.get(key, ()) for key in sources))
        for secret in sorted(known, key=len, reverse=True):
            if secret in text:
                whole = re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
                text, count = whole.subn("[masked:secret]", text)
                mask.counts.update({"secret": count} if count else {})
        return text
