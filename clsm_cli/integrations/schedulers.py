"""The nightly job, and the schedulers that can start it: systemd, cron, and OpenClaw's cron.

All run the same command line, which does nothing if a run has succeeded since its hour last came. So
the crontab can run it hourly, and a missed or failed night is caught up. Each scheduler is queried
through its own program on the user's PATH.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from clsm_cli.integrations.other_program import OtherProgram
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

DREAM_START, DREAM_END = 2 * 60 + 45, 3 * 60 + 29
"""Minutes of the day in which no job starts: OpenClaw dreams at 03:00 and rewrites its notes."""
TIMEOUT = 1800  # maximum seconds of a run
ADVICE_TIMEOUT = 900  # maximum seconds of an agent's turn as adviser
ADVISER_SUFFIX = "-adviser"  # suffix of the adviser's job, after the name of the store's job
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_PROGRAM_TIMEOUT = 60  # maximum seconds of a call to a scheduler's program
_BOOTED = Path("/run/systemd/system")  # sd_booted(3): it exists if systemd is the init system
OPENCLAW = "openclaw"
_LIST = ("openclaw", "cron", "list", "--all", "--json")


class Job(NamedTuple):
    """A nightly run at a minute of the day, local time; ``advice``: task of an agent before it."""

    name: str
    store: str
    minute: int
    command: tuple[str, ...]
    environment: Mapping[str, str]
    advice: str = ""

    @property
    def hour(self) -> str:
        """The time of day, as ``03:30``."""
        return f"{self.minute // 60:02}:{self.minute % 60:02}"

    @property
    def settings(self) -> list[str]:
        """The environment, as ``NAME=VALUE``."""
        return [f"{name}={value}" for name, value in self.environment.items()]


def minute_of(text: str) -> int | None:
    """The minute of the day of a time HH:MM; None if it is invalid.

    >>> minute_of("03:30"), minute_of("3:30"), minute_of("24:00")
    (210, None, None)
    """
    match = _TIME.fullmatch(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def is_dreaming_time(minute: int) -> bool:
    """Whether OpenClaw dreams at that minute.

    >>> is_dreaming_time(180), is_dreaming_time(210)
    (True, False)
    """
    return DREAM_START <= minute <= DREAM_END


def next_due(command: Sequence[str], now: datetime) -> str | None:
    """When a command line is next due, local time; None without ``--due``.

    >>> from datetime import datetime
    >>> next_due(["clsm", "schedule", "run", "--due", "03:30"], datetime(2026, 3, 2, 12))
    '2026-03-03T03:30:00'
    """
    minute = next((minute_of(b) for a, b in pairwise(command) if a == "--due"), None)
    return None if minute is None else (last_time(minute, now) + timedelta(days=1)).isoformat()


def last_time(minute: int, now: datetime) -> datetime:
    """The last occurrence of a minute of the day, local time."""
    at = now.replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
    return at - timedelta(days=int(at > now))


def systemd_units(job: Job) -> dict[str, str]:
    """Name → content of systemd's unit files: systemd.service(5), systemd.timer(5).

    A missed night runs after the next boot (``Persistent``); one that failed, or found the memory
    locked, is retried three times.
    """
    lines = "".join(f"Environment={_quoted(each)}\n" for each in job.settings)
    command = " ".join(_quoted(word).replace("$", "$$") for word in job.command)
    service = f"""[Unit]
Description=clsm: nightly run of {job.store.replace("%", "%%")}
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


def crontab_with(text: str, job: Job, low_priority: Sequence[str]) -> str:
    """A crontab with the job once, at the end: crontab(5)."""
    begin, end = _marks(job.name)
    before = ["/usr/bin/env", *job.settings] if job.settings else []
    # An unescaped per cent sign ends the command.
    line = shlex.join([*before, *low_priority, *job.command]).replace("%", r"\%")
    block = f"{begin}\n{job.minute % 60} * * * * {line}\n{end}\n"
    rest = crontab_without(text, job.name)
    return f"{rest}{'' if not rest or rest.endswith(chr(10)) else chr(10)}{block}"


