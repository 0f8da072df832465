"""Living documents: what a new version of a Markdown file changes, block by block.

An unchanged block stays the same, wherever it moved; a changed block succeeds the most similar old one; a
vanished block is closed. New and changed blocks become one episode, and the document's record lists the
current blocks. A file that was renamed or moved continues its old document, of which no block stays current.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clsm_cli.ingestion.ingest_report import FORGOTTEN, Tally
from clsm_cli.ingestion.jsonl_rows import RawDocument
from clsm_cli.ingestion.turns import (
    Masker,
    has_exact_time,
    make_episode,
    turn_from_block,
    with_ordinal,
)
from clsm_cli.model.episodes import Block, Document, Turn
from clsm_cli.model.ids import document_id, turn_key
from clsm_cli.store import episode_files, runs
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import is_forgotten

MIN_SIMILARITY = 50.0  # percent of equal characters of a changed block (rapidfuzz ratio)
_MAX_COMPARED_CHARS = 4000
MIN_MOVED = 0.5  # share of a lost document's blocks that a new file has if it is the same
MAX_PAIRS = 4_000_000
"""Pairs of a new and a vanished block to compare, which takes half a second; of more, those nearest in
position."""


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document as it is now: its blocks, place, digest, and time of reading."""

    raw: RawDocument
    origin: str
    path: str
    sha256: str
    now: str
    mask: Masker


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What a version of a document changes: its episode, if any, and records, its own first.

    Those of several documents are written together: first all episodes, then the records.
    """

    episodes: tuple[runs.Put, ...] = ()
    records: tuple[Document, ...] = ()


def plan(
    new: DocumentVersion,
    old: Document | None,
    store: Store,
    index: Index,
    forgotten: frozenset[str],
    tally: Tally,
    lost: Sequence[Document] = (),
) -> DocumentChange:
    """The new record of a document and an episode of its new and changed blocks, if any.

    A document with only forgotten blocks gets no record: it is read again each time.

    Args:
        old: Its record without forgotten blocks, if known.
        tally: Counts new, changed, vanished and unchanged blocks.
        lost: Documents whose file is gone; what was forgotten there stays forgotten here, as does what
            was forgotten with the day below the title or without it.
    """
    known = old or Document(id=document_id(new.origin), rev=(0, store.device))
    before = {block.key for block in known.blocks}
    all_turns = _turns(new, None if old is None else before)
    banned = {
        here
        for origin in (new.origin, *(each.origin for each in lost))
        for key, here in _places(all_turns, origin, (None, new.raw.header_day)).items()
        if is_forgotten(key, forgotten)
    }
    turns = [turn for turn in all_turns if turn.key not in banned]
    if len(turns) < len(all_turns):
        tally.dropped[FORGOTTEN] += len(all_turns) - len(turns)
        if old is None and not turns:
            return DocumentChange()
    now = {turn.key for turn in turns}
    fresh = [turn for turn in turns if turn.key not in before]
    gone = [block.key for block in known.blocks if block.key not in now]
    successor = _successors(fresh, {key: _text(index, key) for key in gone})
    tally.known, tally.changed = len(turns) - len(fresh), len(successor)
    tally.added, tally.closed = len(fresh) - len(successor), len(gone) - len(successor)
    closed = {key: (new.now, successor.get(key, "")) for key in gone}
    record = _record(known, new, turns, closed, store.device)
    if old and (old.blocks, old.path) == (record.blocks, record.path):
        return DocumentChange()
    # If a crash prevented the record of a version, its blocks are in an episode already.
    stored = index.keys_in_episodes(new.origin)
    unseen = tuple(turn for turn in fresh if turn.key not in stored)
    for turn in unseen:
        tally.take(turn)
    made = (_episode(unseen, new, store, index, forgotten),) if unseen else ()
    former = _former(turns, lost)
    moved = [_moved(each, turns, new.now, index, store.device) for each in former]
    if former:
        _count_moved(former, moved, turns, tally)
    return DocumentChange(made, (record, *moved))


def _count_moved(
    former: Sequence[Document], moved: Sequence[Document], turns: list[Turn], tally: Tally
) -> None:
    """Count the blocks that come from another document as unchanged or changed, not as new."""
    kept: set[str] = set()
    same: set[str] = set()
    for before, after in zip(former, moved, strict=True):
        keys = {block.key for block in before.blocks}
        kept |= {after.closed[key][1] for key in keys} - {""}
        same |= {here for key, here in _places(turns, before.origin).items() if key in keys}
    tally.moved_from = former[0].path
    tally.known += len(same)
    tally.changed += len(kept - same)
    tally.added -= len(kept)


def _former(turns: list[Turn], lost: Sequence[Document]) -> list[Document]:
    """The documents that a new one was: those of which it has most blocks."""
    found = []
    for document in lost:
        here = _places(turns, document.origin)
        shared = sum(block.key in here for block in document.blocks)
        if shared and shared >= MIN_MOVED * len(document.blocks):
            found.append(document)
    return found


def _places(turns: list[Turn], origin: str, times: tuple[str | None, ...] = ()) -> dict[str, str]:
    """The keys that each block would have in another document, or at other times → the key that it has."""
    counts: Counter[str] = Counter()
    keys = {}
    for turn in turns:
        for time in (*times, turn.time):
            keys[turn_key(origin, turn.speaker, time, turn.text, counts[turn.text])] = turn.key
        counts[turn.text] += 1
    return keys


def _moved(old: Document, turns: list[Turn], now: str, index: Index, device: str) -> Document:
    """The record of a document that continues elsewhere; if its file comes back, it is read anew."""
    here = _places(turns, old.origin)
    taken = {here[block.key] for block in old.blocks if block.key in here}
    rest = {block.key: _text(index, block.key) for block in old.blocks if block.key not in here}
    after = here | _successors([turn for turn in turns if turn.key not in taken], rest)
    closed = {block.key: (now, after.get(block.key, "")) for block in old.blocks}
    return replace(
        old,
        rev=(old.rev[0] + 1, device),
        sha256="",
        recorded_at=now,
        blocks=(),
        closed={**old.closed, **closed},
    )


def _text(index: Index, key: str) -> str:
    return "\n".join(part.text for part in index.by_key(key))


def _record(
    known: Document,
    new: DocumentVersion,
    turns: list[Turn],
    closed: dict[str, tuple[str, str]],
    device: str,
) -> Document:
    return replace(
        known,
        rev=(known.rev[0] + 1, device),
        origin=new.origin,
        path=new.path,
        sha256=new.sha256,
        recorded_at=new.now,
        blocks=tuple(
            Block(key=t.key, line_start=t.line_start, line_end=t.line_end, heading=t.heading)
            for t in turns
        ),
        closed={**known.closed, **closed},
    )


def _episode(
    turns: tuple[Turn, ...],
    new: DocumentVersion,
    store: Store,
    index: Index,
    forgotten: frozenset[str],
) -> runs.Put:
    episode = make_episode(
        turns,
        new.origin,
        store.zone,
        forgotten,
        recorded_at=new.now,
        trust=new.raw.trust,
        document=document_id(new.origin),
        previous=index.last_episode(new.origin),
    )
    path = episode_files.file_of(episode, store.flow)
    return runs.Put(path, episode_files.render(episode), in_order=False)


def _turns(new: DocumentVersion, before: set[str] | None) -> list[Turn]:
    """The blocks as turns, equal ones numbered in order; ``before``: keys of the version before."""
    counts: Counter[tuple[str, str | None]] = Counter()
    turns: dict[str, Turn] = {}
    for block in new.raw.blocks:
        turn = turn_from_block(block, new.origin, new.path, new.raw.trust, new.mask)
        if not turn.text:
            continue
        if not has_exact_time(turn):
            first = replace(turn, time=turn.time or new.raw.header_day)
            first = with_ordinal(first, new.origin, counts[first.text, first.time])
            if before is None or first.key in before:
                turn = first
            else:  # written between two captures
                turn = with_ordinal(turn, new.origin, counts[turn.text, turn.time])
            counts[turn.text, turn.time] += 1
        turns.setdefault(turn.key, turn)
    return list(turns.values())


def _successors(fresh: list[Turn], gone: dict[str, str]) -> dict[str, str]:
    """Vanished key → key of the most similar new block, each used once, best pairs first."""
    from rapidfuzz import fuzz, process

    if not fresh or not gone:
        return {}
    old_keys, old_texts = list(gone), [text[:_MAX_COMPARED_CHARS] for text in gone.values()]
    width = max(1, MAX_PAIRS // len(fresh))
    pairs: list[tuple[float, int, int]] = []
    for position, turn in enumerate(fresh):
        middle = position * len(old_keys) // len(fresh)
        first = max(0, min(middle - width // 2, len(old_keys) - width))
        for _, score, number in process.extract(
            turn.text[:_MAX_COMPARED_CHARS],
            old_texts[first : first + width],
            scorer=fuzz.ratio,
            score_cutoff=MIN_SIMILARITY,
            limit=5,
        ):
            pairs.append((-score, position, first + number))
    found: dict[str, str] = {}
    used: set[int] = set()
    for _, position, number in sorted(pairs):
        if old_keys[number] not in found and position not in used:
            found[old_keys[number]] = fresh[position].key
            used.add(position)
    return found
