"""``clsm hook claude-code``: the change of settings.json, and the command lines that it puts there."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from processes import Cli, ran
from sample_store import NOW, SAMPLE
from tables import column, table
from typer.testing import CliRunner

from clsm_cli.commands import context, hook
from clsm_cli.integrations.claude_code_setup import EVENTS
from clsm_cli.text.fence_lines import OPENING

HOOK = ("hook", "claude-code")
OTHERS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]}],
        "SessionEnd": [],
    },
    "permissions": {"allow": ["Bash(ls:*)"], "ключ": "é"},
}


def settings_file(cli: Cli) -> Path:
    return cli.folder.parent / ".claude" / "settings.json"


def write(cli: Cli, text: str) -> None:
    settings_file(cli).parent.mkdir(exist_ok=True)
    settings_file(cli).write_text(text, "utf-8")


def read(cli: Cli) -> Any:
    return json.loads(settings_file(cli).read_text("utf-8"))


def lines(cli: Cli) -> dict[str, str]:
    """The installed command line of each event."""
    hooks = read(cli)["hooks"]
    return {event: hooks[event][-1]["hooks"][0]["command"] for event in EVENTS}


def run(cli: Cli, line: str, event: bytes, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a hook as Claude Code does: a shell with little in its environment, JSON on stdin."""
    env = {"HOME": cli.environment["HOME"], "PATH": "/usr/bin:/bin"}
    return ran("/bin/sh", "-c", line, cwd=folder, env=env, input=event.decode())


def told(event: str, **more: Any) -> bytes:
    base = {"session_id": "s1", "cwd": "/", "hook_event_name": event}
    return json.dumps({**base, **more}).encode()


def test_installed_into_an_empty_home(cli: Cli) -> None:
    assert "not installed" in cli.ok(*HOOK, "status").out
    cli.ok(*HOOK, "install")
    assert set(read(cli)) == {"hooks"}
    assert set(read(cli)["hooks"]) == set(EVENTS)
    assert all(str(cli.store) in line for line in lines(cli).values())
    assert cli.ok(*HOOK, "status", "--json").json["installed"]
    assert list(settings_file(cli).parent.iterdir()) == [settings_file(cli)]


def test_half_a_character_stays_escaped(cli: Cli) -> None:
    write(cli, '{"spinner": "\\ud83d"}')
    cli.ok(*HOOK, "install")
    cli.ok(*HOOK, "uninstall")
    assert settings_file(cli).read_text("utf-8") == '{\n  "spinner": "\\ud83d"\n}\n'


def test_all_else_stays_as_it_was_and_where(cli: Cli) -> None:
    before = json.dumps(OTHERS, indent=4, ensure_ascii=False) + "\n"
    write(cli, before)
    out = cli.ok(*HOOK, "install", "--now", "2026-03-02T08:00:00+01:00").out
    backup = settings_file(cli).with_name("settings.json.20260302T080000.bak")
    assert str(backup) in out
    assert backup.read_text("utf-8") == before
    after = read(cli)
    assert list(after) == list(OTHERS)
    assert list(after["hooks"]) == [*OTHERS["hooks"], "UserPromptSubmit", "PreCompact"]
    assert after["hooks"]["SessionStart"][0] == OTHERS["hooks"]["SessionStart"][0]
    assert '\n    "model"' in settings_file(cli).read_text("utf-8")
    assert "ключ" in settings_file(cli).read_text("utf-8")
    cli.ok(*HOOK, "uninstall")
    left = read(cli)
    assert left["hooks"].pop("SessionEnd", []) == []
    assert left["hooks"] == {k: v for k, v in OTHERS["hooks"].items() if v}
    assert {**left, "hooks": OTHERS["hooks"]} == OTHERS


