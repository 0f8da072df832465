"""Episodes, documents and captured turns, written into a store without any command."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clsm_cli.model.episodes import Block, Document, Episode, Turn
from clsm_cli.model.ids import document_id, tombstone_hash
from clsm_cli.model.tombstones import episode_ids
from clsm_cli.store import atomic, episode_files, inbox, logs, shards
from clsm_cli.store.layout import Store

AT = "2026-02-24T08:00:00Z"


def lay_episode(flow: Path, session: str, turns: Sequence[Turn], **fields: Any) -> str:
    """An episode file in the flow of a machine; its id."""
    episode = Episode(
        id=next(episode_ids(turns[0].key)),
        session=session,
        turns=tuple(turns),
        recorded_at=AT,
        **fields,
    )
    atomic.put(episode_files.file_of(episode, flow), episode_files.render(episode))
    return episode.id


def lay_document(store: Store, origin: str, rev: int, blocks: Sequence[tuple[str, Turn]]) -> None:
    """A document whose blocks are (heading, text), a line each; those that come are an episode."""
    known = "".join(path.read_text() for path in store.flow.rglob("*.md"))
    if new := [turn for _, turn in blocks if turn.key not in known]:
        lay_episode(store.flow, origin, new, document=document_id(origin))
    listed = tuple(
        Block(key=turn.key, line_start=n, line_end=n, heading=(heading,) if heading else ())
        for n, (heading, turn) in enumerate(blocks, 1)
    )
    record = Document(
        id=document_id(origin), rev=(rev, "pi"), origin=origin, path=origin, blocks=listed
    )
    for path, (data, _) in shards.plan_update(store.graph("flow"), [record]).items():
        atomic.put(path, data)


def lay_capture(store: Store, session: str, *turns: Turn) -> None:
    items = [inbox.CapturedTurn(session, turn, AT) for turn in turns]
    atomic.append(inbox.path_of(store.inbox, session), inbox.render(items))


def lay_archived(flow: Path, since: Mapping[str, str]) -> None:
    """What a machine finds archived: id → since when."""
    lines = [f'{{"id": "{name}", "since": "{day}"}}\n' for name, day in since.items()]
    atomic.put(flow / "archived.jsonl", ('{"as_of": "2026-06-01"}\n' + "".join(lines)).encode())


def bury(store: Store, ids: Iterable[str], device: str = "pc") -> frozenset[str]:
    """Write tombstones, as a forget on some machine does first; the hashes of all there are."""
    for each in sorted(ids):
        line = logs.render(logs.Tombstone(tombstone_hash(each), "2026-03-01T11:00:00Z"))
        atomic.append(store.root / "tombstones" / f"{device}.jsonl", line)
    return logs.load_tombstones(store)
