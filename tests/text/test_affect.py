from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.text import affect
from clsm_cli.text.affect import valence


@pytest.mark.parametrize(
    "text",
    [
        "I love this, it was amazing!",
        "The support group made me feel accepted.",
        "We fixed it. Great work!",
        "It isn't bad.",
    ],
)
def test_pleasant(text: str) -> None:
    assert valence(text) > 0


@pytest.mark.parametrize(
    "text",
    [
        "The build failed again and I am frustrated.",
        "That's not good.",
        "She never enjoyed it.",
        "I hate the awful noise.",
    ],
)
def test_unpleasant(text: str) -> None:
    assert valence(text) < 0


def test_degrees_and_clauses() -> None:
    assert valence("very good") > valence("good") > valence("slightly good") > 0
    assert valence("No, good idea") == valence("good idea")
    assert valence("The meeting is at ten.") == 0


def test_lexicon_has_about_150_words_and_none_on_both_sides() -> None:
    sides = [
        {affect._stem(word) for words in side.values() for word in words.split()}
        for side in (affect._PLEASANT, affect._UNPLEASANT)
    ]
    assert sum(map(len, sides)) >= 150
    assert sides[0].isdisjoint(sides[1])
    assert "" not in sides[0] | sides[1]


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["love", "hate", "not", "very", ","])).map(" ".join)
)
@settings(max_examples=200, deadline=None)
def test_bounds(text: str) -> None:
    assert -1 <= valence(text) <= 1
