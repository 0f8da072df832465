"""Apply the plan of a forget or a masking as one run, and clear its traces from logs and derived data."""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from clsm_cli.errors import LockedError, ModelDigestError, ModelMissingError
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.ids import whole_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, cleanup, inbox, ledger, logs, runs
from clsm_cli.store.index import maintenance
from clsm_cli.store.index.opening import Embedder, published, updated_index
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted

MAX_BYTES = 1 << 30  # bytes of a file of the store


class CleanWrites(NamedTuple):
    """The file changes of a plan, computed on a copy of the store.

    ``puts``: path relative to the store → new bytes, and the digest of the old ones. ``names`` of inbox
    files whose conversation is gone: a ledger may still contain them.
    """

    puts: Mapping[str, tuple[bytes, str | None]] = MappingProxyType({})
    removes: Mapping[str, str] = MappingProxyType({})
    gone: frozenset[str] = frozenset()  # ids to remove from all logs
    names: frozenset[str] = frozenset()
    review_lines: bytes = b""  # lines that the consolidation adds to the review list
    renamed: Mapping[str, str] = MappingProxyType({})  # old id → new id in logs


class ErasurePlan(NamedTuple):
    """A ``Receipt`` or ``MaskingReport``, and the writes of the forget or masking."""

    receipt: Any
    writes: CleanWrites


def apply(store: Store, plan: ErasurePlan, now: datetime, embedder: Embedder | None) -> Any:
    """Apply a plan as one run and clear its traces; return the receipt with run id and warnings.

    Raises:
        RefusedError: The store changed since the plan was made.
    """
    planned, receipt = plan.writes, plan.receipt
    with locked(store.root, store.settings.store.lock_wait):
        complete_interrupted(store)
        for name, digest in planned.removes.items():
            if atomic.digest_of(store.root / name) != digest:
                raise atomic.changed_meanwhile(store.root / name)
        writes: list[runs.Write] = [runs.Put(cleanup.marker_path(store), b"")]
        for name in sorted(planned.puts, key=lambda n: (not n.startswith("tombstones/"), n)):
            data, old = planned.puts[name]
            writes.append(runs.Put(store.root / name, data, read_as=old))
        writes += [_removal(store, store.root / name) for name in sorted(planned.removes)]
        writes += _logs(store, planned)
        with published(store):
            line = runs.apply(store, "forget", utc_text(now), writes, whole=True, undoable=False)
        warnings = (*receipt.warnings, *_clean_derived(store, embedder))
    return receipt._replace(run=line.id if line else None, warnings=warnings)


def _clean_derived(store: Store, embedder: Embedder | None) -> list[str]:
    """Clear the index of traces; if a reader blocks that, the next command does it."""
    with (
        contextlib.suppress(ModelMissingError, ModelDigestError),  # already reported by the plan
        updated_index(store, embedder),
    ):
        pass
    try:
        maintenance.compact(store)
    except LockedError:
        return ["a recall is still reading the old index; the next command that writes ends this"]
    cleanup.finish(store)
    return []


def _logs(store: Store, planned: CleanWrites) -> Iterator[runs.Write]:
    """Clean the logs of all machines, read now: a recall may have appended since, without the lock."""
    for path in (path for flow in store.flows() for path in sorted(flow.glob("[!.]*.jsonl"))):
        if path.relative_to(store.root).as_posix() in planned.puts:
            continue
        data = atomic.read(path, MAX_BYTES) or b""
        if path.name == ledger.FILE:
            left = without_paths(data, planned.removes.keys(), planned.names)
        else:
            left = clean_log(rename_in_log(data, planned.renamed), planned.gone)
        if left != data and not left.strip() and path.is_relative_to(store.flow):
            yield runs.Remove(path)
        elif left != data:  # keep another machine's file, empty: it may append to it
            yield runs.Put(path, left if left.strip() else b"", read_as=atomic.sha256(data))
    if added := clean_log(planned.review_lines, planned.gone).strip(b"\n"):
        yield runs.Append(store.flow / logs.REVIEW, added)


def _removal(store: Store, path: Path) -> runs.Write:
    """The write that removes a file, or empties an inbox of another machine, which may append to it."""
    is_inbox = path.parent.name == "inbox" and path.parent.parent.parent == store.root / "flow"
    if is_inbox and not path.is_relative_to(store.flow):
        return inbox.plan_clear(path, store.root)
    return runs.Remove(path)


