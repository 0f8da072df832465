from __future__ import annotations

import pytest

from clsm_cli.text.phrases import key_phrases

TURNS = [
    "The delegation defect is back: Hardin's sub-agent lost its context again.",
    "Is that the delegation defect we saw with the valve chatter?",
    "Yes. Hardin fixed the valve chatter, but the delegation defect needs a test.",
]


@pytest.mark.parametrize(
    ("turns", "phrases"),
    [
        (TURNS, ["delegation defect", "Hardin", "valve chatter"]),
        (["Hey! How are you? So good to see you!", "Thanks, I'm really happy."], []),
        (["Hey Mel! The pottery class was fun, Mel.", "Thanks, Caroline! Pottery with Anna is great."], ["Anna", "pottery"]),
        (["I read *The Left Hand of Darkness* again."], ["The Left Hand of Darkness"]),
    ],
)  # fmt: skip
def test_what_turns_are_about(turns: list[str], phrases: list[str]) -> None:
    assert key_phrases(turns, 3)[: max(1, len(phrases))] == phrases


def test_no_phrase_repeats_a_word_of_another() -> None:
    phrases = key_phrases(["valve noise and valve chatter, valve noise", "noise of the pump"], 5)
    words = [word for phrase in phrases for word in phrase.split()]
    assert len(words) == len(set(words))
