import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.retrieval.dialogue_context import (
    DialogueTurn,
    context_memories,
    resolve_references,
    select_turns,
)
from clsm_cli.text.tokens import count_tokens, stems

TALK = [
    DialogueTurn("user", "Is the barge in Haarlem insured?"),
    DialogueTurn("assistant", "Yes, until May 2027, by Brian's broker Lantern."),
    DialogueTurn("user", "Good. What is for dinner tonight?"),
    DialogueTurn(
        "assistant", "You may choose:\n1. Pea soup with rye bread\n2. Lentil curry\n3. Pancakes"
    ),
    DialogueTurn("user", "Thanks!"),
]


def _size(turns: list[DialogueTurn]) -> int:
    return sum(count_tokens(said.text) for said in turns)


def test_a_conversation_that_fits_is_read_whole() -> None:
    assert select_turns(TALK, stems("insurance"), _size(TALK)) == TALK


def test_an_extract_holds_the_end_and_what_is_near_in_order() -> None:
    filler = [DialogueTurn("user", f"Message {number} about the weather") for number in range(50)]
    talk = [*filler[:20], TALK[0], *filler[20:], DialogueTurn("user", "And what does it cost?")]
    found = select_turns(talk, stems("barge insurance"), 60)
    assert TALK[0] in found
    assert found[-1] == talk[-1]
    places = [talk.index(said) for said in found]
    assert places == sorted(places)
    assert 30 < _size(found) <= 60


def test_of_a_long_message_the_sentences_that_matter_are_taken() -> None:
    long = " ".join(f"Sentence {number} tells nothing of note." for number in range(200))
    text = f"The barge is insured until May. {long} The sluice opens at nine."
    (found,) = select_turns([DialogueTurn("user", text)], stems("When is the barge insured?"), 60)
    assert found.text.startswith("The barge is insured until May.\n…\n")
    assert found.text.endswith("The sluice opens at nine.")
    assert count_tokens(found.text) <= 60


@given(
    st.lists(st.text(alphabet="ab .\n!?é東", max_size=80), max_size=12),
    st.integers(min_value=-1, max_value=60),
)
def test_an_extract_never_costs_more_than_the_budget(texts: list[str], budget: int) -> None:
    turns = [DialogueTurn("user", text) for text in texts]
    found = select_turns(turns, ["ab", "b"], budget)
    assert _size(found) <= max(0, budget)
    assert found == select_turns(turns, ["b", "ab"], budget)
    assert _size(select_turns([*TALK, *turns], ["barg"], budget)) <= max(0, budget)


def test_memories_say_where_they_come_from() -> None:
    said = DialogueTurn("Mara", "The barge leaks.", "user", "2026-02-24", "talk.jsonl", 3, 4, "m7")
    other = DialogueTurn("Brian", "It rains.")
    first, second = context_memories([said, other], ["barg", "leak"])
    assert (first.kind, first.text, first.speaker) == ("context", said.text, "Mara")
    assert (first.sources[0][:4], first.score) == (("talk.jsonl", 3, 4, ("m7",)), 1.0)
    assert (second.score, second.sources[0].turn_ids) == (0.0, ())
    assert first.id != second.id


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
