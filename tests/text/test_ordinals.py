import pytest
from tables import column, table

from clsm_cli.text.ordinals import ConversationPlace as Place
from clsm_cli.text.ordinals import is_about_talk, read_reference


@pytest.mark.parametrize(("question", "about", "which"), table(__file__, "places"))
def test_places(question: str, about: str, which: str) -> None:
    request = read_reference(question)
    assert request is not None
    subject, *place = request.place
    assert (request.relation, subject) == ("at", about)
    given = [*map(int, which.split())]
    assert place == [*given, *Place()[1 + len(given) :]]
    assert request.hard


@pytest.mark.parametrize(
    ("question", "relation", "place", "step", "hard"),
    [
        ("what did we discuss before we talked about the move?", "before", Place("the move"), 0, True),
        ("what have I told you after the move?", "after", Place("the move"), 0, False),
        ("right after the conversation about tea", "after", Place("tea"), 1, True),
        ("the conversation before the one about the job", "before", Place("the job"), 1, True),
        ("the second session after the one about rent", "after", Place("rent"), 2, True),
        ("since our last conversation", "after", Place("", 1, 1, True), 0, True),
        ("until our second chat", "before", Place("", 2), 0, True),
        ("What came before the squealing brakes?", "before", Place("the squealing brakes"), 0, False),
        ("What did I say after we last spoke about Kim?", "after", Place("Kim", 1, 1, True, True), 0, True),
    ],
)  # fmt: skip
def test_relations(question: str, relation: str, place: Place, step: int, hard: bool) -> None:
    request = read_reference(question)
    assert request is not None
    assert (request.relation, request.place, request.step) == (relation, place, step)
    assert request.hard == hard


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
