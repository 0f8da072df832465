"""What must hold of clsm in OpenClaw, each seen from outside: in a request to the model, or the store."""

import json
from collections.abc import Callable
from typing import Any

from clsm_cli.text.fence_lines import OPENING
from end_to_end.gateway import Gateway, wait_for

FACT = "The delegation defect was fixed in build 41."
QUESTION = "Which build fixed the delegation defect?"
Check = tuple[str, "Callable[[Gateway], None]"]


def installed(gateway: Gateway) -> None:
    """The installer shows all it would do, does it, and the second time nothing."""
    gateway.clsm("note", FACT)
    before = (gateway.state / "openclaw.json").read_bytes()
    planned = json.loads(gateway.clsm("hook", "openclaw", "install", "--dry-run", "--json"))
    assert (gateway.state / "openclaw.json").read_bytes() == before
    done = json.loads(gateway.clsm("hook", "openclaw", "install", "--json"))
    assert (planned["files"], planned["settings"]) == (done["files"], done["settings"])
    again = json.loads(gateway.clsm("hook", "openclaw", "install", "--json"))
    assert (again["files"], again["settings"]) == ([], [])
    state = json.loads(gateway.clsm("hook", "openclaw", "status", "--json"))
    assert state["current"]
    assert state["runs"]
    assert not state["off"]
    gateway.start()


def recalled_into_the_prompt(gateway: Gateway) -> None:
    """What belongs to a question stands in front of it, sealed."""
    gateway.say(QUESTION)
    said = gateway.asked("user")
    assert OPENING in said
    assert "build 41" in said
    assert said.index("build 41") < said.index(QUESTION)


def told_in_the_system_prompt(gateway: Gateway) -> None:
    """A session starts with what was going on, and with the command line to ask for more."""
    system = gateway.asked("system")
    assert FACT in system
    assert "<name>clsm</name>" in system
    assert f"recall --store {gateway.store}" in system


def small_talk_stays_as_it_is(gateway: Gateway) -> None:
    """Nothing is put before a greeting."""
    gateway.say("thanks, that was all!")
    last = [message for message in gateway.model.requests[-1] if message["role"] == "user"][-2:]
    assert OPENING not in json.dumps(last)


def command_by_exec(gateway: Gateway) -> None:
    """The agent runs clsm itself, and the answer reaches its model."""
    reply = gateway.say('RUN<<clsm recall "delegation defect">>')
    assert FACT in gateway.asked("tool")
    assert FACT in reply


def found_by_memory_search(gateway: Gateway) -> None:
    """OpenClaw's own tool finds what clsm holds, and reads it whole."""
    call = {"id": "memory_search", "args": {"query": "delegation defect", "corpus": "all"}}
    gateway.say(f"CALL<<tool_call {json.dumps(call)}>>")
    told = gateway.asked("tool")
    assert '"corpus": "clsm"' in told, told


def turns_written_down(gateway: Gateway) -> None:
    """What was said is in the memory once the turn has ended, and nothing that clsm said."""
    gateway.say("My sister Mara keeps a boat in Harlingen.")
    wait_for(lambda: "Harlingen" in _recalled(gateway, "Mara boat"), "the turn is written down")
    rows = _inbox(gateway)
    said = [row["text"] for row in rows if row["role"] == "user"]
    assert QUESTION in said
    assert "My sister Mara keeps a boat in Harlingen." in said
    tools = [row["text"] for row in rows if row["role"] == "tool"]
    assert not [text for text in tools if FACT in text], tools
    assert not [row for row in rows if OPENING in row["text"]]


def heartbeat(gateway: Gateway) -> None:
    """A heartbeat is told what is going on, and is no memory itself."""
    before = len(gateway.model.requests)
    gateway.wake("WAKE-8080")
    wait_for(
        lambda: any("WAKE-8080" in json.dumps(r) for r in gateway.model.requests[before:]),
        "the heartbeat came",
    )
    assert OPENING in gateway.asked("user")
    assert "WAKE-8080" not in _recalled(gateway, "WAKE-8080")


def transcripts_hold_nothing_new(gateway: Gateway) -> None:
    """What the hook wrote down is what OpenClaw's own database holds, turn by turn."""
    found = json.loads(gateway.clsm("ingest", "--openclaw", "--json"))
    assert sum(file["known"] for file in found["files"]) > 0, found
    assert not [file for file in found["files"] if file["added"]], found
    assert not found["problems"], found


def slept_on_by_its_cron(gateway: Gateway) -> None:
    """OpenClaw's own cron runs the night, without a model."""
    asked = len(gateway.model.requests)
    gateway.clsm("schedule", "install", "--by", "openclaw", "--catch-up")
    gateway.clsm("schedule", "install", "--by", "openclaw", "--catch-up")
    jobs = json.loads(gateway.openclaw("cron", "list", "--all", "--json"))["jobs"]
    [job] = [job for job in jobs if job["name"].startswith("clsm-")]
    gateway.openclaw("cron", "run", job["id"], "--wait", "--wait-timeout", "3m")
    assert json.loads(gateway.clsm("schedule", "status", "--by", "openclaw", "--json"))["last"]
    assert len(gateway.model.requests) == asked
    gateway.clsm("schedule", "remove", "--by", "openclaw")


def turn_without_memory(gateway: Gateway) -> None:
    """A memory that is gone fails no turn."""
    away = gateway.store.with_name("away")
    gateway.store.rename(away)
    try:
        assert gateway.say("Are you there?") == "Understood."
    finally:
        away.rename(gateway.store)


def uninstalled(gateway: Gateway) -> None:
    """Nothing of clsm stays in OpenClaw; the memory stays."""
    gateway.stop()
    gateway.clsm("hook", "openclaw", "uninstall")
    settings = (gateway.state / "openclaw.json").read_text()
    assert "clsm" not in settings
    assert "extraPaths" not in settings
    assert not (gateway.state / "extensions" / "clsm").exists()
    assert FACT in _recalled(gateway, "delegation defect")


def _recalled(gateway: Gateway, query: str) -> str:
    found: dict[str, Any] = json.loads(gateway.clsm("recall", "--json", "--no-touch", query))
    return json.dumps(found["memories"])


def _inbox(gateway: Gateway) -> list[dict[str, Any]]:
    """The turns that were captured and are in no episode yet, by session and in order."""
    paths = sorted(gateway.store.rglob("inbox/*.jsonl"))
    lines = [line for path in paths for line in path.read_text().splitlines() if line]
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if "text" in row]


CHECKS: tuple[Check, ...] = tuple(
    (check.__name__.replace("_", " "), check)
    for check in (
        installed, recalled_into_the_prompt, told_in_the_system_prompt, small_talk_stays_as_it_is,
        command_by_exec, found_by_memory_search, turns_written_down, heartbeat,
        transcripts_hold_nothing_new, slept_on_by_its_cron, turn_without_memory, uninstalled,
    )
)  # fmt: skip
"""In the order in which they can be made: each goes on where the last one ended."""
