from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.evaluation.presets.compound import (
    MARKERS,
    Part,
    follow_up,
    is_compound,
    question_parts,
)

COMPARISONS = {
    "REST vs GraphQL": ["REST", "GraphQL"],
    "REST vs. GraphQL for mobile apps": ["REST for mobile apps", "GraphQL for mobile apps"],
    "SQLite versus flat files": ["SQLite", "flat files"],
    "How does SQLite perform compared to Redis?": ["SQLite perform", "Redis"],
    "How does SQLite compare to Redis?": ["SQLite", "Redis"],
    "What is the difference between Hardin and Spaarne?": ["Hardin", "Spaarne"],
    "differences between the cats of Mara and Brian": ["cats of Mara", "cats of Brian"],
    "difference between Mara's and Brian's cats": ["Mara's cats", "Brian's cats"],
    "difference between Mara and Brian's cats": ["Mara's cats", "Brian's cats"],
    "What is the difference between episodic and semantic memory?": [
        "episodic memory",
        "semantic memory",
    ],
    "the difference between the old and the new heartbeat": ["old heartbeat", "new heartbeat"],
    "Compare the plan of March with the plan of April": ["plan of March", "plan of April"],
    "compare tea and coffee": ["tea", "coffee"],
    "How does Mara differ from Brian?": ["Mara", "Brian"],
    "How is the barge different from the boat?": ["barge", "boat"],
    "Is Mara older than Brian?": ["Mara older", "Brian older"],
    "Is tea better than coffee for sleep?": ["tea for sleep", "coffee for sleep"],
    "Did Mara move to Haarlem or Leiden?": ["Did Mara move to Haarlem", "Did Mara move to Leiden"],
    "Is the standup on Monday or on Tuesday?": [
        "Is the standup on Monday",
        "Is the standup on Tuesday",
    ],
    "Should we use Redis or SQLite for the cache?": [
        "Should we use Redis for the cache",
        "Should we use SQLite for the cache",
    ],
    "Does Brian have a dog or a cat?": ["Does Brian have a dog", "Does Brian have a cat"],
    "tea or coffee": ["tea", "coffee"],
    "Would Tim like books by C. S. Lewis or Ursula Le Guin?": [
        "Would Tim like books by C. S. Lewis",
        "Would Tim like books by Ursula Le Guin",
    ],
}
CAUSES = {
    "why we switched to SQLite": ["we switched to SQLite"],
    "Why did we switch to SQLite?": ["we switch to SQLite"],
    "Do you remember why Mara sold the boat?": ["Mara sold the boat"],
    "What caused the outage in June?": ["outage in June"],
    "What was the reason for the delay?": ["delay"],
    "the reason why Brian left": ["Brian left"],
    "The build failed because the cache was cold": ["The build failed", "cache was cold"],
    "Was the flight late because of the storm?": ["flight late", "storm"],
    "Why did Mara and Brian move?": ["Mara and Brian move", "Mara move", "Brian move"],
}
LISTS = {
    "embeddings, chunking, and tokens": ["embeddings", "chunking", "tokens"],
    "embeddings, chunking and tokens": ["embeddings", "chunking", "tokens"],
    "sensor drift, tap water, and the electric meter": [
        "sensor drift",
        "tap water",
        "electric meter",
    ],
    "What do we know about embeddings, chunking, and tokens?": [
        "What do we know about embeddings",
        "What do we know about chunking",
        "What do we know about tokens",
    ],
    "Does Mara like tea, coffee, or milk in the morning?": [
        "Does Mara like tea in the morning",
        "Does Mara like coffee in the morning",
        "Does Mara like milk in the morning",
    ],
    "When did Mara, Brian and Noor arrive?": [
        "When did Mara arrive",
        "When did Brian arrive",
        "When did Noor arrive",
    ],
    "Which cake has a thin almond crust, chocolate cream, and fresh berries?": [
        "Which cake has thin almond crust",
        "Which cake has chocolate cream",
        "Which cake has fresh berries",
    ],
    "red, green, blue, and yellow": ["red", "green", "blue"],
}
CONJUNCTIONS = {
    "What do Mara and Brian both like?": ["What does Mara like", "What does Brian like"],
    "what do mara and brian both like": ["what does mara like", "what does brian like"],
    "Where do Mara and Brian live?": ["Where does Mara live", "Where does Brian live"],
    "Are Mara and Brian allergic to nuts?": [
        "Is Mara allergic to nuts",
        "Is Brian allergic to nuts",
    ],
    "Which books have both Mara and Brian read?": [
        "Which books has Mara read",
        "Which books has Brian read",
    ],
    "What did Mara Lind and Brian Ott cook in May?": [
        "What did Mara Lind cook in May",
        "What did Brian Ott cook in May",
    ],
    "What do Mara and Brian have in common?": ["Mara", "Brian"],
    "Mara and Brian's wedding": ["Mara's wedding", "Brian's wedding"],
    "Who has been to Rome and Paris?": ["Who has been to Rome", "Who has been to Paris"],
    "When did Mara move and what did she buy?": ["When did Mara move", "what did Mara buy"],
    "Who runs the backup and when does it start?": ["Who runs the backup", "when does it start"],
    "Is Mara a doctor, and where does she work?": ["Is Mara a doctor", "where does Mara work"],
    "What is the wifi password? And where is the router?": [
        "What is the wifi password",
        "where is the router",
    ],
    "What did I say about sleep and stress?": [
        "What did I say about sleep",
        "What did I say about stress",
    ],
}
SPLIT = COMPARISONS | CAUSES | LISTS | CONJUNCTIONS
WHOLE = [
    "What does Mara want?",
    "rise and fall of the barge trade",
    "the rise and fall of Rome",
    "Who likes the Simon and Garfunkel record?",
    "Who read 'Pride and Prejudice'?",
    'Did Brian finish "War and Peace"?',
    "search and replace in the notes",
    "Is the gauge up and running?",
    "pros and cons of the barge",
    "What is the trial and error rule?",
    "Did it take more or less an hour?",
    "Will Mara come or not?",
    "two or three days in May",
    "What happened between 2 and 5 May?",
    "What was the agreement between the owners?",
    "When I was in the library, I read a novel. What was its name?",
    "On May 2nd, I went to the museum. What did I see?",
    "why",
    "why not?",
    "because",
    "and",
    "or",
    "vs",
    "Did the trip cost more than 500 euros?",
    "Mara told me that she is fine",
    "What is Noor's sister called?",
    "Who met people on a hike and had a bad experience?",
    "What does Brian make that is cheap and can be sold?",
    "What is one cause that Mara supports?",
    "Was it a good month? Answer yes or no.",
    "and the second one?",
    "",
]


