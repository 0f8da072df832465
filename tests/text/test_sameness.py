import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from clsm_cli.text.sameness import is_equivalent, numbers, polarity


@pytest.mark.parametrize(("a", "b", "cosine"), table(__file__, "same"))
def test_same(a: str, b: str, cosine: str) -> None:
    assert is_equivalent(a, b, float(cosine))
    assert is_equivalent(b, a, float(cosine))


@pytest.mark.parametrize(("a", "b"), table(__file__, "different"))
def test_different_however_near(a: str, b: str) -> None:
    assert not is_equivalent(a, b, 0.99)
    assert not is_equivalent(b, a, 0.99)


def test_far_sentences_differ() -> None:
    assert not is_equivalent("The cat sleeps.", "The sensor hangs in the shade.", 0.2)
    assert not is_equivalent("The cat sleeps on the map.", "The cat lies asleep on the map.", 0.7)


@pytest.mark.parametrize(("sign", "sentence"), table(__file__, "polarity"))
def test_polarity(sign: str, sentence: str) -> None:
    assert polarity(sentence) == int(sign)


def test_numbers() -> None:
    text = "On the 3rd, forty-one boats of 1,200 t left at 08:05."
    assert numbers(text) == ["08:05", "1200", "3", "41"]
    assert numbers("One of them came once.") == ["1x"]


@given(st.text(max_size=80), st.text(max_size=80), st.floats(-1, 1))
def test_symmetric(a: str, b: str, cosine: float) -> None:
    assert is_equivalent(a, b, cosine) == is_equivalent(b, a, cosine)
