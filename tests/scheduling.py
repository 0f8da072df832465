"""Programs that start jobs, for tests of ``clsm schedule``: as far as the real ones cannot run here."""

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from processes import Cli, ran

# It keeps a crontab in a file, as the real one does in a folder of the system that tests must not
# change; test_schedule_command tries the real one as a user who has none.
CRONTAB = """#!/bin/sh
case "$1" in
  -l) cat "$HOME/tab" 2>/dev/null || { echo "no crontab for me" >&2; exit 1; } ;;
  -) cat > "$HOME/tab.new" && mv "$HOME/tab.new" "$HOME/tab" ;;
esac
"""
# They write down what they are asked: neither systemd nor a gateway runs here.
SYSTEMCTL = '#!/bin/sh\necho "$@" >> "$HOME/systemctl.log"\n'
OPENCLAW = """#!/bin/sh
echo "$@" >> "$HOME/openclaw.log"
case "$2" in
  list) cat "$HOME/jobs.json" ;;
esac
"""


def on_path(cli: Cli) -> Cli:
    path = f"{cli.folder / 'bin'}{os.pathsep}{cli.environment['PATH']}"
    return replace(cli, environment={**cli.environment, "PATH": path})


def in_forks(cli: Cli) -> Cli:
    """The same with the steps of a night as forks."""
    return replace(cli, program="forking:in_steps")


def put(cli: Cli, name: str, script: str) -> None:
    program = cli.folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(script)
    program.chmod(0o700)


def home(cli: Cli) -> Path:
    return Path(cli.environment["HOME"])


def tab(cli: Cli) -> str:
    return (home(cli) / "tab").read_bytes().decode()


def line_of(cli: Cli) -> str:
    """The command of the job, as cron would hand it to a shell."""
    [line] = [row for row in tab(cli).splitlines() if "schedule run" in row]
    return line.split(" ", 5)[5].replace(r"\%", "%")


def as_cron(cli: Cli, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line as cron does: a shell with next to nothing in its environment.

    It is in a zone in which OpenClaw does not dream now.
    """
    zone = "Etc/GMT-6" if datetime.now(UTC).hour in (2, 3) else "Etc/UTC"
    env = {"HOME": str(home(cli)), "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "TZ": zone}
    return ran("/bin/sh", "-c", line, env=env, cwd="/")
