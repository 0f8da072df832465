"""Join versions of one record: commutative, associative and idempotent.

After a ``git merge`` with ``merge=union``, a shard may have several lines with one id. The reader joins
them: sets by union, everything else from the higher revision. The order of revisions is total and depends
only on the fields that it decides, so the result does not depend on the order of merges.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from clsm_cli.model.codec import Record, encode
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement

SETS: dict[type[Record], tuple[str, ...]] = {
    EpisodeRecord: (),
    Document: (),
    Statement: ("sources",),
    Node: ("aliases",),
    Edge: ("sources",),
}
"""Fields that are joined by union, for each record type."""

AnyRecord = TypeVar("AnyRecord", EpisodeRecord, Document, Statement, Node, Edge)


@dataclass(frozen=True, slots=True)
class Joined:
    """The join of all lines of one id, and the pinned versions that lost, for the review list."""

    record: Record
    lost: tuple[Record, ...]


_COMPUTED = ("rev", "confidence", "n", "first", "last", "weight", "exact", "summary", "sources")
"""Fields that no person sets: a pinned version that differs in these alone has not lost."""


def _scalars(record: Record, *without: str) -> str:
    """The fields that the higher revision decides, as canonical JSON."""
    mapping = encode(record)
    for name in (*SETS[type(record)], "mentions", "closed", *without):
        mapping.pop(name, None)
    return json.dumps(mapping, sort_keys=True, ensure_ascii=False)


def _order(record: Record) -> tuple[int, str, bool, str]:
    return (*record.rev, record.pinned, _scalars(record))


def _union(a: Iterable[str], b: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*a, *b}))


def join(a: AnyRecord, b: AnyRecord) -> AnyRecord:
    """The join of two records with the same id and type.

    >>> a = Node(id="m", rev=(1, "pi"), label="Mara", aliases=("M",))
    >>> b = Node(id="m", rev=(2, "pc"), label="Mara Lind")
    >>> join(a, b) == join(b, a) == Node(
    ...     id="m", rev=(2, "pc"), label="Mara Lind", aliases=("M",))
    True
    """
    winner = a if _order(a) >= _order(b) else b
    names = SETS[type(a)]
    changes: dict[str, Any] = {n: _union(getattr(a, n), getattr(b, n)) for n in names}
    if isinstance(a, EpisodeRecord) and isinstance(b, EpisodeRecord):
        changes["mentions"] = {
            node: _union(a.mentions.get(node, ()), b.mentions.get(node, ()))
            for node in sorted({*a.mentions, *b.mentions})
        }
    if isinstance(a, Document) and isinstance(b, Document):
        changes["closed"] = {
            key: max(d.closed[key] for d in (a, b) if key in d.closed)
            for key in sorted({*a.closed, *b.closed})
        }
    return replace(winner, **changes)


def join_all(versions: list[Record]) -> Joined:
    """Join all versions of one id; if their types differ, that of the highest revision wins.

    Lines of another type count as lost only if pinned, like any other.
    """
    if len(versions) == 1:
        return Joined(versions[0], ())
    top = max(versions, key=_order)
    same = [v for v in versions if type(v) is type(top)]
    record: Record = same[0]
    for version in same[1:]:
        record = join(record, version)  # type: ignore[type-var]  # all of one type, see above
    decided = _scalars(record, *_COMPUTED)
    number, device = top.rev
    # What the same machine wrote before, it had seen.
    unseen = (v for v in versions if v.pinned and not (v.rev[1] == device and v.rev[0] < number))
    lost = {_scalars(v): v for v in unseen if _scalars(v, *_COMPUTED) != decided}
    return Joined(record, tuple(lost[key] for key in sorted(lost)))
