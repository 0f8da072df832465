"""The state of a store, and whether its nightly consolidation still runs (``clsm status``).

A run that succeeded counts, also one that found nothing to do (``store.night_log``). Where that is not
known, as after a restore, the last run in the ledger counts, and only if something waits: a store in
which nothing happens is not stale. Times in the future are no witnesses, a clock was wrong then.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, inbox, ledger, logs, night_log, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.postings import store_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.layout import Store


_SLACK = timedelta(minutes=5)
"""By which clocks may differ, or be set back."""


class Overview(NamedTuple):
    """The state of a store, with the runs of this machine, newest first.

    Attributes:
        problems: Files that could not be read as they should: path, line, reason.
        runs: Id and command of each, and what became of it; ``is_kept``: what it replaced is still
            there, so that it can be undone.
    """

    root: str
    store_id: str
    device: str
    time_zone: str
    counts: dict[str, int]
    unembedded: int
    problems: tuple[dict[str, Any], ...]
    runs: tuple[dict[str, Any], ...]


def overview(store: Store) -> Overview:
    """Look at a store; its index is brought up to date by words if the lock is free."""
    with open_index(store, None) as opened:
        held = store_counts(opened.index.connection)
        unembedded = opened.index.unembedded()
        problems = list(opened.index.problems())
    torn = logs.rows(store.flow / ledger.FILE)[1]
    problems += [(str(p.path.relative_to(store.root)), p.line, p.reason) for p in torn]
    listed = []
    for entry in reversed(ledger.entries(store.flow)):
        state: dict[str, Any] = {"at": entry.at, "files": len(entry.paths)}
        is_kept = not entry.is_final and ledger.is_kept(store, entry)
        state |= {"undone_by": entry.undone_by, "undo_of": entry.undoes, "is_kept": is_kept}
        listed.append({"id": entry.id, "command": entry.command, "state": state})
    named = tuple(dict(zip(("path", "line", "reason"), p, strict=True)) for p in problems)
    who = (str(store.root), store.store_id, store.device, store.zone_name)
    return Overview(*who, held, unembedded, named, tuple(listed))


class Automation(NamedTuple):
    """How the nightly consolidation is; times are UTC.

    Attributes:
        last: When one last succeeded, ``hours`` ago; None: never, or unknown.
        failed: Runs that failed since, the last of them ``failed_at``.
        waiting: Episodes that wait, and conversations whose turns do.
        future: The last time is this, beyond the clock; what is known besides counts.
    """

    is_stale: bool
    last: str | None
    hours: float | None
    max_age: float
    failed: int
    failed_at: str | None
    reason: str | None
    waiting: int
    waiting_since: str | None
    future: str | None

    @property
    def sentence(self) -> str:
        """How it is, for a person."""
        limit = f" (at most {self.max_age:g} h)" if self.is_stale else ""
        told = "never consolidated"
        if self.last is not None and self.hours is not None:
            told = f"last consolidated {self.last}, {_ago(self.hours)}{limit}"
            limit = ""
        if self.future is not None:
            told += f"; a run is dated {self.future}, in the future: a clock is or was wrong"
        if self.waiting:
            told += f"; waiting: {self.waiting}, the oldest since {self.waiting_since}{limit}"
        if self.failed:
            tries = "1 run failed" if self.failed == 1 else f"{self.failed} runs failed"
            return f"{told}; since then {tries}, the last {self.failed_at}: {self.reason}"
        is_silent = self.is_stale and self.last is not None
        return f"{told}; since then no run has ended" if is_silent else told


def automation_state(store: Store, now: datetime) -> Automation:
    """Look at the automation of this machine."""
    said = night_log.read(store)
    now = now.astimezone(UTC)
    good = _moment(said.good)
    is_future = good is not None and good > now + _SLACK
    last = good
    if good is None or is_future:  # when it last changed something here, as the ledger has it
        found = (_moment(e.at) for e in ledger.entries(store.flow) if e.command == "consolidate")
        last = max((at for at in found if at is not None and at <= now + _SLACK), default=None)
    waiting = sorted(moment for text in _waiting(store) if (moment := _moment(text)) is not None)
    since = last
    if last is not good or good is None:  # where nothing waits, nothing had to be done
        since = max(filter(None, (last, waiting[0]))) if waiting else None
    max_age = store.settings.status.max_age
    return Automation(
        is_stale=since is not None and (now - since) / timedelta(hours=1) > max_age,
        last=_text(last),
        hours=None if last is None else max(0.0, (now - last) / timedelta(hours=1)),
        max_age=max_age,
        failed=said.failed,
        failed_at=said.failed_at,
        reason=said.reason,
        waiting=len(waiting),
        waiting_since=_text(waiting[0] if waiting else None),
        future=said.good if is_future else None,
    )


def _waiting(store: Store) -> Iterator[str]:
    """When the store got each pending episode, and the first turn of each open conversation."""
    graph = shards.load_graph(store.graphs(), logs.load_tombstones(store), "episode")
    pending = {
        record.id
        for record in graph.records.values()
        if isinstance(record, EpisodeRecord) and record.stage == "pending"
    }
    for flow in store.flows() if pending else []:
        for path in episode_files.files(flow):
            if path.stem.partition("-")[2] in pending:
                with contextlib.suppress(DamagedStoreError):  # said elsewhere
                    yield episode_files.read(path).recorded_at
    for path in inbox.files(store.inbox):
        turns = inbox.read(path).turns
        if turns:
            yield turns[0].recorded_at


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _ago(hours: float) -> str:
    """How long ago that is.

    >>> _ago(0.5), _ago(30.2), _ago(80)
    ('30 min ago', '30 h ago', '3 days ago')
    """
    if hours < 1:
        return f"{hours * 60:.0f} min ago"
    return f"{hours:.0f} h ago" if hours < 48 else f"{hours / 24:.0f} days ago"
