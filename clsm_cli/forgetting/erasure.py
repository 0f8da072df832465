"""Forget: plan a permanent removal (CMA's unlearning; docs/format.md §8).

``selection`` resolves the request, ``purge`` removes it from a copy of the store, a consolidation of the
copy recomputes what depended on it, and ``clean_writing`` writes the files that differ. So the plan
shows every line before anything changes.
"""

from __future__ import annotations

import calendar
import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from clsm_cli.consolidation import rehearsal
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.consolidation_run import consolidate
from clsm_cli.errors import BadInputError, ModelDigestError, ModelMissingError
from clsm_cli.forgetting import clean_writing, receipt, references, selection
from clsm_cli.forgetting.clean_writing import CleanWrites, Plan
from clsm_cli.forgetting.run_reversal import undoable
from clsm_cli.forgetting.selection import Chosen, StoreContents, Wanted
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import tombstone_hash, whole_id
from clsm_cli.store import atomic, cleanup, episode_files, inbox, joining, labels, logs, shards
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.labels import Label
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.tokens import stems

_STATEMENT_KINDS = ("statement", "gist")


def plan(
    store: Store,
    wanted: Wanted,
    now: datetime,
    embedder: Embedder | None,
    progress: Progress,
    *,
    purge_history: bool = False,
) -> Plan | None:
    """All file changes of a forget, computed on a copy of the store; None if all is forgotten already.

    Raises:
        BadInputError: The request matches nothing or is ambiguous.
    """
    embedder, missing = _usable_engine(embedder)
    with scratch_copy(store, now) as (copy, before, warnings):
        contents = selection.read_store(copy, utc_text(now))
        if _is_known(store, contents, wanted):
            return None
        chosen = selection.select_items(contents, wanted, store.zone)
        written = read_labels(copy)
        purged = purge(copy, contents, chosen, utc_text(now))
        review = _read_review(copy)
        # Without a language model: its earlier contributions to the rest stay; nothing is sent out.
        again = purged.again.union(purged.remade.values())
        request = Request(now=now, only=again, allow_loss=True)
        report = consolidate(copy, request, embedder, progress)
        folders = [*copy.graphs(), *copy.archives()]
        after = shards.load_graph(folders, logs.load_tombstones(copy)).records
        gone = purged.forgotten | (contents.records.keys() - after.keys())
        clean_quarantine(copy, gone, purged.texts)
        unlabelled = clean_labels(copy, written, ForgottenTerms(contents, after, gone))
        asked = _read_review(copy).removeprefix(review).strip(b"\n")
        puts, removes = file_differences(copy, before)
        files = tuple(sorted({*puts, *removes}))
        done = receipt.Receipt(
            gone=(*receipt.list_removed(contents, after, chosen, purged), *unlabelled),
            stays=receipt.list_kept(contents, after, chosen, purged),
            remade=purged.remade,
            turns=len(chosen.turns),
            all_turns=len(contents.turns),
            files=files,
            beyond=receipt.find_copies(store, contents, chosen, files, is_purged=purge_history),
            refers=references.find_references(contents, chosen, wanted, store.zone),
            undoable=undoable(store),
            warnings=(*warnings, *missing, *report.warnings),
        )
    texts = (*purged.texts, *(each.text for each in done.gone if each.kind in _STATEMENT_KINDS))
    return Plan(done, CleanWrites(puts, removes, frozenset(gone), texts, purged.names, asked))


@contextlib.contextmanager
def scratch_copy(
    store: Store, now: datetime
) -> Iterator[tuple[Store, dict[str, str | None], list[str]]]:
    """A scratch copy of a store, the digests of its files, and warnings.

    An interrupted run is completed first; conflict copies are joined in the copy.
    """
    with locked(store.root, store.settings.store.lock_wait):
        warnings = end_begun_run(store)
    with rehearsal.copy_store(store) as copy:
        before = {name: atomic.digest_of(path) for name, path in compared_files(copy)}
        yield copy, before, warnings + joining.join(copy, utc_text(now), everywhere=True)


