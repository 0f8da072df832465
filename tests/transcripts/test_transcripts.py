"""Golden sessions: every ``*.session`` file is typed into a real shell and must read the same.

``$ `` begins a command, ``> `` a line of standard output, ``! `` of standard error, ``= `` an exit
code other than 0; the rest is comment. The commands of a file run one after the other in one new
folder that holds a copy of the sample memory. ``pytest --update-transcripts`` writes what they do
now: read the diff.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import TIMEOUT, Cli, Done

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SESSIONS = sorted(HERE.glob("*.session"))
CLSM = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m clsm_cli "$@"\n'
DIGEST = """#!/bin/sh
# One line for a folder's every file, name and byte, what sqlite keeps open beside its database aside.
cd "$1" && find . -type f ! -name '*.sqlite-*' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum
"""
SCRUBBED = (
    # The store's id is made of its path and the machine's id; run and answer ids hash it, or scores.
    (re.compile(r'(\(id |"id": ")[0-9a-f]{12}(?=, device|", "created)'), r"\1STORE-ID"),
    (re.compile(r'"store_id": "[0-9a-f]{12}"'), '"store_id": "STORE-ID"'),
    (re.compile(r"\brun-[0-9a-f]{12}\b"), "run-ID"),
    (re.compile(r'(?<="route": )"[^"]*(pip|hub|path)[^"]*"'), '"ROUTE"'),
    (re.compile(r'"r-[0-9a-f]{12}"'), '"r-ID"'),
    # Another processor multiplies with other rounding: scores are the same to two decimals.
    (re.compile(r"\b([01]\.[0-9]{2})[0-9]+\b"), r"\1"),
)
"""What may differ between machines."""
_SHELL = frozenset("|<>;&$`(){}*?~\\")
"""Characters that mean something to a shell."""


def test_there_are_sessions() -> None:
    assert len(SESSIONS) >= 5


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_session(session: Path, bare: Cli, request: pytest.FixtureRequest) -> None:
    text = session.read_text(encoding="utf-8")
    _prepare(bare)
    now = "".join(_played(line, bare) for line in text.splitlines(keepends=True))
    if request.config.getoption("--update-transcripts"):
        session.write_text(now, encoding="utf-8")
    else:
        assert now == text


def _prepare(cli: Cli) -> None:
    sample = ROOT / "fixtures" / "sample"
    for name in ("workspace", "sessions"):
        shutil.copytree(sample / name, cli.folder / name)
    shutil.copytree(ROOT / "fixtures" / "damaged", cli.folder / "damaged")
    tools = cli.folder.parent / "bin"
    tools.mkdir()
    for name, script in (("clsm", CLSM), ("digest", DIGEST)):
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)


def _played(line: str, cli: Cli) -> str:
    """A command and what it does now; what it did when the file was written is left out."""
    if line.startswith(("> ", ">\n", "! ", "!\n", "= ")):
        return ""
    if not line.startswith("$ "):
        return line
    done = _typed(line[2:].strip(), cli)
    code = f"= {done.code}\n" if done.code else ""
    out, err = _scrubbed(done.out, cli), _scrubbed(done.err, cli)
    return line + _marked(">", out) + _marked("!", err) + code


def _typed(text: str, cli: Cli) -> Done:
    """What a shell makes of it; a plain command needs none, and begins without importing clsm anew."""
    path = f"{cli.folder.parent / 'bin'}:{cli.environment['PATH']}"
    more = {"CLSM_STORE": "memory", "PATH": path}
    if text.startswith("clsm ") and not _SHELL & {*text}:
        return cli(*shlex.split(text)[1:], **more)
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=cli.folder,
        env={**cli.environment, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def _marked(mark: str, text: str) -> str:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


def _scrubbed(text: str, cli: Cli) -> str:
    text = text.replace(str(cli.folder), "WORK").replace(cli.environment["CLSM_MODEL_DIR"], "MODEL")
    text = text.replace(cli.environment["HOME"], "HOME")
    for pattern, replacement in SCRUBBED:
        text = pattern.sub(replacement, text)
    return text
