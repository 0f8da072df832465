"""What became of memory since a time, and what it holds, newest first."""

import json
from dataclasses import replace

import pytest
from processes import Cli
from small_store import DAY, row
from tables import table

FIRST, SECOND = "2026-02-11T03:00:00+01:00", "2026-02-21T03:00:00+01:00"
MORNING = ("--now", "2026-02-21T08:00:00+01:00")
TURNS = (
    ("2026-02-10", "In the morning I drink black tea."),
    ("2026-02-20", "I no longer drink black tea in the morning, I drink green tea."),
)


@pytest.fixture(scope="module")
def lived(shared: Cli) -> Cli:
    """Two days and their nights."""
    for (day, text), night in zip(TURNS, (FIRST, SECOND), strict=True):
        said = row(text, session=day, timestamp=f"{day}T07:00:00+01:00")
        shared.ok("ingest", "-q", "-", "--now", night, stdin=said.encode())
        shared.ok("consolidate", "-q", "--now", night)
    return shared


def test_the_morning_after(lived: Cli) -> None:
    data = lived.ok("log", "--json", *MORNING).json
    assert data["schema"] == "clsm.log/1"
    (line,) = data["changed"]
    assert line["source"].endswith(":1")
    assert line["since"].startswith("2026-02-20")
    assert line["before"] == f"Mara: {TURNS[0][1]}"
    assert data["learnt"] == data["ended"] == data["withdrawn"] == []


@pytest.mark.parametrize(("since", "start"), table(__file__, "since"))
def test_since_when(lived: Cli, since: str, start: str) -> None:
    assert lived.ok("log", "--json", "--since", since, *MORNING).json["since"] == start


