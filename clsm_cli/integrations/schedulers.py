"""Schedulers that can start a job at night: systemd, cron, and OpenClaw's cron.

Each is asked through its own program, found along the user's PATH.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clsm_cli.errors import BadInputError
from clsm_cli.integrations import nightly_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from clsm_cli.integrations.nightly_schedule import Job

_SECONDS = 60


class Programs:
    """Programs found along the user's PATH."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Know where to look, and what they see."""
        self._environment = {**environment, "NO_COLOR": "1"}

    def has(self, name: str) -> bool:
        """Whether there is such a program."""
        return self._path(name) is not None

    def polite(self) -> list[str]:
        """What makes a program wait for all others, as far as it is there."""
        found = []
        for name, *options in (("nice", "-n", "10"), ("ionice", "-c", "3")):
            path = self._path(name)
            found += [] if path is None else [path, *options]
        return found

    def run(self, *words: str, stdin: str = "") -> str:
        """What a program prints.

        Raises:
            BadInputError: It failed, or cannot be started.
        """
        done = self.start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self.failed(words, done.stderr or done.stdout)
        return done.stdout

    def start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """How a program ends.

        Raises:
            BadInputError: It does not, or cannot be started.
        """
        try:
            done = subprocess.run(
                [self._path(words[0]) or words[0], *words[1:]],
                env=self._environment,
                input=stdin.encode("utf-8", "surrogateescape"),
                capture_output=True,
                check=False,
                timeout=_SECONDS,
            )
            out, err = (b.decode("utf-8", "surrogateescape") for b in (done.stdout, done.stderr))
            return subprocess.CompletedProcess(done.args, done.returncode, out, err)
        except subprocess.TimeoutExpired:
            raise self.failed(words, f"did not end within {_SECONDS} s") from None
        except OSError as error:
            raise self.failed(words, error.strerror or "cannot be started") from None

    def failed(self, words: tuple[str, ...], told: str) -> BadInputError:
        """The sentence that says so, with the last line of what it printed."""
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(" ".join(words[:2]), reason, "see: clsm schedule install --help")

    def _path(self, name: str) -> str | None:
        return shutil.which(name, path=self._environment.get("PATH"))


_BOOTED = Path("/run/systemd/system")
"""sd_booted(3): this folder is there where systemd is the init system."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC")
_LIST = ("openclaw", "cron", "list", "--all", "--json")


class Scheduler(Protocol):
    """One of those.

    Attributes:
        name: As the user calls it.
    """

    name: str

    def command(self, name: str) -> list[str] | None:
        """The command line of a job; None when it is not there."""

    def starts(self, name: str, now: datetime) -> Iterable[datetime]:
        """When it starts a job from now (local time) on, the next first; nothing when nobody can tell."""

    def install(self, job: Job) -> None:
        """Put a job there, in place of one of the same name."""

    def remove(self, name: str) -> None:
        """Take a job out."""

    def plan(self, job: Job) -> list[str]:
        """What would be put there, in lines."""


class Systemd:
    """The user's own systemd."""

    name = "systemd"

    def __init__(
        self, environment: Mapping[str, str], write: Callable[[Path, bytes], None]
    ) -> None:
        """Keep what writes a file whole or not at all."""
        self._programs = Programs({**environment, "TZ": "UTC"})  # in which it prints times
        self._write = write
        config = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        self._folder = Path(config) / "systemd" / "user"

    def is_there(self) -> bool:
        """Whether it runs and would listen to this user."""
        if not _BOOTED.is_dir() or not self._programs.has("systemctl"):
            return False
        return self._programs.start("systemctl", "--user", "show-environment").returncode == 0

    def command(self, name: str) -> list[str] | None:
        """See ``Scheduler``."""
        try:
            text = (self._folder / f"{name}.service").read_text("utf-8", "replace")
        except OSError:
            return None
        lines = [
            line.removeprefix("ExecStart=") for line in text.splitlines() if "ExecStart=" in line
        ]
        return _words(lines[0].replace("%%", "%").replace("$$", "$")) if lines else None

    def starts(self, name: str, now: datetime) -> list[datetime]:  # noqa: ARG002
        """See ``Scheduler``.

        Raises:
            BadInputError: systemd refused.
        """
        asked = ("show", f"{name}.timer", "--property=NextElapseUSecRealtime")
        found = _TIME.search(self._programs.run("systemctl", "--user", *asked))
        return [datetime.fromisoformat(f"{found[1]}T{found[2]}Z")] if found else []

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: systemd refused.
            DiskError: A unit cannot be written.
        """
        for name, text in nightly_schedule.systemd_units(job).items():
            self._write(self._folder / name, text.encode())
        self._programs.run("systemctl", "--user", "daemon-reload")
        self._programs.run("systemctl", "--user", "enable", "--now", f"{job.name}.timer")

    def remove(self, name: str) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: systemd refused.
        """
        self._programs.run("systemctl", "--user", "disable", "--now", f"{name}.timer")
        for kind in ("service", "timer"):
            (self._folder / f"{name}.{kind}").unlink(missing_ok=True)
        self._programs.run("systemctl", "--user", "daemon-reload")

    def plan(self, job: Job) -> list[str]:
        """See ``Scheduler``."""
        units = nightly_schedule.systemd_units(job).items()
        return [line for n, t in units for line in (f"{self._folder / n}:", *t.splitlines(), "")]


