"""``clsm schedule install --wake``: OpenClaw is told of a night that failed, and of no other."""

import os
from pathlib import Path

import pytest
from hook_server import HookServer
from processes import Cli, Done
from scheduling import CRONTAB, as_cron, home, in_forks, line_of, on_path, put, tab

SECRET = "open-sesame-4711"
NIGHT = "03:30"


@pytest.fixture
def desk(cli: Cli) -> Cli:
    """A command line with a crontab of its own, and a token that is kept well."""
    put(cli, "crontab", CRONTAB)
    token(cli).write_text(SECRET)
    token(cli).chmod(0o600)
    return in_forks(on_path(cli))


def token(cli: Cli) -> Path:
    return home(cli) / "hook"


def install(cli: Cli, url: str, *options: str | Path) -> Done:
    words = ("--by", "crontab", "--wake", url, "--wake-token", token(cli), *options)
    return cli("schedule", "install", *words)


def night(cli: Cli, url: str, day: int, time: str = NIGHT, *, fails: bool) -> Done:
    """A run as the job starts it; without a model no consolidation ends well."""
    words = ("--due", NIGHT, "--quiet", "--wake", url, "--wake-token", token(cli))
    model = cli.folder / "nothing" if fails else cli.environment["CLSM_MODEL_DIR"]
    at = f"2026-03-{day:02}T{time}:00+01:00"
    return cli("schedule", "run", *words, "--now", at, CLSM_MODEL_DIR=model)


def reason(cli: Cli) -> str:
    found: str = cli.ok("status", "--json").json["automation"]["reason"]
    return found


def test_a_failed_night_is_told_once_and_a_good_one_never(desk: Cli) -> None:
    with HookServer() as server:
        assert night(desk, server.url, 2, fails=False).code == 0
        assert not server.asked
        done = night(desk, server.url, 3, fails=True)
        assert done.code == 15
        assert "no wake" not in done.err
        [asked] = server.asked
        assert asked.headers["authorization"] == f"Bearer {SECRET}"
        why = reason(desk)
        assert asked.body["mode"] == "now"
        assert asked.body["text"] == f'The nightly run of clsm failed: "consolidate: {why}".'
        assert "no embedding model" in why
        night(desk, server.url, 3, "04:30", fails=True)  # the crontab tries again
        night(desk, server.url, 3, "23:30", fails=True)
        assert len(server.asked) == 1
        night(desk, server.url, 4, fails=True)
        assert len(server.asked) == 2
        assert night(desk, server.url, 4, "12:00", fails=False).code == 0
        night(desk, server.url, 5, "11:00", fails=True)  # the machine was off
        assert len(server.asked) == 3


def test_a_wake_that_is_not_sent_is_told(desk: Cli) -> None:
    with HookServer(401) as server:
        done = night(desk, server.url, 3, fails=True)
    assert done.code == 15
    said = "the server refused the token (401)"
    assert f"clsm: no wake sent to {server.url}: {said}\n" in done.err
    assert SECRET not in done.err


def test_a_token_that_others_can_read_is_not_sent(desk: Cli) -> None:
    token(desk).chmod(0o644)
    with HookServer() as server:
        done = night(desk, server.url, 3, fails=True)
        assert not server.asked
        assert done.code == 15
        assert f"chmod 600 {token(desk)}" in done.err
        refused = install(desk, server.url)
        assert (refused.code, "mode 0644" in refused.err) == (12, True)
        token(desk).unlink()
        refused = install(desk, server.url)
        assert (refused.code, "No such file" in refused.err) == (12, True)
    assert not (home(desk) / "tab").exists()


def test_what_is_not_put_into_a_schedule(desk: Cli) -> None:
    """An address that may not have the token, half of the two options, a token that is committed."""
    done = install(desk, "https://me:secret@pi.example/hooks/wake")
    assert (done.code, "--wake" in done.err, "secret" in done.err) == (2, True, False)
    url = "http://127.0.0.1:1/hooks/wake"
    for command in ("install", "run"):
        assert desk("schedule", command, "--wake", url).code == 2
        assert desk("schedule", command, "--wake-token", token(desk)).code == 2
    inside = desk.store / "hook"
    inside.write_text(SECRET)
    inside.chmod(0o600)
    link = home(desk) / "link"
    link.symlink_to(inside)
    for path in (inside, link):
        done = install(desk, url, "--wake-token", path)
        assert (done.code, "committed" in done.err) == (2, True)
    assert not (home(desk) / "tab").exists()


def test_the_token_stays_in_its_file(desk: Cli) -> None:
    with HookServer() as server:
        done = install(desk, server.url, "--wake-token", os.path.relpath(token(desk), desk.folder))
        assert done.code == 0, done.err
        shown = desk.ok("schedule", "status", "--json")
        line = (
            line_of(desk)
            .replace("--due 03:30", "")
            .replace(desk.environment["CLSM_MODEL_DIR"], str(desk.folder / "nothing"))
        )
        assert f"--wake-token {token(desk)}" in line
        ran = as_cron(desk, line)
        assert ran.returncode == 15
        assert len(server.asked) == 1
    told = [done.out, done.err, shown.out, ran.stdout, ran.stderr, tab(desk)]
    assert not any(SECRET in text for text in told)
    files = [path for path in desk.store.rglob("*") if path.is_file()]
    assert files
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


def test_a_memory_that_is_gone_is_told_by_the_run_of_the_hour_alone(desk: Cli) -> None:
    desk.store.rename(desk.folder / "elsewhere")
    with HookServer() as server:
        assert night(desk, server.url, 3, fails=False).code == 11
        assert night(desk, server.url, 3, "04:30", fails=False).code == 11
        [asked] = server.asked
    assert "no memory store at" in asked.body["text"]
