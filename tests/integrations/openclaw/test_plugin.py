"""The plugin under plain Node with a real clsm: what goes into a prompt, what is written down."""

import json
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from processes import Cli, ran
from tables import table

from clsm_cli.integrations.openclaw.setup import plugin_files
from clsm_cli.text.fence_lines import OPENING

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
CLSM = (sys.executable, "-m", "clsm_cli")
MAIN = {"sessionKey": "agent:main:main", "sessionId": "14c00f2e", "trigger": "user"}
HEARTBEAT = {**MAIN, "trigger": "heartbeat"}
SPAWNED = """[Subagent Context] You are running as a subagent (depth 1/2). Complete the current task.

[Subagent Task]

"""
"""What stands before the task that OpenClaw 2026.7 and 2026.9 write into the session of a subagent."""
FACT = "The delegation defect was fixed in build 41."
QUESTION = "what about the delegation defect?"
BUILD, WRITE, END = "before_prompt_build", "before_message_write", "agent_end"


def step(hook: str, ctx: dict[str, Any] = MAIN, **event: Any) -> dict[str, Any]:
    return {"hook": hook, "event": event, "ctx": ctx}


def asked(prompt: str, ctx: dict[str, Any] = MAIN) -> dict[str, Any]:
    return step(BUILD, ctx, prompt=prompt)


def user(text: str, time: int = 1_795_429_135_060) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": time}


def assistant(text: str, time: int = 1_795_429_138_900) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": time}


class Gateway:
    """The plugin in folders of its own: OpenClaw copies it too, and loads more than one."""

    def __init__(self, cli: Cli, command: tuple[str, ...] = CLSM) -> None:
        self.cli = cli
        self.folders = [cli.folder / "copy-1", cli.folder / "copy-2"]
        for folder in self.folders:
            for name, data in plugin_files(command, str(cli.store)).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
        self.config = {"command": command, "store": str(cli.store)}

    def play(self, *steps: object) -> tuple[list[Any], dict[str, Any]]:
        """What each step gave back, and what was noticed beside."""
        drive = Path(__file__).with_name("drive.js")
        given = "".join(json.dumps(step) + "\n" for step in steps)
        done = ran(
            "node",
            drive,
            json.dumps(self.config),
            *self.folders,
            input=given,
            env=self.cli.environment,
        )
        assert done.returncode == 0, done.stderr
        *answers, beside = [json.loads(line) for line in done.stdout.splitlines()]
        return [answer["answer"] for answer in answers], beside


@pytest.fixture
def gateway(cli: Cli) -> Gateway:
    return Gateway(cli)


@pytest.fixture(scope="module")
def told(shared: Cli) -> Gateway:
    """With a memory of one fact, which no test changes."""
    shared.ok("note", FACT)
    shared.ok("ingest")
    return Gateway(shared)


def test_what_belongs_to_a_message_comes_before_it(told: Gateway) -> None:
    [found], beside = told.play(asked(QUESTION))
    assert found["prependContext"].startswith(OPENING)
    assert "build 41" in found["prependContext"]
    assert "build 41" in found["appendSystemContext"]
    assert beside["warnings"] == []


def test_only_what_a_person_asks_is_recalled(told: Gateway) -> None:
    """The session of a subagent has no provenance, and the trigger of a person's message."""
    relayed = {**MAIN, "inputProvenance": {"kind": "inter_session"}}
    child = {**MAIN, "sessionKey": "agent:main:subagent:5b1f"}
    task = f"{SPAWNED}In which build was the delegation defect fixed?\n\nBegin."
    (heartbeat, *silent, into_its_thread), beside = told.play(
        *(asked(QUESTION, ctx) for ctx in (HEARTBEAT, {**MAIN, "trigger": "cron"}, relayed)),
        *(asked(f"{stamp}{task}", child) for stamp in ("", "[Mon 2026-11-23 10:18 UTC] ")),
        asked(QUESTION, child),
    )
    assert beside["warnings"] == []
    assert heartbeat is None
    assert [answer["prependContext"] for answer in silent] == [""] * 4
    assert "build 41" in into_its_thread["prependContext"]  # a person may write into it


