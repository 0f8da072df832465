from __future__ import annotations

import os
from pathlib import Path

import pytest
from model_files import NAMES, flip_byte, names

from clsm_cli.embedding import weights
from clsm_cli.embedding.pins import NAME as STAMP
from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_flipped_byte_is_found_at_the_start(model_copy: Path, name: str) -> None:
    flip_byte(model_copy / name)
    with pytest.raises(ModelDigestError, match="clsm model install --force"):
        weights.check(model_copy)
    assert weights.status(model_copy).installed
    assert not weights.status(model_copy).verified


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
        weights.install(tmp_path / "file", tmp_path)


def test_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLSM_MODEL_DIR", raising=False)
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert weights.default_folder() == Path("/h/.local/share/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    assert weights.default_folder() == Path("/d/clsm/models/all-MiniLM-L6-v2")
    monkeypatch.setenv("CLSM_MODEL_DIR", "~/m")
    assert weights.default_folder() == Path("/h/m")
