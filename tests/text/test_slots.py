from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.slots import SLOTS, Fact, conflicts, facts, subject_key

MONDAY = date(2024, 5, 13)
Row = tuple[str, str, str]


def read(sentence: str, *, speaker: str = "", at: date | None = MONDAY) -> list[Row]:
    return [fact[:3] for fact in facts(sentence, at, speaker=speaker)]


PEOPLE: list[tuple[str, list[Row]]] = [
    ("Anna lives in Porto.", [("Anna", "residence", "Porto")]),
    ("My sister lives in Porto now.", [("Rob's sister", "residence", "Porto")]),
    ("I moved to Leeds last week.", [("Rob", "residence", "Leeds")]),
    ("Dr. Ellis did his thesis here, moved to Ghent, and now teaches.", [("Dr. Ellis", "residence", "Ghent")]),
    ("I'm originally from Malta.", [("Rob", "origin", "Malta")]),
    ("Anna works at the Blue Door.", [("Anna", "employer", "Blue Door")]),
    ("I got a new job at Corwin Labs yesterday.", [("Rob", "employer", "Corwin Labs")]),
    ("She works as a barista.", [("she", "occupation", "barista")]),
    ("Tom is a retired plumber.", [("Tom", "occupation", "retired plumber")]),
    ("Tom became a nurse in 2019.", [("Tom", "occupation", "nurse")]),
    ("Mia is nine.", [("Mia", "age", "9")]),
    ("Mia turned ten today!", [("Mia", "age", "10")]),
    ("My grandmother is eighty-one years old.", [("Rob's grandmother", "age", "81")]),
    ("The boiler is 12 years old.", [("boiler", "age", "12")]),
    ("Mia's birthday is on 3 June.", [("Mia", "birthday", "2024-06-03")]),
    ("Anna is married to Paul.", [("Anna", "marital status", "married"), ("Anna", "partner", "Paul")]),
    ("We got engaged on Saturday.", [("Rob", "marital status", "engaged")]),
    ("Paul speaks Dutch.", [("Paul", "language", "Dutch")]),
    ("Mia is badly allergic to hazelnuts.", [("Mia", "allergic to", "hazelnuts")]),
    ("I have a peanut allergy.", [("Rob", "allergic to", "peanut")]),
    ("I love hiking.", [("Rob", "likes", "hiking")]),
    ("Paul hates coriander.", [("Paul", "dislikes", "coriander")]),
    ("Anna prefers tea to coffee.", [("Anna", "prefers", "tea")]),
    ("Paul owns a small sawmill.", [("Paul", "owns", "small sawmill")]),
    ("We have two cats.", [("Rob", "owns", "two cats")]),
    ("I'm reading *The Long Walk* by a friend.", [("Rob", "reads", "The Long Walk")]),
    ("Anna plays the cello.", [("Anna", "plays", "cello")]),
    ("I visited Kyoto last month.", [("Rob", "visited", "Kyoto")]),
    ("I joined a rowing club.", [("Rob", "member of", "rowing club")]),
    ("Anna's email is anna.b@example.org.", [("Anna", "email", "anna.b@example.org")]),
    ("My phone number is 020 555 0134.", [("Rob", "phone", "020 555 0134")]),
    ("Anna's days at the Ghent office are Tuesday and Friday.", [("Anna", "workdays/Ghent", "Tuesday and Friday")]),
    ("Paul leaves for the Ghent office at seven; Fridays and Mondays are his days there.", [("Paul", "workdays/Ghent", "Monday and Friday")]),
]  # fmt: skip

