"""What the shipped head says of two sentences, and that its graph is that of the pinned model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import pytest

from clsm_cli.embedding.onnx_session import Session
from clsm_cli.embedding.pins import VOCABULARY, WEIGHTS
from clsm_cli.heads.pair_head import GRAPH, RELATIONS, PairHead
from scripts.build_graph import build_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.fixture(scope="module")
def head(model_folder: Path) -> PairHead:
    graph, vocabulary = Path(GRAPH).read_bytes(), (model_folder / VOCABULARY.name).read_bytes()
    return PairHead(Session(graph, model_folder), vocabulary)


@pytest.mark.parametrize(
    ("relation", "old", "new", "asked"),
    [
        (
            "update",
            "I work at the mill.",
            "I left the mill and drive a bus now.",
            "where do I work",
        ),
        ("update", "Rent: 900", "Rent: 950", ""),
        ("same", "Our dog is called Rex.", "The name of our dog is Rex.", ""),
        ("both", "Kim lives in Ghent.", "Kim's brother lives in Leiden.", "where does Kim live"),
        ("unrelated", "The rent is 900.", "An owl called after midnight.", ""),
    ],
)
def test_the_likeliest_is_right(
    head: PairHead, relation: str, old: str, new: str, asked: str
) -> None:
    found = head.relation(old, new, asked)
    assert RELATIONS[found.index(max(found))] == relation
    assert sum(found) == pytest.approx(1, abs=1e-3)


def test_the_graph_is_built_from_the_pinned_model_and_what_was_fitted(model_folder: Path) -> None:
    shipped = Path(GRAPH).read_bytes()
    fitted = {each.name: onnx.numpy_helper.to_array(each) for each in _fitted(shipped)}
    assert build_pairs(model_folder / WEIGHTS.name, fitted) == shipped


def _fitted(graph: bytes) -> Iterable[onnx.TensorProto]:
    tensors = onnx.load_from_string(graph).graph.initializer
    return (each for each in tensors if each.data_type == onnx.TensorProto.FLOAT16)
