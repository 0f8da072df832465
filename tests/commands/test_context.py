"""``clsm context`` as a hook, a person and a script meet it."""

import json
import shlex
from itertools import product

import pytest
from processes import Cli
from small_store import row, talk
from tables import column

from clsm_cli.commands.context import context_lines, prompt_lines
from clsm_cli.retrieval.answer import Budget
from clsm_cli.retrieval.briefing import Briefing, Section
from clsm_cli.retrieval.briefing_items import BriefingItem
from clsm_cli.text.tokens import count_tokens

NOW = ("--now", "2026-02-24T20:00:00+01:00")


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """A store with two notes and a conversation, before any night."""
    (shared.folder / "house.md").write_text(
        "# House\n\n## Water\n\n- The meter of the house is read by Mara on Mondays.\n"
        "\n## Power\n\n- The tariff of the house is 0.31 euros from March.\n"
    )
    (shared.folder / "USER.md").write_text("# User\n\n- Mara measures water.\n")
    shared.ok("ingest", "-q", *NOW, "house.md", "USER.md")
    said = "".join(talk("main", "The heron is back.", "Did it rain?"))
    shared.ok("ingest", "-q", "-", *NOW, stdin=said.encode())
    return shared


@pytest.fixture
def own(bare: Cli, told: Cli) -> Cli:
    """A copy of it, to change."""
    return bare.holding(told.store)


def test_what_is_done_shows_its_tick(own: Cli) -> None:
    (own.folder / "plan.md").write_text(
        "# Plan\n\n- [ ] Order the new pump for the house from Ada.\n"
        "- [x] Measured the pressure of the house with Mara.\n"
    )
    own.ok("ingest", "-q", *NOW, "plan.md")
    lines = own.ok("context", *NOW).out.split("\n")
    assert any(
        "[ ] Plan: Order the new pump" in line for line in lines[lines.index("Open tasks") :]
    )
    assert any("[x] Plan: Measured the pressure" in line for line in lines)


def test_an_item_stands_behind_the_line_and_the_heading_that_forbid_it(own: Cli) -> None:
    (own.folder / "2026-02-23.md").write_text(
        "# Monday\n\n## Shop: limits agreed with Rolf\n\nThe ticket shop must never:\n\n"
        "- Send a confirmation mail before the payment has arrived\n"
        "- Store the birth dates of the visitors of the museum\n"
        "\n## What we will not build this year\n"
        "- A mobile app for the inspectors of the museum De Vuurtoren in Delft\n"
        "- Seat reservations for the lecture hall in the tower of the museum\n"
    )
    own.ok("ingest", "-q", *NOW, "2026-02-23.md")
    for form in ("text", "prompt"):
        lines = own.ok("context", *NOW, "--format", form).out.splitlines()
        for words, before in {
            "Send a confirmation": "The ticket shop must never: ",
            "Store the birth dates": "The ticket shop must never: ",
            "A mobile app": "What we will not build this year: ",
            "Seat reservations": "What we will not build this year: ",
        }.items():
            (line,) = [line for line in lines if words in line]
            assert f"{before}{words}" in line


def test_a_prompt_is_not_taken_in_again(own: Cli) -> None:
    done = own.ok("context", "--format", "prompt", *NOW)
    lines = done.out.splitlines()
    assert lines[0].startswith('<clsm-recall id="c-')
    assert lines[-1] == "</clsm-recall>"
    assert all(line.startswith("|") for line in lines[1:-1])
    assert "The tariff of the house" in done.out
    come_back = row(done.out, speaker="assistant", role="assistant")
    own.ok("ingest", "-q", "-", *NOW, stdin=come_back.encode())
    assert own.ok("context", *NOW).out.count("The tariff of the house") == 1


