from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.slot_identity import subject_key
from clsm_cli.text.slot_questions import Asked, asked, is_about, same_value
from clsm_cli.text.slots import SLOTS, facts

ASKING: list[tuple[str, str, str, str | None]] = [
    ("How often does the heartbeat run?", "heartbeat", "interval", None),
    ("How often does the poller check the mail?", "poller", "interval/mail", None),
    ("Where does Brian live?", "Brian", "residence", None),
    ("Where did Margit live in 2024?", "Margit", "residence", None),
    ("Which city does Nils live in?", "Nils", "residence", None),
    ("Where does Ben work?", "Ben", "employer", None),
    ("Who does Ben work for?", "Ben", "employer", None),
    ("Which company does Ana work for?", "Ana", "employer", None),
    ("What does Sofie do for a living?", "Sofie", "occupation", None),
    ("What is Tom's job?", "Tom", "occupation", None),
    ("How old is Noor?", "Noor", "age", None),
    ("When is Mia's birthday?", "Mia", "birthday", None),
    ("When was Mia born?", "Mia", "birthday", None),
    ("What is Anna's phone number?", "Anna", "phone", None),
    ("What was Anna's email address last year?", "Anna", "email", None),
    ("Where is the spare key kept?", "spare key", "location", None),
    ("Where is the canoe?", "canoe", "location", None),
    ("Where is the Albertine moored?", "Albertine", "location", None),
    ("Where was the van parked on 3 March?", "van", "location", None),
    ("Where does the backup go?", "backup", "target", None),
    ("Where did the photo archive go on 12 March?", "photo archive", "target", None),
    ("Where does the chess club meet?", "chess club", "venue", None),
    ("Where was the reading club held in January?", "reading club", "venue", None),
    ("What time is the standup?", "standup", "time", None),
    ("When does the yoga lesson start?", "yoga lesson", "time", None),
    ("At what time does the choir rehearsal begin?", "choir rehearsal", "time", None),
    ("When is the grant report due?", "grant report", "due", None),
    ("What is the deadline for the tax return?", "tax return", "due", None),
    ("What was the due date of The Long Walk on 3 March?", "The Long Walk", "due", None),
    ("How much does Osprey charge per booking?", "Osprey", "rate/per booking", None),
    ("What is the upload limit?", "upload limit", "setting", None),
    ("What is the thermostat set to?", "thermostat", "setting", None),
    ("How high was the build timeout?", "build timeout", "setting", None),
    ("Which version of Grafana do we run?", "Grafana", "version", None),
    ("What version is Grafana at?", "Grafana", "version", None),
    ("Which port does the dashboard listen on?", "dashboard", "port", None),
    ("What port was the dashboard on in February?", "dashboard", "port", None),
    ("Is Kestrel live?", "Kestrel", "status", "live"),
    ("Is the crawler paused?", "crawler", "status", "paused"),
    ("What is the status of Heron?", "Heron", "status", None),
    ("What does the agent run on?", "agent", "runs on", None),
    ("What does Sedge boot from?", "Sedge", "runs on", None),
    ("Which database did we use?", "", "uses/database", None),
    ("What do we use for the planning?", "", "uses/planning", None),
    ("Which tool does the team use for alerts?", "team", "uses/alerts", None),
    ("How much carprofen does Bruno get?", "carprofen", "dose/carprofen", None),
    ("What is the dose of sertraline?", "sertraline", "dose/sertraline", None),
    ("On which days is Petra at the Utrecht office?", "Petra", "workdays/Utrecht", None),
    ("Which are Ruben's office days?", "Ruben", "workdays", None),
    ("How much does the hosting cost?", "hosting", "price", None),
    ("What was the rent in March?", "rent", "price", None),
    ("Who is responsible for the newsletter?", "newsletter", "owner", None),
    ("Who owns the wiki?", "wiki", "owner", None),
    ("Who looks after the archive?", "archive", "owner", None),
    ("What is Hugo's morning drink?", "Hugo", "habit/morning", None),
    ("What does Ilse drink in the morning?", "Ilse", "habit/morning", None),
    ("Is the heartbeat every 30 minutes?", "heartbeat", "interval", "30 minutes"),
    ("Does Brian live in Leeds?", "Brian", "residence", "Leeds"),
    ("Did the backup go to the NAS on 14 February?", "backup", "target", "NAS"),
    ("Does the dashboard run on port 8080?", "dashboard", "port", "8080"),
    ("Is the grant report due on 20 March?", "grant report", "due", "20 March"),
    ("Is Noor ten?", "Noor", "age", "10"),
    ("Was the standup at 9:30?", "standup", "time", "09:30"),
    ("Does the app use Postgres?", "app", "uses", "Postgres"),
    ("Is Anna vegetarian?", "Anna", "diet", "vegetarian"),
    ("What was the backup disk on 12 February?", "backup", "target", None),
    ("What is the name of the boat?", "boat", "name", None),
    ("What is Juno allergic to?", "Juno", "allergic to", None),
    ("Which languages does Paul speak?", "Paul", "language", None),
    ("What is Rosa's favourite book?", "Rosa", "favourite/book", None),
]  # fmt: skip
OTHERS = [
    "What did Brian say about the flood?",
    "Why did memory_v2 fail?",
    "How did the restore test go?",
    "Who came to the party?",
    "When did Margit go to Rome?",
    "What are we doing tomorrow?",
    "Is it raining?",
    "How is Ilse feeling?",
    "Did you see the film?",
    "The heartbeat runs every 10 minutes.",
    "What happened on 12 February?",
    "Can you remind me of the meeting?",
    "Where did Anna buy the lamp?",
    "What time is it?",
    "How many files were restored?",
    "Which attempt at the restore test succeeded?",
    "Tell me about Magpie.",
    "Is there a reason for the delay?",
]