def crontab_without(text: str, name: str) -> str:
    """A crontab without the job; other lines are unchanged."""
    return _block(name).sub("", text)


def openclaw_options(job: Job, low_priority: Sequence[str]) -> list[list[str]]:
    """Options of ``openclaw cron add`` for the job, and for the agent's turn before it.

    The declaration key makes a repeated add idempotent. The agent runs in a separate session.
    """

    def at(name: str, minute: int) -> list[str]:
        when = f"{minute % 60} {minute // 60} * * *"
        return ["--name", name, "--declaration-key", name, "--cron", when, "--exact"]

    argv = json.dumps([*low_priority, *job.command])
    night = [*at(job.name, job.minute), "--command-argv", argv]
    night += [word for each in job.settings for word in ("--command-env", each)]
    found = [[*night, "--timeout-seconds", str(TIMEOUT), "--no-deliver"]]
    if job.advice:
        adviser = at(f"{job.name}{ADVISER_SUFFIX}", advice_minute(job.minute))
        adviser += ["--session", "isolated", "--message", job.advice]
        found.append([*adviser, "--timeout-seconds", str(ADVICE_TIMEOUT), "--no-deliver"])
    return found


def advice_minute(minute: int) -> int:
    """When the adviser runs: an hour before the night, or right after OpenClaw's dreaming time.

    >>> advice_minute(210), advice_minute(255), advice_minute(30)
    (150, 210, 1410)
    """
    before = (minute - 60) % (24 * 60)
    return DREAM_END + 1 if is_dreaming_time(before) else before


def _marks(name: str) -> tuple[str, str]:
    return f"# {name}: begin (clsm schedule)", f"# {name}: end"


def _block(name: str) -> re.Pattern[str]:
    begin, end = (re.escape(mark) for mark in _marks(name))
    # A user may edit the line between the marks.
    return re.compile(rf"^{begin}\n((?:.*\n)*?){end}(?:\n|\Z)", re.MULTILINE)


def _quoted(word: str) -> str:
    r"""A word quoted for systemd: systemd.syntax(7), "Quoting"; a per cent sign starts a specifier.

    >>> _quoted("plain"), _quoted('100% "words"')
    ('plain', '"100%% \\"words\\""')
    """
    word = word.replace("%", "%%")
    if re.fullmatch(r"[\w@%+=:,./$-]+", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Scheduler:
    """A scheduler; methods raise BadInputError if its program fails or cannot be started."""

    name: str  # its name in ``--by``
    _program: str

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Take PATH, and the environment of its programs."""
        self._other = OtherProgram(
            environment, _PROGRAM_TIMEOUT, "see: clsm schedule install --help"
        )
        config = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        self._folder = Path(config) / "systemd" / "user"

    def is_there(self) -> bool:
        """Whether it can be used on this machine."""
        return self._other.path(self._program) is not None

    def command(self, name: str) -> list[str] | None:
        """The command line of a job; None if there is no such job."""
        raise NotImplementedError

    def install(self, job: Job) -> None:
        """Install a job, replacing one of the same name."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Remove a job."""
        raise NotImplementedError

    def plan(self, job: Job) -> list[str]:
        """What ``install`` would write, in lines."""
        raise NotImplementedError

    def _low_priority(self) -> list[str]:
        """The prefix that runs a program at low priority, as far as its tools are installed."""
        known = (("nice", "-n", "10"), ("ionice", "-c", "3"))
        paths = ((self._other.path(name), options) for name, *options in known)
        return [word for path, options in paths if path for word in (path, *options)]


class _Systemd(Scheduler):
    name, _program = "systemd", "systemctl"

    def is_there(self) -> bool:
        if not _BOOTED.is_dir() or not super().is_there():
            return False
        return self._other.start("systemctl", "--user", "show-environment").returncode == 0

    def command(self, name: str) -> list[str] | None:
        try:
            text = (self._folder / f"{name}.service").read_text("utf-8", "replace")
        except OSError:
            return None
        line = next((each for each in text.splitlines() if "ExecStart=" in each), None)
        if line is None:
            return None
        return _words(line.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "$"))

    def install(self, job: Job) -> None:
        for name, text in systemd_units(job).items():
            atomic.put(self._folder / name, text.encode())
        self._other.run("systemctl", "--user", "daemon-reload")
        self._other.run("systemctl", "--user", "enable", "--now", f"{job.name}.timer")

    def remove(self, name: str) -> None:
        self._other.run("systemctl", "--user", "disable", "--now", f"{name}.timer")
        for kind in ("service", "timer"):
            (self._folder / f"{name}.{kind}").unlink(missing_ok=True)
        self._other.run("systemctl", "--user", "daemon-reload")

    def plan(self, job: Job) -> list[str]:
        units = systemd_units(job).items()
        return [line for n, t in units for line in (f"{self._folder / n}:", *t.splitlines(), "")]


