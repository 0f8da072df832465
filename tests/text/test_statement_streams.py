from clsm_cli.text.statement_streams import stream_of

LABELLED = {
    "identity": [
        "Marta is a retired dentist and the neighbour of the Lunds.",
        "The user prefers short answers without bullet points.",
        "Pavel is allergic to penicillin.",
        "Oona has two sisters and a stepbrother in Tampere.",
        "Rashid lives in Porto with his husband and a parrot.",
        "Greta speaks Swedish at home and German at work.",
        "Hiro wants to become a pilot.",
        "Sanne hates phone calls and loves letters.",
        "The user is a night owl and works as a nurse.",
        "I am a small agent on a laptop in Turin.",
        "Never wake Sanne before nine.",
        "Jules: younger brother of Inès, carpenter.",
        "Amal was born in 1988 in Tunis.",
        "Petra does not eat fish.",
    ],
    "projects": [
        "The website runs on a server in Oslo.",
        "We decided to use Postgres instead of SQLite.",
        "The release script tags every commit.",
        "The parser stores its index in a single file.",
        "The newsletter is written in Markdown and built with Hugo.",
        "The import failed because the timer ran before the network was up.",
        "Since May the backup goes to the second disk.",
        "The prototype is called Otter.",
        "The weather bot answers in Celsius from now on.",
        "Kestrel v2 replaced the old pipeline.",
        "The choir project uses a shared budget of 400 euro.",
        "The router was replaced and the tunnel runs from the new one.",
    ],
    "tasks": [
        "Renew the passport by 3 June.",
        "The tax form is due on Friday.",
        "The order of the pump is blocked until the supplier answers.",
        "Book a table for six.",
        "The next appointment with the dentist is on 4 May at 10:00.",
        "Call the landlord about the boiler.",
        "The report has to be sent by Monday.",
        "The library book has been renewed until 2 July.",
        "Send the slides to Amal before Thursday.",
        "The visa is still waiting for a stamp.",
    ],
    "flow": [
        "Sanne visited Prague last week.",
        "The storm took the roof off the barn.",
        "Pavel ran his first marathon in October.",
        "Rashid found the lost ring behind the stove.",
        "The village had no water from 8:00 to 11:30.",
        "Greta and Hiro went to a jazz concert yesterday.",
        "Oona told a story about a fox at the party.",
        "Amal won the chess match on Sunday.",
        "The old cat died in March.",
        "Jules saw a wolf on the way home.",
        "Petra gave a talk about moss last night.",
        "The guests stayed until midnight and sang.",
    ],
}


def test_labelled_sentences() -> None:
    said = [(sentence, stream) for stream, found in LABELLED.items() for sentence in found]
    wrong = [each for each in said if stream_of(each[0]) != each[1]]
    assert len(said) >= 40
    assert len(wrong) <= 0.1 * len(said), wrong


def test_nothing_is_flow() -> None:
    assert stream_of("") == "flow"
