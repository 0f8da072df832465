"""The shipped graphs are those of the pinned model and of what was fitted, and are folded once."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import onnx
import pytest

from clsm_cli.embedding.weights import RECORD_NAME, WEIGHTS
from clsm_cli.errors import HeadMissingError
from clsm_cli.heads import cross_encoder
from scripts.build_graph import build_cross_encoder, build_folding

PAIRS = [("I live in York.", "I moved to Leeds."), ("I like tea.", "The ice melts.")]


@pytest.mark.parametrize("name", cross_encoder.HEADS)
def test_the_graphs_are_built_from_the_pinned_model_and_what_was_fitted(
    name: str, model_folder: Path
) -> None:
    folding, reader = (
        Path(cross_encoder.WEIGHTS, f"{name}{part}.onnx").read_bytes() for part in ("", "_reader")
    )
    fitted = {each.name: onnx.numpy_helper.to_array(each) for each in _fitted(folding)}
    checkpoint = model_folder / WEIGHTS.name
    assert build_folding(checkpoint, fitted) == folding
    assert build_cross_encoder(checkpoint, name, folding) == reader


@pytest.mark.usefixtures("model_folder")
def test_it_makes_no_difference_what_a_pair_is_read_with_or_by_which_session() -> None:
    head = cross_encoder.load("pair", for_many=True)
    assert head.read(PAIRS) == [*head.read(PAIRS[:1]), *head.read(PAIRS[1:])]
    assert head.read(PAIRS) == cross_encoder.load("pair").read(PAIRS)


def test_a_head_is_folded_once_and_replaces_that_of_another_version(own_model: Path) -> None:
    (own_model / "pair-0badf00d.int8").write_bytes(b"of another version")
    head = cross_encoder.load.__wrapped__("pair")
    [folded] = own_model.glob("*.int8")
    before = folded.stat()
    assert cross_encoder.load.__wrapped__("pair").read(PAIRS) == head.read(PAIRS)
    assert folded.stat() == before
    assert before.st_mode & 0o777 == 0o600


def test_where_a_head_can_not_be_folded_the_error_names_the_next_step(own_model: Path) -> None:
    graph = Path(cross_encoder.WEIGHTS, "pair.onnx").read_bytes()
    (own_model / cross_encoder.folded_name("pair", graph)).mkdir()
    with pytest.raises(HeadMissingError, match="run as its owner: clsm model install"):
        cross_encoder.load.__wrapped__("pair")


@pytest.fixture
def own_model(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder of the test's own, without folded heads."""
    folder = tmp_path / "model"
    kept = shutil.ignore_patterns("*.int8", RECORD_NAME)
    shutil.copytree(model_folder, folder, ignore=kept)
    monkeypatch.setenv("CLSM_MODEL_DIR", str(folder))
    return folder


def _fitted(graph: bytes) -> Iterable[onnx.TensorProto]:
    tensors = onnx.load_from_string(graph).graph.initializer
    return (each for each in tensors if each.data_type == onnx.TensorProto.FLOAT16)
