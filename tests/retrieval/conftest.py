"""The sample memory as a store, made once by the real ingest with the real model."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest
from ingesting import embedder
from sample_store import NOW, SAMPLE

from clsm_cli.embedding import weights
from clsm_cli.ingestion.ingest import Request, ingest
from clsm_cli.store import layout
from clsm_cli.store.layout import Store


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds the whole sample memory; tests copy it."""
    weights.install(weights.default_folder())
    root = tmp_path_factory.mktemp("sample") / "memory"
    layout.create(root, "Europe/Amsterdam")
    store = layout.open_store(root, {"CLSM_DEVICE": "pi"})
    request = Request(
        paths=(str(SAMPLE / "workspace"), str(SAMPLE / "sessions")),
        now=datetime.fromisoformat(NOW),
    )
    report = ingest(store, request, embedder(), lambda *_: None)
    assert not report.problems
    return root


@pytest.fixture
def sample(made_store: Path, tmp_path: Path) -> Store:
    """A copy of the sample store that a test may change."""
    root = tmp_path / "memory"
    shutil.copytree(made_store, root)
    return layout.open_store(root, {"CLSM_DEVICE": "pi"})