THINGS: list[tuple[str, list[Row]]] = [
    ("The report is due on Friday.", [("report", "due", "2024-05-17")]),
    ("*Night Ferry* is due on 20 May, says Paul.", [("Night Ferry", "due", "2024-05-20")]),
    ("The deadline for the grant is 1 July 2024.", [("grant", "due", "2024-07-01")]),
    ("The library book has been renewed until 3 June.", [("library book", "due", "2024-06-03")]),
    ("My next blood test is on 21 May.", [("Rob", "appointment/blood test", "2024-05-21")]),
    ("The probe reports every 10 minutes.", [("probe", "interval", "10 minutes")]),
    ("The [[poll]] runs every hour.", [("poll", "interval", "1 hour")]),
    ("Biscuit takes carprofen, 20 mg twice a day.", [("Biscuit", "dose/carprofen", "20 mg twice a day")]),
    ("She gets 5 mg of prednisolone daily.", [("she", "dose/prednisolone", "5 mg once a day")]),
    ("[[Heron]] risks 2 % of the account per trade.", [("Heron", "rate/per trade", "2 %")]),
    ("The import is paused.", [("import", "status", "paused")]),
    ("The old gateway was switched off on 2 May.", [("old gateway", "status", "switched off")]),
    ("Harbour went live.", [("Harbour", "status", "live")]),
    ("The barge *Greta* is moored at the East Dock.", [("Greta", "location", "East Dock")]),
    ("The spare key is in the blue tin.", [("spare key", "location", "blue tin")]),
    ("The choir meets at the [[Old Mill]] on Thursdays.", [("choir", "venue", "Old Mill")]),
    ("Our backup goes to the NAS.", [("backup", "target", "NAS")]),
    ("The site is deployed to Fly.", [("site", "target", "Fly")]),
    ("The [[box]] runs on Debian.", [("box", "runs on", "Debian")]),
    ("The tracker uses `sqlite` for storage.", [("tracker", "uses/storage", "sqlite")]),
    ("We switched from Jenkins to Drone.", [("Rob", "uses", "Drone")]),
    ("The new cat is called Pixel.", [("new cat", "name", "Pixel")]),
    ("The boat's name is *Greta*.", [("boat", "name", "Greta")]),
    ("The subscription costs 12 euros per month.", [("subscription", "price", "12 euros per month")]),
    ("Biscuit weighs 8.4 kg.", [("Biscuit", "weight", "8.4 kg")]),
    ("The mast is 12 m tall.", [("mast", "size/tall", "12 m")]),
    ("The parser answered 31 of the 45.", [("parser", "score", "31 of 45")]),
    ("No calls before nine.", [("", "rule/no calls before", "nine")]),
]  # fmt: skip

NOTHING = [
    "Does Anna live in Porto?",
    "If Anna lives in Porto, we can visit.",
    "Anna would live in Porto.",
    "I want to move to Leeds.",
    "Maybe Tom is a plumber.",
    "The bot told me that Tom is a plumber.",
    "Tom says that Mia is ten.",
    "Tom is not a plumber.",
    "Mia is never late.",
    "When I was ten, we had a dog.",
    "I am one of nine.",
    "It is ten.",
    "The water stands at minus 60 cm.",
    "The account stands at 9,300 euro.",
    "I can't wait to live in Porto!",
    "Things like this happen.",
    "I love it!",
    "I love your new picture.",
    "It feels like summer.",
    "Anna is a great cook.",
    "We moved on to other questions.",
    "That moved me to tears.",
    "The answer lies in the details.",
    "I run every two days.",
    "The rent will be due some day.",
    "I am done.",
    "It is closed.",
    "Order a new disk.",
    "- [ ] Move the site to Fly",
    "## Deadline moved",
    "Call me at 3.",
    "They have a good time in May.",
    "Meet me at the station.",
    'Paul: "We moved to Leeds."',
]


@pytest.mark.parametrize(("sentence", "expected"), PEOPLE + THINGS)
def test_facts(sentence: str, expected: list[Row]) -> None:
    assert read(sentence, speaker="Rob") == expected


@pytest.mark.parametrize("sentence", NOTHING)
def test_no_facts(sentence: str) -> None:
    assert read(sentence, speaker="" if "Paul:" in sentence else "Rob") == []
