import json
import math
from pathlib import Path

import numpy as np
import pytest

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.query_vectors import QueryEncoder

TEXTS: list[str] = json.loads((Path(__file__).parent / "reference_texts.json").read_text())


@pytest.fixture(scope="module")
def queries(model_folder: Path) -> QueryEncoder:
    return QueryEncoder.open(model_folder)


def test_vectors_are_those_of_documents(queries: QueryEncoder, encoder: Encoder) -> None:
    for text in TEXTS:
        (expected,) = encoder.encode([text])
        found = queries.encode(text)
        assert np.abs(np.array(found.sentence) - expected.sentence).max() < 1e-6, text
        assert len(found.tokens) == len(expected.tokens), text
        for vector, token in zip(found.tokens, expected.tokens, strict=True):
            assert len(vector) == len(token), text
            assert np.abs(np.array(vector) - token).max() < 1e-6, text


def test_a_vector_for_each_piece(queries: QueryEncoder) -> None:
    text = "Unaffable café, 😀!"
    found = queries.encode(text)
    assert len(found.tokens) == len(found.pieces)
    assert [text[piece.start : piece.end] for piece in found.pieces] == [
        *["Unaffable"] * 3, "café", ",", "😀", "!",
    ]  # fmt: skip
    for vector in (found.sentence, *found.tokens):
        assert vector.typecode == "f"
        assert abs(math.hypot(*vector) - 1) < 1e-6
