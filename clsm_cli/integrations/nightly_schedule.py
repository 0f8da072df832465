"""The nightly job as systemd units, a crontab line, or options of OpenClaw's cron. Plain data.

All three run the same command line, which does nothing where a run has succeeded since the hour last
came. So the crontab may run it every hour, and a night that was missed, or failed, is caught up.
"""

from __future__ import annotations

import re
import shlex
from datetime import UTC, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

FIRST, LAST = 2 * 60 + 45, 3 * 60 + 29
"""Minutes of the day in which nothing is started: OpenClaw dreams at 03:00 and rewrites its notes."""
TIMEOUT = 1800
"""Seconds that a run may take."""
ADVICE_TIMEOUT = 900
"""Seconds that an agent may take to advise the memory."""
ADVISER = "-adviser"
"""Behind the name of a store's job: that of its adviser's."""
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


class Job(NamedTuple):
    """A nightly run.

    Attributes:
        name: Of the job; one store has one name.
        store: The folder of the memory.
        minute: When, in minutes of the day, local time.
        command: What runs it, without a search along PATH.
        environment: What it needs of the environment.
        advice: What an agent is to do before; "" where none is asked.
    """

    name: str
    store: str
    minute: int
    command: tuple[str, ...]
    environment: Mapping[str, str]
    advice: str = ""

    @property
    def hour(self) -> str:
        """When, as ``03:30``."""
        return f"{self.minute // 60:02}:{self.minute % 60:02}"


