from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import examples

from clsm_cli.scoring.gaussian_mixture import clusters

Vectors: TypeAlias = NDArray[np.float32]


def planted(sizes: list[int], seed: int = 0, d: int = 384) -> Vectors:
    """Unit vectors: one axis a topic and noise; cosines about .6 within a topic and 0 between."""
    random = np.random.default_rng(seed)
    rows = random.normal(0, 0.8 / np.sqrt(d), (sum(sizes), d))
    rows[np.arange(len(rows)), np.repeat(np.arange(len(sizes)), sizes)] += 1
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return rows.astype(np.float32)


def topics(sizes: list[int]) -> list[list[int]]:
    ends = np.cumsum(sizes)
    return [list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", [[10, 10], [25, 25, 25], [40, 20]])
def test_planted_topics_are_found(sizes: list[int], seed: int) -> None:
    assert clusters(planted(sizes, seed), seed=seed) == topics(sizes)


@pytest.mark.parametrize("sizes", [[1], [2, 1], [5, 3], [3, 3, 3], [11]])
def test_a_few_are_joined_by_their_mean_cosine(sizes: list[int]) -> None:
    assert clusters(planted(sizes), seed=0, threshold=0.45) == topics(sizes)
    alone = [[row] for row in range(sum(sizes))]
    assert clusters(planted(sizes), seed=0, threshold=0.95) == alone


@examples(40)
@given(st.integers(1, 30), st.integers(1, 12), st.randoms(use_true_random=False))
def test_every_row_is_in_one_cluster_whatever_the_order(n: int, d: int, random: object) -> None:
    rows = np.random.default_rng(n * d).normal(size=(n, d)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rows = np.concatenate([rows, rows[: n // 3]])
    found = clusters(rows, seed=1)
    assert sorted(row for group in found for row in group) == list(range(len(rows)))
    assert found == sorted(sorted(group) for group in found)
    assert found == clusters(rows, seed=1)
    order = random.sample(range(len(rows)), len(rows))  # type: ignore[attr-defined]
    again = [{*map(tuple, rows[order][group].tolist())} for group in clusters(rows[order], seed=1)]
    assert all({*map(tuple, rows[group].tolist())} in again for group in found)
