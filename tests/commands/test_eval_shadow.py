"""``clsm eval shadow`` as a stranger meets it, with the consolidation that logs on its way."""

import json
from pathlib import Path

import pytest
from processes import Cli
from small_store import row as turn

NIGHT = ("--now", "2026-02-26T03:00:00+01:00")

TALKS = "".join(
    turn(text, session=session, role=role, speaker=role, timestamp=f"2026-02-{time}:00+01:00")
    for session, role, time, text in (
        ("one", "user", "24T08:00", "I lent the brass sextant to Ottoline."),
        ("one", "assistant", "24T08:01", "Noted: Ottoline, brass sextant."),
        ("two", "user", "25T08:00", "Where did my sextant go?"),
        ("two", "assistant", "25T08:01", "You lent it to Ottoline. Brass!"),
    )
)


@pytest.fixture
def soul(cli: Cli) -> Path:
    path = cli.folder / "SOUL.md"
    path.write_text("- I am Sedge.\n- Silence until the kettle has boiled.\n", encoding="utf-8")
    return path


def start(cli: Cli, *words: str | Path) -> str:
    return cli.ok("eval", "shadow", "start", *words, "--now", "2026-02-20T08:00:00+01:00").out


def take_in(cli: Cli) -> None:
    (cli.folder / "talks.jsonl").write_text(TALKS, encoding="utf-8")
    cli.ok("ingest", "-q", "talks.jsonl", "--now", "2026-02-25T22:00:00+01:00")


def test_a_week_from_start_to_deletion(cli: Cli, soul: Path) -> None:
    said = start(cli, "--static", soul)
    assert "shadow mode is on for this machine (test), since 2026-02-20T07:00:00Z" in said
    assert f"beside: {soul}" in said
    assert "clsm eval shadow stop" in said
    take_in(cli)
    cli.ok("consolidate", *NIGHT)
    log = cli.store / ".clsm" / "shadow" / "test.jsonl"
    logged = log.read_bytes()
    assert logged.count(b"{") > 2
    for secret in (b"sextant", b"Ottoline", b"kettle", b"SOUL"):
        assert secret not in logged
    assert "2 sessions logged; see: clsm eval shadow report" in cli.ok("status").out
    assert "2 sessions in shadow mode" in cli.ok("eval", "shadow", "report", *NIGHT).out
    assert log.read_bytes() == logged
    found = cli.ok("eval", "shadow", "report", "--json", *NIGHT).json
    assert found["schema"] == "clsm.eval-shadow/4"
    assert [row["at"][:10] for row in found["rows"]] == ["2026-02-24", "2026-02-25"]
    row = {**json.loads(logged.strip().splitlines()[0]), "turns": ["another"]}
    log.write_bytes(logged + b'\n{"at": "2026-02-26T07:00:00Z"}\n')
    assert "1 line of the log" in cli("eval", "shadow", "report", *NIGHT).err
    assert "2 sessions logged" in cli.ok("status").out
    log.write_bytes(logged + b"\n" + json.dumps(row | {"of another version": 1}).encode() + b"\n")
    assert "3 sessions logged" in cli.ok("status").out
    log.write_bytes(logged)
    assert "its log stays" in cli.ok("eval", "shadow", "stop").out
    assert "shadow" not in cli.ok("status").out
    assert "its log is deleted" in cli.ok("eval", "shadow", "stop", "--delete").out
    assert not log.exists()
    assert "off already" in cli.ok("eval", "shadow", "stop").out
    assert "turn it on with: clsm eval shadow start" in cli("eval", "shadow", "report").err


def test_a_forget_leaves_the_log_and_nothing_in_it_tells(cli: Cli, soul: Path) -> None:
    start(cli, "--static", soul)
    take_in(cli)
    cli.ok("eval", "shadow", "report", *NIGHT)
    log = cli.store / ".clsm" / "shadow" / "test.jsonl"
    logged = log.read_bytes()
    found = cli.ok("recall", "--json", "brass sextant", *NIGHT).json["memories"]
    gone = found[0]["id"]
    cli.ok("forget", gone, "--yes", *NIGHT)
    assert log.read_bytes() == logged
    assert gone.encode() not in logged
    assert not [text for text in (b"sextant", b"soul", b"brass") if text in logged.lower()]
    cli.ok("eval", "shadow", "report", *NIGHT)
    assert log.read_bytes() == logged  # the session that lost a turn is not logged again
