"""Forget: plan a permanent removal (CMA's unlearning; docs/format.md §8).

``selection`` resolves the request, ``purge`` removes it from a copy of the store, a consolidation of the
copy recomputes what depended on it, and ``clean_writing`` writes the files that differ. So the plan
shows every line before anything changes.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from clsm_cli.consolidation import rehearsal
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.consolidation_run import consolidate
from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.forgetting import clean_writing, receipt, references, selection
from clsm_cli.forgetting.clean_writing import CleanWrites, ErasurePlan
from clsm_cli.forgetting.run_reversal import undoable
from clsm_cli.forgetting.selection import ForgetRequest, Selection, StoreContents
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import tombstone_hash, whole_id
from clsm_cli.store import atomic, cleanup, episode_files, inbox, joining, logs, shards
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.text.tokens import stems


def plan(
    store: Store,
    wanted: ForgetRequest,
    now: datetime,
    embedder: Embedder | None,
    progress: Progress,
) -> ErasurePlan | None:
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
        asked = _read_review(copy).removeprefix(review).strip(b"\n")
        puts, removes = file_differences(copy, before)
        files = tuple(sorted({*puts, *removes}))
        done = receipt.Receipt(
            gone=receipt.list_removed(contents, after, chosen, purged),
            stays=receipt.list_kept(contents, after, chosen, purged),
            remade=purged.remade,
            turns=len(chosen.turns),
            all_turns=len(contents.turns),
            files=files,
            beyond=(*receipt.sources_with(contents, chosen), *receipt.copies_of(store, files)),
            refers=references.find_references(contents, chosen, wanted, store.zone),
            undoable=undoable(store),
            warnings=(*warnings, *missing, *report.warnings),
        )
    return ErasurePlan(done, CleanWrites(puts, removes, frozenset(gone), purged.names, asked))


@contextlib.contextmanager
def scratch_copy(
    store: Store, now: datetime
) -> Iterator[tuple[Store, dict[str, str | None], list[str]]]:
    """A scratch copy of a store, the digests of its files, and warnings.

    An interrupted run is completed first; conflict copies are joined in the copy.
    """
    with locked(store.root, store.settings.store.lock_wait):
        warnings = complete_interrupted(store)
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


def _is_known(store: Store, contents: selection.StoreContents, wanted: ForgetRequest) -> bool:
    forgotten = logs.load_tombstones(store)
    known = {*contents.turns, *contents.statements, *(e.id for _, e in contents.episodes)}
    ids = {*map(whole_id, wanted.ids)}
    return bool(ids) and all(i not in known and logs.is_forgotten(i, forgotten) for i in ids)


def _read_review(store: Store) -> bytes:
    return atomic.read(store.flow / logs.REVIEW, logs.MAX_LOG) or b""


def _unsupported(
    memory: StoreContents, chosen: Selection
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
    """Whether turns, with their headings and speakers, contain all stems of a text."""
    known: set[str] = set()
    for key in keys:
        stored = memory.turns.get(key)
        if stored is not None:
            turn = stored.turn
            known.update(stems(" ".join((turn.text, turn.speaker, *turn.heading))))
    return known.issuperset(stems(text))


def purge(store: Store, memory: StoreContents, chosen: Selection, now: str) -> receipt.Purged:
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
        left: list[Record] = [
            replace(r, stage="pending", rev=(r.rev[0] + 1, r.rev[1]))
            if isinstance(r, EpisodeRecord) and r.id in again
            else r
            for r in records
            if r.id not in pinned
        ]
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
    stay = {stored.session for key, stored in memory.turns.items() if key not in gone}
    over = {memory.turns[key].session for key in gone} - stay
    names = frozenset(inbox.path_of(Path(), session).name for session in over)
    for box in memory.inboxes:
        keys = {item.turn.key for item in box.turns}
        ends = gone >= keys if keys else box.path.name in names
        if box.path.exists() and ends:
            atomic.remove(box.path)
    return names


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
    texts = tuple(texts)
    for path in sorted(store.quarantine.glob("*")):
        data = atomic.read(path, clean_writing.MAX_BYTES) if path.is_file() else None
        lines = (data or b"").split(b"\n")
        left = [line for line in lines if not clean_writing.has_trace(line, gone, texts)]
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
