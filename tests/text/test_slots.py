"""Slots and values of a sentence, also such that are told as something that their owner has."""

from __future__ import annotations

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
    ("Anna moved here, and she works as a barista.", [("Anna", "occupation", "barista")]),
    ("Tom is a retired plumber.", [("Tom", "occupation", "retired plumber")]),
    ("Tom became a nurse in 2019.", [("Tom", "occupation", "nurse")]),
    ("Mia is nine.", [("Mia", "age", "9")]),
    ("Mia turned ten today!", [("Mia", "age", "10")]),
    ("My grandmother is eighty-one years old.", [("Rob's grandmother", "age", "81")]),
    ("The boiler is 12 years old.", [("boiler", "age", "12")]),
    ("Mia's birthday is on 3 June.", [("Mia", "birthday", "3 June")]),
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

CHANGES: list[tuple[str, list[Row]]] = [
    ("The rent rises from 900 euros to 950 euros.", [("rent", "price", "950 euros")]),
    ("The standup moved from 9:00 to 9:30.", [("standup", "time", "09:30")]),
    ("The lecture starts at 8 p.m.", [("lecture", "time", "20:00")]),
    ("The upload limit was raised from 5 GB to 10 GB.", [("upload limit", "setting", "10 GB")]),
    ("The dashboard runs on port 8081.", [("dashboard", "port", "8081")]),
    ("The agent checks the mail every 30 minutes.", [("agent", "interval/mail", "30 minutes")]),
    ("The wiki was upgraded from 3.2 to 3.4.", [("wiki", "version", "3.4")]),
    ("The vet raised the enalapril to 7.5 mg twice a day.", [("enalapril", "dose/enalapril", "7.5 mg twice a day")]),
    ("Our restic repository lives on the NAS.", [("restic", "target", "NAS")]),
    ("The restic backup moved from the NAS to Hetzner.", [("restic", "target", "Hetzner")]),
    ("The choir has moved from the church to the town hall.", [("choir", "venue", "town hall")]),
    ("Rob has moved the [[dinghy]] from the East Dock to the boathouse.", [("dinghy", "location", "boathouse")]),
    ("Paul lives on the boat *Greta*, moored at the East Dock.", [("Greta", "location", "East Dock")]),
    ("The deadline for *Night Ferry* slipped from 14 May to 21 May.", [("Night Ferry", "due", "2024-05-21")]),
    ("Don't message me before nine.", [("", "rule/nothing before", "nine")]),
    ("Lost my job as a banker yesterday, so I'm gonna travel.", [("Rob", "occupation", "banker")]),
    ("Anna has given up coffee.", [("Anna", "diet", "coffee")]),
    ("Dune is my favourite book.", [("Rob", "favourite/book", "Dune")]),
    ("Our trial ends on 3 June.", [("trial", "expires", "2024-06-03")]),
    ("**Mia**: Paul's niece, ten since 4 May.", [("Mia", "age", "10")]),
    ("- **Heron**: paused on 2 May, running again since 9 May.", [("Heron", "status", "running")]),
    ("- **Otis**: cat, twelve, kidneys.", [("Otis", "age", "12")]),
    ("- Backup: nightly to Hetzner since 3 May.", [("backup", "target", "Hetzner")]),
    ("*Bread and Roses* is due tomorrow.", [("Bread and Roses", "due", "2024-05-14")]),
    ("Bread and Roses is due tomorrow.", [("Bread and Roses", "due", "2024-05-14")]),
]  # fmt: skip