def test_the_request_itself_is_asked_for_by_its_begin_and_its_end(told: Gateway) -> None:
    """Not what stands round it."""
    wrapped = step(BUILD, prompt="earlier: the delegation defect", currentUserMessage="thanks!")
    pasted = "2026-11-23T10:18:51 [gateway] http server listening on port 19301\n" * 50_000
    [thanks, huge], beside = told.play(wrapped, asked(f"{pasted}\n{QUESTION}"))
    assert thanks["prependContext"] == ""
    assert "build 41" in huge["prependContext"]
    assert beside["warnings"] == []


def test_the_digest_stays_while_a_session_goes_on(gateway: Gateway) -> None:
    gateway.cli.ok("note", "Mara likes tea.")
    said = user("Mara has a boat now.", int(time.time() * 1000))  # a digest tells of the last day
    noted = [step(WRITE, message=said), step(END)]
    answers, _ = gateway.play(
        asked("hello"), *noted, asked("hello"), step("session_start"), asked("hello")
    )
    first, _, _, same, _, new = answers
    assert first["appendSystemContext"] == same["appendSystemContext"]
    assert "boat" not in same["appendSystemContext"]
    assert "boat" in new["appendSystemContext"]


def test_a_heartbeat_is_told_what_is_going_on(told: Gateway) -> None:
    [found], _ = told.play(step("heartbeat_prompt_contribution", HEARTBEAT))
    assert "build 41" in found["appendContext"]


def test_a_turn_is_written_down_when_it_ends(gateway: Gateway) -> None:
    rows = [user("Where is the boat?"), assistant("In the harbour.")]
    _, beside = gateway.play(*(step(WRITE, message=row) for row in rows), step(END))
    assert beside["warnings"] == []
    found = gateway.cli.ok("recall", "--json", "boat harbour").json["memories"]
    assert {memory["session"] for memory in found} == {MAIN["sessionId"]}
    assert {memory["text"] for memory in found} == {"Where is the boat?", "In the harbour."}


def test_what_was_written_down_is_understood_before_it_is_asked_for(gateway: Gateway) -> None:
    gateway.play(step(WRITE, message=user("Where is the boat?")), step(END), step("gateway_stop"))
    assert gateway.cli.ok("status", "--json").json["unembedded"] == 0
    turn = json.dumps(user("And the oars?", 1)).encode()
    gateway.cli.ok("ingest", "-", "--capture", "--session", "s", stdin=turn)
    assert gateway.cli.ok("status", "--json").json["unembedded"] > 0


def test_the_same_turn_from_the_transcript_is_one_turn(gateway: Gateway) -> None:
    gateway.play(step(WRITE, message=user("Where is the boat?")), step(END))
    row = {"type": "message", "id": "a", "timestamp": "2026-11-23T10:18:58.854Z"}
    lines = [{"type": "session", "version": 4, "id": MAIN["sessionId"]}]
    lines.append({**row, "message": user("Where is the boat?")})
    transcript = gateway.cli.folder / "14c00f2e.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    [report] = gateway.cli.ok("ingest", "--json", transcript).json["files"]
    assert (report["added"], report["known"]) == (0, 1)


def test_sessions_that_speak_at_once_are_kept_apart(gateway: Gateway) -> None:
    others = [{"sessionKey": f"agent:a{n}:main", "sessionId": f"id-{n}"} for n in range(4)]
    write = [
        step(WRITE, ctx, message=user(f"The code of {n} is A{n}.")) for n, ctx in enumerate(others)
    ]
    _, beside = gateway.play(write, [step(END, ctx) for ctx in others], step("gateway_stop"))
    assert beside["warnings"] == []
    for n, ctx in enumerate(others):
        answer = gateway.cli.ok("recall", "--json", "--session", ctx["sessionId"], "code").json
        [found] = answer["memories"]
        assert found["text"] == f"The code of {n} is A{n}."


def test_sessions_that_never_end_a_turn_do_not_pile_up(gateway: Gateway) -> None:
    keys = [f"agent:a{n}:main" for n in range(201)]
    writes = [step(WRITE, {"sessionKey": key}, message=user(f"The code is {key}.")) for key in keys]
    ends = [step(END, {"sessionKey": key, "sessionId": key}) for key in (keys[0], keys[1])]
    gateway.play(*writes, *ends)
    found = gateway.cli.ok("recall", "--json", "the code").json["memories"]
    assert [memory["session"] for memory in found] == [keys[1]]


