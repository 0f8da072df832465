import pytest
from tables import table

from clsm_cli.text.noun_phrases import noun_phrases, singular


def _found(text: str) -> list[str]:
    return [phrase for _, _, phrase in noun_phrases(text)]


@pytest.mark.parametrize(("text", "phrases"), table(__file__, "terms"))
def test_terms(text: str, phrases: str) -> None:
    assert ", ".join(_found(text)) == phrases


def test_no_terms() -> None:
    none = [
        "Last week was a good time, by the way, and a lot of fun.",
        "Now Mara fears nothing. He started writing. They stop pushing.",
        "Woah Joanna! You're making progress. It's finding balance.",
        "It was 20 cm long on Monday and Wednesday.",
        "Thanks, that sounds great! Bye Joanna, have a nice day.",
        "`clock key` and https://example.org/clock-key and [[clock key]]",
        "```\nthe clock key\n```",
        "We went there yesterday afternoon and really appreciated everything.",
        "",
    ]
    assert [each for each in none if _found(each)] == []


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("keys", "key"), ("memories", "memory"), ("movies", "movie"), ("boxes", "box"),
        ("headaches", "headache"), ("potatoes", "potato"), ("shoes", "shoe"), ("leaves", "leaves"),
        ("bus", "bus"), ("analysis", "analysis"), ("physics", "physics"), ("gas", "gas"),
        ("Meadows", "Meadows"), ("v2s", "v2s"),
    ],
)  # fmt: skip
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
