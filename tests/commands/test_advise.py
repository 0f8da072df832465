"""``clsm consolidate --ask`` and ``--answer``: real processes, a real store."""

import json
from pathlib import Path
from typing import Any

import pytest
from advising import statement
from ingesting import tree, unchanged
from processes import Cli
from tables import column

from clsm_cli.text.tokens import count_tokens

NOW = ("--now", "2026-03-01T12:00:00+01:00")
CHAT = (
    ("Mara", "2026-02-10T10:00:00+01:00", "I rowed to Lund with Ada in 3 hours, what a day."),
    ("Ada", "2026-02-10T10:01:00+01:00", "Next time we take the longer boat."),
)
GOOD = "Mara rowed to Lund with Ada in 3 hours on 2026-02-10."


@pytest.fixture(scope="module")
def asked_store(shared: Cli) -> Path:
    """A store in which a conversation waits; its last turns are in no episode yet."""
    rows = [{"speaker": who, "time": time, "text": text} for who, time, text in CHAT]
    chat = "".join(json.dumps(row) + "\n" for row in rows)
    shared.ok("ingest", "-q", "-", "--session", "one", *NOW, stdin=chat.encode())
    return shared.store


@pytest.fixture
def asked(bare: Cli, asked_store: Path) -> Cli:
    return bare.holding(asked_store)


def lines(packet: str) -> list[dict[str, Any]]:
    """The data of a packet."""
    body = packet.split("\n<data>\n")[1].split("\n</data>\n", maxsplit=1)[0]
    return [json.loads(line) for line in body.splitlines()]


def said(packet: str, *texts: str, **changes: Any) -> bytes:
    """An answer to the first part of a packet that cites its first turn."""
    told = lines(packet)
    part = next(line["part"] for line in told if "part" in line)
    turn = next(line["turn"] for line in told if "turn" in line)
    entry = {"part": part, "statements": [statement(text, turn) for text in texts], "relations": []}
    return json.dumps({"parts": [entry | changes]}).encode()


def test_asking_changes_nothing_and_the_answer_fits(asked: Cli) -> None:
    with unchanged(asked.store):
        packet = asked.ok("consolidate", "--ask", *NOW).out
    assert [line["text"] for line in lines(packet) if "turn" in line] == [t for _, _, t in CHAT]
    assert asked.ok("consolidate", "--ask", *NOW).out == packet
    answer = said(packet, GOOD, "Mara rowed to Lund with Yusuf in 5 hours.")
    done = asked.ok("consolidate", "--answer", "-", *NOW, stdin=answer).out
    assert "adviser: 1 taken, 1 refused" in done
    assert "Mara rowed to Lund with Yusuf in 5 hours.: the number '5' stands in no turn" in done
    found = asked.ok("recall", "--json", "--kind", "statement", "row to Lund", *NOW).json
    assert GOOD in [memory["text"] for memory in found["memories"]]
    assert asked.ok("consolidate", "--ask", *NOW).out == ""


def test_a_draft_is_dropped_or_worded_better_by_its_id(asked: Cli) -> None:
    packet = asked.ok("consolidate", "--ask", *NOW).out
    first, second = (line for line in lines(packet) if "draft" in line)
    assert (first["draft"], second["draft"]) == tuple(f"{who}: {text}" for who, _, text in CHAT)
    entry = json.loads(said(packet, GOOD))["parts"][0]
    (told,) = entry["statements"]
    assert told["turns"] == [first["from"]]
    told["replaces"] = first["id"]
    entry["drop"] = [second["id"]]
    answer = json.dumps({"parts": [entry]}).encode()
    done = asked.ok("consolidate", "--answer", "-", *NOW, stdin=answer).out
    assert "adviser: 1 taken, 0 refused, 2 of clsm's own replaced or dropped" in done
    again = asked.ok("consolidate", "--answer", "-", *NOW, stdin=answer).out
    assert "consolidated 0 episodes" in again
    assert "adviser: 0 taken, 0 refused, 1 known already" in again
    listed = asked.ok("list", "--json", *NOW).json
    assert [row["text"] for row in listed["statements"] if row["kind"] != "gist"] == [GOOD]