def test_the_budget_is_of_what_is_printed(slept_cli: Cli) -> None:
    now = ("--now", "2026-02-25T08:00:00+01:00")
    whole = slept_cli.ok("context", *now, "--budget", "90000").out
    for budget, form in product(("40", "300", "700", "1500c"), ("text", "prompt", "json")):
        done = slept_cli.ok("context", *now, "--budget", budget, "--format", form).out
        if form == "json":
            used = json.loads(done)["budget"]["used"]
        else:
            used = len(done.strip()) if budget.endswith("c") else count_tokens(done)
        limit = int(budget.rstrip("c"))
        is_empty = form != "json" and (not done or done.startswith("("))
        assert is_empty or used <= limit, (budget, form)
        assert limit < 300 or used >= 0.8 * limit, (budget, form)
    assert count_tokens(whole) > 1000


@pytest.mark.parametrize("wrong", column(__file__, "wrong use"))
def test_wrong_usage_is_explained(told: Cli, wrong: str) -> None:
    done = told("context", *shlex.split(wrong))
    assert (done.code, done.out) == (2, "")
    assert "Usage: clsm context" in done.err


def test_a_damaged_shard_is_told(own: Cli) -> None:
    shard = next((own.store / "flow" / "test" / "graph").glob("*.yaml"))
    shard.write_text(shard.read_text() + '- {"id": "torn\n')
    for _ in range(2):
        done = own.ok("context", *NOW)
        assert shard.name in done.err
        assert "The tariff of the house" in done.out


def test_an_item_cannot_pose_as_another() -> None:
    text = "One.\n- Two.\nTasks\n- [ ] Three."
    item = BriefingItem("0123456789ab", "fact", text, "identity", "web", 3)
    shown = Briefing("c-1f", "now", None, (Section("who", (item,)),), Budget(9, 3))
    lines = context_lines(shown)
    assert lines == ["People and projects", "- One.", "  - Two.", "  Tasks", "  - [ ] Three."]


def test_trust_and_day_stand_once_over_the_lines_of_a_file() -> None:
    first = BriefingItem(
        "0123456789ab", "fact", "One.", "flow", "user", 3, "2026-02-14", file="/a/todo.md"
    )
    told = (first._replace(file_line=3), first._replace(file_line=5), first._replace(trust="agent"))
    lines = prompt_lines(Briefing("c-1f", "now", None, (Section("who", told),), Budget(9, 3)), None)
    assert lines[2:-1] == [
        "| People and projects:", "| In /a/todo.md (user, 2026-02-14):", "| 3: One.", "| 5: One.",
        "| In /a/todo.md (agent, 2026-02-14):", "| - One.",
    ]  # fmt: skip


def test_an_episode_is_told_by_its_id_and_a_long_path_by_its_end() -> None:
    folder = "/home/priya/.claude/projects/-home-priya-work-sluice"
    long = f"{folder}/60ed092f-1e86-5277-9c35-07fed48f7976.jsonl"
    episode = "/home/priya/.clsm/memory/flow/pi/episodes/2026/02/20260214T070000Z-e-8429f90eaf4b.md"
    item = BriefingItem("0123456789ab", "fact", "One.", "flow", "user", 3, path="a", file_line=1)
    files = ("/home/priya/notes/day.md", "/home/priya/notes/todo.md", episode, long)
    told = tuple(Section("due", (item._replace(file=file),)) for file in files)
    lines = context_lines(Briefing("c-1f", "now", None, told, Budget(9, 3)))
    assert lines[0] == "Files are below /home/priya/notes."
    assert [name for name in lines[2:] if name not in ("", "Due", "1: One.")] == [
        "day.md",
        "todo.md",
        "e-8429f9",
        "\u2026/-home-priya-work-sluice/\u20268f7976.jsonl",
    ]
    alike = Section("due", (item._replace(file=long.replace("/60ed", "/70ed")),))
    lines = context_lines(Briefing("c-1f", "now", None, (*told, alike), Budget(9, 3)))
    assert not any(line.startswith("\u2026") for line in lines)  # two files end like that
