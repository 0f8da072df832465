"""Facts that change every week for a year, told in the many ways in which people tell such things.

A case is one slot of one subject. Its wordings were written down before it was known which of them
are read; those that are not are kept apart. Each week brings a new value in the next wording; some weeks repeat it on Thursday, and some
mention an old value as past.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

WEEKS = 50
MONDAY = datetime(2025, 1, 6, 10, tzinfo=ZoneInfo("Europe/Amsterdam"))

Turn = tuple[str, str, str]


@dataclass(frozen=True)
class Case:
    """One slot of one subject.

    Attributes:
        subject: Its name, as ``clsm history`` takes it.
        slot: As the store names it.
        question: What is asked of it.
        values: Taken in turn; where they are used up they come again.
        news: Wordings of a new value, each with the day since which it says that it holds, counted
            from the Monday on which it is said; None: the moment itself.
        again: Wordings of a value that holds already.
        past: Wordings of a value that held before.
        unread: Wordings of a new value that no form reads.
        speaker: Who tells it.
    """

    subject: str
    slot: str
    question: str
    values: tuple[str, ...]
    news: tuple[tuple[str, int | None], ...]
    again: tuple[str, ...]
    past: tuple[str, ...]
    unread: tuple[str, ...] = ()
    speaker: str = "user"

    def value(self, week: int) -> str:
        """The value that holds from a week on."""
        return self.values[week % len(self.values)]

    @cached_property
    def wordings(self) -> dict[int, int]:
        """Week → wording: in turn, but in each round in another order."""
        count = len(self.news)
        return {w: (w + w // count) % count for w in range(WEEKS)}

    def sentence(self, week: int) -> str:
        """How a week tells its value."""
        text, _ = self.news[self.wordings[week]]
        if week == 0 and "{old}" in text:
            text, _ = next(each for each in self.news if "{old}" not in each[0])
        return text.format(v=self.value(week), old=self.value(week - 1))

    def since(self, week: int) -> str:
        """Since when the value of a week holds: an instant or a day."""
        text, days = self.news[self.wordings[week]]
        if week == 0 and "{old}" in text:
            _, days = next(each for each in self.news if "{old}" not in each[0])
        moment = monday(week)
        return moment.isoformat() if days is None else (moment.date() + timedelta(days)).isoformat()

    def told(self, week: int) -> list[list[Turn]]:
        """The sessions of a week: one on Monday, and in every third week one on Thursday."""
        first = [(self.speaker, monday(week).isoformat(), self.sentence(week))]
        if week > 1 and week % 5 == 4:
            old = self.past[week // 5 % len(self.past)].format(old=self.value(week - 2))
            first.append((self.speaker, (monday(week) + timedelta(minutes=1)).isoformat(), old))
        if week % 3 != 1:
            return [first]
        text = self.again[week // 3 % len(self.again)].format(v=self.value(week))
        thursday = monday(week) + timedelta(days=3, hours=5)
        return [first, [(self.speaker, thursday.isoformat(), text)]]


def monday(week: int) -> datetime:
    """Ten o'clock on the Monday of a week."""
    return MONDAY + timedelta(weeks=week)


def night(week: int) -> str:
    """The night to Saturday of a week, when all of it was said."""
    return (monday(week) + timedelta(days=4, hours=17)).isoformat()


def day(instant: str) -> date:
    return date.fromisoformat(instant[:10])


_TOWNS = (
    "Leeds", "York", "Hull", "Bergen", "Delft", "Ghent", "Lisbon", "Turin", "Aarhus", "Graz", "Bath",
    "Porto", "Malmö", "Utrecht", "Cork", "Basel", "Split",
)  # fmt: skip
_PEOPLE = (
    "Tomas",
    "Ilse",
    "Brian",
    "Nadia",
    "Pavel",
    "Ruth",
    "Oskar",
    "Lena",
    "Hugo",
    "Marta",
    "Jonas",
)
_BASES = ("SQLite", "Postgres", "MariaDB", "DuckDB", "Redis", "MongoDB", "Cassandra")
_MINUTES = ("10", "15", "20", "30", "45", "12", "25", "40", "5")
_PHONES = tuple(f"0151 {2345 + 137 * n} {678 + 2 * n}" for n in range(WEEKS))

