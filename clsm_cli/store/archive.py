"""The archive of ``decay``: the list of archived ids, and the shards of compacted rows.

``flow/<device>/archived.jsonl`` says which turns and statements fell below the retention that a first
look asks for, and since when; their text stays where it is. ``archive/<stream>/`` holds rows that
were superseded long ago, in shards like those of the graph; only what decides about statements reads
them.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, runs, shards
from clsm_cli.store.index.indexed_files import ARCHIVED
from clsm_cli.store.jsonlines import LineProblem, dump

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


class Archived(NamedTuple):
    """What the last ``decay`` of a machine found archived: as of which day, and each id since when."""

    as_of: date | None = None
    since: Mapping[str, date] = {}
    problems: tuple[LineProblem, ...] = ()


def read(flow: Path) -> Archived:
    """The list of a machine; of an id that stands there twice (after a merge) the later day."""
    path = flow / ARCHIVED
    found, problems = logs.rows(path)
    as_of: date | None = None
    since: dict[str, date] = {}
    for number, row in found:
        try:
            if "as_of" in row:
                day = date.fromisoformat(row["as_of"])
                as_of = day if as_of is None else max(as_of, day)
            else:
                day, name = date.fromisoformat(row["since"]), str(row["id"])
                since[name] = max(day, since.get(name, day))
        except (KeyError, TypeError, ValueError):
            problems.append(LineProblem(path, number, "names nothing archived"))
    return Archived(as_of, since, tuple(problems))


def render(as_of: date, since: Mapping[str, date]) -> bytes:
    r"""The bytes of a list.

    >>> render(date(2026, 6, 1), {"f-2": date(2026, 5, 20)}).decode().splitlines()
    ['{"as_of": "2026-06-01"}', '{"id": "f-2", "since": "2026-05-20"}']
    """
    rows = [{"as_of": str(as_of)}]
    rows += [{"id": name, "since": str(day)} for name, day in sorted(since.items())]
    return "".join(f"{dump(row)}\n" for row in rows).encode()


def plan(
    store: Store, stream: Stream, rows: Iterable[Record]
) -> tuple[list[runs.Write], list[LineProblem]]:
    """Writes that put rows into the archive of a stream, replacing older versions.

    A shard with lines that cannot be read must not be rewritten without them: then there are no
    writes, but those lines.
    """
    folder, limit = store.archive(stream), store.settings.store.shard_records
    planned = shards.plan_update(folder, rows, limit, forgotten=logs.load_tombstones(store))
    problems = [problem for _, before in planned.values() for problem in before.problems]
    if problems:
        return [], problems
    return [
        runs.Put(path, data, read_as=before.sha256) for path, (data, before) in planned.items()
    ], []
