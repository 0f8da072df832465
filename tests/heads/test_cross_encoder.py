"""The shipped graphs are those of the pinned model and of what was fitted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import pytest

from clsm_cli.embedding.pins import WEIGHTS
from clsm_cli.heads import cross_encoder
from scripts.build_graph import build_cross_encoder

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.mark.parametrize("name", ["pair", "statement"])
def test_the_graph_is_built_from_the_pinned_model_and_what_was_fitted(
    name: str, model_folder: Path
) -> None:
    shipped = Path(cross_encoder.WEIGHTS, f"{name}.onnx").read_bytes()
    fitted = {each.name: onnx.numpy_helper.to_array(each) for each in _fitted(shipped)}
    assert build_cross_encoder(model_folder / WEIGHTS.name, fitted) == shipped


def _fitted(graph: bytes) -> Iterable[onnx.TensorProto]:
    tensors = onnx.load_from_string(graph).graph.initializer
    return (each for each in tensors if each.data_type == onnx.TensorProto.FLOAT16)