class Crontab:
    """The user's crontab."""

    name = "crontab"

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Know where programs are."""
        self._programs = Programs(environment)

    def is_there(self) -> bool:
        """Whether there is a crontab program."""
        return self._programs.has("crontab")

    def command(self, name: str) -> list[str] | None:
        """See ``Scheduler``."""
        line = nightly_schedule.crontab_line(self._text(), name)
        return None if line is None else _words(line)

    def starts(self, name: str, now: datetime) -> Iterable[datetime]:
        """See ``Scheduler``."""
        return nightly_schedule.crontab_starts(self._text(), name, now)

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: crontab refused; the old one stays.
        """
        self._put(nightly_schedule.crontab_with(self._text(), job, self._programs.polite()))

    def remove(self, name: str) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: crontab refused; the old one stays.
        """
        self._put(nightly_schedule.crontab_without(self._text(), name))

    def plan(self, job: Job) -> list[str]:
        """See ``Scheduler``."""
        return nightly_schedule.crontab_with("", job, self._programs.polite()).splitlines()

    def _text(self) -> str:
        done = self._programs.start("crontab", "-l")
        if done.returncode == 0:
            return done.stdout
        if "no crontab for" in done.stderr:
            return ""
        raise self._programs.failed(("crontab", "-l"), done.stderr)

    def _put(self, text: str) -> None:
        self._programs.run("crontab", "-", stdin=text)


class OpenClawCron:
    """The automations of a running OpenClaw gateway."""

    name = "openclaw"

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Know where programs are."""
        self._programs = Programs(environment)

    def is_there(self) -> bool:
        """Whether there is an openclaw program."""
        return self._programs.has("openclaw")

    def command(self, name: str) -> list[str] | None:
        """See ``Scheduler``."""
        job = self._job(name)
        argv = (job or {}).get("payload", {}).get("argv")
        return argv if isinstance(argv, list) else None if job is None else []

    def starts(self, name: str, now: datetime) -> list[datetime]:  # noqa: ARG002
        """See ``Scheduler``.

        Raises:
            BadInputError: OpenClaw refused, or no gateway runs.
        """
        job = self._job(name)
        at = (job or {}).get("state", {}).get("nextRunAtMs")
        return [datetime.fromtimestamp(at / 1000, UTC)] if isinstance(at, int) else []

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: OpenClaw refused, or no gateway runs.
        """
        for options in self._options(job):
            self._programs.run("openclaw", "cron", "add", *options, "--json")
        if not job.advice:
            self._remove(f"{job.name}{nightly_schedule.ADVISER}")

    def remove(self, name: str) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: OpenClaw refused, or no gateway runs.
        """
        for each in (name, f"{name}{nightly_schedule.ADVISER}"):
            self._remove(each)

    def plan(self, job: Job) -> list[str]:
        """See ``Scheduler``."""
        return [shlex.join(["openclaw", "cron", "add", *each]) for each in self._options(job)]

    def _options(self, job: Job) -> list[list[str]]:
        """Of what is added: the night, and before it the adviser, if one is wanted."""
        advice = [nightly_schedule.openclaw_advice(job, job.advice)] if job.advice else []
        return [nightly_schedule.openclaw_options(job, self._programs.polite()), *advice]

    def _remove(self, name: str) -> None:
        job = self._job(name)
        if job is not None:
            self._programs.run("openclaw", "cron", "rm", str(job["id"]))

    def _job(self, name: str) -> dict[str, Any] | None:
        try:
            return next((job for job in self._jobs["jobs"] if job.get("name") == name), None)
        except (KeyError, TypeError, AttributeError):
            raise self._programs.failed(_LIST, "it lists its jobs in no form known") from None

    @cached_property
    def _jobs(self) -> Any:
        """All of them; asked once, it takes seconds."""
        told = self._programs.run(*_LIST)
        try:
            return json.loads(told)
        except ValueError:
            raise self._programs.failed(_LIST, told) from None


def _words(line: str) -> list[str]:
    """A command line as words; one that a hand has spoiled as it is."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
