"""The inbox: captured turns of episodes that are still open, one append-only file a session.

Beside turns it holds end marks, and marks of tool calls that ran clsm: the result is no memory,
also when it comes by a later input than the call.

While another clsm has the lock, what is captured is put aside, in a file of its own that nobody else
knows and nobody rewrites; who has the lock next adds it to the file of its session.
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
from clsm_cli.store.episode_files import turn_from, turn_mapping
from clsm_cli.store.jsonlines import LineError, LineProblem, dump
from clsm_cli.store.layout import SIDE_MARK, is_conflict_copy


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """A turn in the inbox, with its session and the time when the store got it (UTC)."""

    session: str
    turn: Turn
    recorded_at: str


@dataclass(frozen=True, slots=True)
class CallMark:
    """A tool call that ran clsm, by its foreign id; its result is no memory, whenever it comes."""

    session: str
    call: str


MAX_CALLS = 64
"""Call marks of a session that outlive a rewrite of its file; results come soon or never."""

SPENT_DAYS = 30
"""Days after which a file without a line goes."""
InboxItem = CapturedTurn | EndMark
InboxRow = InboxItem | CallMark


@dataclass(frozen=True, slots=True)
class Inbox:
    """What an inbox file holds, in order of arrival, each turn once; call marks apart."""

    path: Path
    items: tuple[InboxItem, ...]
    problems: tuple[LineProblem, ...]
    calls: tuple[CallMark, ...] = ()

    @property
    def turns(self) -> list[CapturedTurn]:
        """The turns alone."""
        return [item for item in self.items if isinstance(item, CapturedTurn)]


def path_of(folder: Path, session: str) -> Path:
    """The inbox file of a session."""
    return folder / f"{file_name_of(session)}.jsonl"


def put_aside(folder: Path, session: str, data: bytes) -> None:
    """Write what was captured without the lock (from ``render``); told twice, it is written once."""
    path = path_of(folder, session)
    name = f"{path.stem}{SIDE_MARK}{atomic.sha256(data)[:12]}{path.suffix}"
    atomic.put(path.with_name(name), b"\n" + data + b"\n")


def read_aside(folder: Path) -> dict[Path, list[Path]]:
    """What was put aside, by the file of its session, the oldest first."""
    found: dict[Path, list[Path]] = {}
    for path in sorted(files(folder), key=_written):
        stem, mark, _ = path.stem.partition(SIDE_MARK)
        if mark:
            found.setdefault(path.with_name(stem + path.suffix), []).append(path)
    return found


def _written(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except FileNotFoundError:  # taken back meanwhile
        return 0, path.name


def plan_take_back(folder: Path) -> list[runs.Write]:
    """Writes that add what was put aside to the files of its sessions; the caller has the lock."""
    writes: list[runs.Write] = []
    for whole, parts in sorted(read_aside(folder).items()):
        for path in parts:
            data = (atomic.read(path, logs.MAX_LOG) or b"").strip(b"\n")
            if data:
                writes.append(runs.Append(whole, data))
            writes.append(runs.Remove(path))
    return writes


def render(items: Iterable[InboxRow]) -> bytes:
    """Lines for items, joined by newlines, without one at the end."""
    return "\n".join(dump(_mapping(item)) for item in items).encode()


def _mapping(item: InboxRow) -> dict[str, Any]:
    if isinstance(item, CallMark):
        return {"call": item.call, "session": item.session}
    if isinstance(item, EndMark):
        return {"end": item.after, "session": item.session, "time": item.time}
    told = {"session": item.session, "at": item.recorded_at, "text": item.turn.text}
    return turn_mapping(item.turn) | told


def read(path: Path, forgotten: frozenset[str] = frozenset()) -> Inbox:
    """An inbox file without its ``forgotten`` turns; a missing one is empty, a torn line is a problem."""
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
    """An inbox without its forgotten turns; an end behind one stands behind the turn before it."""
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
    """A file that holds these items and the last call marks alone; one that would be empty goes."""
    calls = box.calls[-MAX_CALLS:]
    if not items and not calls:
        return plan_emptying(box.path, root)
    data = b"\n" + render([*calls, *items]) + b"\n"
    return runs.Put(box.path, data, read_as=atomic.digest_of(box.path))


def plan_emptying(path: Path, root: Path) -> runs.Write:
    """A file without anything: it goes, or stays without a line where git has it.

    Another clone that forgot something in it has changed it, and git cannot merge that with a file
    that is gone. Git has those alone that were open at a commit.
    """
    from clsm_cli.store import git  # starts programs; a hook has no use for that

    if git.has(root, path.relative_to(root).as_posix()):
        return runs.Put(path, b"\n", read_as=atomic.digest_of(path))
    return runs.Remove(path)


def plan_removal(box: Inbox, over_before: datetime | None) -> list[runs.Write]:
    """The removal of a file that ``plan_emptying`` left, once every clone had time to hear of it."""
    if box.items or box.calls or box.problems or over_before is None:
        return []
    try:
        written = box.path.stat().st_mtime
    except FileNotFoundError:
        return []
    is_old = written < (over_before - timedelta(days=SPENT_DAYS)).timestamp()
    return [runs.Remove(box.path)] if is_old else []


def _item_from(row: dict[str, Any]) -> InboxRow:
    try:
        session = str(row["session"])
        if "call" in row:
            return CallMark(session, str(row["call"]))
        if "end" in row:
            time = row.get("time")
            return EndMark(session, str(row["end"]), None if time is None else str(time))
        return CapturedTurn(session, turn_from(row, str(row["text"])), str(row["at"]))
    except KeyError as error:
        raise LineError(f"lacks {error}") from None


def files(folder: Path) -> list[Path]:
    """Every inbox file of a machine, sorted by name."""
    return [
        folder / name
        for name in atomic.names_in(folder)
        if name.endswith(".jsonl") and name[0] != "." and not is_conflict_copy(name)
    ]
