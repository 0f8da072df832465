import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clsm_cli.errors import DamagedStoreError, DiskError, RefusedError
from clsm_cli.store import atomic

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_an_exception_at_any_step_leaves_the_old_file_and_no_temp_file(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.md"
    atomic.put(path, b"old")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            atomic.put(path, b"new")
    assert path.read_bytes() == b"old"
    if step != "fchmod":  # there the file is closed but stays, and the next put takes it away
        assert os.listdir(tmp_path) == ["note.md"]
    for data in (b"new\0\xff", b""):
        atomic.put(path, data)
        assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["note.md"]


@pytest.mark.parametrize("change", [b"by hand", None])
def test_a_file_that_changed_is_not_overwritten(tmp_path: Path, change: bytes | None) -> None:
    path = tmp_path / "note.md"
    path.write_bytes(b"read")
    digest = atomic.digest_of(path)
    if change is None:
        path.unlink()
    else:
        path.write_bytes(change)
    with pytest.raises(RefusedError, match="was changed while clsm worked"):
        atomic.put(path, b"new", read_as=digest)
    assert (path.read_bytes() if path.exists() else None) == change


def test_an_appended_line_is_kept_apart_from_a_torn_one(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    atomic.append(log, b'{"n": 1}')
    with log.open("ab") as file:
        file.write(b'\n{"n": 2, "to')
    atomic.append(log, b'{"n": 3}', durable=False)
    lines = [line for line in log.read_bytes().split(b"\n") if line]
    assert lines == [b'{"n": 1}', b'{"n": 2, "to', b'{"n": 3}']


def test_size_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * 2049)
    assert atomic.read(path, 2049) == b"x" * 2049
    with pytest.raises(DamagedStoreError, match="is larger than 2 KiB"):
        atomic.read(path, 2048)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "symlink": lambda path: path.symlink_to("target"),
    "dangling symlink": lambda path: path.symlink_to("nowhere"),
    "FIFO": os.mkfifo,
    "folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("operation", ["read", "digest_of", "append", "put"])
def test_only_regular_files_are_read_and_written(tmp_path: Path, kind: str, operation: str) -> None:
    path = tmp_path / "special"
    (tmp_path / "target").write_bytes(b"precious")
    SPECIAL[kind](path)
    calls: dict[str, Any] = {
        "read": lambda: atomic.read(path, 99),
        "digest_of": lambda: atomic.digest_of(path),
        "append": lambda: atomic.append(path, b"{}"),
        "put": lambda: atomic.put(path, b"x", read_as=atomic.sha256(b"precious")),
    }
    with pytest.raises(DamagedStoreError, match=r"is (a symbolic link|not a regular file)"):
        calls[operation]()
    assert not (tmp_path / "nowhere").exists()
    assert (tmp_path / "target").read_bytes() == b"precious"


def test_put_replaces_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    path, target = tmp_path / "link", tmp_path / "target"
    target.write_bytes(b"precious")
    path.symlink_to(target)
    atomic.put(path, b"new")
    assert (target.read_bytes(), path.is_symlink()) == (b"precious", False)


def test_a_file_in_the_place_of_a_folder_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "flow").write_bytes(b"")
    for path in (tmp_path / "flow", tmp_path / "flow" / "pi"):
        with pytest.raises(DiskError):
            atomic.make_folder(path)


def test_an_unwritable_folder_is_one_plain_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    atomic.put(folder / "note.md", b"old")
    if os.geteuid() == 0:
        # root may write anywhere but into /proc
        with pytest.raises(DiskError, match="then run the same command again"):
            atomic.put(Path("/proc/clsm/note.md"), b"new")
        return
    folder.chmod(0o500)
    with pytest.raises(DiskError, match="Permission denied"):
        atomic.put(folder / "note.md", b"new")
    folder.chmod(0o700)
    assert (folder / "note.md").read_bytes() == b"old"


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_is_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    """A name is durable only once its folder is synced, a line once its file is."""
    code = (
        "from pathlib import Path; from clsm_cli.store import atomic; here = Path.cwd()\n"
        "atomic.put(here / 'note.md', b'text')\n"
        "atomic.put_all({here / 'a.md': b'text', here / 'b.md': b'text'})\n"
        "atomic.append(here / 'log.jsonl', b'{}'); atomic.append(here / 'log.jsonl', b'{}')"
    )
    traced = ("strace", "-y", "-e", "trace=fsync,rename,renameat,renameat2,write")
    done = subprocess.run(
        [*traced, "-o", "/dev/stderr", sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = done.stderr.replace(f"{tmp_path}/", "").replace(f"{tmp_path}>", ".>")
    call = re.compile(r'^(\w+?)(?:at2?)?\([^<"\n]*[<"]([^>"\n]+)[>"].* = [04]$', re.MULTILINE)
    put = ["write .tmp-note.md", "fsync .tmp-note.md", "rename .tmp-note.md", "fsync ."]
    both = ["fsync .tmp-a.md", "rename .tmp-a.md", "fsync .tmp-b.md", "rename .tmp-b.md", "fsync ."]
    both = ["write .tmp-a.md", "write .tmp-b.md", *both]
    grown = ["write log.jsonl", "fsync log.jsonl"]
    found = [f"{name} {path}" for name, path in call.findall(told)]
    assert found == [*put, *both, *grown, "fsync .", *grown]


def test_a_full_disk_costs_nothing_that_was_there(mount: Callable[[str], Path]) -> None:
    small_disk = mount("size=256k")
    note, log, ballast = small_disk / "note.md", small_disk / "log.jsonl", small_disk / "ballast"
    atomic.put(note, b"old")
    atomic.append(log, b'{"n": 1}')
    refused = 0
    for size in range(1, 90):
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            file.write(b"x" * 4096)
        try:
            atomic.put(note, b"new" * 3000)
        except DiskError:
            refused += 1
        assert note.read_bytes() in (b"old", b"new" * 3000)
        before, record = log.read_bytes(), b'{"n": "%s"}' % (b"y" * 100 * size)
        try:
            atomic.append(log, record)
        except DiskError as error:
            refused += 1
            assert "free some space" in str(error)  # noqa: PT017
        else:
            assert log.read_bytes().endswith(record + b"\n")
        assert log.read_bytes().startswith(before)
    assert refused > 10
    atomic.remove(ballast)  # deletion works on a full disk
    atomic.put(note, b"again")
    atomic.append(log, b'{"n": 2}')
    assert note.read_bytes() == b"again"
    assert log.read_bytes().endswith(b'\n{"n": 2}\n')
    assert ".tmp-note.md" not in os.listdir(small_disk)


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system has no posix_fadvise")
def test_a_line_that_need_not_be_durable_is_on_its_way_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else Linux keeps it for 30 s; the rig ``powercut`` shows the loss on a real file system."""
    asked = []
    fadvise = os.posix_fadvise

    def spy(fd: int, offset: int, length: int, advice: int) -> None:
        asked.append((os.readlink(f"/proc/self/fd/{fd}"), offset, length, advice))
        fadvise(fd, offset, length, advice)

    monkeypatch.setattr(os, "posix_fadvise", spy)
    atomic.append(tmp_path / "log", b"one")
    assert asked == []
    atomic.append(tmp_path / "log", b"two", durable=False)
    assert asked == [(str(tmp_path / "log"), 0, 0, os.POSIX_FADV_DONTNEED)]
