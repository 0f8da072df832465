"""What tests of consolidation share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ingesting import new_store

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "memory")
