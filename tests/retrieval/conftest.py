"""The sample memory as a store, for tests that change it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from clsm_cli.store import layout

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store


@pytest.fixture
def sample(made_store: Path, tmp_path: Path) -> Store:
    """A copy of the sample store that a test may change."""
    root = tmp_path / "memory"
    shutil.copytree(made_store, root)
    return layout.open_store(root, {"CLSM_DEVICE": "pi"})
