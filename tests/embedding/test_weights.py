import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
from model_files import NAMES, ROOT, flip_byte, install, names, python

from clsm_cli.embedding import download, weights
from clsm_cli.embedding.weights import RECORD_NAME as STAMP
from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_flipped_byte_is_found_at_the_start(model_copy: Path, name: str) -> None:
    flip_byte(model_copy / name)
    with pytest.raises(ModelDigestError, match="clsm model install --force"):
        weights.check(model_copy)
    assert weights.status(model_copy).installed
    assert not weights.status(model_copy).verified


def test_a_missing_file(model_copy: Path, model_folder: Path) -> None:
    for name in ("model.safetensors", "vocab.txt"):
        (model_copy / name).unlink()
        with pytest.raises(ModelMissingError):
            weights.check(model_copy)
        assert not weights.status(model_copy).installed
        shutil.copy(model_folder / name, model_copy)


def test_a_link_in_place_of_the_weights(model_folder: Path, model_copy: Path) -> None:
    path = model_copy / "model.safetensors"
    path.unlink()
    path.symlink_to(model_folder / "model.safetensors")
    with pytest.raises(ModelDigestError, match="it is a link"):
        weights.check(model_copy)
    assert download.install(model_copy, model_folder).changed
    assert not path.is_symlink()


def test_a_pipe_or_a_folder_in_place_of_the_weights(model_copy: Path) -> None:
    path = model_copy / "model.safetensors"
    for make in (os.mkfifo, os.mkdir):
        path.unlink()
        make(path)
        with pytest.raises(ModelDigestError, match="no file at all"):
            weights.check(model_copy)


def test_a_copied_model_is_hashed_once(model_copy: Path) -> None:
    for record in (None, b"", b"[1]", b'{"files": {"vocab.txt": 3}}', b"[" * 100_000):
        if record is None:
            os.utime(model_copy / "model.safetensors")
        else:
            (model_copy / STAMP).write_bytes(record)
        assert not weights.status(model_copy).verified
        weights.check(model_copy)
        assert weights.status(model_copy).verified
    assert names(model_copy) == NAMES


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(ModelMissingError):
            weights.check(folder)
        with pytest.raises(ModelMissingError):
            weights.verify(folder)
        assert not weights.status(folder).installed
    with pytest.raises(DiskError):
        download.install(tmp_path / "file", tmp_path)


def test_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLSM_MODEL_DIR", raising=False)
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert weights.default_folder() == Path("/h/.local/share/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    assert weights.default_folder() == Path("/d/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("CLSM_MODEL_DIR", "~/m")
    assert weights.default_folder() == Path("/h/m")


# What an install leaves, and who may have one.
NOBODY = 65534


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_modes_do_not_depend_on_the_umask(model_folder: Path, model_copy: Path, umask: int) -> None:
    folder = model_copy / "new" / "folder"
    assert python(install(folder, model_folder), umask=umask) == "True\n"
    modes = [entry.stat().st_mode & 0o777 for entry in (folder.parent, folder, *folder.iterdir())]
    assert modes == [0o700, 0o700, *[0o600] * len(NAMES)]


def _is_open_to_others(folder: Path) -> bool:
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in (folder, *folder.parents))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not _is_open_to_others(ROOT), reason="another user cannot read this clone")
def test_a_folder_that_cannot_be_written(model_copy: Path) -> None:
    """Someone else's model works, with and without a fitting record, and cannot be replaced."""
    model_copy.chmod(0o755)
    for parent in [*model_copy.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o055)
    for entry in model_copy.iterdir():
        entry.chmod(0o644)
    encode = f"print(len(Encoder.open(Path({str(model_copy)!r}), threads=1).encode(['a'])))"
    # Python itself may lie where the other user cannot read: load all that is needed before.
    change = f"import os, clsm_cli.embedding.download\n{encode}\nos.setuid({NOBODY})\n"
    assert python(change + encode) == "1\n1\n"
    assert python(change + install(model_copy)) == "1\nFalse\n"
    assert "DiskError 16" in python(change + install(model_copy, ROOT, ", force=True"))
    touch = f"os.utime({str(model_copy / 'vocab.txt')!r})\n"
    assert python(change.replace("os.setuid", f"{touch}os.setuid") + encode) == "1\n1\n"
    assert not weights.status(model_copy).verified
    weights.verify(model_copy)
    hide = f"os.chmod({str(model_copy / 'vocab.txt')!r}, 0o600)\n"
    assert "DiskError 16" in python(change.replace("os.setuid", f"{hide}os.setuid") + encode)
    assert names(model_copy) == NAMES


def test_a_killed_install_leaves_no_model(model_folder: Path, model_copy: Path) -> None:
    folder = model_copy / "new"
    kill = "__import__('os').kill(__import__('os').getpid(), 9) if done > 5_000_000 else None"
    code = install(folder, model_folder, f", progress=lambda name, done, total: {kill}")
    assert python(code) == f"exit {-signal.SIGKILL}"
    with pytest.raises(ModelMissingError):
        weights.check(folder)
    assert download.install(folder, model_folder).changed
    assert names(folder) == NAMES


def test_an_interrupted_install_cleans_up(model_folder: Path, tmp_path: Path) -> None:
    def interrupt(name: str, done: int, total: int) -> None:
        if done > 5_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download.install(tmp_path / "model", model_folder, progress=interrupt)
    assert names(tmp_path / "model") == set()


def test_installs_at_once(model_folder: Path, model_copy: Path) -> None:
    said: list[str] = []
    code = install(model_copy, model_folder, ", force=True")
    threads = [threading.Thread(target=lambda: said.append(python(code))) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        weights.check(model_copy)
    assert said == ["True\n"] * 3
    weights.verify(model_copy)
    assert weights.status(model_copy).verified
    assert names(model_copy) == NAMES