def test_the_corpus_finds_and_gives_whole_texts(told: Gateway) -> None:
    search = {"corpus": "search", "asked": {"query": "delegation defect", "maxResults": 3}}
    [[hit]], _ = told.play(search)
    assert hit["snippet"] == FACT
    assert 0 < hit["score"] <= 1
    lookups = [hit["path"], "clsm/nothing", "memory/2026-11-23.md"]
    answers, _ = told.play(*({"corpus": "get", "asked": {"lookup": path}} for path in lookups))
    assert answers[0]["content"] == FACT
    assert answers[1:] == [None, None]


@pytest.mark.parametrize(("script", "told"), [*table(__file__, "failing"), ("", "ENOENT")])
def test_a_memory_that_fails_fails_no_turn(cli: Cli, script: str, told: str) -> None:
    # The script stands for a clsm that breaks, hangs or is gone, which the real one does not on demand.
    program = cli.folder / "broken"
    if script:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
    gateway = Gateway(cli, (str(program),))
    [found], beside = gateway.play(asked("what about Mara?"))
    assert found == {"appendSystemContext": "", "prependContext": ""}
    assert any(told in warning for warning in beside["warnings"])
    assert beside["took"][0] < 5000


def test_no_other_user_of_the_machine_sees_a_message(cli: Cli) -> None:
    """As everybody sees the arguments of every process."""
    program, seen = cli.folder / "watched", cli.folder / "seen"
    program.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexec {sys.executable} -m clsm_cli "$@"\n')
    program.chmod(0o700)
    cli.ok("note", FACT)
    answers, _ = Gateway(cli, (str(program),)).play(
        asked(QUESTION),
        {"corpus": "search", "asked": {"query": QUESTION}},
        *(step(WRITE, message=user(QUESTION)), step(END)),
    )
    assert "build 41" in answers[0]["prependContext"]
    assert "build 41" in answers[1][0]["snippet"]
    assert seen.read_text().count("recall") == 2
    assert "defect" not in seen.read_text()


def test_a_turn_that_could_not_be_written_down_is_told(gateway: Gateway) -> None:
    message = step(WRITE, message=user("Hello."))
    shutil.move(gateway.cli.store, gateway.cli.folder / "away")
    _, beside = gateway.play(message, step(END))
    assert "no memory store at" in beside["warnings"][0]


def test_a_program_that_cannot_be_started_costs_its_own_turn_only(gateway: Gateway) -> None:
    """Node throws there, as without memory for a process; no later turn was written down."""
    refused = {**MAIN, "sessionId": "x" * 200_000}  # longer than Linux lets an argument be
    _, beside = gateway.play(
        *(step(WRITE, message=user("Where is the boat?")), step(END, refused)),
        *(step(WRITE, message=user("And the oars?", 1)), step(END)),
    )
    assert "E2BIG" in beside["warnings"][0]
    found = gateway.cli.ok("recall", "--json", "the oars").json["memories"]
    assert [memory["text"] for memory in found] == ["And the oars?"]


def test_the_skill_names_the_commands_as_they_can_be_run() -> None:
    skill = plugin_files(CLSM, "/srv/my memory")["skills/clsm/SKILL.md"].decode()
    assert "{{" not in skill
    [line] = (row for row in skill.splitlines() if "recall --store" in row and "defect" in row)
    told = shlex.split(line, comments=True)
    assert told == [*CLSM, "recall", "--store", "/srv/my memory", "delegation defect"]


def test_a_compacted_session_is_stored_first_and_its_outcome_told_after(gateway: Gateway) -> None:
    before, after = "before_compaction", "after_compaction"
    written = [
        user("We decided to let the heartbeat come every 15 minutes. Who oils the sluice gate?"),
        assistant("Noted: every fifteen minutes. I have no idea about the other thing."),
    ]
    answers, beside = gateway.play(
        asked("good morning"),
        *(step(WRITE, message=message) for message in written),
        step(before),
        step(after),
        asked("good morning"),
        step("session_start"),
        asked("good morning"),
    )
    assert beside["warnings"] == []
    first, told, fresh = (answers[place]["appendSystemContext"] for place in (0, 5, 7))
    assert "In this conversation:" in told
    assert "We decided to let the heartbeat come every 15 minutes." in told
    assert "Who oils the sluice gate?" in told
    assert "In this conversation:" not in first + fresh