def test_twice_is_once(cli: Cli) -> None:
    write(cli, json.dumps(OTHERS))
    cli.ok(*HOOK, "install")
    first = settings_file(cli).read_bytes()
    assert "nothing to change" in cli.ok(*HOOK, "install").out
    assert settings_file(cli).read_bytes() == first
    cli.ok("init", cli.folder / "other")
    cli.ok(*HOOK, "install", "--store", cli.folder / "other")
    hooks = cli.ok(*HOOK, "status", "--json").json["hooks"]
    assert [len(found) for found in hooks.values()] == [1] * len(EVENTS)
    assert all(str(cli.folder / "other") in line for line in lines(cli).values())
    cli.ok(*HOOK, "uninstall")
    assert "nothing to change" in cli.ok(*HOOK, "uninstall").out


def test_a_dry_run_shows_the_change_and_makes_none(cli: Cli) -> None:
    write(cli, json.dumps(OTHERS, indent=2))
    before = settings_file(cli).read_bytes()
    out = cli.ok(*HOOK, "install", "--dry-run").out
    assert out.startswith(f"--- {settings_file(cli)}\n+++ {settings_file(cli)}\n@@ ")
    assert '+    "PreCompact": [' in out
    assert settings_file(cli).read_bytes() == before
    assert [path.name for path in settings_file(cli).parent.iterdir()] == ["settings.json"]


def test_a_file_that_others_may_read_stays_so(cli: Cli) -> None:
    write(cli, "{}\n")
    settings_file(cli).chmod(0o644)
    cli.ok(*HOOK, "install")
    assert settings_file(cli).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [*table(__file__, "broken settings"), ("[" * 100_000, ": ", "is nested too deeply")],
)
def test_broken_settings_are_refused(cli: Cli, text: str, place: str, reason: str) -> None:
    write(cli, text)
    for command in ("install", "uninstall", "status"):
        done = cli(*HOOK, command)
        assert done.code == 12
        assert done.err.startswith(f"clsm: {settings_file(cli)}{place}{reason}")
    assert settings_file(cli).read_text() == text
    assert len(list(settings_file(cli).parent.iterdir())) == 1