@pytest.mark.parametrize(("question", "subject", "slot", "value"), ASKING)
def test_what_a_question_asks_for(
    question: str, subject: str, slot: str, value: str | None
) -> None:
    found = asked(question)
    assert found is not None
    assert (subject_key(found.subject), found.slot) == (subject_key(subject), slot)
    assert slot.partition("/")[0] in SLOTS
    if value is None:
        assert found.value is None
    else:
        assert same_value(slot, found.value or "", value)


@pytest.mark.parametrize("text", OTHERS)
def test_what_asks_for_no_slot(text: str) -> None:
    assert asked(text) is None


PAIRS = [
    ("The heartbeat comes every 10 minutes.", "How often does the heartbeat come?"),
    ("Anna lives in Porto.", "Where does Anna live?"),
    ("The reading club meets at the mill.", "Where did the reading club meet on 3 May?"),
    ("Our restic backup goes to the NAS.", "Where does the backup go?"),
    ("The essay is due on 20 May.", "When is the essay due?"),
    ("Osprey charges 3 % per booking.", "How much does Osprey charge per booking?"),
    ("The upload limit is 20 MB.", "What is the upload limit?"),
    ("The wiki was upgraded from 3.2 to 3.4.", "Which version of the wiki do we run?"),
    ("The dashboard runs on port 8081.", "Which port does the dashboard listen on?"),
    ("Heron is paused.", "What is the status of Heron?"),
    ("We use Linear for the planning.", "What do we use for the planning?"),
    ("Rosa is responsible for the newsletter.", "Who is responsible for the newsletter?"),
    ("Otis gets 5 mg of enalapril daily.", "How much enalapril does Otis get?"),
    ("Anna's days at the Ghent office are Tuesday and Friday.", "On which days is Anna at the Ghent office?"),
    ("The hosting costs 12 euros a month.", "How much does the hosting cost?"),
    ("Hugo's morning drink is matcha.", "What does Hugo drink in the morning?"),
    ("The standup is at 9:30.", "What time is the standup?"),
    ("Mia is nine.", "How old is Mia?"),
    ("Do not message me before nine.", "When may I write in the morning?"),
    ("I boot from the SSD.", "What do you boot from?"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "question"), PAIRS)
def test_a_question_finds_the_fact_that_answers_it(statement: str, question: str) -> None:
    (fact, *_), found = facts(statement, None), asked(question)
    assert found is not None
    assert is_about(found, fact.subject, fact.slot)


@pytest.mark.parametrize(
    ("question", "subject", "slot"),
    [
        (Asked("heartbeat", "interval"), "heartbeat", "rate/per trade"),
        (Asked("Anna", "residence"), "Paul", "residence"),
        (Asked("Anna", "workdays/Leiden"), "Anna", "workdays/Ghent"),
        (Asked("photo archive", "target"), "restic", "target"),
    ],
)
def test_a_question_is_not_about_others(question: Asked, subject: str, slot: str) -> None:
    assert not is_about(question, subject, slot)


@pytest.mark.parametrize(
    ("slot", "a", "b", "same"),
    [
        ("interval", "every ten minutes", "every 10 mins", True),
        ("interval", "10 minutes", "15 minutes", False),
        ("interval", "1 hour", "1 minute", False),
        ("rate/per trade", "1 %", "1 percent", True),
        ("rate/per trade", "1 %", "0.1 %", False),
        ("dose/aspirin", "5 mg once a day", "5 mg once per day", True),
        ("venue", "the Signal Shed", "signal shed", True),
        ("venue", "shed", "signal shed", True),
        ("venue", "shed", "mill", False),
        ("due", "2026-03-02", "2 March", True),
        ("due", "2026-03-02", "Monday 2 March", True),
        ("due", "2026-03-02", "3 March", False),
        ("workdays/Ghent", "Friday and Tuesday", "Tuesday and Friday", True),
        ("workdays/Ghent", "Tuesday", "Tuesday and Friday", False),
        ("age", "nine", "9", True),
        ("time", "09:30", "9:30", True),
        ("version", "3.2", "3.4", False),
    ],
)
def test_values_of_one_slot(slot: str, a: str, b: str, same: bool) -> None:
    assert same_value(slot, a, b) is same
    assert same_value(slot, b, a) is same


OPENER = st.sampled_from(
    ["Where", "What is", "Which", "How often does", "Is", "Did", "On what", "Who"]
)
WORD = st.sampled_from(
    [
        "the",
        "a",
        "Anna's",
        "club",
        "every",
        "30",
        "minutes",
        "per",
        "of",
        "for",
        "to",
        "on",
        "at",
        "due",
        "port",
        "live",
        "go",
        "use",
        "in",
        "May",
        "2",
        "3rd",
        "2024",
        "is",
        "does",
        "it",
        "and",
        "?",
        "'",
        "version",
        "days",
        "office",
        "last",
        "next",
        "ago",
    ]
)


@given(OPENER, st.lists(WORD | st.text(max_size=6), max_size=12))
def test_any_words_are_read_without_an_error(opener: str, words: list[str]) -> None:
    found = asked(" ".join([opener, *words]))
    assert found is None or (found.slot.partition("/")[0] in SLOTS and found.value != "")


def test_what_is_no_question_loads_no_table() -> None:
    code = (
        "import sys; from clsm_cli.text.slot_questions import asked; asked('Tell me of the boat');"
        "print(sorted(name for name in sys.modules if name.startswith('clsm_cli.text.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['clsm_cli.text.slot_questions']"
