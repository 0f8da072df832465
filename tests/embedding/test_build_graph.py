from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clsm_cli.embedding.session import GRAPH

pytest.importorskip("onnx")
ROOT = Path(__file__).parents[2]


def test_shipped_graph_is_what_the_script_builds(model_folder: Path, tmp_path: Path) -> None:
    built = tmp_path / "minilm.onnx"
    command = [sys.executable, str(ROOT / "scripts" / "build_graph.py")]
    command += [str(model_folder / "model.safetensors"), "--output", str(built)]
    subprocess.run(command, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    assert built.read_bytes() == GRAPH.read_bytes()


def test_shipped_graph_holds_no_weights() -> None:
    assert len(GRAPH.read_bytes()) < 30_000
