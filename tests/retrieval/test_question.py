import pytest

from clsm_cli.retrieval.question import understand

PEOPLE = ["Mara Hart", "Brian", "Brian Okafor", "assistant", "Will"]


@pytest.mark.parametrize(
    ("text", "named", "dense"),
    [
        ("What does Mara want?", ("Mara Hart",), "What does I want?"),
        ("Mara Hart's cat", ("Mara Hart",), "my cat"),
        ("did MARA call", ("Mara Hart",), "did I call"),
        ("who is Brian Okafor", ("Brian Okafor",), "who is I"),
        ("tomara and marathon", (), "tomara and marathon"),
        ("what did the assistant say", ("assistant",), "what did I say"),
        ("Mara and Will met", ("Mara Hart",), "I and Will met"),
        ("delegation defect", (), "delegation defect"),
        ("Did Mara sell her boat?", ("Mara Hart",), "Did I sell my boat?"),
    ],
)
def test_names_of_speakers(text: str, named: tuple[str, ...], dense: str) -> None:
    found = understand(text, (), PEOPLE)
    assert (found.named_speakers, found.embedding_text) == (named, dense)


def test_a_first_name_that_two_share_names_nobody() -> None:
    found = understand("what did Ann say", (), ["Ann Lee", "Ann Ray"])
    assert found.named_speakers == ()
    assert "Ann" in found.embedding_text


@pytest.mark.parametrize("text", ["When did it end?", "how long was it", "which month", "what day"])
def test_a_question_for_a_time(text: str) -> None:
    assert understand(text, (), []).asks_when
