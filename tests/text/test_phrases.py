from __future__ import annotations

from clsm_cli.text.phrases import key_phrases

TURNS = [
    "The delegation defect is back: Hardin's sub-agent lost its context again.",
    "Is that the delegation defect we saw with the valve chatter?",
    "Yes. Hardin fixed the valve chatter, but the delegation defect needs a test.",
]


def test_a_title_from_turns() -> None:
    assert key_phrases(TURNS, 3) == ["delegation defect", "Hardin", "valve chatter"]


def test_pleasantries_are_not_a_subject() -> None:
    assert (
        key_phrases(["Hey! How are you? So good to see you!", "Thanks, I'm really happy."], 3) == []
    )


def test_who_is_addressed_is_not_a_subject() -> None:
    turns = [
        "Hey Mel! The pottery class was fun, Mel.",
        "Thanks, Caroline! Pottery with Anna is great.",
    ]
    assert key_phrases(turns, 2) == ["Anna", "pottery"]


def test_marked_titles_win() -> None:
    assert key_phrases(["I read *The Left Hand of Darkness* again."], 1) == [
        "The Left Hand of Darkness"
    ]


def test_no_phrase_repeats_a_word_of_another() -> None:
    phrases = key_phrases(
        ["valve noise and valve chatter, valve noise", "the noise of the pump"], 5
    )
    words = [word for phrase in phrases for word in phrase.split()]
    assert len(words) == len(set(words))
