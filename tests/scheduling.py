"""Programs that start jobs, for tests of ``clsm schedule``: as far as the real ones cannot run here."""

from __future__ import annotations

import os
from pathlib import Path

from processes import Cli

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
    return type(cli)(cli.folder, {**cli.environment, "PATH": path})


def put(cli: Cli, name: str, script: str) -> None:
    program = cli.folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(script)
    program.chmod(0o700)


def home(cli: Cli) -> Path:
    return Path(cli.environment["HOME"])


def tab(cli: Cli) -> str:
    return (home(cli) / "tab").read_bytes().decode()
