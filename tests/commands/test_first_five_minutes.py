"""The session in the README, typed word by word, gives what stands there."""

import re
import shlex
import shutil
from pathlib import Path

from processes import Cli

ROOT = Path(__file__).parents[2]
VARIES = re.compile(r"\b[0-9a-f]{12}\b|\d{4}-\d\d-\d\d \d\d:\d\d")
"""Ids, which depend on the time, and times."""


def session() -> list[tuple[str, str]]:
    """The commands of the README's session, and what each prints."""
    text = (ROOT / "README.md").read_text("utf-8")
    block = text.partition("<!-- session:")[2].partition("```console\n")[2].partition("```")[0]
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, told) for command, _, told in (part.partition("\n") for part in parts)]


def test_it_goes_as_the_readme_says(bare: Cli) -> None:
    shutil.copy(ROOT / "fixtures" / "garden.md", bare.folder)
    commands = session()
    assert len(commands) >= 6
    for command, told in commands:
        program, *words = shlex.split(command)
        assert program == "clsm"
        done = bare.ok(*words)
        # What is said beside the data is shown where there is no data.
        now = (done.out or done.err).replace(bare.environment["HOME"], "~")
        now = re.sub(r"/flow/[\w-]+/", "/flow/pi/", now)
        lines = [line.rstrip() for line in now.splitlines()]
        assert VARIES.sub("…", "\n".join(lines)) == VARIES.sub("…", told.rstrip("\n")), command
