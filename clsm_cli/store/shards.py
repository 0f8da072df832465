"""Graph shards: YAML that is also JSON lines, one record a line, joined by id when read.

A shard is named by the first hex digit of sha256(id); once it passes ``shard_records`` its records
move to two-digit shards and the one-digit file stays, empty, and is still read (a clone that has
not heard of the split may add to it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clsm_cli.config import MAX_FILE, StoreSettings
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import Record, RecordError, decode, encode
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import sha256, tombstone_hash
from clsm_cli.model.join import join_all
from clsm_cli.model.tombstones import visible
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import (
    LineError,
    LineProblem,
    dump,
    load,
    load_all,
    without_surrogates,
)

_MAX_YAML = 1 << 20
"""Characters of a shard that a person rewrote in YAML; twice what a full one has."""
_YAML_ENTRIES, _YAML_TRIED = 50, 64 << 10
"""Entries of a shard, and their characters, that are tried as YAML one by one: bounds the time."""
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")

Loaded = list[tuple[int | None, str, Any]]
"""Line number, what stands there, and its value or a LineError."""


HEADER = (
    "# clsm graph shard: one record a line, sorted by id; see docs/format.md.\n"
    '# A line may be edited by hand; with "pinned": true no run changes it.\n'
)
_SHARD_NAME = re.compile(r"[0-9a-f]{1,2}\.yaml\Z")


@dataclass(frozen=True, slots=True)
class Shard:
    """What one file holds: every version on every readable line, in order."""

    records: tuple[Record, ...]
    problems: tuple[LineProblem, ...]
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Graph:
    """Folded content of shard folders, by id; values of persons that lost in a join; bad lines."""

    records: dict[str, Record]
    lost: tuple[Record, ...]
    problems: tuple[LineProblem, ...]


def render(records: Iterable[Record]) -> bytes:
    r"""The bytes of a shard.

    >>> from clsm_cli.model.graph import Node
    >>> print(render([Node(id="b", rev=(1, "pi"), label="B")]).decode().splitlines()[-1])
    - {"id": "b", "record": "node", "rev": [1, "pi"], "label": "B"}
    """
    lines = [f"- {dump(encode(record))}\n" for record in sorted(records, key=lambda r: r.id)]
    return (HEADER + "".join(lines)).encode()


def parse(data: bytes, path: Path, only: str | None = None) -> Shard:
    """All versions in a shard, or those of one type ``only``; unreadable lines become problems."""
    problems: list[LineProblem] = []
    text = _decoded(data, path, problems)
    loaded = values(text, only)
    if "\\ud" in text or "\\uD" in text:
        loaded = [(number, line, without_surrogates(value)) for number, line, value in loaded]
    records: list[Record] = []
    for number, line, value in loaded:
        try:
            if not isinstance(value, dict):
                raise RecordError(str(value) if isinstance(value, LineError) else "is no mapping")
            records.append(decode(value))
        except RecordError as error:
            problems.append(LineProblem(path, number, str(error), line))
    return Shard(tuple(records), tuple(problems), atomic.sha256(data))


def _decoded(data: bytes, path: Path, problems: list[LineProblem]) -> str:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), 1):
            shown = line.decode(errors="backslashreplace")
            if shown != line.decode(errors="replace"):
                reason = "is not UTF-8 (bad bytes were replaced)"
                problems.append(LineProblem(path, number, reason, shown))
        text = data.decode(errors="replace")
    return text.replace("\r\n", "\n")


def read(path: Path, only: str | None = None) -> Shard:
    """One shard from disk, see ``parse``; a missing file is empty, an unreadable one a problem."""
    try:
        data = atomic.read(path, MAX_FILE)
    except DamagedStoreError as error:
        return Shard((), (LineProblem(path, error.line, error.reason),), None)
    return Shard((), (), None) if data is None else parse(data, path, only)


def shard_files(folder: Path) -> list[Path]:
    """The shards of a graph folder, sorted by name."""
    return [folder / name for name in atomic.names_in(folder) if _SHARD_NAME.match(name)]


def load_graph(
    folders: Iterable[Path], forgotten: frozenset[str] = frozenset(), only: str | None = None
) -> Graph:
    """Read and join every shard of some folders, or one type ``only``; ``forgotten`` things do not exist."""
    shards = [read(path, only) for folder in folders for path in shard_files(folder)]
    return fold(shards, forgotten)


def fold(shards: Iterable[Shard], forgotten: frozenset[str] = frozenset()) -> Graph:
    """Join the versions of every id over several shards; ``forgotten`` as in ``load_graph``."""
    every = list(shards)
    versions = grouped((record.id, record) for shard in every for record in shard.records)
    records: dict[str, Record] = {}
    lost: list[Record] = []
    for record_id in sorted(versions):
        if forgotten and tombstone_hash(record_id) in forgotten:
            continue
        joined = join_all(versions[record_id])
        left = visible(joined.record, forgotten)
        if left is not None:
            records[record_id] = left
            lost.extend(joined.lost)
    problems = tuple(problem for shard in every for problem in shard.problems)
    return Graph(records, tuple(lost), problems)


def shard_name(record_id: str, digits: int) -> str:
    """File name of the shard that holds an id.

    >>> shard_name("mara", 1), shard_name("mara", 2)
    ('c.yaml', 'c8.yaml')
    """
    return sha256(record_id.encode())[:digits] + ".yaml"


def plan_update(
    folder: Path,
    changes: Iterable[Record],
    limit: int = StoreSettings().shard_records,
    removed: Iterable[str] = (),
    forgotten: frozenset[str] = frozenset(),
) -> dict[Path, tuple[bytes, Shard]]:
    """New bytes of every shard that changes or removals touch: path → (bytes, what was read).

    A change replaces all older versions of its id in this folder. Lines that cannot be read are
    left out of the new bytes: the caller moves them to quarantine first. What is ``forgotten`` is
    left out too.
    """
    groups = grouped((shard_name(record.id, 1), record) for record in changes)
    gone = set(removed)
    for record_id in gone:
        groups.setdefault(shard_name(record_id, 1), [])
    plan: dict[Path, tuple[bytes, Shard]] = {}
    for name, group in sorted(groups.items()):
        paths = {folder / name, *(p for p in shard_files(folder) if p.name[0] == name[0])}
        old = {path: read(path) for path in paths}
        there = fold(old.values(), forgotten).records
        kept = {i: record for i, record in there.items() if i not in gone}
        records = kept | {record.id: record for record in group}
        is_split = len(old) > 1 or len(records) > limit
        is_split = is_split or len(render(records.values())) > MAX_FILE // 2
        by_path: dict[Path, list[Record]] = {path: [] for path in old}
        for record in records.values():
            target = folder / (shard_name(record.id, 2) if is_split else name)
            by_path.setdefault(target, []).append(record)
        # The file that others take records from comes last: a crash must not leave them in none.
        for path in sorted(by_path, key=lambda path: (-len(path.name), path.name)):
            data = render(by_path[path])
            before = old.get(path, Shard((), (), None))
            if atomic.sha256(data) != before.sha256:
                plan[path] = (data, before)
    return plan


def values(text: str, only: str | None = None) -> Loaded:
    """The value of each entry; a LineError stands for what cannot be read.

    A line that is no JSON is read as YAML together with the indented lines below it, since a person
    may have written or rewritten it. With ``only`` lines of ours with other types of records are
    passed over.
    """
    lines = list(enumerate(text.split("\n"), 1))
    entries = [(number, line) for number, line in lines if not _is_aside(line)]
    if not all(line.startswith("- {") for _, line in entries):
        return _load_each(lines)
    if only is not None:
        entries = [each for each in entries if f'"record": "{only}"' in each[1]]
    try:  # one parser call is three times faster
        found = load_all([line[2:] for _, line in entries])
    except LineError:
        return _load_each(entries)
    return [(number, line, value) for (number, line), value in zip(entries, found, strict=True)]


def _is_aside(line: str) -> bool:
    return not line or line[0] == "#" or line in ("---", "[]") or line.isspace()


def _load_each(lines: list[tuple[int, str]]) -> Loaded:
    """Entry by entry, so that one bad line costs only itself."""
    entries: list[tuple[int, list[str], Any]] = []
    for number, line in lines:
        is_open = bool(entries) and isinstance(entries[-1][2], LineError)
        if is_open and line[:1] in " \t":  # also an empty line
            entries[-1][1].append(line)
        elif not _is_aside(line):
            entries.append((number, [line], _json_or_error(line)))
    texts = ["\n".join(rows).rstrip() for _, rows, _ in entries]
    odd = [
        at
        for at, (_, _, value) in enumerate(entries)
        if isinstance(value, LineError) and texts[at].lstrip().startswith("-")
    ]
    together = _yaml_entries("\n".join(texts[at] for at in odd)) if odd else []
    found = {at: [value] for at, value in zip(odd, together, strict=False)}
    if len(together) != len(odd):  # not all of them are YAML
        found, left = {}, _YAML_TRIED
        for at in odd[:_YAML_ENTRIES]:
            left -= len(texts[at])
            found[at] = _yaml_entries(texts[at]) if left >= 0 else []
    loaded: Loaded = []
    for at, (number, _, value) in enumerate(entries):
        read = [each for each in found.get(at, ()) if isinstance(each, dict)]
        loaded += [(number, texts[at], each) for each in read or [value]]
    return loaded


def _json_or_error(line: str) -> Any:
    if line.startswith(_CONFLICT):
        return LineError("is a git conflict marker (both sides were read)")
    try:
        return load(line.removeprefix("- ").strip())
    except LineError as error:
        return error


def _yaml_entries(text: str) -> list[Any]:
    from clsm_cli.store import yaml_text

    try:
        found = yaml_text.load(f"{text}\n", _MAX_YAML)
    except LineError:
        return []
    return found if isinstance(found, list) else []
