"""Those that start a job at night: put it there, take it out, say whether it is there.

Each is asked through its own program: ``systemctl --user``, ``crontab``, ``openclaw cron``.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clsm_cli.errors import BadInputError
from clsm_cli.integrations import schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clsm_cli.integrations.schedule import Job

_BOOTED = Path("/run/systemd/system")
"""sd_booted(3): this folder is there where systemd is the init system."""
_SECONDS = 60


class Scheduler(Protocol):
    """One of those.

    Attributes:
        name: As the user calls it.
    """

    name: str

    def command(self, name: str) -> list[str] | None:
        """The command line of a job; None when it is not there."""

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
        self._programs = _Programs(environment)
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

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: systemd refused.
            DiskError: A unit cannot be written.
        """
        for name, text in schedule.units(job).items():
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
        units = schedule.units(job).items()
        return [line for n, t in units for line in (f"{self._folder / n}:", *t.splitlines(), "")]


class Crontab:
    """The user's crontab."""

    name = "crontab"

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Know where programs are."""
        self._programs = _Programs(environment)

    def is_there(self) -> bool:
        """Whether there is a crontab program."""
        return self._programs.has("crontab")

    def command(self, name: str) -> list[str] | None:
        """See ``Scheduler``."""
        line = schedule.crontab_line(self._text(), name)
        return None if line is None else _words(line)

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: crontab refused; the old one stays.
        """
        self._put(schedule.crontab_with(self._text(), job, self._programs.polite()))

    def remove(self, name: str) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: crontab refused; the old one stays.
        """
        self._put(schedule.crontab_without(self._text(), name))

    def plan(self, job: Job) -> list[str]:
        """See ``Scheduler``."""
        return schedule.crontab_with("", job, self._programs.polite()).splitlines()

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
        self._programs = _Programs(environment)

    def is_there(self) -> bool:
        """Whether there is an openclaw program."""
        return self._programs.has("openclaw")

    def command(self, name: str) -> list[str] | None:
        """See ``Scheduler``."""
        job = self._job(name)
        argv = (job or {}).get("payload", {}).get("argv")
        return argv if isinstance(argv, list) else None if job is None else []

    def install(self, job: Job) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: OpenClaw refused, or no gateway runs.
        """
        options = schedule.openclaw_options(job, self._programs.polite())
        self._programs.run("openclaw", "cron", "add", *options, "--json")

    def remove(self, name: str) -> None:
        """See ``Scheduler``.

        Raises:
            BadInputError: OpenClaw refused, or no gateway runs.
        """
        job = self._job(name)
        if job is not None:
            self._programs.run("openclaw", "cron", "rm", str(job["id"]))

    def plan(self, job: Job) -> list[str]:
        """See ``Scheduler``."""
        options = schedule.openclaw_options(job, self._programs.polite())
        return [shlex.join(["openclaw", "cron", "add", *options])]

    def _job(self, name: str) -> dict[str, Any] | None:
        words = ("openclaw", "cron", "list", "--all", "--json")
        told = self._programs.run(*words)
        try:
            jobs = json.loads(told)["jobs"]
            return next((job for job in jobs if job.get("name") == name), None)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._programs.failed(words, told) from None


def _words(line: str) -> list[str]:
    """A command line as words; one that a hand has spoiled as it is."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


class _Programs:
    """Programs found along the user's PATH."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, "NO_COLOR": "1"}

    def has(self, name: str) -> bool:
        return self._path(name) is not None

    def polite(self) -> list[str]:
        """What makes a program wait for all others, as far as it is there."""
        found = []
        for name, *options in (("nice", "-n", "10"), ("ionice", "-c", "3")):
            path = self._path(name)
            found += [] if path is None else [path, *options]
        return found

    def run(self, *words: str, stdin: str = "") -> str:
        done = self.start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self.failed(words, done.stderr or done.stdout)
        return done.stdout

    def start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
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
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(" ".join(words[:2]), reason, "see: clsm schedule install --help")

    def _path(self, name: str) -> str | None:
        return shutil.which(name, path=self._environment.get("PATH"))
