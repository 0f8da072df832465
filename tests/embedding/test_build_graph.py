from pathlib import Path

import numpy as np

from clsm_cli.embedding.encoder import GRAPH
from clsm_cli.embedding.weights import WEIGHTS
from scripts.build_graph import BASIS, build, build_similarity

SIMILARITY = GRAPH.with_name("similarity.onnx")


def test_shipped_graphs_are_what_the_script_builds(model_folder: Path) -> None:
    assert build(model_folder / WEIGHTS.name, np.load(BASIS)) == GRAPH.read_bytes()
    assert build_similarity() == SIMILARITY.read_bytes()


def test_shipped_graphs_hold_no_weights() -> None:
    assert len(GRAPH.read_bytes()) < 130_000
    assert len(SIMILARITY.read_bytes()) < 1_200
