import pytest
from tables import table

from clsm_cli.retrieval.question import understand

PEOPLE = ["Mara Hart", "Brian", "Brian Okafor", "assistant", "Will"]


@pytest.mark.parametrize(("text", "named", "dense"), table(__file__, "speakers"))
def test_names_of_speakers(text: str, named: str, dense: str) -> None:
    found = understand(text, (), PEOPLE)
    assert (found.named_speakers, found.embedding_text) == ((named,) * bool(named), dense)


def test_a_first_name_that_two_share_names_nobody() -> None:
    found = understand("what did Ann say", (), ["Ann Lee", "Ann Ray"])
    assert found.named_speakers == ()
    assert "Ann" in found.embedding_text


@pytest.mark.parametrize("text", ["When did it end?", "how long was it", "which month", "what day"])
def test_a_question_for_a_time(text: str) -> None:
    assert understand(text, (), []).asks_when
