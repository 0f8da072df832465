import pytest

from clsm_cli.text.ordinals import ConversationPlace as Place
from clsm_cli.text.ordinals import is_about_talk, read_request


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What was our first conversation about?", Place("", 1)),
        ("the very first chat", Place("", 1)),
        ("in our latest session", Place("", 1, 1, True)),
        ("the previous conversation", Place("", 1, 1, True)),
        ("the 21st session", Place("", 21)),
        ("our second-to-last talk", Place("", 2, 1, True)),
        ("the last but one session", Place("", 2, 1, True)),
        ("the conversation before last", Place("", 2, 1, True)),
        ("the fourth session from the end", Place("", 4, 1, True)),
        ("two conversations ago", Place("", 2, 1, True)),
        ("the last three sessions", Place("", 1, 3, True)),
        ("our first couple of chats", Place("", 1, 2)),
        ("What did you tell me last time?", Place("", 1, 1, True)),
        ("our second conversation about the boat, please", Place("the boat", 2)),
        ("the last session where we discussed rent", Place("rent", 1, 1, True)),
        ("the third time the bike came up", Place("the bike", 3, 1, False, True)),
        ("the last time we talked about my sister", Place("my sister", 1, 1, True, True)),
        ("When did we first talk about Lisbon?", Place("Lisbon", 1, 1, False, True)),
        ("When was the leak last mentioned?", Place("the leak", 1, 1, True, True)),
        ("the second mention of Odette", Place("Odette", 2, 1, False, True)),
        ("the time before last when we discussed tea", Place("tea", 2, 1, True, True)),
        ("What was the last thing you told me?", Place("", 1, 1, True)),
    ],
)
def test_places(question: str, place: Place) -> None:
    request = read_request(question)
    assert request is not None
    assert (request.relation, request.place) == ("at", place)
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
    request = read_request(question)
    assert request is not None
    assert (request.relation, request.place, request.step) == (relation, place, step)
    assert request.hard == hard


def test_between_two_places() -> None:
    request = read_request("What was said between our first chat and the one about the move?")
    assert request is not None
    assert request.relation == "between"
    assert (request.place, request.other) == (Place("", 1), Place("the move"))


def test_the_two_after_are_both() -> None:
    both = read_request("the two conversations after the one about tea")
    second = read_request("two conversations after the one about tea")
    assert both is not None
    assert second is not None
    assert (both.step, both.length) == (1, 2)
    assert (second.step, second.length) == (2, 1)


def test_what_is_no_place_among_conversations() -> None:
    none = [
        "What did Mara do after the marathon?",
        "Who came second in the race?",
        "When was the first time Ilse swam in the sea?",
        "What is the last name of the doctor?",
        "Where did we live before the war?",
        "the distance between the house and the sea",
        "What are the first three steps of the recipe?",
        "my last therapy appointment",
        "who repaired the boiler the last time?",
        "",
        "?!",
    ]
    assert [each for each in none if read_request(each) is not None] == []


def test_talk() -> None:
    talk = ["What did we discuss yesterday?", "What did I tell you on Monday?"]
    talk.append("What did our chat on Friday end with?")
    others = ["What did Lena and I eat yesterday?", "What did Jonas say on Monday?"]
    assert [each for each in [*talk, *others] if is_about_talk(each)] == talk
