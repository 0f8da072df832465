import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.embedding.encoder import GRAPH, Embedding, Encoder, equal_length_batches
from clsm_cli.embedding.weights import WEIGHTS
from scripts.build_graph import BASIS, build, build_similarity

HERE = Path(__file__).parent
TEXTS: list[str] = json.loads((HERE / "reference_texts.json").read_text())


def _cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Row by row, in float64."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    cosines: np.ndarray = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return cosines


def sentences(encoder: Encoder, texts: list[str]) -> np.ndarray:
    return np.stack([found.sentence for found in encoder.encode(texts)])


def _bits(embedding: Embedding) -> tuple[bytes, bytes, tuple[str, ...]]:
    return embedding.sentence.tobytes(), embedding.tokens.tobytes(), embedding.pieces


@pytest.fixture(scope="module")
def alone(encoder: Encoder) -> dict[str, tuple[bytes, bytes, tuple[str, ...]]]:
    """The bits of each text when it is the only one."""
    return {text: _bits(encoder.encode([text])[0]) for text in TEXTS}


def test_equals_sentence_transformers(encoder: Encoder) -> None:
    with np.load(HERE / "reference.npz") as reference:
        expected = reference["vectors"]
    assert _cosines(sentences(encoder, TEXTS), expected).min() >= 0.999999


def test_a_token_vector_belongs_to_its_piece(encoder: Encoder) -> None:
    (found,) = encoder.encode(["The bank raised its rates."])
    assert found.pieces == ("the", "bank", "raised", "its", "rates", ".")
    (other,) = encoder.encode(["A bank raised its rates."])
    likeness = found.tokens @ other.tokens.T
    assert likeness.argmax(axis=1)[1:].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "\x1b\x07"])
def test_a_text_without_signs_is_a_vector_without_tokens(encoder: Encoder, text: str) -> None:
    (found,) = encoder.encode([text])
    assert found.tokens.shape == (0, 64)
    assert found.pieces == ()
    assert found.sentence.tobytes() == encoder.encode([""])[0].sentence.tobytes()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=30))
def test_bits_do_not_depend_on_the_batch(
    encoder: Encoder, alone: dict[str, tuple[bytes, bytes, tuple[str, ...]]], order: list[int]
) -> None:
    texts = [TEXTS[at] for at in order]
    for text, found in zip(texts, encoder.encode(texts), strict=True):
        assert _bits(found) == alone[text]


def test_bits_do_not_depend_on_threads_or_order(
    model_folder: Path, alone: dict[str, tuple[bytes, bytes, tuple[str, ...]]]
) -> None:
    for threads in (0, 2, 3):
        encoder = Encoder.open(model_folder, threads=threads)
        for text, found in zip(TEXTS[::-1], encoder.encode(TEXTS[::-1]), strict=True):
            assert _bits(found) == alone[text]


@given(st.lists(st.integers(2, 256), max_size=50), st.integers(1, 600))
def test_batches_hold_each_text_once_and_one_length(lengths: list[int], budget: int) -> None:
    batches = list(equal_length_batches(lengths, budget))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        (length,) = {lengths[at] for at in batch}
        assert len(batch) == 1 or length * len(batch) <= budget


def test_shipped_graphs_are_what_the_script_builds(model_folder: Path) -> None:
    assert build(model_folder / WEIGHTS.name, np.load(BASIS)) == GRAPH.read_bytes()
    assert build_similarity() == GRAPH.with_name("similarity.onnx").read_bytes()


def test_shipped_graphs_hold_no_weights() -> None:
    assert len(GRAPH.read_bytes()) < 130_000
    assert len(GRAPH.with_name("similarity.onnx").read_bytes()) < 1_200
