"""OpenClaw is told of a night that failed, once, and of what a good one changed; never at its cost."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.commands import render_news, run_night
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import UsageError
from clsm_cli.ingestion.report import utc
from clsm_cli.integrations import wake
from clsm_cli.store import nights

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.integrations.wake import Wake
    from clsm_cli.store.layout import Store

_FIRST = timedelta(minutes=30)
"""A run that starts so soon after its hour is the first of the night."""


def wake_of(url: str | None, token_file: str | None) -> Wake | None:
    """What the two options name together; None where neither is given.

    Raises:
        UsageError: One lacks the other.
    """
    if url is None and token_file is None:
        return None
    if url is None:
        raise UsageError("--wake-token", "goes with --wake, the address it is for")
    if token_file is None:
        raise UsageError(
            "--wake", "needs --wake-token, the file with the token of OpenClaw's hooks"
        )
    return wake.Wake(url, os.path.abspath(os.path.expanduser(token_file)))


def check(wanted: Wake, store: Store) -> None:
    """Whether it can work, before it is put into a schedule.

    Raises:
        BadInputError: The token cannot be read, or others can read it.
        UsageError: The token may not be sent to that address, or would be committed.
    """
    fault = wake.fault_of(wanted.url)
    if fault is not None:
        raise UsageError("--wake", fault)
    wake.token(wanted.token_file)
    if Path(wanted.token_file).resolve().is_relative_to(store.root.resolve()):
        raise UsageError(
            "--wake-token", "lies in the memory, which is committed; move it elsewhere"
        )


def ended(
    wanted: Wake, store: Store, now: datetime, minute: int | None, reason: str | None
) -> bool | None:
    """Tell of a night that failed for a reason, see ``tell``; without one, of what it changed."""
    if reason is not None:
        return tell(wanted, store, now, minute, reason)
    _report(wanted, store, now)
    return None


def _report(wanted: Wake, store: Store, now: datetime) -> None:
    """Leave for the agent's next heartbeat what a night changed or ended, if anything."""
    lines = render_news.brief(store, utc(now), now, only_changes=True)
    text = f"Last night memory changed: {wake.quoted(' '.join(lines))}. See: clsm log"
    problem = wake.send(wanted, text, "next-heartbeat") if lines else None
    if problem is not None:
        Printer().warn(f"no wake sent to {wanted.url}: {problem}")


def tell(
    wanted: Wake, store: Store | None, now: datetime, minute: int | None, reason: str
) -> bool | None:
    """Wake OpenClaw; whether that worked, None where it was told of this night before.

    Args:
        wanted: Where to.
        store: Whose night it was; None when it could not be opened.
        now: When it began, local time.
        minute: Of the day at which nights begin; None: this one was asked for by hand.
        reason: Why it failed.
    """
    told_at = None if store is None else nights.read(store).woken
    if minute is not None and run_night.is_of_tonight(told_at, now, minute):
        return None
    is_kept = store is not None and nights.woken(store, utc(now))
    # What cannot be written down would be told every hour.
    if minute is not None and not is_kept and now - run_night.began(now, minute) >= _FIRST:
        return None
    problem = wake.send(wanted, f"The nightly run of clsm failed: {wake.quoted(reason)}.")
    if problem is not None:
        Printer().warn(f"no wake sent to {wanted.url}: {problem}")
        if store is not None and is_kept:
            nights.woken(store, None, problem)
    return problem is None
