"""What tells a decision, an open question, a feeling, and what turns are about."""

import pytest
from tables import column

from clsm_cli.text.cues import find_decisions, find_questions, key_phrases, valence


@pytest.mark.parametrize("sentence", column(__file__, "decisions"))
def test_decisions(sentence: str) -> None:
    assert find_decisions(f"It rained.\n\n{sentence}\n\nFine.") == [sentence]


def test_no_decision() -> None:
    text = """Have you decided on a name? Let's see how it goes. I like SQLite. It is undecided.
        She is going home with Anna. The switch is broken. Let's keep helping each other.
        We picked up a few recipes."""
    assert find_decisions(text) == []


def test_open_questions() -> None:
    open_ones = column(__file__, "open questions")
    assert [each for each in open_ones if len(find_questions(each)) != 1] == []
    text = """How are you? Hey Mel! Good to see you! How have you been? What's up with you?
        Anything new? Hi! How are you doing today? It works, right? Nice day, isn't it?
        You did it, didn't you? Really? What? What about you? We met."""
    assert find_questions(text) == []


def test_feelings() -> None:
    pleasant = column(__file__, "pleasant")
    unpleasant = column(__file__, "unpleasant")
    assert [each for each in pleasant if valence(each) <= 0] == []
    assert [each for each in unpleasant if valence(each) >= 0] == []
    assert valence("very good") > valence("good") > valence("slightly good") > 0
    assert valence("No, good idea") == valence("good idea")
    assert valence("The meeting is at ten.") == 0


TURNS = column(__file__, "turns")


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
