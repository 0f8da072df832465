"""Whatever the umask, each folder of a store has mode 0700 and each file 0600 (promise 14)."""

import shlex
import stat

import forking
import pytest
from processes import TIMEOUT, Cli

from clsm_cli.store.atomic import FILE_MODE, FOLDER_MODE

SAID = b'{"role": "user", "session": "main", "content": "I prefer tea.", "time": "2026-03-01T12:00:00Z"}'
COMMANDS = (
    *("init", "note 'The spare key hangs in the shed.'", "ingest - --capture", "ingest house.md"),
    *("consolidate", "recall key", "context", "decay", "undo", "backup memory.tar.gz"),
)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_command_leaves_private_files(bare: Cli, umask: int) -> None:
    store, backup = bare.folder / "memory", bare.folder / "memory.tar.gz"
    (bare.folder / "house.md").write_text("# House\n\n- The boat needs tar.\n")
    forks = forking.forks(bare.environment)
    how = {"seconds": TIMEOUT, "umask": umask}
    for line in COMMANDS:
        words = [*shlex.split(line), "--store", str(store)]
        done = forks.run(words, bare.environment, bare.folder, SAID, **how)
        assert done.code == 0, done.err
    written = [store, *store.rglob("*"), backup]
    assert len(written) > 20
    for path in written:
        wanted = FOLDER_MODE if path.is_dir() else FILE_MODE
        assert stat.S_IMODE(path.lstat().st_mode) == wanted, path
