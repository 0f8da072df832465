"""The shipped graphs are those of the pinned model and of what was fitted."""

from collections.abc import Iterable
from pathlib import Path

import onnx
import pytest

from clsm_cli.embedding.weights import WEIGHTS
from clsm_cli.heads import cross_encoder
from scripts.build_graph import build_cross_encoder


@pytest.mark.parametrize("name", ["pair", "answer", "pair_int8", "statement_int8"])
def test_the_graph_is_built_from_the_pinned_model_and_what_was_fitted(
    name: str, model_folder: Path
) -> None:
    shipped = Path(cross_encoder.WEIGHTS, f"{name}.onnx").read_bytes()
    fitted = {each.name: onnx.numpy_helper.to_array(each) for each in _fitted(shipped)}
    in_steps = name.endswith("_int8")
    assert build_cross_encoder(model_folder / WEIGHTS.name, fitted, in_steps=in_steps) == shipped


@pytest.mark.usefixtures("model_folder")
def test_in_whole_numbers_it_makes_no_difference_what_a_pair_is_read_with() -> None:
    pairs = [("I live in York.", "I moved to Leeds."), ("I like tea.", "The ice melts.")]
    head = cross_encoder.load_for_many("pair")
    assert head.read(pairs) == [*head.read(pairs[:1]), *head.read(pairs[1:])]


def _fitted(graph: bytes) -> Iterable[onnx.TensorProto]:
    tensors = onnx.load_from_string(graph).graph.initializer
    return (each for each in tensors if each.data_type == onnx.TensorProto.FLOAT16)
