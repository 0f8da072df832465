"""What ``--fix`` does with shards: written anew, each record in its own, unreadable lines kept aside.

The shards' own rewriting (``shards.plan_update``, ``graph.rewrite``) does it, as every run that
changes a record does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.health import records
from clsm_cli.model.graph import Statement
from clsm_cli.store import atomic, graph, runs, settle, shards

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from clsm_cli.health.held import Held
    from clsm_cli.health.mend_files import Planned
    from clsm_cli.model.codec import Record


def plan(held: Held, now: str) -> Planned:
    """Writes that bring every shard that is not as it would be written into that form.

    What a person set and what lost in a join becomes a question first, as where hand edits are settled.

    Args:
        held: The store.
        now: UTC time of the run.
    """
    odd = {finding.path for finding in (*records.lines(held), *records.order(held))}
    odd |= {path for path, shard in held.shards.items() if shard.problems}
    odd |= {p for p in held.shards if held.files[p].nul or held.files[p].broken}
    moved = _moved(held)
    writes: list[runs.Write] = []
    told: list[str] = []
    for folder in sorted({path.rpartition("/")[0] for path in odd} | moved.keys()):
        changed = _folder(held, folder, odd, moved.get(folder, ()))
        writes += changed
        told += [
            f"{write.path.relative_to(held.store.root).as_posix()}: written anew"
            for write in changed
            if write.path.parent != held.store.quarantine
        ]
    if writes:
        lost = shards.fold(held.shards.values(), held.forgotten).lost
        items = [settle.lost_value(row, now) for row in lost if isinstance(row, Statement)]
        writes = [*settle.review_lines(held.store, items), *writes]
    return writes, told


def _moved(held: Held) -> dict[str, list[Record]]:
    """Folder → statements that lie in that of another stream, and belong there."""
    store = held.store
    found: dict[str, list[Record]] = {}
    for path, shard in sorted(held.shards.items()):
        for record in shard.records:
            if isinstance(record, Statement) and records.is_strange(record, path):
                is_old = path.startswith("archive/")
                folder = store.archive(record.stream) if is_old else store.graph(record.stream)
                found.setdefault(folder.relative_to(store.root).as_posix(), []).append(record)
    return found


def _folder(
    held: Held, folder: str, odd: Collection[str], moved: Iterable[Record]
) -> list[runs.Write]:
    """The same for one folder: all its records, each where it belongs."""
    store = held.store
    inside = [path for path in sorted(held.shards) if path.rpartition("/")[0] == folder]
    read = {path: held.shards[path].records for path in inside}
    own = [
        shards.Shard(tuple(r for r in rows if not records.is_strange(r, path)), (), None)
        for path, rows in read.items()
    ]
    come = shards.Shard(tuple(moved), (), None)
    joined = shards.fold([*own, come], held.forgotten).records
    there = {record.id for rows in read.values() for record in rows}
    limit = store.settings.store.shard_records
    changed = shards.plan_update(store.root / folder, joined.values(), limit, there, held.forgotten)
    left = [store.root / path for path in inside if path in odd]
    changed |= _emptied(held, [path for path in left if path not in changed])
    name = "-".join(part for part in folder.split("/") if part != "graph")
    writes: list[runs.Write] = []
    for place, (data, before) in sorted(changed.items()):
        writes += graph.rewrite(store, name, place, data, before)
    return writes


def _emptied(held: Held, left: Iterable[Path]) -> dict[Path, tuple[bytes, shards.Shard]]:
    """Shards in which nothing that is theirs can be read: no record leads to them."""
    found: dict[Path, tuple[bytes, shards.Shard]] = {}
    for path in left:
        shard = held.shards[path.relative_to(held.store.root).as_posix()]
        if atomic.sha256(data := shards.render(())) != shard.sha256:
            found[path] = (data, shard)
    return found
