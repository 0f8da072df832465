"""Checks of contents: secrets stored in clear by an older version, and clsm's own output taken in again.

Ingest leaves out what it can prove to be its own (``ingestion.recalled_text``). What came another way,
or with a fence that does not verify, is counted here, so that a loop of recall and ingest shows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import ClsmError
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.ingestion.noise import is_clsm_tool, runs_clsm
from clsm_cli.ingestion.turns import Masker, masked_turn
from clsm_cli.model.codec import encode
from clsm_cli.model.graph import Statement
from clsm_cli.store import atomic
from clsm_cli.text import secrets
from clsm_cli.text.fence_lines import OPENING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.model.episodes import Turn


def clear_secrets(snapshot: Snapshot) -> list[Finding]:
    """How many secrets of which kinds a file holds; never one of them."""
    return [
        make_finding("secret-in-clear", secrets.mask(path).text, f"holds {_listed(kinds)}")
        for path, kinds in sorted(_kinds(snapshot))
        if kinds
    ]


def _listed(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _kinds(snapshot: Snapshot) -> Iterator[tuple[str, Counter[str]]]:
    """Path of a file → kinds of secrets in it."""
    for path, episode in snapshot.episodes.items():
        if episode is not None:
            yield path, _told((turn, episode.session) for turn in episode.turns)
    for path, box in snapshot.inboxes.items():
        yield path, _told((item.turn, item.session) for item in box.turns)
    for path, shard in snapshot.shards.items():
        yield path, _of(text for record in shard.records for text in _texts(encode(record)))
    for path, topic in snapshot.topics.items():
        yield path, _of(["\n".join(topic.lines)])
    for path, rows in snapshot.logs.items():
        if path.endswith("/review.jsonl"):
            yield path, _of(text for _, row in rows.rows for text in _texts(row))
    for file in snapshot.of_kind("quarantine", "labels", "ontology"):
        yield file.path, _of([_text(snapshot, file.path)])


def _told(turns: Iterable[tuple[Turn, str]]) -> Counter[str]:
    mask = Masker()
    for turn, session in turns:
        masked_turn(turn, session, mask)
    return mask.counts


def _text(snapshot: Snapshot, path: str) -> str:
    """A file that is no record; "" where it cannot be read, which is told by what looks at files."""
    try:
        data = atomic.read(snapshot.store.root / path, MAX_FILE)
    except ClsmError:
        return ""
    return (data or b"").decode("utf-8", "replace")


def _of(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(secrets.mask(text).counts)
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


MANY = 5.0
"""Percent of turns and blocks from which it is worth a warning."""
_LEAST = 24
"""Characters of a sentence that nobody says again by chance."""


def self_ingested_share(snapshot: Snapshot) -> list[Finding]:
    """The share of turns and blocks that clsm itself had recalled."""
    said = _statements(snapshot)
    sources: Counter[str] = Counter()
    for key, turn in snapshot.turns.items():
        if _is_own(turn) or _repeats(key, turn, said):
            sources[turn.path] += 1
    if not sources:
        return []
    share = 100 * sources.total() / len(snapshot.turns)
    top = [f"{path} ({count})" for path, count in sources.most_common()]
    reason = (
        f"{sources.total()} of {len(snapshot.turns)} texts ({share:.1f} %) from {list_names(top)}"
    )
    severity: Severity | None = "warning" if share >= MANY else None
    return [make_finding("self-ingested", "", reason, severity=severity)]


def _is_own(turn: Turn) -> bool:
    """Whether it holds a recalled block, or is what clsm printed."""
    if OPENING in turn.text:
        return True
    tool = turn.tool
    return tool is not None and (is_clsm_tool(tool.name) or runs_clsm(tool.input or ""))


def _statements(snapshot: Snapshot) -> dict[str, Collection[str]]:
    """Folded text of a statement → the turns that it rests on."""
    texts = {i.id: i.text for topic in snapshot.topics.values() for i in topic.items if i.id}
    return {
        " ".join(text.lower().split()): record.sources
        for record in snapshot.records.values()
        if isinstance(record, Statement)
        and len(text := record.text or texts.get(record.id, "")) >= _LEAST
    }


def _repeats(key: str, turn: Turn, said: dict[str, Collection[str]]) -> bool:
    """Whether an agent or a tool said, word for word, a statement that rests on others alone."""
    if turn.role == "user" or turn.trust == "user":
        return False
    for line in turn.text.split("\n"):
        words = " ".join(line.lower().removeprefix("- ").partition("  ^")[0].split())
        sources = said.get(words)
        if sources and key not in sources:
            return True
    return False
