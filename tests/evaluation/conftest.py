"""A workshop with the real model."""

from pathlib import Path

import pytest
from ingesting import embedder
from sample_store import query_engine

from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine


def _workshop(folder: Path) -> StoreFactory:
    return StoreFactory(folder, embedder(), progress=lambda *_: None)


@pytest.fixture
def factory(tmp_path: Path) -> StoreFactory:
    return _workshop(tmp_path / "work")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> StoreFactory:
    """A workshop whose stores several tests ask."""
    return _workshop(tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="session")
def engine(model_folder: Path) -> Engine:
    return query_engine()