def test_a_night_dated_in_the_future_is_not_the_last(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    said = row("I moved to Ghent.", session="x", timestamp="2026-02-20T09:00:00+01:00")
    lived.ok("ingest", "-q", "-", *MORNING, stdin=said.encode())
    lived.ok("consolidate", "-q", "--now", "2050-01-01T03:00:00+01:00")
    assert lived.ok("log", "--json", *MORNING).json["since"] == "2026-02-21T02:00:00Z"


def test_what_is_taken_back_and_what_a_person_said(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    (line,) = lived.ok("list", "--json", "--kind", "fact").json["statements"]
    now = ("--now", "2026-02-21T09:00:00+01:00")
    lived.ok("correct", line["id"], "In the morning I drink water.", *now)
    data = lived.ok("log", "--json", "--since", "2026-02-21T08:30:00+01:00", *now).json
    assert [(each["text"], each["before"]) for each in data["changed"]] == [
        ("In the morning I drink water.", line["text"])
    ]
    lived.ok("undo", "--now", "2026-02-21T10:00:00+01:00")
    assert lived.ok("list", "--json", "--kind", "fact").json["statements"] == [line]


def test_a_line_of_which_no_statement_was_made_has_another_value(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    page = lived.folder / "MEMORY.md"
    rows = "# Home\n\n- Gate: {0}\n- Dog: Rex\n\n| Bin | Day |\n|---|---|\n| paper | {1} |\n"
    for day, values in ((22, ("four", "Monday")), (23, ("seven", "Tuesday"))):
        page.write_text(rows.format(*values))
        lived.ok("ingest", "-q", str(page), "--now", f"2026-02-{day}T20:00:00+01:00")
        lived.ok("consolidate", "-q", "--now", f"2026-02-{day + 1}T03:00:00+01:00")
    now = ("--now", "2026-02-24T08:00:00+01:00")
    found = lived.ok("log", "--json", *now).json["rewritten"]
    assert {(each["text"], each["before"]) for each in found} == {
        ("Gate: seven", "Gate: four"),
        ("paper: Tuesday", "paper: Monday"),
    }
    assert all(each["source"].startswith(f"{page}:") for each in found)


def test_what_is_held(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    page = lived.folder / "todo.md"
    page.write_text("# Rules\n\n- Always use metric units.\n- [ ] Call the chimney sweep\n")
    lived.ok("ingest", "-q", str(page), "--now", SECOND)
    lived.ok("consolidate", "-q", "--now", SECOND)
    held = lived.ok("list", "--json").json
    assert held["schema"] == "clsm.list/1"
    texts = [line["text"] for line in held["statements"]]
    assert any("green" in text for text in texts)
    assert not any("I drink black" in text for text in texts)
    of_tasks = lived.ok("list", "--stream", "tasks", "--json").json["statements"]
    assert [line["text"] for line in of_tasks] == ["Rules: Call the chimney sweep"]
    assert json.dumps(lived.ok("list", "--about", "Mara", "--json").json).count('"id"') == 1
    shown = lived.ok("list", "-n", "1").out.splitlines()
    assert shown[0].startswith("- ")
    assert shown[-1] == f"  {len(texts) - 1} more: --limit {len(texts)}"
    assert lived("list", "--kind", "nonsense").code == 2


@pytest.mark.parametrize("words", [["show"], ["list", "--about"], ["history"], ["graph"]])
def test_a_name_that_nothing_has_is_told_what_is_near(slept_cli: Cli, words: list[str]) -> None:
    near = slept_cli(*words, "Hardinn")
    assert (near.code, "near it are: " in near.err, "ardin" in near.err[20:]) == (12, True, True)


def test_the_days_that_its_words_mean_stand_beside_a_statement(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    for told in ("I saw Bob last Friday.", "The lease expires on 30 October."):
        lived.ok("note", told, "--now", "2026-03-09T10:00:00+01:00")
    lived.ok("consolidate", "-q", "--now", "2026-03-10T03:00:00+01:00")
    held = lived.ok("list", "--json").json["statements"]
    found = {line["id"]: line["times"] for line in held if line["times"]}
    times = [("last Friday", "2026-03-06"), ("30 October", "2026-10-30")]
    expected = [[{"text": text, "first": day, "last": day}] for text, day in times]
    assert sorted(found.values(), key=str) == sorted(expected, key=str)
    for each, told in found.items():
        assert lived.ok("show", each, "--json").json["times"] == told
        assert f"\n{told[0]['text']}: {told[0]['first']}\n" in lived.ok("show", each).out
    (lease,) = [each for each in held if "lease" in each["text"]]
    lived.ok("correct", lease["id"], "3 November", "--now", "2026-03-11T10:00:00+01:00")
    held = lived.ok("list", "--json").json["statements"]
    (line,) = [each for each in held if "lease" in str(each)]
    assert line["times"] == [{"text": "3 November", "first": "2026-11-03", "last": "2026-11-03"}]


def test_a_month_and_a_week_read_back(bare: Cli, lived: Cli) -> None:
    lived = bare.holding(lived.store)
    told = (
        ("2026-02-12", "We decided to paint the boat green."),
        ("2026-02-13", "The boat is called Heron and lies at Loosdrecht."),
    )
    for day, text in told:
        said = row(text, session=day, timestamp=f"{day}T07:00:00+01:00")
        lived.ok("ingest", "-q", "-", "--now", SECOND, stdin=said.encode())
    lived.ok("consolidate", "-q", "--now", SECOND)
    march = ("--now", "2026-03-02T08:00:00+01:00")
    text = lived.ok("log", "--month", "2026-02", *march).out
    assert text.startswith(
        "2026-02: 2026-02-01 to 2026-02-28, 4 episodes\n\n10 to 20 February 2026: black tea\n- Mara: "
    )
    assert "\nDecided\n- Mara: We decided to paint the boat green.\n  2026-02-12" in text
    assert "\nNo longer true\n- Mara: In the morning I drink black tea. until 2026-02-20" in text
    week = lived.ok("log", "--json", "--week", "week 7", *march).json
    assert week == lived.ok("log", "--json", "--week", "2026-W07", *march).json
    assert (week["first"], week["last"], week["gists"]) == ("2026-02-09", "2026-02-15", [])
    assert [line["since"][:10] for line in week["told"]] == ["2026-02-10"]
    assert [line["since"][:10] for line in week["learnt"]] == ["2026-02-13"]
    empty = lived.ok("log", "--month", "2026-03", *march).out
    assert empty == "nothing consolidated for 2026-03\n"
    for wrong in (
        ("--month", "2026-13"),
        ("--week", "2026-W54"),
        ("--month", "2026-02", "--since", DAY),
        ("--since", "whenever"),
    ):
        assert lived("log", *wrong).code == 2


def test_a_question_what_a_month_was_about_is_answered_by_its_gist(lived: Cli) -> None:
    now = ("--no-touch", "--json", "--now", "2026-03-02T08:00:00+01:00")
    first = lived.ok("recall", "What was February about?", *now).json["memories"][0]
    assert (first["kind"], first["text"][:22]) == ("gist", "10 to 20 February 2026")
    for other in ("What was January about?", "What did I drink in February?"):
        memories = lived.ok("recall", other, *now).json["memories"]
        assert "gist" not in {each["kind"] for each in memories}


@pytest.fixture(scope="module")
def unstated(tmp_path_factory: pytest.TempPathFactory, lived: Cli) -> Cli:
    """The same, and two notes of January and March that no statement comes of; nobody writes to it."""
    made = replace(lived, folder=tmp_path_factory.mktemp("unstated")).holding(lived.store)
    notes = (
        ("2026-01-14", "Rain fell on the old pier."),
        ("2026-03-04", "Snow fell on the old pier."),
    )
    for day, text in notes:
        (made.folder / f"{day}.md").write_text(f"# {day}\n\n{text}\n")
    names = [f"{day}.md" for day, _ in notes]
    made.ok("ingest", "-q", *names, "--now", "2026-03-05T08:00:00+01:00")
    made.ok("consolidate", "-q", "--now", "2026-03-06T03:00:00+01:00")
    return made


@pytest.mark.parametrize(("question", "told"), table(__file__, "period"))
def test_where_no_gist_is_the_period_itself_tells(unstated: Cli, question: str, told: str) -> None:
    now = ("--no-touch", "--json", "--now", "2026-03-31T08:00:00+02:00")
    for kind in ((), ("--kind", "gist")):
        first = unstated.ok("recall", question, *kind, *now).json["memories"][0]
        assert first["kind"] == "gist"
        assert f"1 episode\nTold\n- On 2026-0{1 if told[0] == 'R' else 3}-" in first["text"]
        assert told in first["text"]
        assert first["sources"][0]["path"].endswith(".md")


def test_a_month_without_statements_is_told_by_its_episodes(unstated: Cli) -> None:
    now = ("--now", "2026-03-31T08:00:00+02:00")
    text = unstated.ok("log", "--month", "2026-01", *now).out
    assert "\nAlso told\n- On 2026-01-14: Rain fell on the old pier.\n  2026-01-14" in text
    asked = ("recall", "--no-touch", "--json", "What fell on the pier in January?", *now)
    assert "gist" not in {each["kind"] for each in unstated.ok(*asked).json["memories"]}


def test_a_task_is_done_when_and_where_a_note_ticks_it(cli: Cli) -> None:
    page, ticked = cli.folder / "todo.md", cli.folder / "2026-02-18.md"
    for day, box in ((11, " "), (19, "x")):
        page.write_text(f"# To do\n\n- [{box}] Call the chimney sweep\n- [ ] Sell the old boat\n")
        if box == "x":
            ticked.write_text("# 18 February 2026\n\nSold:\n\n- [x] Sell the old boat\n")
        at = f"2026-02-{day}T20:00:00+01:00"
        cli.ok("ingest", "-q", str(cli.folder), "--now", at)
        cli.ok("consolidate", "-q", "--now", at)
    assert cli.ok("log", "--json", "--week", "2026-W07", *MORNING).json["done"] == []
    done = cli.ok("log", "--json", "--week", "2026-W08", *MORNING).json["done"]
    assert [(each["since"][:10], each["source"]) for each in done] == [
        ("2026-02-19", f"{page}:3"),
        ("2026-02-18", f"{ticked}:5"),
    ]
    (thread,) = cli.ok("history", done[0]["id"], "--json").json["found"][0]["threads"]
    assert [each["state"] for each in thread["versions"]] == ["done"]
    assert cli.ok("list", "--json", *MORNING).json["statements"] == []
    then = cli.ok("list", "--json", "--as-of", "2026-02-12", *MORNING).json["statements"]
    assert [each["state"] for each in then] == ["open", "open"]


def test_a_task_that_was_done_is_news_of_one_night(cli: Cli) -> None:
    found = []
    for day, text in (
        ("18", "- [ ] Sell the old boat"),
        ("19", "- [x] Sell the old boat"),
        ("20", "Ice."),
    ):
        (cli.folder / f"2026-02-{day}.md").write_text(f"# Log\n\n{text}\n")
        now = ("--now", f"2026-02-{day}T20:00:00+01:00")
        cli.ok("ingest", "-q", str(cli.folder), *now)
        cli.ok("consolidate", "-q", *now)
        found.append(len(cli.ok("log", "--json", *now).json["done"]))
    assert found == [0, 1, 0]
