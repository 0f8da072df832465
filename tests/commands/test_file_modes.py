"""Whatever the umask, each folder of a store has mode 0700 and each file 0600 (promise 14)."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Cli

from clsm_cli.store.atomic import FILE_MODE, FOLDER_MODE

SAID = b'{"role": "user", "session": "main", "content": "I prefer tea.", "time": "2026-03-01T12:00:00Z"}'


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_command_leaves_private_files(bare: Cli, umask: int) -> None:
    store, backup = bare.folder / "memory", bare.folder / "memory.tar.gz"
    (bare.folder / "house.md").write_text("# House\n\n- The boat needs tar.\n")

    def clsm(*words: str | Path, stdin: bytes = b"") -> None:
        subprocess.run(
            [sys.executable, "-m", "clsm_cli", *words, "--store", store],
            env=dict(bare.environment),
            cwd=bare.folder,
            input=stdin,
            umask=umask,
            capture_output=True,
            check=True,
        )

    clsm("init")
    clsm("note", "The spare key hangs in the shed.")
    clsm("ingest", "-", "--capture", stdin=SAID)
    clsm("ingest", "house.md")
    clsm("consolidate")
    clsm("recall", "where is the key")
    clsm("context")
    clsm("decay")
    clsm("undo")
    clsm("backup", backup)
    written = [store, *(path for path in store.rglob("*")), backup]
    assert len(written) > 20
    for path in written:
        wanted = FOLDER_MODE if path.is_dir() else FILE_MODE
        assert stat.S_IMODE(path.lstat().st_mode) == wanted, path
