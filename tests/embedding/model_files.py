"""What tests of a model folder share: damage, and processes that install into one."""

import os
import subprocess
import sys
from pathlib import Path

from clsm_cli.embedding.weights import RECORD_NAME as STAMP

ROOT = Path(__file__).parents[2]
NAMES = {"model.safetensors", "vocab.txt", STAMP}
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "",
    "PIP_CONFIG_FILE": os.devnull,
}


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def flip_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(50_000)
        (byte,) = file.read(1)
        file.seek(50_000)
        file.write(bytes([byte ^ 1]))


def python(code: str, env: dict[str, str] | None = None, *, umask: int = -1) -> str:
    """Run code in a process of its own; give what it prints, errors by class and exit code."""
    body = "\n".join(f"    {line}" for line in code.splitlines())
    script = (
        "from pathlib import Path\nfrom clsm_cli.embedding import download\n"
        "from clsm_cli.embedding.encoder import Encoder\nfrom clsm_cli.errors import ClsmError\n"
        f"try:\n{body}\n"
        "except ClsmError as error: print(type(error).__name__, error.exit_code, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
        umask=umask,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd="/",
    )
    return done.stdout if done.returncode == 0 else f"{done.stdout}exit {done.returncode}"


def install(folder: Path, source: Path | None = None, more: str = "") -> str:
    given = f"Path({str(source)!r})" if source else "None"
    return f"print(download.install(Path({str(folder)!r}), {given}{more}).changed)"
