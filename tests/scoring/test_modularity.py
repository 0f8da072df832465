import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.scoring.modularity import affinity, best_split, is_confirmed, split_quality


def vectors(topics: str, seed: int = 0) -> list[np.ndarray]:
    """Synthetic unit vectors: one axis a topic (letter) and noise; cosines about .6 and 0."""
    random = np.random.default_rng(seed)
    found = []
    for letter in topics:
        v = random.normal(0, 0.8 / np.sqrt(64), 64)
        v[ord(letter) - ord("a")] += 1.0
        found.append(v / np.linalg.norm(v))
    return found


def by_definition(a: np.ndarray, at: int) -> float:
    degree, total = a.sum(axis=1), a.sum()
    side = np.arange(len(a)) >= at
    same = side[:, None] == side[None, :]
    return float(((a - np.outer(degree, degree) / total) * same).sum() / total)


@given(st.text("abc", min_size=2, max_size=12), st.integers(0, 99))
@settings(deadline=None)
def test_the_reduced_form_is_newmans_q(topics: str, seed: int) -> None:
    a = affinity(vectors(topics, seed))
    if a.sum() > 0:
        for at in range(1, len(a)):
            assert split_quality(a, at) == pytest.approx(by_definition(a, at))


@given(st.text("abc", min_size=3, max_size=14), st.integers(0, 99), st.data())
@settings(deadline=None)
def test_q_never_falls(topics: str, seed: int, data: st.DataObject) -> None:
    a = affinity(vectors(topics, seed))
    at = data.draw(st.integers(1, len(a) - 1))
    near = range(max(1, at - 3), min(len(a), at + 4))
    best = best_split(a, at, near)
    assert best in near
    assert split_quality(a, best) >= split_quality(a, at)


@pytest.mark.parametrize("late", [-2, -1, 0, 1, 2, 3])
def test_a_misplaced_boundary_moves_to_the_change_of_subject(late: int) -> None:
    a = affinity(vectors("aaaaaaaabbbbbb"))
    at = 8 + late
    assert best_split(a, at, range(at - 3, at + 4)) == 8


def test_one_subject_is_not_confirmed_and_two_are() -> None:
    assert not is_confirmed(affinity(vectors("aaaaaaaaaaaa")), 6)
    assert is_confirmed(affinity(vectors("aaaaaabbbbbb")), 6)