def test_one_receipt_takes_it_back(asked: Cli) -> None:
    packet = asked.ok("consolidate", "--ask", *NOW).out
    with unchanged(asked.store):
        plan = asked.ok(
            "consolidate", "--answer", "-", *NOW, "--dry-run", stdin=said(packet, GOOD)
        ).out
        assert "would consolidate 1 episode" in plan
        assert "adviser: 1 taken" in plan
    run = asked.ok("consolidate", "--answer", "-", "--json", *NOW, stdin=said(packet, GOOD)).json
    assert any(GOOD.encode() in data for data in tree(asked.store).values())
    asked.ok("undo", run["run"], *NOW)
    assert not any(GOOD.encode() in data for data in tree(asked.store).values())


def test_a_stale_packet(asked: Cli) -> None:
    packet = asked.ok("consolidate", "--ask", *NOW).out
    asked.ok("consolidate", *NOW)
    late = asked.ok("consolidate", "--answer", "-", *NOW, stdin=said(packet, GOOD)).out
    assert "1 episode of the answer had been consolidated before" in late
    assert "adviser: 1 taken, 0 refused" in late
    handle = next(line["part"] for line in lines(packet) if "part" in line)
    changed = said(packet, GOOD, part=f"{handle[:-4]}0000")
    elsewhere = said(packet, GOOD, part="e-0123456789ab.1.0000")
    with unchanged(asked.store):
        for answer, reason in ((changed, "has changed since"), (elsewhere, "no such episode")):
            told = asked.ok("consolidate", "--answer", "-", "--json", *NOW, stdin=answer).json
            (refused,) = told["adviser"]["refused"]
            assert reason in refused["reason"]
            assert told["run"] is None


def test_of_many_refused_proposals_the_first_are_listed(asked: Cli) -> None:
    many = json.dumps({"parts": [7] * 60_000}).encode()
    told = asked.ok("consolidate", "--answer", "-", *NOW, stdin=many).out
    assert "adviser: 0 taken, 60000 refused" in told
    assert told.count("refused: ") == 20
    assert "and 59980 more" in told
    found = asked.ok("consolidate", "--answer", "-", "--json", *NOW, stdin=many).json["adviser"]
    assert (len(found["refused"]), found["refused_more"]) == (20, 59980)


@pytest.mark.parametrize("answer", [b"", b"I would rather not.", b'{"parts": 1}', b"\xff\xfe{}"])
def test_what_is_no_answer_changes_nothing(asked: Cli, answer: bytes) -> None:
    with unchanged(asked.store):
        done = asked("consolidate", "--answer", "-", *NOW, stdin=answer)
        assert done.code == 12
        assert "standard input" in done.err


def test_a_packet_keeps_to_its_budget(asked: Cli, tmp_path: Path) -> None:
    target = tmp_path / "packet.txt"
    told = asked.ok("consolidate", "--ask", str(target), "--budget", "2000", *NOW).out
    assert told.startswith("1 part of 1 episode")
    assert count_tokens(target.read_text("utf-8")) <= 2000
    none = asked("consolidate", "--ask", "--budget", "500", *NOW)
    assert none.code == 12
    least = none.err.split("--budget ")[1].strip()
    assert asked.ok("consolidate", "--ask", "--budget", least, *NOW).out
    assert asked("consolidate", "--ask", "--budget", str(int(least) - 1), *NOW).code == 12
    mapping = asked.ok("consolidate", "--ask", "--json", *NOW).json
    assert (mapping["schema"], mapping["packet"]) == ("clsm.packet/1", target.read_text("utf-8"))


@pytest.mark.parametrize("line", column(__file__, "apart"))
def test_options_that_do_not_go_together(asked: Cli, line: str) -> None:
    with unchanged(asked.folder):
        assert asked("consolidate", *line.split(), *NOW).code == 2
