"""The installed model, and copies of it to damage."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def model_folder() -> Path:
    folder = weights.default_folder()
    weights.install(folder)
    return folder


@pytest.fixture
def model_copy(model_folder: Path, tmp_path: Path) -> Iterator[Path]:
    """A model folder of its own; removed at once, since pytest keeps 90 MB for three runs."""
    folder = tmp_path / "model"
    weights.install(folder, model_folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def encoder(model_folder: Path) -> Encoder:
    return Encoder.open(model_folder, threads=1)
