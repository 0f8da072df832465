"""What a sentence says to be so, and which questions ask for that."""

import pytest
from tables import column, table

from clsm_cli.text import factuality


def test_what_is_said_to_be_so() -> None:
    said = ["", *column(__file__, "so")]
    assert [each for each in said if not factuality.is_asserted(each)] == []
    assert [each for each in column(__file__, "not so") if factuality.is_asserted(each)] == []


def test_only_the_clause_about_the_terms_counts() -> None:
    terms = frozenset(["mara", "live"])
    assert factuality.asserts_about("I am not sure about the rest, Mara lives in Haarlem.", terms)
    assert not factuality.asserts_about("It is sunny, Mara never lived in Haarlem.", terms)
    assert factuality.asserts_about("Mara lives in Haarlem if you need her.", terms)
    assert not factuality.asserts_about("Nobody knows if Mara lives in Haarlem.", terms)


@pytest.mark.parametrize(("expected", "question"), table(__file__, "asks for what is"))
def test_questions_that_ask_for_what_is(expected: str, question: str) -> None:
    assert factuality.asks_current_value(question) is (expected == "yes")


def test_questions_about_the_output_of_a_tool() -> None:
    assert factuality.asks_for_output("What did the page say about Mara?")
    assert not factuality.asks_for_output("Where does Mara live?")


@pytest.mark.parametrize(("expected", "sentence"), table(__file__, "states nothing"))
def test_questions_and_ideas_state_nothing(expected: str, sentence: str) -> None:
    assert factuality.asserts_nothing(sentence) is (expected == "yes")
