import pytest

from clsm_cli.retrieval.dialogue_context import resolve_references

TALK = [
    "Is the barge in Haarlem insured?",
    "Yes, until May 2027, by Brian's broker Lantern.",
    "Good. What is for dinner tonight?",
    "You may choose:\n1. Pea soup with rye bread\n2. Lentil curry\n3. Pancakes",
    "Thanks!",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("and the second one?", "and the second one? Lentil curry"),
        ("the last one", "the last one Pancakes"),
        (
            "the fifth one",
            "the fifth one Good dinner tonight may choose Pea soup rye bread Lentil curry",
        ),
        ("What about him?", "What about him? Brian Lantern"),
        ("Where does Mara live?", "Where does Mara live?"),
        ("What is the capital of France?", "What is the capital of France?"),
        ("Thanks!", "Thanks!"),
    ],
)
def test_a_question_takes_the_words_of_what_it_points_back_at(text: str, expected: str) -> None:
    assert resolve_references(text, TALK) == expected
