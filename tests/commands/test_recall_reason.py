"""``clsm recall`` by time, by reason and beside a conversation, as a shell or a hook calls it."""

from typing import Any

import pytest
from processes import Cli, Done
from small_store import row

NOW = ("--now", "2026-02-26T08:00:00+01:00")
TURNS = (
    ("2026-02-10", "log", "The heartbeat knocks every 5 minutes. [[Ilse]] counts them."),
    ("2026-02-12", "log", "From today the heartbeat comes every 15 minutes instead of every 5."),
    ("2026-02-20", "log", "From today the heartbeat comes every 10 minutes."),
    ("2026-02-21", "boat", "[[Yusuf]] has painted the barge red. Ilse likes the barge."),
    ("2026-02-24", "page", "The barge sails on Sunday, says [[Yusuf]]."),
)


@pytest.fixture(scope="module")
def slept(shared: Cli) -> Cli:
    """A few days of a log, consolidated."""
    rows = [
        row(text, session=session, timestamp=f"{day}T07:00:00+01:00")
        for day, session, text in TURNS
    ]
    shared.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    shared.ok("consolidate", "-q", *NOW)
    return shared


def recall(cli: Cli, *words: str, stdin: bytes = b"") -> Done:
    return cli.ok("recall", "--json", "--no-touch", *NOW, *words, stdin=stdin)


def test_what_was_corrected_is_over_where_it_was_said(cli: Cli) -> None:
    cli.ok("note", "Nina's birthday is on 21 May", "--now", "2026-02-20T08:00:00+01:00")
    cli.ok("correct", "Nina's birthday", "3 June", "--yes", *NOW)
    found = recall(cli, "--min-score", "0", "Nina's birthday").json["memories"]
    assert {memory["text"]: memory["until"] for memory in found} == {
        "Nina's birthday is on 3 June": None,
        "Nina's birthday is on 21 May": "2026-02-26",
    }


def test_what_the_query_names(slept: Cli) -> None:
    text = slept.ok("recall", "--no-touch", "--explain", *NOW, "What has Yusuf painted?").out
    assert "Yusuf: named by the query (exact)" in text


def test_beside_a_conversation(slept: Cli) -> None:
    said = [row("What do we know about the barge?"), row("It is red.", role="assistant")]
    chat = "".join(said).encode()
    found = recall(slept, "--context", "-", "and who painted it?", stdin=chat).json
    assert any("painted the barge red" in memory["text"] for memory in found["memories"])
    assert found["route"] in ("stm", "both")

    gated: dict[str, Any] = recall(slept, "--gate", "Thanks, that is perfect!").json
    assert (gated["route"], gated["memories"]) == ("none", [])
    assert recall(slept, "--gate", "What did I tell you about the barge?").json["memories"]


def test_what_cannot_be_answered(slept: Cli) -> None:
    contradictory = recall(slept, "what did we discuss after 20 February and before 12 February")
    assert contradictory.json["memories"] == []
    assert contradictory.json["warnings"]
    nothing_known = recall(slept, "zxqv blorp")
    assert nothing_known.json["concepts"] == []
