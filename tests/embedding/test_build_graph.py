from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clsm_cli.embedding.encoder import GRAPH

pytest.importorskip("onnx")
ROOT = Path(__file__).parents[2]
SIMILARITY = GRAPH.with_name("similarity.onnx")


def test_shipped_graphs_are_what_the_script_builds(model_folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_graph.py")]
    command += [str(model_folder / "model.safetensors"), "--output", str(tmp_path)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    for shipped in (GRAPH, SIMILARITY):
        assert (tmp_path / shipped.name).read_bytes() == shipped.read_bytes()


def test_shipped_graphs_hold_no_weights() -> None:
    assert len(GRAPH.read_bytes()) < 130_000
    assert len(SIMILARITY.read_bytes()) < 1_200
