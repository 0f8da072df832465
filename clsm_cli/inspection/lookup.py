"""One thing of a store by its id: a turn, a block, an episode, a record, or a concept."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.model.codec import encode
from clsm_cli.store import episodes, logs
from clsm_cli.store.index import database
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.reader import Index

if TYPE_CHECKING:
    from clsm_cli.model.episodes import Episode
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store

_PART = re.compile(r"(?<=^[0-9a-f]{12})-[0-9]+$")
"""A part of a long turn is shown as the whole turn."""
MIN_PREFIX = 4
"""Characters of an id that suffice when no other id begins so."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an id stands for.

    Attributes:
        kind: turn, block, statement, episode, concept, or a record type.
        facts: Its fields, in reading order.
        text: What a person would read of it.
    """

    id: str
    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    text: str = ""


def beginning_with(store: Store, beginning: str, limit: int = 50) -> list[str]:
    """Ids that begin so, sorted; only from an index that is there, fresh or not: a shell asks."""
    connection = database.open_to_read(store.derived)
    if connection is None:
        return []
    with contextlib.closing(connection):
        index = Index(connection, store)
        found = set(index.ids(beginning)) | set(index.episode_ids(beginning))
        if len(beginning) >= MIN_PREFIX:
            found |= {passage.key for passage in index.by_key(beginning)}
    return sorted(found)[:limit]


def look_up(store: Store, wanted: str) -> Found:
    """The thing that an id, or the beginning of one, stands for.

    Raises:
        BadInputError: Nothing has that id, or several begin so.
    """
    wanted = _PART.sub("", wanted)
    with open_index(store, None) as opened:
        index = opened.index
        choices = _choices(index, wanted)
        if wanted not in choices and len(choices) > 1:
            names = ", ".join(sorted(choices)[:5])
            raise BadInputError(wanted, f"several ids begin so ({names})", "write more of the id")
        for record_id in [wanted] if wanted in choices else sorted(choices):
            found = _describe(store, index, record_id)
            if found is not None:
                return found
    raise BadInputError(wanted, "nothing in this store has that id", "find ids with: clsm recall")


def _choices(index: Index, wanted: str) -> set[str]:
    if index.is_mentioned(wanted):
        return {wanted}
    if len(wanted) < MIN_PREFIX:
        return set(index.ids(wanted)) & {wanted}
    return (
        set(index.ids(wanted))
        | {passage.key for passage in index.by_key(wanted)}
        | set(index.episode_ids(wanted))
    )


def _describe(store: Store, index: Index, wanted: str) -> Found | None:
    files = index.episode_files(wanted)
    if files:
        record = index.record(wanted)
        derived = encode(record) if record else {}
        read = episodes.read(store.root / files[0])
        episode = episodes.without(read, logs.forgotten(store))
        return None if episode is None else _of_episode(episode, files[0], derived)
    record = index.record(wanted)
    if record is not None:
        mapping = encode(record)
        return Found(wanted, mapping.pop("record"), mapping, str(mapping.get("summary", "")))
    passages = [passage for passage in index.by_key(wanted) if passage.key == wanted]
    if passages:
        return _of_passages(wanted, passages)
    names = index.mentioned(wanted)
    if names:
        facts = {"names": dict(names), "mentions": sum(count for _, count in names)}
        return Found(wanted, "concept", facts)
    return None


def _of_episode(episode: Episode, path: str, derived: dict[str, Any]) -> Found:
    facts = {
        "title": derived.get("title", ""),
        "file": path,
        "session": episode.session,
        "start": episode.start,
        "end": episode.end,
        "participants": list(episode.participants),
        "trust": episode.trust,
        "turns": len(episode.turns),
    }
    names = ("topic", "narrative", "valence", "novelty", "surprise", "decisions", "open_questions")
    facts |= {name: derived[name] for name in names if name in derived}
    text = "\n".join(
        f"{turn.key}  {turn.speaker}: {turn.text}" if turn.speaker else f"{turn.key}  {turn.text}"
        for turn in episode.turns
    )
    return Found(
        episode.id, "episode", {k: v for k, v in facts.items() if v not in (None, "", [])}, text
    )


def _of_passages(wanted: str, passages: list[Passage]) -> Found:
    first = passages[0]
    kind = first.kind if first.kind != "passage" else "block" if first.document else "turn"
    facts = {
        "source": f"{first.path}:{first.line_start}",
        "time": first.time,
        "speaker": first.speaker,
        "role": first.role,
        "trust": first.trust,
        "stream": first.stream,
        "session": first.session,
        "episode": first.episode,
        "heading": first.heading,
        "current": first.current,
        "foreign_id": first.foreign_id,
    }
    text = "\n".join(passage.text for passage in passages)
    return Found(wanted, kind, {k: v for k, v in facts.items() if v not in (None, "")}, text)
