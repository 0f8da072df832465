"""Three facts change, and no surface tells at a past time what was not yet true, or not yet known."""

import json
from typing import Any

import pytest
from in_process import InProcess
from processes import Cli
from tables import mapping, table

from clsm_cli.store import layout

LAST = "2026-02-01"
TOLD = table(__file__, "told")
CHANGES = table(__file__, "changes")
"""Day, a word of the fact, and what tells its old value and its new one."""
QUESTIONS = mapping(__file__, "questions")
DAYS = ("2026-01-08", "2026-01-15", "2026-01-22", "2026-01-28")
GRAPHS = tuple(("graph", "--format", form) for form in ("text", "json", "graphml", "html"))


@pytest.fixture(scope="module")
def lived(shared: Cli) -> Cli:
    """A month with a night after each day that something was told; what no night sees is corrected."""
    cli = shared
    for day in dict.fromkeys(day for day, _ in TOLD):
        for text in (text for told, text in TOLD if told == day):
            cli.ok("note", text, "--now", f"{day}T09:00:00+01:00")
        cli.ok("consolidate", "--now", f"{day}T23:00:00+01:00")
    listed = {line["text"]: line["id"] for line in cli.ok("list", "--json").json["statements"]}
    for (_, new), old in zip(TOLD[-3:], (TOLD[0], TOLD[1], TOLD[2]), strict=True):
        if old[1] in listed:
            cli.ok("correct", listed[old[1]], new, "--now", f"{LAST}T09:00:00+01:00")
    return cli


def value(day: str, word: str) -> str:
    """What tells the value that a fact had on a day."""
    ((changed, _, old, new),) = [each for each in CHANGES if each[1] == word]
    return new if changed <= day else old


def held(lines: list[dict[str, Any]], word: str) -> list[str]:
    """The texts of one fact."""
    return [line["text"] for line in lines if word in line["text"]]


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("clock", ["--as-of", "--known-at"])
def test_nothing_later_is_told(lived: Cli, day: str, clock: str) -> None:
    said = {
        question: lived.ok("recall", question, clock, day, "--no-touch", "--min-score", "0").out
        for question in QUESTIONS.values()
    }
    said["list"] = lived.ok("list", clock, day).out
    store = layout.open_store(lived.store, {})
    for words in (*(("history", word) for word in QUESTIONS), *GRAPHS):
        command = InProcess(words[0], f"{LAST}T12:00:00+01:00")
        said[" ".join(words)] = command.run(store, *words[1:], clock, day).stdout
    assert all(said[" ".join(words)] for words in GRAPHS)
    later = [new for changed, _, _, new in CHANGES if changed > day]
    leaks = [(name, new) for name, out in said.items() for new in later if new in out]
    assert not leaks


@pytest.mark.parametrize("day", DAYS)
def test_all_agree_on_what_was_true(lived: Cli, day: str) -> None:
    listed = lived.ok("list", "--as-of", day, "--json").json["statements"]
    nodes = lived.ok("graph", "Nadia Blum", "--as-of", day, "--json").json["nodes"]
    (nadia,) = [node for node in nodes if node["id"] == "nadia-blum"]
    for word, question in QUESTIONS.items():
        (true,) = held(listed, word)
        assert value(day, word) in true
        (found,) = lived.ok("history", word, "--as-of", day, "--json").json["found"]
        assert held([v for t in found["threads"] for v in t["versions"]], word) == [true]
        if word != "rent":
            assert held(nadia["statements"], word) == [true]
        answer = lived.ok("recall", question, "--as-of", day, "--no-touch", "--json").json
        assert value(day, word) in answer["memories"][0]["text"]


def test_a_day_after_all_is_now(lived: Cli) -> None:
    """Worked out anew from the turns told by then, the graph is the one that the nights made."""
    now = lived.ok("graph", "--json").json
    then = lived.ok("graph", "--json", "--as-of", LAST, "--known-at", LAST).json
    assert now["edges"]
    assert json.dumps(then) == json.dumps(now)
