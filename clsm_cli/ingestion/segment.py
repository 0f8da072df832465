"""Segment: cut the inbox into episodes, and describe every episode without a record.

The order of the writes lets a second run complete any prefix of them: episode files first, then their
records, the inbox last. Turns that are in an episode are not read from the inbox again, and episodes
without a record are described, whoever wrote them.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.ingestion import describe
from clsm_cli.ingestion.boundaries import TurnFeatures, peak_surprise, split_episodes
from clsm_cli.ingestion.turns import make_episode, without_dumps
from clsm_cli.model.clocks import instant
from clsm_cli.model.episodes import EndMark, Episode, EpisodeRecord, Turn, lowest_trust
from clsm_cli.store import episode_files, inbox, logs, record_files, runs
from clsm_cli.store.inbox import CapturedTurn, Inbox, InboxItem
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.layout import Store


def plan_session(
    store: Store, index: Index, box: Inbox, ended_before: datetime | None = None
) -> tuple[list[Episode], list[runs.Write]]:
    """Cut an inbox file, without forgotten turns, into its final episodes, and plan the writes.

    The index has a vector for every turn of it. A conversation whose last turn is older than
    ``ended_before`` is closed.
    """
    if not box.turns:
        return [], inbox.plan_delete_empty(box, ended_before)
    made, open_items = _cut(store, index, box, ended_before)
    writes: list[runs.Write] = [
        runs.Put(episode_files.file_of(episode, store.flow), episode_files.render(episode))
        for episode in made
    ]
    writes += record_files.plan_records(store, "flow", _describe(store, index, made))
    if len(open_items) < len(box.items):
        writes.append(inbox.plan_rewrite(box, open_items, store.root))
    return made, writes


def _cut(
    store: Store, index: Index, box: Inbox, ended_before: datetime | None
) -> tuple[list[Episode], list[InboxItem]]:
    """The final episodes of an inbox file, and the items that stay in it."""
    session, forgotten = box.turns[0].session, logs.load_tombstones(store)
    closed = index.keys_in_episodes(session)
    items = [
        item
        for item in box.items
        if (item.after if isinstance(item, EndMark) else item.turn.key) not in closed
    ]
    vectors = index.vectors_of([i.turn.key for i in items if not isinstance(i, EndMark)])
    previous = index.last_episode(session)
    stored = _load(store, index, previous) if items else None
    capped = stored is not None and stored.capped  # ended by the maximum length
    made: list[Episode] = []
    open_items: list[InboxItem] = []
    for part, ended in _split_at_marks(items, ended_before):
        place = 0
        features = _turn_features([item.turn for item in part], vectors)
        for found in split_episodes(features, ended=ended, settings=store.settings.boundary):
            members = part[place : place + found.length]
            place += found.length
            turns = [item.turn for item in members]
            speakers = {turn.speaker for turn in turns if turn.role != "tool" and turn.speaker}
            made.append(
                make_episode(
                    turns,
                    session,
                    store.zone,
                    forgotten,
                    recorded_at=max(item.recorded_at for item in members),
                    participants=tuple(sorted(speakers)),
                    trust=lowest_trust([turn.trust for turn in turns]),
                    previous=previous,
                    continues=previous if capped else None,
                    capped=found.continues_next,
                )
            )
            previous, capped = made[-1].id, found.continues_next
        capped = capped and not ended
        open_items += part[place:]
    return made, open_items


def plan_undescribed(
    store: Store, index: Index, survived: Callable[[Path], AbstractContextManager[None]]
) -> list[runs.Write]:
    """Records for episodes without one: of documents, and after a crash.

    ``survived`` tells of a file on which clsm itself fails, and goes on.
    """
    forgotten = logs.load_tombstones(store)
    records: list[EpisodeRecord] = []
    for _, name in index.undescribed():
        with survived(path := store.root / name):
            episode = episode_files.without_forgotten(episode_files.read(path), forgotten)
            records += _describe(store, index, [episode]) if episode else ()
    return record_files.plan_records(store, "flow", records)


def _split_at_marks(
    items: Sequence[InboxItem], ended_before: datetime | None
) -> list[tuple[list[CapturedTurn], bool]]:
    """The open turns between end marks, each part with whether a mark, or silence, ends it."""
    parts: list[tuple[list[CapturedTurn], bool]] = []
    current: list[CapturedTurn] = []
    marks = {item.after for item in items if isinstance(item, EndMark)}
    for item in items:
        if isinstance(item, EndMark):
            continue
        current.append(item)
        if item.turn.key in marks:
            parts.append((current, True))
            current = []
    parts.append((current, bool(current) and _is_over(current[-1], ended_before)))
    return parts


def _is_over(last: CapturedTurn, ended_before: datetime | None) -> bool:
    at = instant(last.turn.time) or instant(last.recorded_at)
    return ended_before is not None and at is not None and at < ended_before


def _turn_features(turns: Sequence[Turn], vectors: dict[str, Any]) -> list[TurnFeatures]:
    return [
        TurnFeatures(turn.text, turn.role, instant(turn.time), vectors[turn.key]) for turn in turns
    ]


def _describe(store: Store, index: Index, made: Sequence[Episode]) -> tuple[EpisodeRecord, ...]:
    """Records of episodes, in order; each is compared with the previous one of its session."""
    known = {episode.id: episode for episode in made}
    records = []
    for episode in made:
        previous = known.get(episode.previous or "") or _load(store, index, episode.previous)
        before = () if previous is None else previous.turns
        vectors = index.vectors_of([turn.key for turn in (*before, *episode.turns)])
        earlier = [vectors[turn.key] for turn in before]
        surprise = 0.0  # the blocks of a document have no order in time
        if episode.document is None:
            features = _turn_features(before, vectors), _turn_features(episode.turns, vectors)
            surprise = peak_surprise(*features, store.settings.boundary)
        records.append(
            describe.describe(
                without_dumps(episode),
                rev=(1, store.device),
                vectors=[vectors[turn.key] for turn in episode.turns],
                previous=describe.mean_vector(previous, earlier) if previous else None,
                surprise=surprise,
                zone=store.zone,
            )
        )
    return tuple(records)


def _load(store: Store, index: Index, episode: str | None) -> Episode | None:
    files = index.episode_files(episode) if episode else ()
    try:
        found = episode_files.read(store.root / files[0]) if files else None
    except DamagedStoreError:
        return None
    return found and episode_files.without_forgotten(found, logs.load_tombstones(store))
