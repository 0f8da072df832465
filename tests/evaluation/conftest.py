"""A workshop with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingesting import embedder

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine


@pytest.fixture
def factory(tmp_path: Path) -> StoreFactory:
    return StoreFactory(tmp_path / "work", embedder(), None, fresh=False, progress=lambda *_: None)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> StoreFactory:
    """A workshop whose stores several tests ask."""
    folder = tmp_path_factory.mktemp("work")
    return StoreFactory(folder, embedder(), None, fresh=False, progress=lambda *_: None)


@pytest.fixture(scope="session")
def engine(model_folder: Path) -> Engine:
    opened = QueryEngine()
    opened.open()
    return opened
