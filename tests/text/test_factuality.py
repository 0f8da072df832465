"""What a sentence says to be so, and which questions ask for that."""

import pytest
from tables import column

from clsm_cli.text import factuality


def test_what_is_said_to_be_so() -> None:
    said = ["", *column(__file__, "so")]
    assert [each for each in said if not factuality.is_asserted(each)] == []
    assert [each for each in column(__file__, "not so") if factuality.is_asserted(each)] == []


def test_only_the_clause_about_the_terms_counts() -> None:
    terms = frozenset(["mara", "live"])
    assert factuality.asserts_about("I am not sure about the rest, Mara lives in Haarlem.", terms)
    assert not factuality.asserts_about("It is sunny, Mara never lived in Haarlem.", terms)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Mara live?", True),
        ("On which day does the choir meet?", True),
        ("How many barges does Mara own?", True),
        ("How did Mara feel?", False),
        ("Why is the cellar damp?", False),
        ("Does Mara live in Delft?", False),
        ("What did we decide against?", False),
        ("Where would Mara live?", False),
        ("Which town doesn't Mara like?", False),
        ("barge", False),
        ("", False),
    ],
)
def test_questions_that_ask_for_what_is(question: str, *, expected: bool) -> None:
    assert factuality.asks_current_value(question) is expected


def test_questions_about_the_output_of_a_tool() -> None:
    assert factuality.asks_for_output("What did the page say about Mara?")
    assert not factuality.asks_for_output("Where does Mara live?")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Can you check whether the dentist is on Wednesday", True),
        ("Lotte still lives in Breda, doesn't she", True),
        ("How much is the rent", True),
        ("I might move to Ghent.", True),
        ("Do it by Friday.", False),
        ("Where I live there are no shops.", False),
        ("Will lives in Ghent.", False),
        ("If it rains, maybe we stay.", False),
    ],
)
def test_questions_and_ideas_state_nothing(sentence: str, *, expected: bool) -> None:
    assert factuality.asserts_nothing(sentence) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("My mother says Tomas works at Siemens, she always mixes that up.", True),
        ("Rumour has it that Tomas left.", True),
        ("Mara says she doesn't eat meat.", False),
        ("My doctor told me not to eat nuts.", False),
    ],
)
def test_what_is_reported_and_denied(sentence: str, *, expected: bool) -> None:
    assert factuality.is_disputed(sentence) is expected
