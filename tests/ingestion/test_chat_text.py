"""Chats as text: every form of date that a phone writes, and nothing invented where it leaves it open."""

import zipfile
from datetime import datetime
from typing import Any

import pytest
import reading
from processes import Cli
from reading import HOME, problems, told, turns
from tables import column, table

from clsm_cli.ingestion import detection, messengers
from clsm_cli.ingestion.jsonl_rows import Dropped

NOW = datetime(2026, 11, 24, 12, tzinfo=HOME)
NAME = "WhatsApp Chat with Tom.txt"
FORMS = {
    "Android, en-US": ("12/31/25, 9:05\u202fPM - ", "1/1/26, 12:07\u202fAM - "),
    "Android, en-GB": ("31/12/2025, 21:05 - ", "01/01/2026, 00:07 - "),
    "Android, de": ("31.12.25, 21:05 - ", "01.01.26, 00:07 - "),
    "Android, nl": ("31-12-2025 21:05 - ", "01-01-2026 00:07 - "),
    "Android, es": ("31/12/25, 9:05 p.\u00a0m. - ", "1/1/26, 12:07 a.\u00a0m. - "),
    "Android, sv": ("2025-12-31 21:05 - ", "2026-01-01 00:07 - "),
    "Android, fi": ("31.12.2025 klo 21.05 - ", "1.1.2026 klo 0.07 - "),
    "Android, bg": ("31.12.25 г., 21:05 ч. - ", "1.01.26 г., 0:07 ч. - "),
    "Android, zh": ("2025/12/31 下午9:05 - ", "2026/1/1 上午12:07 - "),
    "Android, ko": ("2025. 12. 31. 오후 9:05, ", "2026. 1. 1. 오전 12:07, "),
    "Android, ar": ("٣١\u200f/١٢\u200f/٢٠٢٥، ٩:٠٥ م - ", "١\u200f/١\u200f/٢٠٢٦، ١٢:٠٧ ص - "),
    "Android, ar-EG": ("\u200f31/12/2025, 21:05 - ", "\u200f01/01/2026, 00:07 - "),
    "iPhone, ar": (
        "[\u200f31\u200f/12\u200f/2025, 9:05:00 م] ",
        "\u200f[\u200f1\u200f/1\u200f/2026, 12:07:00\u200f ص] \u2068",
    ),
    "iPhone, en-GB": ("[31/12/2025, 21:05:00] ", "[01/01/2026, 00:07:00] "),
    "iPhone, en-US": ("[12/31/25, 9:05:00\u202fPM] ", "[1/1/26, 12:07:00\u202fAM] "),
    "iPhone, de": ("[31.12.25, 21:05:00] ", "[01.01.26, 00:07:00] "),
    "Signal": ("[2025-12-31 21:05:00] ", "[2026-01-01 00:07:00] "),
}


def read(text: str, path: str = NAME, day_first: bool | None = None) -> list[Any]:
    return reading.read("chat", text, path=path, now=NOW, day_first=day_first)


@pytest.mark.parametrize(("first", "second"), FORMS.values(), ids=FORMS)
def test_who_said_what_and_when(first: str, second: str) -> None:
    text = f"{first}Mara: Happy new year:\nto both of you\n\n9:05 or so\n{second}Tom: Thanks\n"
    assert detection.file_format(NAME, text.encode(), None) == "chat"
    one, two = turns(read(text))
    assert (one.speaker, one.text) == ("Mara", "Happy new year:\nto both of you\n\n9:05 or so")
    assert (one.time, one.line_start, one.line_end) == ("2025-12-31T21:05:00+01:00", 1, 4)
    assert (two.speaker, two.text, two.line_start) == ("Tom", "Thanks", 5)
    assert two.time == "2026-01-01T00:07:00+01:00"


def test_what_the_app_says_and_what_is_not_there_is_left_out() -> None:
    found = read(
        "[31/12/2025, 21:05:00] Walkers: \u200eMessages are end-to-end encrypted.\n"
        "[31/12/2025, 21:05:10] Mara: \u200eimage omitted\n"
        "\u200e[31/12/2025, 21:05:20] ~\u202fTom: Look \u200e<attached: 7.jpg>\n"
        "[31/12/2025, 21:05:30] Mara: Where? \u200e<This message was edited>\n"
    )
    assert told(found) == [("Tom", "user", "Look"), ("Mara", "user", "Where?")]
    assert found[:2] == [Dropped(messengers.OMITTED_MEDIA, 1), Dropped(messengers.OMITTED_MEDIA, 2)]
    found = read(
        "31.12.25, 21:05 - Mara created the group\n"
        "31.12.25, 21:06 - Mara: <Media omitted>\n"
        "31.12.25, 21:07 - Mara: \u200eIMG-1.jpg (file attached)\nThe heron\n"
    )
    assert found[:2] == [Dropped(messengers.APP_LINE, 1), Dropped(messengers.OMITTED_MEDIA, 2)]
    assert [turn.text for turn in turns(found)] == ["The heron"]


def test_the_order_of_day_and_month_is_not_guessed() -> None:
    text = "03/04/26, 21:05 - Mara: a\n03/04/26, 21:06 - Tom: b\n"
    (reason,) = problems(read(text))
    assert reason == (
        "the day and the month of its dates cannot be told apart (3/4/26);"
        " say which comes first: --day-first or --month-first"
    )
    times = [turns(read(text, day_first=first))[0].time for first in (True, False)]
    assert times == ["2026-04-03T21:05:00+02:00", "2026-03-04T21:05:00+01:00"]
    evidence = {
        "2026-04-03": text + "13/04/26, 21:06 - Tom: a day that is no month\n",
        "2026-03-02": "28/02/26, 8:00 - Tom: a\n01/03/26, 8:00 - Tom: b\n02/03/26, 8:00 - Tom: c\n",
        "2026-05-12": "05/12/26, 21:05 - Mara: not in December, which is to come\n" * 2,
    }
    for day, chat in evidence.items():
        assert day in {turn.time[:10] for turn in turns(read(chat)) if turn.time}


