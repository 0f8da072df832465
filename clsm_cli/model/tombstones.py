"""What remains of a record after turns, episodes or statements were forgotten.

A tombstone is the hash of an id and nothing else. Readers hide a record with a tombstone, and drop
references to it, even if the id comes back (in a file of an old clone, or a source that is read again).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import digest, statement_id, tombstone_hash


def visible(record: Record, forgotten: frozenset[str]) -> Record | None:
    """A record without what was forgotten (hashes of ids with a tombstone); None if nothing remains.

    A statement or an edge is removed if all its source turns are forgotten, a document if all its
    blocks are. A summary taken from a forgotten turn is empty until its node is described again.

    >>> row = Statement(id="f-1", rev=(1, "pi"), sources=("a1", "b2"))
    >>> visible(row, frozenset([tombstone_hash("a1")])).sources
    ('b2',)
    >>> visible(row, frozenset(map(tombstone_hash, ("a1", "b2")))) is None
    True
    """
    if not forgotten:
        return record
    if tombstone_hash(record.id) in forgotten:
        return None
    if isinstance(record, Statement):
        return _statement(record, forgotten)
    if isinstance(record, Edge):
        return _edge(record, forgotten)
    if isinstance(record, Document):
        return _document(record, forgotten)
    return _node(record, forgotten) if isinstance(record, Node) else _episode(record, forgotten)


def _statement(row: Statement, forgotten: frozenset[str]) -> Statement | None:
    sources = _without_forgotten(row.sources, forgotten)
    if row.sources and not sources:
        return None
    before = None if _is_forgotten(row.supersedes, forgotten) else row.supersedes
    if (sources, before) == (row.sources, row.supersedes):
        return row  # comparing is cheaper than copying
    return replace(row, sources=sources, supersedes=before)


def first_free(ids: Iterable[str], forgotten: frozenset[str]) -> str:
    """The first id without a tombstone: a new record never gets the id of a forgotten one."""
    return next(each for each in ids if tombstone_hash(each) not in forgotten)


def birth_ids(normalised_text: str, *salts: str | None) -> Iterator[str]:
    """Candidate ids of a new statement, without end: one per salt, then numbered ones.

    >>> next(birth_ids("mara", "2026-02-24")) == statement_id("mara", "2026-02-24")
    True
    """
    for salt in salts:
        yield statement_id(normalised_text, salt)
    for number in count(1):
        yield statement_id(normalised_text, f"again-{number}")


def episode_ids(first_turn_key: str) -> Iterator[str]:
    """Candidate ids of the episode that starts with this turn, without end."""
    return (f"e-{each}" for each in digests("episode", first_turn_key))


def digests(*parts: str) -> Iterator[str]:
    """``ids.digest`` of the parts; then, without end, of the parts and a number."""
    yield digest(*parts)
    for number in count(1):
        yield digest(*parts, f"again-{number}")


def _without_forgotten(keys: tuple[str, ...], forgotten: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if tombstone_hash(key) not in forgotten)


def _is_forgotten(record_id: str | None, forgotten: frozenset[str]) -> bool:
    return record_id is not None and tombstone_hash(record_id) in forgotten


def _edge(edge: Edge, forgotten: frozenset[str]) -> Edge | None:
    """Edges may also lead from episodes and to statements."""
    sources = _without_forgotten(edge.sources, forgotten)
    if edge.sources and not sources:
        return None
    if _is_forgotten(edge.source, forgotten) or _is_forgotten(edge.target, forgotten):
        return None
    return edge if sources == edge.sources else replace(edge, sources=sources)


def _node(node: Node, forgotten: frozenset[str]) -> Node:
    sources = _without_forgotten(node.sources, forgotten)
    if sources == node.sources:
        return node
    return replace(node, sources=sources, summary=node.summary if node.pinned else "")


def _episode(record: EpisodeRecord, forgotten: frozenset[str]) -> EpisodeRecord:
    mentions = {node: _without_forgotten(keys, forgotten) for node, keys in record.mentions.items()}
    questions = (
        replace(each, answered_by=None) if _is_forgotten(each.answered_by, forgotten) else each
        for each in record.open_questions
    )
    changed = replace(
        record,
        mentions={n: keys for n, keys in mentions.items() if keys or not record.mentions[n]},
        open_questions=tuple(questions),
    )
    return record if changed == record else changed


def _document(record: Document, forgotten: frozenset[str]) -> Document | None:
    blocks = tuple(b for b in record.blocks if not _is_forgotten(b.key, forgotten))
    closed = {
        key: (at, "" if _is_forgotten(successor, forgotten) else successor)
        for key, (at, successor) in record.closed.items()
        if not _is_forgotten(key, forgotten)
    }
    if (record.blocks or record.closed) and not (blocks or closed):
        return None
    changed = replace(record, blocks=blocks, closed=closed)
    return record if changed == record else changed
