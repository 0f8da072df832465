"""Checks of shards: lines that are no records, records in the wrong place, ids that do not fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.health.codes import found, listed
from clsm_cli.health.places import stream_of
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.ids import document_id, edge_id
from clsm_cli.store import atomic, shards
from clsm_cli.store.shards import shard_name
from clsm_cli.store.topics import text_sha

if TYPE_CHECKING:
    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held
    from clsm_cli.model.codec import Record

_MARKERS = "is a git conflict marker"
_EDGE = re.compile(r"g-[0-9a-f]{12}\Z")


def lines(held: Held) -> list[Finding]:
    """Lines of shards that are no records."""
    return [
        found("unreadable-line", path, problem.reason, line=problem.line)
        for path, shard in sorted(held.shards.items())
        for problem in shard.problems
        if not problem.reason.startswith((_MARKERS, "is not UTF-8"))
    ]


def order(held: Held) -> list[Finding]:
    """Shards that are not as they would be written: records elsewhere, twice, not sorted."""
    findings: list[Finding] = []
    for path, shard in sorted(held.shards.items()):
        name = path.rpartition("/")[2]
        odd = [r.id for r in shard.records if not _is_at_home(r.id, name) or is_strange(r, path)]
        if odd:
            reason = f"holds records of other shards: {listed(odd)}"
            findings.append(found("wrong-shard", path, reason))
            continue
        ids = [record.id for record in shard.records]
        twice = sorted({i for i in ids if ids.count(i) > 1}) if len({*ids}) < len(ids) else []
        if twice:
            findings.append(found("not-normal", path, f"holds {listed(twice)} twice"))
        elif not shard.problems and _is_odd(held, path):
            findings.append(found("not-normal", path, _how(shard.records, ids)))
    return findings


def is_strange(record: Record, path: str) -> bool:
    """Whether a record lies with another stream than its own."""
    return isinstance(record, Statement) and record.stream != stream_of(path)


def _is_at_home(record_id: str, name: str) -> bool:
    return name in (shard_name(record_id, 1), shard_name(record_id, 2))


def _is_odd(held: Held, path: str) -> bool:
    """Whether its bytes are others than its records would be written with."""
    return atomic.sha256(shards.render(held.shards[path].records)) != held.shards[path].sha256


def _how(records: tuple[Record, ...], ids: list[str]) -> str:
    if ids != sorted(ids):
        return "is not sorted"
    strange = sorted({name for record in records for name in record.extra})
    return f"has unknown fields: {listed(strange)}" if strange else "is written in another way"


def ids(held: Held) -> list[Finding]:
    """Records whose id is a hash of what they say, and is not."""
    wrong: dict[str, list[str]] = {}
    for path, shard in sorted(held.shards.items()):
        for record in shard.records:
            if not record.pinned and _is_wrong(record):
                wrong.setdefault(path, []).append(record.id)
    return [
        found("wrong-id", path, f"the id or the text of {listed(found_ids)} was changed")
        for path, found_ids in wrong.items()
    ]


def _is_wrong(record: Record) -> bool:
    if isinstance(record, Edge):
        # A closed copy, which a correction writes, has another id: it ends.
        given = edge_id(record.source, record.type, record.target, record.valid_from)
        plain = edge_id(record.source, record.type, record.target)
        is_closed = record.valid_until is not None or record.superseded_at is not None
        return bool(_EDGE.match(record.id)) and record.id not in (given, plain) and not is_closed
    if isinstance(record, Document):
        return record.id != document_id(record.origin)
    if isinstance(record, Statement) and record.text and record.text_sha:
        return text_sha(record.text) != record.text_sha
    return False
