"""Secrets that lie in a store in clear: stored by a version that did not know them yet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import ClsmError
from clsm_cli.health.codes import found
from clsm_cli.ingestion.clear import masked_turn
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.codec import encode
from clsm_cli.store import atomic
from clsm_cli.text import secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held
    from clsm_cli.model.episodes import Turn


def in_clear(held: Held) -> list[Finding]:
    """How many secrets of which kinds a file holds; never one of them."""
    return [
        found("secret-in-clear", secrets.mask(path).text, f"holds {_listed(kinds)}")
        for path, kinds in sorted(_kinds(held))
        if kinds
    ]


def _listed(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _kinds(held: Held) -> Iterator[tuple[str, Counter[str]]]:
    """Path of a file → kinds of secrets in it."""
    for path, episode in held.episodes.items():
        if episode is not None:
            yield path, _told((turn, episode.session) for turn in episode.turns)
    for path, box in held.boxes.items():
        yield path, _told((item.turn, item.session) for item in box.turns)
    for path, shard in held.shards.items():
        yield path, _of(text for record in shard.records for text in _texts(encode(record)))
    for path, topic in held.topics.items():
        yield path, _of(["\n".join(topic.lines)])
    for path, rows in held.logs.items():
        if path.endswith("/review.jsonl"):
            yield path, _of(text for _, row in rows.found for text in _texts(row))
    for file in held.of_kind("quarantine", "labels", "ontology"):
        yield file.path, _of([_text(held, file.path)])


def _told(turns: Iterable[tuple[Turn, str]]) -> Counter[str]:
    mask = Masker()
    for turn, session in turns:
        masked_turn(turn, session, mask)
    return mask.found


def _text(held: Held, path: str) -> str:
    """A file that is no record; "" where it cannot be read, which is told by what looks at files."""
    try:
        data = atomic.read(held.store.root / path, MAX_FILE)
    except ClsmError:
        return ""
    return (data or b"").decode("utf-8", "replace")


def _of(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(secrets.mask(text).found)
    return counts


def _texts(value: Any) -> Iterator[str]:
    """The texts in a mapping, without its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
