"""What a question claims: which way it leans, and its claim turned into a sentence."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text import slots
from clsm_cli.text.polarity import MARKERS, Plain, claim, may_lean, plain

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
    assert may_lean(text)
    assert plain(text) == expected


@pytest.mark.parametrize("text", NEUTRAL)
def test_a_question_that_only_asks_stays_as_it_is(text: str) -> None:
    assert plain(text) == Plain(text, "neutral")


@given(st.lists(st.sampled_from([*sorted(MARKERS), "don't", "I", "is", "Mara", "like", ",", "?"])))
def test_no_word_is_added(words: list[str]) -> None:
    text = " ".join(words)
    found = plain(text)
    letters = [
        word.strip(",?").removesuffix("n't").lower()
        for word in text.replace("cannot", "can cannot").split()
    ]
    assert set(found.text.lower().replace(",", "").replace("?", "").split()) <= {*letters, "don't"}


AT = date(2026, 2, 24)
PAIRS = {
    "Does Mara live in Haarlem?": "Mara lives in Haarlem",
    "Does Mara still live in Haarlem?": "Mara still lives in Haarlem",
    "Does Mara no longer live in Haarlem?": "Mara no longer lives in Haarlem",
    "Did Mara move to Haarlem?": "Mara moved to Haarlem",
    "Did Mara Lind move to Leiden in May?": "Mara Lind moved to Leiden in May",
    "Is the heartbeat every 30 minutes?": "The heartbeat is every 30 minutes",
    "Does the heartbeat come every 30 minutes?": "The heartbeat comes every 30 minutes",
    "Does the bell ring every 10 minutes?": "The bell rings every 10 minutes",
    "Is Noor allergic to nuts?": "Noor is allergic to nuts",
    "Am I allergic to penicillin?": "I am allergic to penicillin",
    "Is Mara's birthday on 3 May?": "Mara's birthday is on 3 May",
    "Is Mara vegetarian?": "Mara is vegetarian",
    "Is Mara Dutch?": "Mara is Dutch",
    "Is Brian a teacher?": "Brian is a teacher",
    "Does Brian work at Shell?": "Brian works at Shell",
    "Does Brian work as a plumber?": "Brian works as a plumber",
    "Does Brian play the piano?": "Brian plays the piano",
    "Does Brian like jazz?": "Brian likes jazz",
    "Do I like jazz?": "I like jazz",
    "Do I prefer tea?": "I prefer tea",
    "Does Mara hate coriander?": "Mara hates coriander",
    "Does Brian own a boat?": "Brian owns a boat",
    "Has Brian adopted a dog?": "Brian has adopted a dog",
    "Did Brian adopt a cat?": "Brian adopted a cat",
    "Has Mara moved to Leiden?": "Mara has moved to Leiden",
    "Did Noor visit Lisbon?": "Noor visited Lisbon",
    "In May, did Noor visit Porto?": "Noor visited Porto in May",
    "Has Noor ever visited Rome?": "Noor has visited Rome",
    "Noor hasn't visited Rome yet, has she?": "Noor has visited Rome",
    "Did Noor go to Lisbon?": "Noor went to Lisbon",
    "Is the report due on 2026-03-02?": "The report is due on 2026-03-02",
    "Is The Steward's Problem due on 2 March?": "The Steward's Problem is due on 2 March",
    "Is the barge moored at Spaarne quay?": "The barge is moored at Spaarne quay",
    "Is the Albertine moored at Leidsevaart?": "The Albertine is moored at Leidsevaart",
    "Does the backup go to Hetzner?": "The backup goes to Hetzner",
    "Is the port of the proxy 8080?": "The port of the proxy is 8080",
    "Is Magpie paused?": "Magpie is paused",
    "Does Juno get 5 mg of methimazole a day?": "Juno gets 5 mg of methimazole a day",
    "Does Ilse work in Leiden on Mondays?": "Ilse works in Leiden on Mondays",
    "Is Noor 14 years old?": "Noor is 14 years old",
    "Is Noor married to Brian?": "Noor is married to Brian",
    "Is Lotte's husband called Joost?": "Lotte's husband is called Joost",
    "Does the reading club meet on Tuesdays?": "The reading club meets on Tuesdays",
    "Does the reading club meet at the library?": "The reading club meets at the library",
    "Does Mara drink coffee?": "Mara drinks coffee",
    "Has Mara given up coffee?": "Mara has given up coffee",
    "Did Mara give up coffee?": "Mara gave up coffee",
    "Are we using SQLite?": "We are using SQLite",
    "Do we use SQLite?": "We use SQLite",
    "Did we switch to SQLite?": "We switched to SQLite",
    "Does Sedge start up from the archive?": "Sedge starts up from the archive",
    "Did Brian study at Leiden University?": "Brian studied at Leiden University",
    "Do you know if Mara lives in Haarlem?": "Mara lives in Haarlem",
    "Is it true that Mara lives in Haarlem?": "Mara lives in Haarlem",
    "Mara lives in Haarlem, right?": "Mara lives in Haarlem",
    "Isn't Noor allergic to nuts?": "Noor is allergic to nuts",
    "Doesn't Brian work at Shell?": "Brian works at Shell",
    "Mara doesn't live in Haarlem, does she?": "Mara lives in Haarlem",
    "Noor isn't allergic to nuts, right?": "Noor is allergic to nuts",
    "I don't like jazz, right?": "I like jazz",
}
OUTSIDE_THE_SLOTS = {
    "Sedge starts up from the archive",
    "The reading club meets on Tuesdays",
    "Brian studied at Leiden University",
    "Mara is Dutch",
    "Juno gets 5 mg of methimazole a day",
    "The port of the proxy is 8080",
}
"""Statements of ``PAIRS`` from which no fact is read, whoever makes them."""


@pytest.mark.parametrize(("question", "statement"), PAIRS.items(), ids=PAIRS)
def test_the_claim_of_a_question(question: str, statement: str) -> None:
    found = claim(question)
    assert found is not None
    assert found.text == statement


def test_nine_claims_of_ten_are_read_by_slots() -> None:
    claims = [found.text for question in PAIRS if (found := claim(question))]
    unread = [text for text in claims if not slots.facts(f"{text}.", AT, speaker="Ann")]
    assert set(unread) == OUTSIDE_THE_SLOTS
    assert len(unread) <= 0.11 * len(claims)


@pytest.mark.parametrize(
    ("question", "polarity"),
    [
        ("Does Mara live in Haarlem?", "neutral"),
        ("Isn't Noor allergic to nuts?", "positive"),
        ("Mara lives in Haarlem, doesn't she?", "positive"),
        ("Mara doesn't live in Haarlem, does she?", "negative"),
        ("Do you know whether Mara doesn't eat meat?", "negative"),
        ("Is it true that Mara lives in Haarlem?", "neutral"),
    ],
)
def test_which_way_a_claim_leans(question: str, polarity: str) -> None:
    found = claim(question)
    assert found is not None
    assert found.polarity == polarity


@pytest.mark.parametrize(
    "question",
    [
        "Where does Mara live?",
        "What is the heartbeat?",
        "Did Brian buy a boat or a car?",
        "Can you translate this?",
        "Could you check the gauge?",
        "Do you remember Mara?",
        "Mara lives in Haarlem",
        "Does Mara?",
        "Is Mara?",
        "is",
        "",
        "Is it ok?",
        "Is " + "x " * 1000,
    ],
)
def test_no_claim(question: str) -> None:
    assert claim(question) is None