@pytest.mark.parametrize(("text", "expected"), SPLIT.items(), ids=SPLIT)
def test_a_compound_question_is_taken_apart(text: str, expected: list[str]) -> None:
    assert is_compound(text)
    first, *others = question_parts(text)
    assert first == Part(text, 1.0)
    assert [part.text for part in others] == expected


@pytest.mark.parametrize("text", WHOLE)
def test_a_simple_question_stays_whole(text: str) -> None:
    assert question_parts(text) == [Part(text, 1.0)]


def test_weights_fall_and_there_are_four_parts_at_most() -> None:
    found = question_parts("red, green, blue, cyan, and yellow")
    assert [part.weight for part in found] == [1.0, 0.8, 0.6, 0.4]


@pytest.mark.parametrize(
    ("text", "seen", "expected"),
    [
        ("Mara's boat in Haarlem", {"mara", "boat"}, Part("Haarlem", 0.6)),
        ("boats and permits and moorings", {"boat"}, Part("permits moorings", 0.6)),
        ("Mara's boat", {"mara", "boat"}, None),
        ("Mara's boat", set(), None),
        ("is it so", {"boat"}, None),
    ],
)
def test_a_follow_up_asks_for_what_was_not_found(
    text: str, seen: set[str], expected: Part | None
) -> None:
    assert follow_up(text, seen) == expected


@given(st.lists(st.sampled_from([*sorted(MARKERS), "Mara", "tea", ",", "?", "'", '"', "the"])))
def test_any_words_give_parts_with_content(words: list[str]) -> None:
    text = " ".join(words)
    first, *others = question_parts(text)
    assert first == Part(text, 1.0)
    assert len(others) <= 3
    assert all(any(c.isalnum() for c in part.text) for part in others)
    assert all(part.text.casefold() not in MARKERS for part in others)
