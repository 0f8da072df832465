"""A workshop with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingesting import embedder

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.evaluation.stores import Workshop
from clsm_cli.retrieval.dense_search import Engine


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "work", embedder(), None, fresh=False, progress=lambda *_: None)


@pytest.fixture(scope="session")
def engine(model_folder: Path) -> Engine:
    opened = QueryEngine()
    opened.open()
    return opened