THINGS: list[tuple[str, list[Row]]] = [
    ("The report is due on Friday.", [("report", "due", "2024-05-17")]),
    ("*Night Ferry* is due on 20 May, says Paul.", [("Night Ferry", "due", "2024-05-20")]),
    ("The deadline for the grant is 1 July 2024.", [("grant", "due", "2024-07-01")]),
    ("The library book has been renewed until 3 June.", [("library book", "due", "2024-06-03")]),
    ("My next blood test is on 21 May.", [("Rob", "appointment/blood test", "2024-05-21")]),
    ("The probe reports every 10 minutes.", [("probe", "interval", "10 minutes")]),
    ("The [[poll]] runs every hour.", [("poll", "interval", "1 hour")]),
    ("Biscuit takes carprofen, 20 mg twice a day.", [("carprofen", "dose/carprofen", "20 mg twice a day")]),
    ("She gets 5 mg of prednisolone daily.", [("prednisolone", "dose/prednisolone", "5 mg once a day")]),
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
    "She works as a barista.",
    "Anna and Paul live in Porto.",
    "The man who lives in Leeds is tall.",
    "Pumps that are switched off save power.",
    "Guests: eleven.",
    "Account: 9,300 euro.",
    "Exponent: 5, Mantissa: 2.",
    "Update the script to use Postgres.",
    "The meeting is at 15:00 today.",
    "Tables are disabled by default.",
    "I love stories that end well.",
    "I love spending time with the friends I have.",
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


@pytest.mark.parametrize(("sentence", "expected"), PEOPLE + THINGS + CHANGES)
def test_facts(sentence: str, expected: list[Row]) -> None:
    assert read(sentence, speaker="Rob") == expected


@pytest.mark.parametrize("sentence", NOTHING)
def test_no_facts(sentence: str) -> None:
    assert read(sentence, speaker="" if "Paul:" in sentence else "Rob") == []


TIMES: list[tuple[str, str | None, str | None, bool, tuple[str, ...]]] = [
    ("From today the bell rings every 10 minutes.", "2024-05-13", None, False, ()),
    ("From Tuesday the bell rings every 10 minutes.", "2024-05-14", None, False, ()),
    ("Since 3 May the bell rings every 10 minutes.", "2024-05-03", None, False, ()),
    ("The bell rings every 15 minutes instead of every 5.", None, None, False, ("5 minutes",)),
    ("The report is now due on 20 May and no longer on the 17th.", "2024-05-13", None, False, ("2024-05-17",)),
    ("The report is due on 24 May (was 17, then 20 May).", None, None, False, ("2024-05-17", "2024-05-20")),
    ("The report is due on 24 May.", None, None, False, ()),
    ("As of today Heron is paused.", "2024-05-13", None, False, ()),
    ("Heron was switched off today, 13 May, after 47 days.", "2024-05-13", None, False, ()),
    ("On 2 May the old gateway was retired.", "2024-05-02", None, False, ()),
    ("The import is paused until 1 June.", None, "2024-06-01", False, ()),
    ("The import is paused until further notice.", None, None, False, ()),
    ("Since 10:00 Heron has been running in [[shadow mode]].", "2024-05-13", None, False, ()),
    ("Anna no longer works at Corwin Labs.", None, "2024-05-13", True, ()),
    ("Anna used to work at Corwin Labs.", None, None, True, ()),
    ("Anna doesn't live in Porto any more.", None, "2024-05-13", True, ()),
    ("The club no longer meets at the Blue Door.", None, "2024-05-13", True, ()),
    ("Mia is nine for four more days.", None, "2024-05-17", False, ()),
    ("Mia turned ten on Saturday.", "2024-05-11", None, False, ()),
    ("The dinghy is moored at the East Dock since 4 May.", "2024-05-04", None, False, ()),
    ("We migrated from Postgres to SQLite yesterday.", "2024-05-12", None, False, ("Postgres",)),
    ("From June the rent is 950 euros.", "2024-06-01", None, False, ()),
    ("The bell rings every 10 minutes, and since 2 May there is a lamp.", None, None, False, ()),
    ("From today (2024-05-13) the bell rings every 10 minutes.", "2024-05-13", None, False, ()),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "since", "until", "is_ended", "was"), TIMES)
def test_times(
    sentence: str, since: str | None, until: str | None, is_ended: bool, was: tuple[str, ...]
) -> None:
    [fact] = facts(sentence, MONDAY)
    assert fact[4:8] == (since, until, is_ended, was)


def test_a_change_within_a_sentence() -> None:
    before, after = facts(
        "Until yesterday Anna's morning was two coffees, black; from today it is rooibos.", MONDAY
    )
    assert before == Fact("Anna", "habit/morning", "two coffees", True, None, "2024-05-13", True)
    assert after[:3] == ("Anna", "habit/morning", "rooibos")
    assert (after.since, after.is_ended, after.was) == ("2024-05-13", False, ("two coffees",))


def test_a_rule_that_replaces_another() -> None:
    [fact] = facts('Rule "nothing before eight" replaced by "nothing before the bell"', MONDAY)
    assert fact == Fact("", "rule/nothing before", "bell", True, "2024-05-13", was=("eight",))


