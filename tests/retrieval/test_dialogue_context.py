import pytest
from tables import column, table

from clsm_cli.retrieval.question import resolve_references

TALK = column(__file__, "talk")


@pytest.mark.parametrize(("text", "expected"), table(__file__, "points back"))
def test_a_question_takes_the_words_of_what_it_points_back_at(text: str, expected: str) -> None:
    assert resolve_references(text, TALK) == expected