def _usable_engine(embedder: Embedder | None) -> tuple[Embedder | None, list[str]]:
    """The engine if usable; else None and a warning: forgetting works without it."""
    try:
        if embedder is not None:
            embedder.embed()
    except (ModelMissingError, ModelDigestError) as error:
        return None, [f"{error} (until then what is made anew is found by its words)"]
    return embedder, []


def _is_known(store: Store, contents: selection.StoreContents, wanted: Wanted) -> bool:
    forgotten = logs.load_tombstones(store)
    known = {*contents.turns, *contents.statements, *(e.id for _, e in contents.episodes)}
    ids = {*map(whole_id, wanted.ids)}
    return bool(ids) and all(i not in known and logs.is_forgotten(i, forgotten) for i in ids)


def _read_review(store: Store) -> bytes:
    return atomic.read(store.flow / "review.jsonl", logs.MAX_LOG) or b""


_MONTHS = frozenset(stem for month in calendar.month_name[1:] for stem in stems(month))
"""Statements contain dates where the source said "yesterday"."""


def _unsupported(
    memory: StoreContents, chosen: Chosen
) -> tuple[set[str], set[str], frozenset[str]]:
    """Episodes and statements to remove with the chosen turns, and episodes to consolidate again."""
    gone = chosen.turns
    touched = memory.episodes_of(gone)
    starts = {e.id: e.start for _, e in memory.episodes}
    months = {start[:7] for e in touched if (start := starts.get(e))}
    lost = set(chosen.statements)
    again: set[str] = set()
    for row in memory.statements.values():
        left = frozenset(row.sources) - gone
        if row.kind == "gist":
            if row.value in months or left != {*row.sources}:
                lost.add(row.id)
                months |= {row.value} if row.value else set()
        elif left != {*row.sources} and not (left and _is_supported(memory, left, row.text)):
            lost.add(row.id)
            again |= memory.episodes_of(left)
    # One remaining episode per month, so that the month's gists are rebuilt.
    others = sorted((e.id for _, e in memory.episodes if e.id not in touched | again), reverse=True)
    of_month = {m: each for each in others if (m := (starts[each] or "")[:7]) in months}
    return touched, lost, frozenset((again - touched) | {*of_month.values()})


def _is_supported(memory: StoreContents, keys: Iterable[str], text: str) -> bool:
    """Whether turns contain all stems of a text; speaker names, digits and months are allowed."""
    held: set[str] = set()
    for key in keys:
        told = memory.turns.get(key)
        if told is not None:
            held.update(stems(" ".join((told.turn.text, told.turn.speaker, *told.turn.heading))))
    return all(word in held or word.isdigit() or word in _MONTHS for word in stems(text))


def purge(store: Store, memory: StoreContents, chosen: Chosen, now: str) -> receipt.Purged:
    """Remove the chosen items; the consolidation that follows rebuilds nodes and edges."""
    episodes, statements, again = _unsupported(memory, chosen)
    dead = chosen.turns | episodes | statements
    atomic.append(*logs.new_tombstones(store, map(tombstone_hash, sorted(dead)), now))
    cleanup.sweep(store, now)
    names = _end_conversations(memory, chosen.turns)
    pinned = {
        node
        for node, keys in memory.mentions.items()
        if keys and keys <= chosen.turns
        if isinstance(record := memory.records.get(node), Node) and record.pinned
    }
    for path in (path for folder in store.graphs() for path in shards.shard_files(folder)):
        records = shards.read(path).records
        left = [_reset_stage(r, again) for r in records if r.id not in pinned]
        if left != list(records):
            atomic.put(path, shards.render(left))
    texts = tuple(memory.turns[key].turn.text for key in sorted(chosen.turns))
    remade = _remade(store, memory, episodes)
    return receipt.Purged(episodes, statements, again, dead, remade, texts, names)


