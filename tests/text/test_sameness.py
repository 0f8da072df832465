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


@pytest.mark.parametrize(
    ("sentence", "sign"),
    [
        ("The cat eats.", 1), ("The cat does not eat.", -1), ("The cat doesn't eat.", -1),
        ("The cat can't not eat.", 1), ("Nobody came.", -1), ("Neither Anna nor Paul came.", -1),
        ("No, we moved.", 1), ("It works, doesn't it?", 1), ("It doesn't work, does it?", -1),
        ("Not only cheap but good.", 1), ("I can't wait to see it.", 1),
        ("She no longer works here.", -1), ("He has given up coffee.", -1),
        ("He never stopped drinking coffee.", 1), ("Say nothing without a source.", 1),
        ("Notes are kept.", 1), ("The knot is tight.", 1),
    ],
)  # fmt: skip
def test_polarity(sentence: str, sign: int) -> None:
    assert polarity(sentence) == sign


def test_numbers() -> None:
    text = "On the 3rd, forty-one boats of 1,200 t left at 08:05."
    assert numbers(text) == ["08:05", "1200", "3", "41"]
    assert numbers("One of them came once.") == ["1x"]


@given(st.text(max_size=80), st.text(max_size=80), st.floats(-1, 1))
def test_symmetric(a: str, b: str, cosine: float) -> None:
    assert is_equivalent(a, b, cosine) == is_equivalent(b, a, cosine)
