import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clsm_cli.errors import RefusedError
from clsm_cli.store.lock import locked, require, try_locked

ROOT = Path(__file__).parents[2]
HOLD = """
import subprocess, sys, time
from pathlib import Path
from clsm_cli.store.lock import locked
with locked(Path(sys.argv[1]), 5):
    if sys.argv[2] == "child":
        subprocess.Popen(["sleep", "20"], close_fds=False, stdout=subprocess.DEVNULL)
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def hold(root: Path, seconds: float, what: str = "alone") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root), what, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        process_group=0,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = hold(tmp_path, 30)
    yield process
    process.kill()
    process.communicate()


def test_trying_does_not_wait(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with try_locked(tmp_path) as is_held:
        assert not is_held
    holder.kill()
    holder.wait()
    with try_locked(tmp_path) as is_held:
        assert is_held


def test_a_child_does_not_inherit_the_lock(tmp_path: Path) -> None:
    process = hold(tmp_path, 30, "child")
    process.kill()
    process.wait()
    try:
        with locked(tmp_path, 1):
            pass
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the child sleeps on
        process.communicate()


def test_who_waited_for_a_folder_that_was_replaced_gets_the_new_ones_lock(tmp_path: Path) -> None:
    """A backup is put back while somebody waits; another one has locked what is there now."""
    root = tmp_path / "memory"
    root.mkdir()
    entered = threading.Event()

    def wait() -> None:
        with locked(root, 30):
            entered.set()

    with contextlib.ExitStack() as old, contextlib.ExitStack() as new:
        old.enter_context(locked(root, 1))
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.1)
        root.rename(tmp_path / "old")
        root.mkdir()
        new.enter_context(try_locked(root))
        old.close()
        assert not entered.wait(0.3)
        new.close()
        assert entered.wait(30)
    waiting.join()


def test_a_holder_may_not_write_to_a_folder_that_took_the_place_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    with locked(root, 1):
        require(root)
        root.rename(tmp_path / "old")
        with pytest.raises(RefusedError, match="moved or replaced"):
            require(root)
        root.mkdir()
        with pytest.raises(RefusedError, match="moved or replaced"):
            require(root)
        with try_locked(root) as is_free:
            assert is_free
    require(root)