def _end_conversations(memory: StoreContents, gone: AbstractSet[str]) -> frozenset[str]:
    """Remove inbox files left without turns; return the file names of fully removed conversations.

    A file name contains that of its conversation. So a file emptied earlier is removed too, if
    nothing of its conversation remains.
    """
    stay = {told.session for key, told in memory.turns.items() if key not in gone}
    over = {memory.turns[key].session for key in gone} - stay
    names = frozenset(inbox.path_of(Path(), session).name for session in over)
    for box in memory.inboxes:
        keys = {item.turn.key for item in box.turns}
        ends = gone >= keys if keys else box.path.name in names
        if box.path.exists() and ends:
            atomic.remove(box.path)
    return names


def _reset_stage(record: Record, again: AbstractSet[str]) -> Record:
    if isinstance(record, EpisodeRecord) and record.id in again:
        return replace(record, stage="pending", rev=(record.rev[0] + 1, record.rev[1]))
    return record


def _remade(store: Store, memory: StoreContents, touched: AbstractSet[str]) -> dict[str, str]:
    """Old id → new id of episodes that lost some but not all turns."""
    known = {episode.id for _, episode in memory.episodes}
    read = (episode for _, episode in episode_files.readable(store) if episode.id not in known)
    new = {turn.key: episode.id for episode in read for turn in episode.turns}
    return {
        episode.id: new[turn.key]
        for _, episode in memory.episodes
        if episode.id in touched
        for turn in reversed(episode.turns)
        if turn.key in new
    }


def clean_quarantine(store: Store, gone: AbstractSet[str], texts: Iterable[str]) -> None:
    """Remove quarantined lines that contain forgotten ids or texts."""
    told = tuple(texts)
    for path in sorted(store.quarantine.glob("*")):
        data = atomic.read(path, clean_writing.MAX_BYTES) if path.is_file() else None
        lines = (data or b"").split(b"\n")
        left = [line for line in lines if not clean_writing.has_trace(line, gone, told)]
        if not any(line.strip() for line in left if not line.startswith(b"#")):
            atomic.remove(path)
        elif left != lines:
            atomic.put(path, b"\n".join(left))