def minute_of(text: str) -> int | None:
    """The minute of the day that a time names; None when it is none.

    >>> minute_of("03:30"), minute_of("3:30"), minute_of("24:00")
    (210, None, None)
    """
    match = _TIME.fullmatch(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def is_dreaming_time(minute: int) -> bool:
    """Whether OpenClaw dreams then.

    >>> is_dreaming_time(180), is_dreaming_time(210)
    (True, False)
    """
    return FIRST <= minute <= LAST


def is_dreaming_at(moment: datetime) -> bool:
    """Whether OpenClaw dreams at a local time."""
    return is_dreaming_time(moment.hour * 60 + moment.minute)


def due_of(command: Sequence[str]) -> int | None:
    """The minute of the day for which a command line runs; None when it names none.

    >>> due_of(["clsm", "schedule", "run", "--due", "03:30"])
    210
    """
    return next((minute_of(b) for a, b in pairwise(command) if a == "--due"), None)


def systemd_units(job: Job) -> dict[str, str]:
    """The unit files of systemd by name: systemd.service(5), systemd.timer(5).

    A night that was missed comes when the machine is up again (``Persistent``); one that failed, or
    found the memory locked, is tried again three times.
    """
    settings = [f"{name}={value}" for name, value in job.environment.items()]
    lines = "".join(f"Environment={_quoted(_percent(each))}\n" for each in settings)
    command = " ".join(_quoted(_percent(word).replace("$", "$$")) for word in job.command)
    service = f"""[Unit]
Description=clsm: nightly run of {_percent(job.store)}
StartLimitIntervalSec=6h
StartLimitBurst=4

[Service]
Type=oneshot
{lines}ExecStart={command}
Restart=on-failure
RestartSec=30min
TimeoutStartSec={TIMEOUT}
Nice=10
IOSchedulingClass=idle
"""
    timer = f"""[Unit]
Description=clsm: every night at {job.hour}

[Timer]
OnCalendar=*-*-* {job.hour}:00
Persistent=true

[Install]
WantedBy=timers.target
"""
    return {f"{job.name}.service": service, f"{job.name}.timer": timer}


def crontab_with(text: str, job: Job, polite: Sequence[str]) -> str:
    """A crontab with the job, once, behind all else: crontab(5)."""
    begin, end = _marks(job.name)
    settings = [f"{name}={value}" for name, value in job.environment.items()]
    before = ["/usr/bin/env", *settings] if settings else []
    # A per cent sign would end the command.
    line = shlex.join([*before, *polite, *job.command]).replace("%", r"\%")
    block = f"{begin}\n{job.minute % 60} * * * * {line}\n{end}\n"
    rest = crontab_without(text, job.name)
    return f"{rest}{'' if not rest or rest.endswith(chr(10)) else chr(10)}{block}"


def crontab_without(text: str, name: str) -> str:
    """A crontab without the job; all else stays byte for byte."""
    block = _block(name)
    return block.sub("", text)


def crontab_line(text: str, name: str) -> str | None:
    """The command line of the job in a crontab; None when it is not there, or commented out."""
    entry = _entry(text, name)
    return None if entry is None else entry[5].replace(r"\%", "%")


def crontab_starts(text: str, name: str, now: datetime) -> Iterator[datetime]:
    """When the job in a crontab starts in the next two days; of a line edited beyond an hour, nothing.

    Args:
        text: Of the crontab.
        name: Of the job.
        now: Local time, with offset.
    """
    minute, hour, *days = (_entry(text, name) or ["", ""])[:5]
    if not minute.isdecimal() or not (hour == "*" or hour.isdecimal()) or days != ["*"] * 3:
        return
    for hours in range(49):
        moment = (now.astimezone(UTC) + timedelta(hours=hours)).astimezone(now.tzinfo)
        if hour == "*" or int(hour) == moment.hour:
            start = moment.replace(minute=int(minute) % 60, second=0, microsecond=0)
            if start.astimezone(UTC) > now.astimezone(UTC):  # also in an hour that comes twice
                yield start


def openclaw_options(job: Job, polite: Sequence[str]) -> list[str]:
    """The options of ``openclaw cron add``; the declaration key makes a second time no second job."""
    import json

    environment = [
        word
        for name, value in job.environment.items()
        for word in ("--command-env", f"{name}={value}")
    ]
    return [
        *("--name", job.name, "--declaration-key", job.name),
        *("--cron", f"{job.minute % 60} {job.minute // 60} * * *", "--exact"),
        *("--command-argv", json.dumps([*polite, *job.command])),
        *environment,
        *("--timeout-seconds", str(TIMEOUT), "--no-deliver"),
    ]


def advice_minute(minute: int) -> int:
    """When an adviser is asked: an hour before the night, or when OpenClaw has dreamt.

    >>> advice_minute(210), advice_minute(255), advice_minute(30)
    (150, 210, 1410)
    """
    before = (minute - 60) % (24 * 60)
    return LAST + 1 if is_dreaming_time(before) else before


def openclaw_advice(job: Job, task: str) -> list[str]:
    """The options of ``openclaw cron add`` for a turn of the agent, in a session of its own."""
    minute = advice_minute(job.minute)
    return [
        *("--name", f"{job.name}{ADVISER}", "--declaration-key", f"{job.name}{ADVISER}"),
        *("--cron", f"{minute % 60} {minute // 60} * * *", "--exact"),
        *("--session", "isolated", "--message", task),
        *("--timeout-seconds", str(ADVICE_TIMEOUT), "--no-deliver"),
    ]


def _marks(name: str) -> tuple[str, str]:
    return f"# {name}: begin (clsm schedule)", f"# {name}: end"


def _entry(text: str, name: str) -> list[str] | None:
    """The five fields and the command of the job's line that is not commented out."""
    match = _block(name).search(text)
    lines = [] if match is None else match[1].splitlines()
    live = [line.split(None, 5) for line in lines if not line.lstrip().startswith("#")]
    return next((words for words in live if len(words) == 6), None)


def _block(name: str) -> re.Pattern[str]:
    begin, end = (re.escape(mark) for mark in _marks(name))
    # Whoever edits the line between the marks keeps the job.
    return re.compile(rf"^{begin}\n((?:.*\n)*?){end}(?:\n|\Z)", re.MULTILINE)


def _quoted(word: str) -> str:
    r"""A word as systemd reads it: systemd.syntax(7), "Quoting".

    >>> _quoted("plain"), _quoted('two "words"')
    ('plain', '"two \\"words\\""')
    """
    if re.fullmatch(r"[\w@%+=:,./$-]+", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _percent(text: str) -> str:
    return text.replace("%", "%%")