@pytest.mark.parametrize(
    "text",
    [
        "1404/10/10, 21:05 - Mara: a\n1404/10/11, 21:05 - Tom: b\n",
        "13/13/25, 21:05 - Mara: a\n14/13/25, 21:05 - Tom: b\n",
        "01/01/27, 21:05 - Mara: a\n02/01/27, 21:05 - Tom: b\n",
    ],
)
def test_dates_that_cannot_be_are_refused(text: str) -> None:
    (reason,) = problems(read(text))
    assert "dates are none" in reason


@pytest.mark.parametrize("text", column(__file__, "no chat"))
def test_a_note_is_no_chat(text: str) -> None:
    assert not messengers.is_chat(text)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.txt", "[31/12/2025, 9:05:00\u202fPM] Mara: a single\nmessage\n", "chat"),
        *table(__file__, "single messages"),
    ],
)
def test_a_single_message_is_a_chat_where_that_is_certain(name: str, text: str, found: str) -> None:
    assert detection.file_format(name, text.encode(), None) == found


def test_a_chat_comes_in_by_the_command_and_again(cli: Cli) -> None:
    """Also from the archive that an iPhone makes, in another encoding, and longer the next time."""

    def said(*words: str) -> str:
        return cli.ok("ingest", "--capture", *words).out.splitlines()[0]

    text = "31.12.25, 21:05 - Mara: The heron has names for us.\n31.12.25, 21:06 - Tom: Öl\n"
    chat = cli.folder / NAME
    chat.write_bytes(text.encode("utf-16"))
    assert said(NAME) == f"{NAME}: 2 added; decoded from UTF-16"
    chat.write_text(text + "1.1.26, 9:00 - Tom: Good morning\n")
    assert said(NAME) == f"{NAME}: 1 added, 2 unchanged"
    with zipfile.ZipFile(cli.folder / "chat.zip", "w") as archive:
        archive.writestr("_chat.txt", "[03/04/26, 9:00:00] Mara: a\n[03/04/26, 9:01:00] Tom: b\n")
    done = cli("ingest", "chat.zip", "--capture")
    assert (done.code, "--day-first or --month-first" in done.err) == (0, True)
    assert said("chat.zip", "--month-first") == "chat.zip: 2 added"
    found = cli.ok("recall", "who has names for us", "--json").json["memories"][0]
    assert found["text"].endswith("The heron has names for us.")
    assert found["sources"][0]["timestamp"] == "2025-12-31T21:05:00+01:00"


def test_who_you_are_in_a_group_is_asked_and_told(cli: Cli) -> None:
    """A report says that nobody is known to be you; what is told counts after an undo."""
    text = "".join(
        f"31.12.25, 21:0{n} - {who}: I am {who}.\n"
        for n, who in enumerate(("Ann", "Ben", "Mara Vos"))
    )
    (cli.folder / "group.txt").write_text(text)
    asked = cli("ingest", "group.txt")
    assert "no speaker is known to be you (Ann, Ben, Mara Vos)" in asked.err
    assert "known to be you" not in cli("ingest", "group.txt").err, "nothing is new"
    cli.ok("undo")
    assert "known to be you" not in cli.ok("ingest", "group.txt", "--me", "mara vos").err
    found = cli.ok("recall", "I am", "--json").json["memories"]
    assert {each["text"]: each["trust"] for each in found} == {
        "I am Ann.": "agent",
        "I am Ben.": "agent",
        "I am Mara Vos.": "user",
    }
    with (cli.folder / "memory" / "clsm.yaml").open("a") as file:
        file.write("settings:\n  ingest.me: [Ben]\n")
    (cli.folder / "other.txt").write_text(text.replace("I am", "You know"))
    assert "known to be you" not in cli.ok("ingest", "other.txt").err


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("msgstore.db.crypt15", b"\x01\x02", "WhatsApp's backup"),
        ("signal-2026-01-02-03-04-05.backup", b"\0\0", "Signal's backup"),
        ("received.jsonl", b'{"envelope":{"source":"+1555","timestamp":1}}', "what signal-cli"),
        ("messages2.html", b"<html>", "Telegram's HTML export"),
        ("export.html", b"<html><title>Exported Data</title>", "Telegram's HTML export"),
        ("main.jsonl", b'{"version":"1","backupTimeMs":"1767225600000"}\n', "Signal's own export"),
        ("report.pdf", b"%PDF-1.7\n", "a PDF"),
    ],
)
def test_what_is_not_read_is_refused_by_name(cli: Cli, name: str, data: bytes, what: str) -> None:
    (cli.folder / name).write_bytes(data)
    done = cli("ingest", name)
    assert done.code == 12
    assert f"{name}: looks like {what}" in done.err


def test_an_export_in_a_folder_is_refused_by_name_too(cli: Cli) -> None:
    folder = cli.folder / "chats"
    folder.mkdir()
    (folder / "messages.html").write_bytes(b"<html>")
    (folder / "note.md").write_text("The sauna is wood fired.")
    assert "messages.html: looks like Telegram's HTML export" in cli.ok("ingest", "chats").err
    assert not cli.ok("ingest", "chats", "--exclude", "*.html").err
