"""The inbox: captured turns of open episodes, in one append-only file per session.

It also contains end marks, and marks of tool calls that ran clsm: their results are not stored, even
if they arrive in a later input than the call.

While another process has the lock, turns are captured into side files, which nobody rewrites. The
next holder of the lock appends them to the file of the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from clsm_cli.model.episodes import EndMark, Turn
from clsm_cli.model.ids import file_name_of
from clsm_cli.store import atomic, logs, runs
from clsm_cli.store.episode_files import parse_turn, turn_mapping
from clsm_cli.store.jsonlines import LineError, LineProblem, dump
from clsm_cli.store.layout import SIDE_MARK, is_conflict_copy


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """A turn in the inbox, with its session and when it was captured (UTC)."""

    session: str
    turn: Turn
    recorded_at: str


@dataclass(frozen=True, slots=True)
class CallMark:
    """A tool call that ran clsm, by its foreign id; its result is not stored."""

    session: str
    call: str


_MAX_CALLS = 64
"""Call marks of a session that are kept when its file is rewritten; results come soon or never."""

EMPTY_FILE_DAYS = 30  # days after which an empty file is deleted
InboxItem = CapturedTurn | EndMark
InboxRow = InboxItem | CallMark


@dataclass(frozen=True, slots=True)
class Inbox:
    """An inbox file: its items in order of arrival, without repeats, and its call marks."""

    path: Path
    items: tuple[InboxItem, ...]
    problems: tuple[LineProblem, ...]
    calls: tuple[CallMark, ...] = ()

    @property
    def turns(self) -> list[CapturedTurn]:
        """The turns, without end marks."""
        return [item for item in self.items if isinstance(item, CapturedTurn)]


def path_of(folder: Path, session: str) -> Path:
    """The path of a session's inbox file."""
    return folder / f"{file_name_of(session)}.jsonl"


def write_side_file(folder: Path, session: str, data: bytes) -> None:
    """Write a side file with ``data`` from ``render``; the same data twice makes one file."""
    path = path_of(folder, session)
    name = f"{path.stem}{SIDE_MARK}{atomic.sha256(data)[:12]}{path.suffix}"
    atomic.put(path.with_name(name), b"\n" + data + b"\n")


def side_files(folder: Path) -> dict[Path, list[Path]]:
    """The side files by the inbox file of their session, oldest first."""
    found: dict[Path, list[Path]] = {}
    for path in sorted(files(folder), key=_modified):
        stem, mark, _ = path.stem.partition(SIDE_MARK)
        if mark:
            found.setdefault(path.with_name(stem + path.suffix), []).append(path)
    return found


def _modified(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except FileNotFoundError:  # merged meanwhile
        return 0, path.name


def plan_merge_side_files(folder: Path) -> list[runs.Write]:
    """Plan to append the side files to their sessions' files; the caller holds the lock."""
    writes: list[runs.Write] = []
    for target, parts in sorted(side_files(folder).items()):
        for path in parts:
            data = (atomic.read(path, logs.MAX_LOG) or b"").strip(b"\n")
            if data:
                writes.append(runs.Append(target, data))
            writes.append(runs.Remove(path))
    return writes


def render(items: Iterable[InboxRow]) -> bytes:
    """Render items as lines, without a newline at the end."""
    return "\n".join(dump(_mapping(item)) for item in items).encode()


def _mapping(item: InboxRow) -> dict[str, Any]:
    if isinstance(item, CallMark):
        return {"call": item.call, "session": item.session}
    if isinstance(item, EndMark):
        return {"end": item.after, "session": item.session, "time": item.time}
    own = {"session": item.session, "at": item.recorded_at, "text": item.turn.text}
    return turn_mapping(item.turn) | own


def read(path: Path, forgotten: frozenset[str] = frozenset()) -> Inbox:
    """Read an inbox file without ``forgotten`` turns; a missing one is empty, a torn line a problem."""
    found, problems = logs.rows(path)
    items: dict[str, InboxItem] = {}
    calls: dict[str, CallMark] = {}
    for number, row in found:
        try:
            item = _item_from(row)
        except LineError as error:
            problems.append(LineProblem(path, number, str(error), dump(row)))
            continue
        if isinstance(item, CallMark):
            calls.setdefault(item.call, item)
            continue
        key = f"end {item.after}" if isinstance(item, EndMark) else item.turn.key
        items.setdefault(key, item)
    box = Inbox(path, tuple(items.values()), tuple(problems), tuple(calls.values()))
    return without_forgotten(box, forgotten) if forgotten else box


def without_forgotten(box: Inbox, forgotten: frozenset[str]) -> Inbox:
    """An inbox without forgotten turns; an end mark after one refers to the turn before it instead."""
    kept: dict[str, InboxItem] = {}
    before: dict[str, str | None] = {}
    last: str | None = None
    for item in box.items:
        if isinstance(item, CapturedTurn):
            if logs.is_forgotten(item.turn.key, forgotten):
                before[item.turn.key] = last
            else:
                last = item.turn.key
                kept[last] = item
            continue
        after = before.get(item.after, item.after)
        if after is not None and not logs.is_forgotten(after, forgotten):
            kept.setdefault(f"end {after}", replace(item, after=after))
    return replace(box, items=tuple(kept.values()))


def plan_rewrite(box: Inbox, items: Sequence[InboxItem], root: Path) -> runs.Write:
    """Plan to replace a file's content by these items and its last call marks; see ``plan_clear``."""
    calls = box.calls[-_MAX_CALLS:]
    if not items and not calls:
        return plan_clear(box.path, root)
    data = b"\n" + render([*calls, *items]) + b"\n"
    return runs.Put(box.path, data, read_as=atomic.digest_of(box.path))


def plan_clear(path: Path, root: Path) -> runs.Write:
    """Plan to empty a file: it is deleted, or, if a commit contains it, left without lines.

    If another clone forgot something in it, git could not merge that change with a deletion. Only
    files that were open at a commit are in git.
    """
    from clsm_cli.store import git  # loads subprocess, which a hook does not need

    if git.is_committed(root, path.relative_to(root).as_posix()):
        return runs.Put(path, b"\n", read_as=atomic.digest_of(path))
    return runs.Remove(path)


def plan_delete_empty(box: Inbox, closed_before: datetime | None) -> list[runs.Write]:
    """Plan to delete an empty file that ``plan_clear`` left, once all clones had time to merge."""
    if box.items or box.calls or box.problems or closed_before is None:
        return []
    try:
        written = box.path.stat().st_mtime
    except FileNotFoundError:
        return []
    is_old = written < (closed_before - timedelta(days=EMPTY_FILE_DAYS)).timestamp()
    return [runs.Remove(box.path)] if is_old else []


def _item_from(row: dict[str, Any]) -> InboxRow:
    try:
        session = str(row["session"])
        if "call" in row:
            return CallMark(session, str(row["call"]))
        if "end" in row:
            time = row.get("time")
            return EndMark(session, str(row["end"]), None if time is None else str(time))
        return CapturedTurn(session, parse_turn(row, str(row["text"])), str(row["at"]))
    except KeyError as error:
        raise LineError(f"lacks {error}") from None


def files(folder: Path) -> list[Path]:
    """The inbox files of a machine, sorted by name."""
    return [
        folder / name
        for name in atomic.names_in(folder)
        if name.endswith(".jsonl") and name[0] != "." and not is_conflict_copy(name)
    ]
