import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.embedding import similarity
from clsm_cli.embedding.similarity import Similarity, _split

SIMILARITY = Similarity.open()
SCALE = 1 / 40


def _codes(rows: bytes, width: int) -> np.ndarray:
    """The codes of rows, int64 [n, width], as the format says."""
    packed = np.frombuffer(rows, np.uint8).reshape(-1, width // 2)
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.int64)


@st.composite
def _problems(draw: st.DrawFn) -> tuple[bytes, int, list[list[float]]]:
    """Rows of stored vectors, their width, and queries of unit length."""
    width = draw(st.sampled_from([2, 4, 14, 32, 64, 100, 384]))
    seed = random.Random(draw(st.integers(0, 1 << 30)))
    count = draw(st.integers(0, 40))
    rows = seed.randbytes(count * width // 2)
    vectors = np.array([[seed.gauss(0, 1) for _ in range(width)] for _ in range(3)])
    queries = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return rows, width, queries[: draw(st.integers(1, 3))].tolist()


@examples(100)
@given(_problems(), st.integers(1, 9), st.integers(1, 20))
def test_a_block_gives_its_largest(
    problem: tuple[bytes, int, list[list[float]]], block: int, size: int
) -> None:
    rows, width, queries = problem
    blocks = len(rows) // (width // 2) // block
    whole = rows[: blocks * block * width // 2]
    each = [
        np.array(row).reshape(blocks, block)
        for row in SIMILARITY.products(whole, width, queries, SCALE)
    ]
    expected = [row.max(axis=1).tolist() for row in each]
    for rows_at_once in (similarity._CHUNK_ROWS, size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(similarity, "_CHUNK_ROWS", rows_at_once)
            found = SIMILARITY.products(whole, width, queries, SCALE, block)
        assert [row.tolist() for row in found] == expected


@examples(100)
@given(_problems(), st.integers(1, 50) | st.just(similarity._CHUNK_ROWS))
def test_bits_are_those_of_whole_numbers(
    problem: tuple[bytes, int, list[list[float]]], size: int
) -> None:
    """The sums in int64, then the three roundings to float32: wherever a row or query stands."""
    rows, width, queries = problem
    table = _codes(rows, width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "_CHUNK_ROWS", size)
        products = SIMILARITY.products(rows, width, queries, SCALE)
    for query, found in zip(queries, products, strict=True):
        step, high, low = _split(query)
        upper = (table @ np.array(high)).astype(np.float32) * np.float32(128)
        codes = upper + (table @ np.array(low)).astype(np.float32)
        offset = np.float32(8 * (128 * sum(high) + sum(low)))
        expected = (codes - offset) * np.float32(step * SCALE)
        assert expected.tobytes() == found.tobytes()


def test_by_hand() -> None:
    rows = bytes([0x8F, 0x18])  # codes 15, 8 and 8, 1: components 7, 0 and 0, -7
    first, second = SIMILARITY.products(rows, 2, [[1.0, 0.0], [0.0, -0.5]], 1 / 7)
    assert first.format == "f"
    assert first.tolist() == pytest.approx([1, 0])
    assert second.tolist() == pytest.approx([0, 0.5])


@pytest.mark.parametrize(
    ("rows", "width", "query"),
    [
        (bytes(5), 4, [1.0] * 4),
        (bytes(4), 2, [1.0]),
        (bytes(4), 0, []),
        (bytes(4), 3, [1.0] * 3),
        (bytes(2049), 4098, [1.0] * 4098),
    ],
)
def test_what_does_not_fit_is_refused(rows: bytes, width: int, query: list[float]) -> None:
    with pytest.raises(ValueError, match=r"components|rows"):
        SIMILARITY.products(rows, width, [query], SCALE)


@examples(50)
@given(st.lists(st.integers(-(10**9), 10**9).map(lambda n: n / 1000), min_size=1, max_size=50))
def test_parts_make_up_the_query(query: list[float]) -> None:
    step, high, low = _split(query)
    largest = max(map(abs, query))
    for value, upper, lower in zip(query, high, low, strict=True):
        assert abs(upper) <= 127
        assert abs(lower) <= 64
        assert abs(step * (128 * upper + lower) - value) <= 1.001 * largest / 32_512