_ID = re.compile(rb"(?<![a-z0-9_-])(?:[a-z]-)?[0-9a-f]{12}(?![a-z0-9_])")  # an id generated by clsm
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")
_LISTS = {"ids": "led", "good": "good_led", "bad": "bad_led", "concepts": ""}
"""Id lists of a log line → the list parallel to each."""
MIN_LINE = 12  # minimum length of a line that identifies its text


def clean_log(log: bytes, gone: AbstractSet[str]) -> bytes:
    r"""Remove ids from a log, and lines that refer to nothing else.

    Invalid JSON with such an id is removed too: that write was never acknowledged.

    >>> line = b'\n{"recall": "r-1", "at": "2026-02-24", "ids": ["a1", "b2"], "led": ["x", "y"]}\n'
    >>> clean_log(line, {"a1"})
    b'\n{"recall": "r-1", "at": "2026-02-24", "ids": ["b2"], "led": ["y"]}\n'
    >>> clean_log(line, {"a1", "b2"})
    b''
    """
    kept: list[bytes] = []
    for line in log.split(b"\n"):
        text = line.decode("utf-8", "replace")
        if not _ids_in(text) & gone:
            kept.append(line)
            continue
        row = _without_ids(text, gone)
        if row is not None:
            kept.append(dump(row).encode())
        elif kept and not kept[-1]:
            kept.pop()  # the newline written before the line
    return b"\n".join(kept)


def rename_in_log(log: bytes, names: Mapping[str, str]) -> bytes:
    """Rename ids in a log, those of a turn's parts included.

    >>> rename_in_log(b'{"ids": ["0123456789ab-2", "b2"]}', {"0123456789ab": "ba9876543210"})
    b'{"ids": ["ba9876543210-2", "b2"]}'
    """
    known = {old.encode(): new.encode() for old, new in names.items()}
    return _ID.sub(lambda match: known.get(match[0], match[0]), log) if known else log


def _ids_in(text: str) -> set[str]:
    return {whole_id(word) for word in _WORD.findall(text)}


def _is_gone(named: Any, gone: AbstractSet[str]) -> bool:
    return isinstance(named, str) and whole_id(named) in gone


def _without_ids(line: str, gone: AbstractSet[str]) -> dict[str, Any] | None:
    try:
        row = load(line)
    except LineError:
        return None
    if not isinstance(row, dict):
        return None
    about = row.get("about")
    if any(_is_gone(i, gone) for i in [row.get("id"), *(about if isinstance(about, list) else ())]):
        return None
    changed = dict(row)
    for name, beside in _LISTS.items():
        ids = row.get(name)
        if isinstance(ids, list):
            places = [i for i, each in enumerate(ids) if not _is_gone(each, gone)]
            changed[name] = [ids[i] for i in places]
            led = row.get(beside)
            if isinstance(led, list) and len(led) == len(ids):
                changed[beside] = [led[i] for i in places]
    was = any(row.get(name) for name in _LISTS)
    return None if was and not any(changed.get(name) for name in _LISTS) else changed


def map_rows(log: bytes, change: Callable[[Any], Any]) -> bytes:
    """Map the rows of a log; unchanged rows and invalid lines keep their bytes."""
    lines = log.split(b"\n")
    for number, line in enumerate(lines):
        with contextlib.suppress(LineError):
            row = load(line.decode("utf-8", "replace")) if line.strip() else None
            made = change(row)
            lines[number] = line if made == row else dump(made).encode()
    return b"\n".join(lines)


def without_paths(log: bytes, removed: Collection[str], names: Collection[str] = ()) -> bytes:
    """Remove files from a ledger, as their names may reveal forgotten content."""

    def stays(change: Any) -> bool:
        path = change.get("path") if isinstance(change, dict) else None
        is_gone = isinstance(path, str) and (path in removed or path.rpartition("/")[2] in names)
        return not is_gone

    def cleaned(row: Any) -> Any:
        changes = row.get("changes") if isinstance(row, dict) else None
        return {**row, "changes": [*filter(stays, changes)]} if isinstance(changes, list) else row

    return map_rows(log, cleaned)


def has_trace(data: bytes, ids: AbstractSet[str], texts: Iterable[str]) -> bool:
    """Whether data contains one of the ids, or an identifying line of one of the texts."""
    text = data.decode("utf-8", "replace")
    if _ids_in(text) & ids:
        return True
    lines = {line.strip() for each in texts for line in each.split("\n")}
    return any(
        len(line) >= MIN_LINE and (line in text or dump(line)[1:-1] in text) for line in lines
    )
