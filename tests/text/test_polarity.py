from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.polarity import MARKERS, Plain, may_be_rhetorical, plain_question

LEANING = {
    # Tag questions.
    "I don't like outdoor activities, right?": ("I like outdoor activities", "negative"),
    "I don't like watching comedies, right?": ("I like watching comedies", "negative"),
    "I don\u2019t like opera, do I?": ("I like opera", "negative"),
    "I like sushi, don't I?": ("I like sushi", "positive"),
    "I like sushi don't I?": ("I like sushi", "positive"),
    "Mara lives in Haarlem, doesn't she?": ("Mara lives in Haarlem", "positive"),
    "Mara lives in Haarlem, right?": ("Mara lives in Haarlem", "positive"),
    "Mara isn't Dutch, is she?": ("Mara is Dutch", "negative"),
    "You never told me your name, did you?": ("You told me your name", "negative"),
    "Brian won't come to the party, will he?": ("Brian will come to the party", "negative"),
    "The hook can't run twice, huh?": ("The hook can run twice", "negative"),
    "We cannot delete it, correct?": ("We can delete it", "negative"),
    "I have no brother, right?": ("I have brother", "negative"),
    "I don't drink coffee any more, right?": ("I drink coffee", "negative"),
    "The port is 8080, no?": ("The port is 8080", "positive"),
    "I'm allergic to nuts, am I not?": ("I'm allergic to nuts", "positive"),
    # A statement with a question mark.
    "You never told me his name?": ("You told me his name", "negative"),
    "The backup did not run?": ("The backup run", "negative"),
    # Frames.
    "Isn't it true that I like jazz?": ("I like jazz", "positive"),
    "Is it true that Mara left?": ("Mara left", "neutral"),
    "Is it true that Mara doesn't eat meat?": ("Mara eat meat", "negative"),
    "Is it not the case that the gauge is wet?": ("the gauge is wet", "positive"),
    # A denial in the question itself.
    "Didn't I say the port was 80?": ("Did I say the port was 80?", "positive"),
    "Don't I like sushi?": ("Do I like sushi?", "positive"),
    "isn't Mara allergic to nuts?": ("is Mara allergic to nuts?", "positive"),
    "But haven't we met before?": ("But have we met before?", "positive"),
    "Won't Brian come?": ("Will Brian come?", "positive"),
    "Can't the hook run twice?": ("Can the hook run twice?", "positive"),
    "Did I not tell you about the boat?": ("Did I tell you about the boat?", "positive"),
}
NEUTRAL = [
    "What does Mara want?",
    "Which food does Mara not like?",
    "Why didn't we switch to Redis?",
    "What don't I eat?",
    "Which way is right?",
    "Is the left one right?",
    "Does Mara no longer live in Haarlem?",
    "Never wake me before eight.",
    "I do not eat nuts.",
    "no",
    "right?",
    "Where is it?",
    "What did I tell you?",
    "Is there no milk?",
    "",
]


@pytest.mark.parametrize(("text", "expected"), LEANING.items(), ids=LEANING)
def test_negation_and_tag_are_taken_out(text: str, expected: tuple[str, str]) -> None:
    assert may_be_rhetorical(text)
    assert plain_question(text) == expected


@pytest.mark.parametrize("text", NEUTRAL)
def test_a_question_that_only_asks_stays_as_it_is(text: str) -> None:
    assert plain_question(text) == Plain(text, "neutral")


@given(st.lists(st.sampled_from([*sorted(MARKERS), "don't", "I", "is", "Mara", "like", ",", "?"])))
def test_no_word_is_added(words: list[str]) -> None:
    text = " ".join(words)
    found = plain_question(text)
    letters = [
        word.strip(",?").removesuffix("n't").lower()
        for word in text.replace("cannot", "can cannot").split()
    ]
    assert set(found.text.lower().replace(",", "").replace("?", "").split()) <= {*letters, "don't"}