def test_a_session_from_its_start_to_its_end(cli: Cli, tmp_path: Path) -> None:
    cli.ok("note", "Brian takes his coffee black.")
    cli.ok(*HOOK, "install")
    done = run(cli, lines(cli)["SessionStart"], told("SessionStart", source="startup"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(OPENING)
    assert "Brian takes his coffee black." in done.stdout

    transcript = tmp_path / "s1.jsonl"
    turns = (("user", "The gauge is mended."), ("user", done.stdout), ("assistant", "Very good."))
    rows = [
        {"type": kind, "sessionId": "s1", "message": {"role": kind, "content": said}}
        | {"uuid": f"u{number}", "timestamp": f"2026-03-02T07:0{number}:00.000Z"}
        for number, (kind, said) in enumerate(turns)
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    event = told("PreCompact", transcript_path=str(transcript), trigger="auto")
    done = run(cli, lines(cli)["PreCompact"], event, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    event = told("SessionEnd", transcript_path=str(transcript), reason="clear")
    done = run(cli, lines(cli)["SessionEnd"], event, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

    captured = "".join(path.read_text("utf-8") for path in cli.store.glob("flow/*/inbox/*"))
    for said in ("The gauge is mended.", "Very good.", "Brian takes his coffee black."):
        assert captured.count(said) == 1  # what was recalled did not come back
    caught_up = cli.ok("ingest", transcript, "--verbose").out
    assert "2 unchanged" in caught_up


def test_the_context_of_a_session_is_that_of_its_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[context.Options] = []
    monkeypatch.setattr(context, "run", asked.append)
    for more in ({"transcript_path": "/p/-mill/s1.jsonl"}, {"cwd": 7, "transcript_path": []}):
        event = told("SessionStart", **more).decode()
        assert CliRunner().invoke(hook.app, ["claude-code", "start"], input=event).exit_code == 0
    assert [each.here for each in asked] == [("/", "/p/-mill"), ()]


@pytest.mark.parametrize("event", ["", "[" * 100_000, b"\xff\xfe", *column(__file__, "events")])
def test_no_event_fails_a_session(shared: Cli, event: bytes | str) -> None:
    given = event.encode() if isinstance(event, str) else event
    for _, command in EVENTS.values():
        assert "Traceback" not in shared.ok(*HOOK, command, stdin=given).err
    assert shared.ok("status", "--json").json["counts"]["turns"] == 0


def test_a_store_that_is_gone_fails_no_session(cli: Cli, tmp_path: Path) -> None:
    cli.store.rename(cli.folder / "elsewhere")
    (tmp_path / "x").touch()
    for event, (_, command) in EVENTS.items():
        said = told(event, transcript_path=str(tmp_path / "x"), prompt="Where is the boat?")
        done = cli.ok(*HOOK, command, stdin=said)
        assert done.out == ""
        assert "no memory store at" in done.err


def test_a_bug_fails_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "run", lambda _: 1 / 0)
    done = CliRunner().invoke(hook.app, ["claude-code", "start"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "clsm itself failed (ZeroDivisionError" in done.stderr


def test_a_message_comes_with_what_memory_knows_of_it(slept_cli: Cli) -> None:
    slept_cli.ok(*HOOK, "install")
    line = lines(slept_cli)["UserPromptSubmit"]
    asked = "write to Tomas about the disk"
    out = run(slept_cli, line, told("UserPromptSubmit", prompt=asked), slept_cli.folder).stdout
    assert out.startswith(OPENING)
    assert "| Known of them:\n| - (trust agent" in out
    for silent in (told("UserPromptSubmit", prompt="thanks!"), told("UserPromptSubmit"), b"{"):
        assert slept_cli.ok(*HOOK, "message", stdin=silent).out == ""


# What a hook puts before a message: nothing for small talk, something for what needs memory. The
# lists were written before the phrases of ``text/small_talk.txt``; their even lines were not looked
# at while those were. The limits are those of the promise, not what was measured.

LISTS = SAMPLE.parent / "hook"


@pytest.fixture
def taught(cli: Cli) -> Cli:
    """A store that holds three notes."""
    for said in (
        "We use slog in sluice, not zerolog, and no handler may print meter ids.",
        "Retry only the failed rows after a flush timeout, with a backoff.",
        "Tom waters the ferns on the landing.",
    ):
        cli.ok("note", said, "--now", NOW)
    return cli


def gated(cli: Cli, said: str) -> list[float]:
    answer = json.loads(cli.ok("recall", "--gate", "--json", "--now", NOW, "-k", "8", said).out)
    return [each["confidence"] for each in answer["memories"]]


@pytest.mark.parametrize(("said", "is_given"), table(__file__, "surely held"))
def test_what_memory_surely_holds_comes_always(taught: Cli, said: str, is_given: str) -> None:
    assert bool(gated(taught, said)) == (is_given == "yes")


def test_nothing_unsure_comes_before_a_message(slept_cli: Cli) -> None:
    for said in ("make the second gauge's permit ready", "prepare the note for Priya"):
        found = gated(slept_cli, said)
        assert found
        assert min(found) >= 0.1


def empty(cli: Cli, name: str) -> float:
    """The share of the even lines of a list for which nothing is put before the message."""
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()[1::2]
    rows = "".join(json.dumps({"id": n, "query": text}) + "\n" for n, text in enumerate(lines))
    options = ("--gate", "--batch", "-", "--now", NOW)
    found = cli.ok("recall", *options, stdin=rows.encode()).out.splitlines()
    answers = [json.loads(line) for line in found]
    assert len(answers) == len(lines)
    return sum(not (a["memories"] or a["concepts"]) for a in answers) / len(lines)


def test_small_talk_brings_nothing_and_a_question_something(slept_cli: Cli) -> None:
    assert empty(slept_cli, "small_talk") >= 0.80
    assert empty(slept_cli, "memory_questions") <= 0.05
