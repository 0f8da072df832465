from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring.likelihood import MU, gain

terms = st.lists(st.tuples(st.integers(0, 20), st.floats(1e-6, 0.5)), min_size=1, max_size=6)


@examples(200)
@given(terms, st.integers(0, 200), st.data())
def test_a_word_more_says_more_and_a_longer_text_less(
    asked: list[tuple[int, float]], others: int, data: st.DataObject
) -> None:
    length = others + sum(count for count, _ in asked)
    plain = gain(asked, length)
    place = data.draw(st.integers(0, len(asked) - 1))
    count, share = asked[place]
    more = [*asked[:place], (count + 1, share), *asked[place + 1 :]]
    assert gain(more, length) > plain
    assert gain(asked, length + 50) < plain
    assert gain(asked[::-1], length) == pytest.approx(plain, rel=1e-12, abs=1e-15)


def test_it_is_the_mean_of_the_log_ratios() -> None:
    expected = (log((2 + 2) / (30 + MU) / 0.01) + log((0 + 0.2) / (30 + MU) / 0.001)) / 2
    assert gain([(2, 0.01), (0, 0.001)], 30) == pytest.approx(expected)


def test_a_rare_word_says_more_than_a_common_one() -> None:
    assert gain([(1, 0.0001)], 20) > gain([(1, 0.01)], 20) > 0 > gain([(1, 0.2)], 20)


def test_what_does_not_speak_of_it_is_below_zero_and_the_empty_text_is_average() -> None:
    assert gain([(0, 0.01), (0, 0.02)], 40) == pytest.approx(log(MU / (40 + MU)))
    assert gain([(0, 0.01)], 0) == pytest.approx(0.0, abs=1e-12)


def test_unknown_terms_and_no_terms_say_nothing() -> None:
    assert gain([], 10) == 0.0
    assert gain([(0, 0.0), (1, 0.01)], 10) == gain([(1, 0.01)], 10)


@pytest.mark.parametrize(
    ("asked", "length", "mu"),
    [([(1, 0.1)], -1, 200.0), ([(-1, 0.1)], 1, 200.0), ([(1, 1.1)], 1, 200.0), ([], 1, 0.0)],
)
def test_impossible_counts_are_refused(
    asked: list[tuple[int, float]], length: int, mu: float
) -> None:
    with pytest.raises(ValueError, match="negative"):
        gain(asked, length, mu)
