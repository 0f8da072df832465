import pytest
from tables import column, table

from clsm_cli.text.ordinals import ConversationPlace as Place
from clsm_cli.text.ordinals import is_about_talk, read_reference


@pytest.mark.parametrize(
    ("question", "relation", "about", "which", "step", "hard"), table(__file__, "places")
)
def test_places(question: str, relation: str, about: str, which: str, step: str, hard: str) -> None:
    request = read_reference(question)
    assert request is not None
    given = [*map(int, which.split())]
    assert request.place == (about, *given, *Place()[1 + len(given) :])
    assert (request.relation, request.step) == (relation, int(step))
    assert request.hard == (hard == "yes")


def test_between_two_places() -> None:
    request = read_reference("What was said between our first chat and the one about the move?")
    assert request is not None
    assert request.relation == "between"
    assert (request.place, request.other) == (Place("", 1), Place("the move"))


def test_the_two_after_are_both() -> None:
    both = read_reference("the two conversations after the one about tea")
    second = read_reference("two conversations after the one about tea")
    assert both is not None
    assert second is not None
    assert (both.step, both.length) == (1, 2)
    assert (second.step, second.length) == (2, 1)


def test_what_is_no_place_among_conversations() -> None:
    none = ["", *column(__file__, "no place")]
    assert [each for each in none if read_reference(each) is not None] == []


def test_talk() -> None:
    talk = ["What did we discuss yesterday?", "What did I tell you on Monday?"]
    talk.append("What did our chat on Friday end with?")
    others = ["What did Lena and I eat yesterday?", "What did Jonas say on Monday?"]
    assert [each for each in [*talk, *others] if is_about_talk(each)] == talk