RESIDENCE = Case(
    "Mara", "residence", "Where does Mara live?", _TOWNS,
    (
        ("Mara lives in {v} now.", None),
        ("Mara has moved to {v}.", None),
        ("Mara moved to {v} last Saturday.", -2),
        ("Since Saturday Mara lives in {v}.", -2),
        ("Mara is living in {v} these days.", None),
        ("Mara's home is in {v} now.", None),
        ("As of today, Mara lives in {v}.", 0),
        ("Mara relocated to {v}.", None),
        ("Mara has settled in {v}.", None),
        ("Mara no longer lives in {old}; she lives in {v} now.", None),
        ("Mara moved from {old} to {v}.", None),
        ("By the way, Mara lives in {v} now, not in {old}.", None),
        ("Mara's new home is {v}.", None),
        ("Mara now resides in {v}.", None),
    ),
    ("Yes, Mara still lives in {v}.", "Mara lives in {v}, as you know."),
    (
        "Mara used to live in {old}.",
        "Mara lived in {old} before.",
        "Back when Mara lived in {old}, she had a garden.",
    ),
)  # fmt: skip
OWN_HOME = Case(
    "Nils", "residence", "Where does Nils live?", _TOWNS[::-1],
    (
        ("I live in {v} now.", None),
        ("I have moved to {v}.", None),
        ("I moved to {v} yesterday.", -1),
        ("I'm living in {v} now.", None),
        ("My home is in {v} now.", None),
        ("As of today I live in {v}.", 0),
        ("I've relocated to {v}.", None),
        ("I moved from {old} to {v}.", None),
        ("I don't live in {old} any more, I live in {v} now.", None),
        ("We just moved to {v}, my sister and I.", None),
        ("My new home is {v}.", None),
    ),
    ("I still live in {v}.", "I live in {v}, you know."),
    ("I used to live in {old}.", "I lived in {old} before.", "Back when I lived in {old} it was cold."),
    speaker="Nils",
)  # fmt: skip
INTERVAL = Case(
    "bell", "interval", "How often does the bell ring?", tuple(f"{n} minutes" for n in _MINUTES),
    (
        ("The bell rings every {v} now.", None),
        ("From today the bell rings every {v}.", 0),
        ("I changed the bell to every {v}.", None),
        ("The bell's interval is {v} now.", None),
        ("The bell now rings every {v} instead of every {old}.", None),
        ("The bell went from every {old} to every {v}.", None),
        ("I set the bell to ring every {v}.", None),
        ("Since yesterday the bell rings every {v}.", -1),
        ("The bell is set to {v} now.", None),
        ("The bell has been changed from {old} to {v}.", None),
        ("The bell rings once every {v}.", None),
        ("The interval of the bell is now {v}.", None),
    ),
    ("The bell still rings every {v}.", "The bell rings every {v}, that is fine."),
    (
        "The bell used to ring every {old}.",
        "The bell rang every {old} before.",
        "When the bell rang every {old} I could not sleep.",
    ),
)  # fmt: skip
DATABASE = Case(
    "archive", "uses/database", "Which database does the archive use?", _BASES,
    (
        ("The archive uses {v} as its database.", None),
        ("The archive's database is {v} now.", None),
        ("We switched the archive's database from {old} to {v}.", None),
        ("The archive switched to {v} for its database.", None),
        ("The archive now uses {v} as its database instead of {old}.", None),
        ("The database of the archive is {v}.", None),
        ("We replaced {old} with {v} as the archive's database.", None),
        ("Since yesterday the archive uses {v} as its database.", -1),
        ("The archive uses {v} for its database.", None),
    ),
    ("The archive still uses {v} as its database.", "The archive's database is {v}, as planned."),
    (
        "The archive used to use {old} as its database.",
        "The archive used {old} as its database before.",
        "When the archive's database was {old} it was slow.",
    ),
    unread=("For its database the archive uses {v} now.", "The archive's database has moved to {v}."),
)  # fmt: skip
PHONE = Case(
    "Wanda", "phone", "What is Wanda's phone number?", _PHONES,
    (
        ("Wanda's phone number is {v}.", None),
        ("Wanda's new number is {v}.", None),
        ("Wanda changed her phone number to {v}.", None),
        ("Wanda's phone number has changed to {v}.", None),
        ("From today Wanda's phone number is {v}.", 0),
        ("Wanda's phone number is now {v}, no longer {old}.", None),
        ("Wanda's mobile number is {v} now.", None),
        ("The phone number of Wanda is {v}.", None),
        ("Wanda's phone number is {v} as of today.", 0),
        ("Wanda got a new phone, her number is {v}.", None),
    ),
    ("Wanda's phone number is still {v}.", "Wanda's phone number is {v}, in case you need it."),
    (
        "Wanda's phone number used to be {old}.",
        "Wanda's old phone number was {old}.",
        "Wanda's phone number was {old} before.",
    ),
    unread=("Wanda has a new phone number: {v}.", "You can reach Wanda at {v} now."),
)  # fmt: skip
OWNER = Case(
    "mill", "owner", "Who is responsible for the mill?", _PEOPLE,
    (
        ("{v} is responsible for the mill now.", None),
        ("{v} took over the mill from {old}.", None),
        ("{v} is in charge of the mill.", None),
        ("The mill is now owned by {v}.", None),
        ("The owner of the mill is {v}.", None),
        ("The mill's owner is {v} now.", None),
        ("From today {v} is responsible for the mill.", 0),
        ("{v} has taken over the mill.", None),
        ("{v} is the new owner of the mill.", None),
        ("{v} is now in charge of the mill, no longer {old}.", None),
        ("Responsibility for the mill went from {old} to {v}.", None),
        ("{v} looks after the mill now.", None),
    ),
    ("{v} is still responsible for the mill.", "{v} is responsible for the mill, ask there."),
    (
        "{old} used to be responsible for the mill.",
        "{old} was responsible for the mill before.",
        "The mill was owned by {old} before.",
    ),
    unread=("{v} owns the mill now.",),
)  # fmt: skip

CASES = (RESIDENCE, OWN_HOME, INTERVAL, DATABASE, PHONE, OWNER)