def test_without_a_day_only_absolute_dates_are_resolved() -> None:
    assert read("The report is due on 20 May.", at=None) == [("report", "due", "20 May")]
    assert read("The report is due on 20 May 2024.", at=None) == [("report", "due", "2024-05-20")]
    assert read("The report is due on Friday.", at=None) == []
    [fact] = facts("Heron is paused since 3 May.", None)
    assert fact.since is None


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("Anna lives in Porto.", "Anna moved to Leeds.", True),
        ("Anna lives in Porto.", "Paul lives in Leeds.", False),
        ("Anna lives in Porto.", "Anna lives in Porto.", False),
        ("The bell rings every 5 minutes.", "The [[bell]] rings every 10 minutes.", True),
        ("The report is due on 20 May.", "The essay is due on 21 May.", False),
        ("The reading club meets at the mill.", "From now on the club meets at the barn.", True),
        ("The site deploys to Fly.", "The backup goes to the NAS.", False),
        ("Otis gets 5 mg of enalapril daily.", "The enalapril goes down to 2 mg once a day.", True),
        ("Otis gets 5 mg of enalapril daily.", "Otis gets 2 mg of digoxin daily.", False),
        ("Anna's days at the Ghent office are Monday and Friday.", "Anna's days at the Ghent office are Monday.", True),
        ("Anna's days at the Ghent office are Monday.", "Anna's days at the Lyon office are Friday.", False),
        ("Anna likes tea.", "Anna likes coffee.", False),
        ("The key is in the drawer.", "The key is in the drawer of the desk.", False),
        ("The deadline is 3 June.", "The deadline is 10 June.", False),
        ("Heron is live.", "Heron was switched off.", True),
    ],
)  # fmt: skip
def test_conflicts(older: str, newer: str, expected: bool) -> None:
    pairs = [(a, b) for a in facts(older, MONDAY) for b in facts(newer, MONDAY)]
    assert any(conflicts(a, b) for a, b in pairs) is expected
    assert any(conflicts(b, a) for a, b in pairs) is expected


def test_a_date_without_a_year_agrees_with_the_full_one() -> None:
    [undated] = facts("The report is due on 20 May.", None)
    [dated] = facts("The report is due on 20 May.", MONDAY)
    assert not conflicts(undated, dated)
    assert conflicts(undated, dated._replace(value="2024-05-21"))


def test_keys() -> None:
    assert subject_key("The Reading Clubs") == subject_key("reading club")
    assert subject_key("the glass") == "glass"


@given(st.text(max_size=200), st.one_of(st.none(), st.dates()), st.sampled_from(["", "Rob"]))
def test_any_text(text: str, at: date | None, speaker: str) -> None:
    found = facts(text, at, speaker=speaker)
    assert all(fact.slot.split("/", maxsplit=1)[0] in SLOTS and fact.value for fact in found)
    assert not any(conflicts(fact, fact) for fact in found)
    assert found == facts(text, at, speaker=speaker)


@given(st.lists(st.sampled_from(PEOPLE + THINGS), min_size=1, max_size=3))
def test_a_value_is_no_clause(rows: list[tuple[str, list[Row]]]) -> None:
    text = " and ".join(sentence.rstrip(".!") for sentence, _ in rows)
    for fact in facts(text, MONDAY, speaker="Rob"):
        assert len(fact.value.split()) <= 8
        assert not set("[]*\ue000\ue001\n") & set(fact.value + fact.subject)


# Values that are told as something that their owner has.


AT = date(2026, 2, 20)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("My flat is now in Hull.", ("Ann", "residence", "Hull")),
        ("Tomas settled in the Hague last year.", ("Tomas", "residence", "Hague")),
        ("Ilse's current home is York.", ("Ilse", "residence", "York")),
        ("My mobile number has changed to 020 7946 0958.", ("Ann", "phone", "020 7946 0958")),
        ("Call Ilse on +44 20 7946 0958.", ("Ilse", "phone", "+44 20 7946 0958")),
        ("Ilse changed her number to 020 7946 0958.", ("Ilse", "phone", "020 7946 0958")),
        ("The e-mail address of Ilse is now i@york.example.", ("Ilse", "email", "i@york.example")),
        ("The barge's maintainer is Brian.", ("barge", "owner", "Brian")),
        ("Responsibility for the barge passed to Ruth.", ("barge", "owner", "Ruth")),
        ("Ruth takes care of the barge now.", ("barge", "owner", "Ruth")),
        ("The diary's editor is Obsidian.", ("diary", "uses/editor", "Obsidian")),
        ("We migrated the shop's hosting to Hetzner.", ("shop", "uses/hosting", "Hetzner")),
        ("The frequency of the poll is every 5 minutes.", ("poll", "interval", "5 minutes")),
        ("I reduced the poll to every 2 hours.", ("poll", "interval", "2 hours")),
    ],
)
def test_what_is_read(sentence: str, expected: tuple[str, str, str]) -> None:
    (found,) = facts(sentence, AT, speaker="Ann")
    assert (found.subject, found.slot, found.value) == expected
    assert found.is_single


@pytest.mark.parametrize(
    "sentence",
    [
        "The order's number is 4711 0815 2342.",
        "Is the barge's owner Ruth?",
        "If my home is in Hull, we walk.",
        "The home of the team is where it plays.",
        "The owner is Ruth.",
        "She said the shop's database is Postgres.",
    ],
)
def test_what_is_not(sentence: str) -> None:
    assert facts(sentence, AT, speaker="Ann") == []


def test_the_older_value_is_named_too() -> None:
    for sentence in (
        "We switched the shop's database from SQLite to Postgres.",
        "We replaced SQLite with Postgres as the shop's database.",
    ):
        (found,) = facts(sentence, AT)
        assert (found.subject, found.value, found.was) == ("shop", "Postgres", ("SQLite",))