def compared_files(store: Store) -> Iterator[tuple[str, Path]]:
    """Files to compare: all but derived ones and the logs in ``flow/``."""
    for folder, names, found in os.walk(store.root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for path in (Path(folder, name) for name in sorted(found) if not name.startswith(".")):
            is_log = path.suffix == ".jsonl" and path.parent.parent.name == "flow"
            if not is_log and not path.is_symlink():
                yield path.relative_to(store.root).as_posix(), path


def file_differences(
    copy: Store, before: dict[str, str | None]
) -> tuple[dict[str, tuple[bytes, str | None]], dict[str, str]]:
    """Changed files (new bytes, old digest) and removed files (old digest) of a copy."""
    now = dict(compared_files(copy))
    puts = {
        name: (atomic.read(path, clean_writing.MAX_BYTES) or b"", before.get(name))
        for name, path in now.items()
        if atomic.digest_of(path) != before.get(name)
    }
    removes = {name: digest for name, digest in before.items() if name not in now and digest}
    return puts, removes


class ForgottenTerms:
    """Ids, texts and names of what is forgotten, to find it in evaluation labels (``store.labels``).

    A label gives the answer to a query by id, name or quotation; the query itself may be a question
    from the forgotten text.
    """

    def __init__(
        self, contents: StoreContents, after: Mapping[str, Record], gone: AbstractSet[str]
    ) -> None:
        lost = (contents.turns[key].turn.foreign_id for key in sorted(gone & contents.turns.keys()))
        self.ids = gone | {each for each in lost if each}
        told = {key: each.turn.text for key, each in contents.turns.items()}
        told |= {key: row.text for key, row in contents.statements.items()}
        texts = [told[key] for key in sorted(told) if key in gone]
        self._kept = "\n".join(_normalised(told[key]) for key in sorted(told) if key not in gone)
        self._gone = "\n".join(map(_normalised, texts))
        lines = {_normalised(line) for text in texts for line in text.split("\n")}
        self._parts = {
            line for line in lines if len(line) >= clean_writing.MIN_LINE and line not in self._kept
        }
        names = {name for i in gone for name in _names(contents.records.get(i))}
        names -= {_normalised(name) for record in after.values() for name in _names(record)}
        self._names = selection.names_pattern(names) if names else None

    def matches(self, text: str, min_length: int = 1) -> bool:
        """Whether a text occurs only in forgotten text, contains a line of it, or names its concepts.

        Below ``min_length`` characters, an occurrence does not identify the source; only names count.
        """
        even = _normalised(text)
        if self._names is not None and self._names.search(even):
            return True
        if len(even) >= min_length and even in self._gone and even not in self._kept:
            return True
        return any(part in even for part in self._parts)

    def matches_line(self, line: str) -> bool:
        """Whether a line of the label file, comments included, refers to forgotten content."""
        words = line.strip().lstrip("-# ").strip("\"'")
        is_named = clean_writing.has_trace(line.encode(), self.ids, ())
        return is_named or self.matches(words, clean_writing.MIN_LINE)


def _normalised(text: str) -> str:
    return " ".join(text.split()).casefold()


def _names(record: Record | None) -> tuple[str, ...]:
    if not isinstance(record, Node):
        return ()
    return tuple(filter(None, map(_normalised, (record.label or record.id, *record.aliases))))


def read_labels(store: Store) -> bytes | None:
    """The label file; None if missing."""
    path = labels.path_of(store.root)
    is_there = path.is_file() and not path.is_symlink()
    return atomic.read(path, clean_writing.MAX_BYTES) if is_there else None


def clean_labels(
    store: Store, data: bytes | None, lost: ForgottenTerms
) -> list[receipt.RemovedItem]:
    """Remove forgotten content from the labels, and queries left without an answer.

    If the file does not parse as labels, only the lines with such content are removed.
    """
    if data is None:
        return []
    change: dict[str, Label | None] = {}
    try:
        text, (_, rows) = labels.read(data, labels.NAME)
    except BadInputError:
        text, rows = data.decode("utf-8", "replace"), ()
    lines = text.split("\n")
    ends = [*(row.line - 1 for row in rows[1:]), len(lines)]
    for row, end in zip(rows, ends, strict=False):
        left = _remaining_label(row, lost)
        if left != row or any(map(lost.matches_line, lines[row.line - 1 : end])):
            change[row.id] = left  # rewritten, without its comments
    made = labels.edit(text, change) if change else text
    kept = [
        line
        for line in made.split("\n")
        if not (lost.matches_line(line) and (not rows or line.lstrip().startswith("#")))
    ]
    if "\n".join(kept).encode() != data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf"):
        atomic.put(labels.path_of(store.root), "\n".join(kept).encode())
    gone = [row for row in rows if change.get(row.id, row) is None]
    return [receipt.RemovedItem(row.id, "label", row.text) for row in gone]


def _remaining_label(row: Label, lost: ForgottenTerms) -> Label | None:
    tags = (row.id, row.category, row.difficulty)
    if lost.matches(row.text) or any(lost.matches(tag, clean_writing.MIN_LINE) for tag in tags):
        return None
    named = (each for each in row.concepts if node_id(each) not in lost.ids)
    left = row._replace(
        evidence=tuple(each for each in row.evidence if not lost.matches(each)),
        memories=tuple(each for each in row.memories if whole_id(each) not in lost.ids),
        concepts=tuple(each for each in named if not lost.matches(each)),
    )
    return None if row.has_gold and not left.has_gold else left
