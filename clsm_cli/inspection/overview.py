"""The state of a store, and whether its nightly consolidation still runs (``clsm status``).

A successful run counts, even one without work (``store.night_log``). If none is known, as after a restore,
the last run in the ledger counts, but only if something waits: an idle store is not stale. Times in
the future are ignored: a clock was wrong.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import inbox, ledger, logs, night_log
from clsm_cli.store.index.evidence_queries import pending_since
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.postings import store_counts
from clsm_cli.store.layout import Store

_SLACK = timedelta(minutes=5)  # tolerance for clocks that differ or are set back


class Overview(NamedTuple):
    """The state of a store, with id, command and state of the runs of this machine, newest first.

    ``is_kept``: the preimages of a run exist, so it can be undone.
    """

    root: str
    store_id: str
    device: str
    time_zone: str
    counts: dict[str, int]
    unembedded: int
    problems: tuple[dict[str, Any], ...]  # files that could not be parsed: path, line, reason
    runs: tuple[dict[str, Any], ...]


def overview(store: Store) -> Overview:
    """Summarise a store; its index is updated, by words only, if the lock is free."""
    with open_index(store, None) as opened:
        held = store_counts(opened.index.connection)
        unembedded = opened.index.vectors.waiting
        problems = list(opened.index.problems())
    torn = logs.rows(store.flow / ledger.FILE)[1]
    problems += [(str(p.path.relative_to(store.root)), p.line, p.reason) for p in torn]
    listed = []
    for entry in reversed(ledger.entries(store.flow)):
        state: dict[str, Any] = {"at": entry.at, "files": len(entry.paths)}
        is_kept = not entry.is_final and ledger.is_saved(store, entry)
        state |= {"undone_by": entry.undone_by, "undo_of": entry.undoes, "is_kept": is_kept}
        listed.append({"id": entry.id, "command": entry.command, "state": state})
    named = tuple(dict(zip(("path", "line", "reason"), p, strict=True)) for p in problems)
    who = (str(store.root), store.store_id, store.device, store.zone_name)
    return Overview(*who, held, unembedded, named, tuple(listed))


class Automation(NamedTuple):
    """State of the nightly consolidation; times are UTC."""

    is_stale: bool
    last: str | None  # when one last succeeded, ``hours`` ago; None: never, or unknown
    hours: float | None
    max_age: float
    failed: int  # number of failed runs since, the last at ``failed_at``
    failed_at: str | None
    reason: str | None
    waiting: int  # number of pending episodes and open conversations
    waiting_since: str | None
    future: str | None  # A recorded success later than now, which is ignored
    held: str | None  # what waits for a person to decide

    def sentence(self, zone: tzinfo) -> str:
        """The state in one sentence, with times by the clock of a zone."""
        last, future, waiting_since, failed_at = (
            clocks.local_time(time, zone)
            for time in (self.last, self.future, self.waiting_since, self.failed_at)
        )
        limit = f" (at most {self.max_age:g} h)" if self.is_stale else ""
        text = "never consolidated"
        if self.last is not None and self.hours is not None:
            text = f"last consolidated {last}, {_ago(self.hours)}{limit}"
            limit = ""
        if self.future is not None:
            text += f"; a run is dated {future}, in the future: a clock is or was wrong"
        if self.waiting:
            text += f"; waiting: {self.waiting}, the oldest since {waiting_since}{limit}"
        if self.failed:
            tries = "1 run failed" if self.failed == 1 else f"{self.failed} runs failed"
            return f"{text}; since then {tries}, the last {failed_at}: {self.reason}"
        is_silent = self.is_stale and self.last is not None
        return f"{text}; since then no run has ended" if is_silent else text


def automation_state(store: Store, now: datetime) -> Automation:
    """State of this machine's nightly consolidation at ``now``."""
    said = night_log.read(store)
    now = now.astimezone(UTC)
    good = clocks.instant(said.good)
    is_future = good is not None and good > now + _SLACK
    last = good
    if good is None or is_future:  # fall back to the last change in the ledger
        nights = (e.at for e in ledger.entries(store.flow) if e.command == "consolidate")
        found = map(clocks.instant, nights)
        last = max((at for at in found if at is not None and at <= now + _SLACK), default=None)
    waiting = sorted(filter(None, map(clocks.instant, _waiting(store))))
    since = last
    if last is not good or good is None:  # if nothing waits, no run was needed
        since = max(filter(None, (last, waiting[0]))) if waiting else None
    max_age = store.settings.status.max_age
    return Automation(
        is_stale=since is not None and (now - since) / timedelta(hours=1) > max_age,
        last=None if last is None else clocks.utc_text(last),
        hours=None if last is None else max(0.0, (now - last) / timedelta(hours=1)),
        max_age=max_age,
        failed=said.failed,
        failed_at=said.failed_at,
        reason=said.reason,
        waiting=len(waiting),
        waiting_since=clocks.utc_text(waiting[0]) if waiting else None,
        future=said.good if is_future else None,
        held=said.held,
    )


def _waiting(store: Store) -> Iterator[str]:
    """When each pending episode, and the first turn of each open conversation, was recorded."""
    with open_index(store, None) as opened:
        yield from pending_since(opened.index.connection)
    for path in inbox.files(store.inbox):
        turns = inbox.read(path).turns
        if turns:
            yield turns[0].recorded_at


def _ago(hours: float) -> str:
    """Elapsed time in words.

    >>> _ago(0.5), _ago(30.2), _ago(80)
    ('30 min ago', '30 h ago', '3 days ago')
    """
    if hours < 1:
        return f"{hours * 60:.0f} min ago"
    return f"{hours:.0f} h ago" if hours < 48 else f"{hours / 24:.0f} days ago"
