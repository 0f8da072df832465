"""What the nightly job does: consolidate, decay, commit and push, each step told and none hidden."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from clsm_cli.commands.runtime import program
from clsm_cli.errors import ClsmError, LockedError
from clsm_cli.records import NamedTuple
from clsm_cli.store import git_commit, nights
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.store.layout import Store


_SLACK = timedelta(minutes=5)
"""By which clocks may be set back."""


class Step(NamedTuple):
    """How a step of a night ended.

    Attributes:
        name: Of the step.
        code: Its exit code, 0 where all went well.
        told: What it printed, the last line where it failed.
    """

    name: str
    code: int
    told: str


def is_due(store: Store, now: datetime, minute: int) -> bool:
    """Whether no run has succeeded, in all its steps, since this minute of the day last came.

    Args:
        store: Whose.
        now: Local time, with offset.
        minute: Of the day.
    """
    last = nights.read(store)
    return bool(last.failed) or not is_of_tonight(last.good, now, minute)


def is_of_tonight(time: str | None, now: datetime, minute: int) -> bool:
    """Whether a time of the record axis lies behind this minute of the day when it last came."""
    try:
        # A clock ahead proves nothing.
        return began(now, minute) <= datetime.fromisoformat(time or "") <= now + _SLACK
    except (ValueError, TypeError):
        return False


def began(now: datetime, minute: int) -> datetime:
    """When this minute of the day last came."""
    due = now.replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
    return due if due <= now else due - timedelta(days=1)


def steps(
    store: Store, options: Sequence[str], *, catch_up: bool, commit: bool, push: bool, message: str
) -> Iterator[Step]:
    """Do one after the other. What failed does not keep the next from its work, but a busy memory does.

    Args:
        store: Whose.
        options: For each command.
        catch_up: Take in OpenClaw's transcripts first.
        commit: Commit to git at the end.
        push: And push.
        message: Of the commit.
    """
    commands = [["consolidate"], ["decay"]]
    if catch_up:
        commands.insert(0, ["ingest", "--openclaw"])
    for command in commands:
        step = _command([*command, "--store", str(store.root), *options])
        yield step
        if step.code == LockedError.exit_code:
            return
    if commit:
        yield _git(store, "commit", message)
    if push:
        yield _git(store, "push", message)


def _command(words: Sequence[str]) -> Step:
    """A process of its own: what ends one step, even a fault of clsm itself, ends no other."""
    done = subprocess.run(
        [*program(), *words], capture_output=True, text=True, errors="replace", check=False
    )
    told = done.stdout if done.returncode == 0 else done.stderr or done.stdout
    lines = [line for line in told.splitlines() if line.strip()]
    text = "\n".join(lines if done.returncode == 0 else lines[-1:])
    if done.returncode and not text:
        text = f"ended with code {done.returncode} and said nothing"  # killed: minus the signal
    return Step(words[0], done.returncode, text.removeprefix("clsm: "))


def _git(store: Store, name: str, message: str) -> Step:
    try:
        if name == "push":
            return Step("git push", 0, f"pushed to {git_commit.push(store.root)}")
        with locked(store.root, store.settings.store.lock_wait):
            is_new = git_commit.commit(store.root, message)
        return Step("git commit", 0, "committed" if is_new else "nothing new to commit")
    except ClsmError as error:
        return Step(f"git {name}", error.exit_code, str(error))
