import pytest
from tables import table

from clsm_cli.retrieval.question import resolve_references

TALK = [
    "Is the barge in Haarlem insured?",
    "Yes, until May 2027, by Brian's broker Lantern.",
    "Good. What is for dinner tonight?",
    "You may choose:\n1. Pea soup with rye bread\n2. Lentil curry\n3. Pancakes",
    "Thanks!",
]


@pytest.mark.parametrize(("text", "expected"), table(__file__, "points back"))
def test_a_question_takes_the_words_of_what_it_points_back_at(text: str, expected: str) -> None:
    assert resolve_references(text, TALK) == expected
