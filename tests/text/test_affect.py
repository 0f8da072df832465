from __future__ import annotations

import pytest

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