class _Crontab(Scheduler):
    name = _program = "crontab"

    def command(self, name: str) -> list[str] | None:
        block = _block(name).search(self._text())
        lines = block[1].splitlines() if block else []
        live = [line.split(None, 5) for line in lines if not line.lstrip().startswith("#")]
        line = next((words[5] for words in live if len(words) == 6), None)
        return None if line is None else _words(line.replace(r"\%", "%"))

    def install(self, job: Job) -> None:
        text = crontab_with(self._text(), job, self._low_priority())
        self._other.run("crontab", "-", stdin=text)

    def remove(self, name: str) -> None:
        self._other.run("crontab", "-", stdin=crontab_without(self._text(), name))

    def plan(self, job: Job) -> list[str]:
        return crontab_with("", job, self._low_priority()).splitlines()

    def _text(self) -> str:
        done = self._other.start("crontab", "-l")
        if done.returncode == 0:
            return done.stdout
        if "no crontab for" in done.stderr:
            return ""
        raise self._other.failure(("crontab", "-l"), done.stderr)


class _OpenClawCron(Scheduler):
    name = _program = OPENCLAW

    def command(self, name: str) -> list[str] | None:
        job = self._job(name)
        argv = (job or {}).get("payload", {}).get("argv")
        return argv if isinstance(argv, list) else None if job is None else []

    def install(self, job: Job) -> None:
        for options in openclaw_options(job, self._low_priority()):
            self._other.run("openclaw", "cron", "add", *options, "--json")
        if not job.advice:
            self._remove(f"{job.name}{ADVISER_SUFFIX}")

    def remove(self, name: str) -> None:
        for each in (name, f"{name}{ADVISER_SUFFIX}"):
            self._remove(each)

    def plan(self, job: Job) -> list[str]:
        every = openclaw_options(job, self._low_priority())
        return [shlex.join(["openclaw", "cron", "add", *options]) for options in every]

    def _remove(self, name: str) -> None:
        job = self._job(name)
        if job is not None:
            self._other.run("openclaw", "cron", "rm", str(job["id"]))

    def _job(self, name: str) -> dict[str, Any] | None:
        try:
            return next((job for job in self._jobs["jobs"] if job.get("name") == name), None)
        except (KeyError, TypeError, AttributeError):
            raise self._other.failure(_LIST, "it lists its jobs in no form known") from None

    @cached_property
    def _jobs(self) -> Any:
        """All jobs; queried once, since it takes seconds."""
        output = self._other.run(*_LIST)
        try:
            return json.loads(output)
        except ValueError:
            raise self._other.failure(_LIST, output) from None


def all_schedulers(environment: Mapping[str, str]) -> list[Scheduler]:
    """All known schedulers, in order of preference; OpenClaw's is last."""
    return [each(environment) for each in (_Systemd, _Crontab, _OpenClawCron)]


def _words(line: str) -> list[str]:
    """A command line as words; split at blanks if its quoting is broken."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
