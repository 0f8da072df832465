"""Graph shards: YAML that is also JSON lines, one record per line, joined by id when read.

A shard is named by the first hex digit of sha256(id). Above ``shard_records`` records, they move to
two-digit shards. The one-digit file stays, empty, and is still read: a clone without the split may
add to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from clsm_cli.config import MAX_FILE, StoreSettings
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import Record, RecordError, decode, encode
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import sha256
from clsm_cli.model.join import join_all
from clsm_cli.model.tombstones import visible
from clsm_cli.store import atomic, jsonlines
from clsm_cli.store.jsonlines import LineError, LineProblem, dump
from clsm_cli.store.layout import SHARD_NAME

_MAX_YAML = 1 << 20
"""Characters of a shard that a person rewrote in YAML; a full shard has half as many."""
_MAX_YAML_ENTRIES, _MAX_ENTRY_CHARS = 50, 64 << 10
"""Entries, and their characters, that are parsed as YAML one by one; limits the time."""
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")

_Entries = list[tuple[int, str, Any]]  # line number, text, and the value or a LineError

HEADER = (
    "# clsm graph shard: one record a line, sorted by id; see docs/format.md.\n"
    '# A line may be edited by hand; with "pinned": true no run changes it.\n'
)


@dataclass(frozen=True, slots=True)
class Shard:
    """The content of one file: the versions on all readable lines, in order."""

    records: tuple[Record, ...]
    problems: tuple[LineProblem, ...]
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Graph:
    """Joined records by id, values set by a person that lost in a join, and unreadable lines."""

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
    """Parse a shard, ``only`` one type of records if given; unreadable lines become problems."""
    problems: list[LineProblem] = []
    text = _decode_utf8(data, path, problems)
    entries = _parse_entries(text, only)
    if "\\ud" in text or "\\uD" in text:
        entries = [(n, line, jsonlines.without_surrogates(value)) for n, line, value in entries]
    records: list[Record] = []
    for number, line, value in entries:
        try:
            if not isinstance(value, dict):
                raise RecordError(str(value) if isinstance(value, LineError) else "is no mapping")
            records.append(decode(value))
        except RecordError as error:
            problems.append(LineProblem(path, number, str(error), line))
    return Shard(tuple(records), tuple(problems), atomic.sha256(data))


def _decode_utf8(data: bytes, path: Path, problems: list[LineProblem]) -> str:
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
    """Read a shard, see ``parse``; a missing file is empty, an unreadable one becomes a problem."""
    try:
        data = atomic.read(path, MAX_FILE)
    except DamagedStoreError as error:
        return Shard((), (LineProblem(path, error.line, error.reason),), None)
    return Shard((), (), None) if data is None else parse(data, path, only)


def shard_files(folder: Path) -> list[Path]:
    """The shards of a graph folder, sorted by name."""
    return [folder / name for name in atomic.names_in(folder) if re.fullmatch(SHARD_NAME, name)]


def load_graph(
    folders: Iterable[Path], forgotten: frozenset[str] = frozenset(), only: str | None = None
) -> Graph:
    """Read and join the shards of folders, ``only`` one type if given, without ``forgotten`` records."""
    shards = [read(path, only) for folder in folders for path in shard_files(folder)]
    return fold(shards, forgotten)


def fold(shards: Iterable[Shard], forgotten: frozenset[str] = frozenset()) -> Graph:
    """Join the versions of each id across shards, without ``forgotten`` records."""
    every = list(shards)
    versions = grouped((record.id, record) for shard in every for record in shard.records)
    records: dict[str, Record] = {}
    lost: list[Record] = []
    for record_id in sorted(versions):
        joined = join_all(versions[record_id])
        left = visible(joined.record, forgotten)
        if left is not None:
            records[record_id] = left
            lost.extend(joined.lost)
    problems = tuple(problem for shard in every for problem in shard.problems)
    return Graph(records, tuple(lost), problems)


def shard_name(record_id: str, digits: int) -> str:
    """The file name of the shard for an id.

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
    """Plan the shards that changes or removals touch: path → (new bytes, content before).

    A change replaces all older versions of its id in this folder. The new bytes omit ``forgotten``
    records and unreadable lines; the caller moves the latter to quarantine first.
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
        records = list((kept | {record.id: record for record in group}).values())
        is_whole = len(old) == 1 and len(records) <= limit
        found = {folder / name: render(records)} if is_whole else {}
        if not is_whole or len(found[folder / name]) > MAX_FILE // 2:
            by_path = {path: list[Record]() for path in old}
            by_path |= grouped((folder / shard_name(r.id, 2), r) for r in records)
            found = {path: render(each) for path, each in by_path.items()}
        # The file that loses records is written last: after a crash, no record is missing.
        for path in sorted(found, key=lambda path: (-len(path.name), path.name)):
            data = found[path]
            before = old.get(path, Shard((), (), None))
            if atomic.sha256(data) != before.sha256:
                plan[path] = (data, before)
    return plan


def _parse_entries(text: str, only: str | None = None) -> _Entries:
    """Parse the entries of a shard; the value of an unreadable one is a LineError.

    A person may have written or rewritten a line, so what is not JSON is parsed as YAML together with
    the indented lines below it. With ``only``, lines in clsm's own form with records of other types
    are skipped.
    """
    lines = list(enumerate(text.split("\n"), 1))
    entries = [(number, line) for number, line in lines if not _is_ignored(line)]
    if not all(line.startswith("- {") for _, line in entries):
        return _parse_each(lines)
    if only is not None:
        has_type = re.compile(rf'"record"\s*:\s*"{only}"').search
        entries = [each for each in entries if has_type(each[1])]
    try:  # one parser call is three times faster
        found = jsonlines.load_all([line[2:] for _, line in entries])
    except LineError:
        return _parse_each(entries)
    return [(number, line, value) for (number, line), value in zip(entries, found, strict=True)]


def _is_ignored(line: str) -> bool:
    return not line or line[0] == "#" or line in ("---", "[]") or line.isspace()


def _parse_each(lines: list[tuple[int, str]]) -> _Entries:
    """Parse entry by entry, so that an unreadable line affects no other."""
    groups: list[tuple[int, list[str], Any]] = []
    for number, line in lines:
        is_open = bool(groups) and isinstance(groups[-1][2], LineError)
        if is_open and line[:1] in " \t":  # also an empty line
            groups[-1][1].append(line)
        elif not _is_ignored(line):
            groups.append((number, [line], _json_or_error(line)))
    entries = [(number, "\n".join(rows).rstrip(), value) for number, rows, value in groups]
    bad = {
        place: text
        for place, (_, text, value) in enumerate(entries)
        if isinstance(value, LineError) and text.lstrip().startswith("-")
    }
    parsed = dict(zip(bad, _parse_yaml([*bad.values()]), strict=True))
    return [
        (number, text, each)
        for place, (number, text, value) in enumerate(entries)
        for each in parsed.get(place) or [value]
    ]


def _parse_yaml(texts: list[str]) -> list[list[Any]]:
    """The mappings in each text: parsed together, or, if that fails, one by one within the limits."""
    together = _yaml_entries("\n".join(texts)) if texts else []
    found = [[value] for value in together]
    if len(together) != len(texts):
        sizes = enumerate(accumulate(map(len, texts)))
        tried = sum(n < _MAX_YAML_ENTRIES and size <= _MAX_ENTRY_CHARS for n, size in sizes)
        found = [*map(_yaml_entries, texts[:tried]), *([] for _ in texts[tried:])]
    return [[value for value in values if isinstance(value, dict)] for values in found]


def _json_or_error(line: str) -> Any:
    if line.startswith(_CONFLICT):
        return LineError("is a git conflict marker (both sides were read)")
    try:
        return jsonlines.load(line.removeprefix("- ").strip())
    except LineError as error:
        return error


def _yaml_entries(text: str) -> list[Any]:
    from clsm_cli.store import yaml_text

    try:
        found = yaml_text.load(f"{text}\n", _MAX_YAML)
    except LineError:
        return []
    return found if isinstance(found, list) else []
