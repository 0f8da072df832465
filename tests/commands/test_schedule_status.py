"""``clsm schedule status`` and ``remove``: when the next night is, and a job that OpenClaw has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from processes import Cli
from scheduling import CRONTAB, OPENCLAW, home, on_path, put, tab


@pytest.fixture
def desk(cli: Cli) -> Cli:
    """A command line with a crontab of its own, and an OpenClaw that knows of no job."""
    put(cli, "crontab", CRONTAB)
    put(cli, "openclaw", OPENCLAW)
    has(cli)
    return on_path(cli)


def has(cli: Cli, *jobs: dict[str, Any]) -> None:
    """OpenClaw's cron has these jobs."""
    (home(cli) / "jobs.json").write_text(json.dumps({"jobs": jobs}))


def asked(cli: Cli) -> list[str]:
    """What OpenClaw's cron was asked: the verbs."""
    log = home(cli) / "openclaw.log"
    rows = log.read_text().splitlines() if log.exists() else []
    return [row.split()[1] for row in rows]


def next_at(cli: Cli, now: str, *options: str) -> Any:
    return cli.ok("schedule", "status", "--json", "--now", now, *options).json["next"]


def test_the_next_run_is_at_its_hour(desk: Cli) -> None:
    assert next_at(desk, "2026-03-02T12:00:00+01:00") == {}
    desk.ok("schedule", "install", "--by", "crontab")
    for now in ("2026-03-02T03:30:00+01:00", "2026-03-03T03:29:00+01:00"):
        assert next_at(desk, now) == {"crontab": "2026-03-03T03:30:00+01:00"}
    shown = desk.ok("schedule", "status", "--now", "2026-03-02T12:00:00+01:00").out
    assert "\nnext run: 2026-03-03T03:30:00+01:00\n" in shown


def test_a_job_that_openclaw_has_is_remembered(desk: Cli) -> None:
    name = desk.ok("schedule", "install", "--by", "crontab", "--json").json["name"]
    desk.ok("schedule", "status")
    assert asked(desk) == []  # it takes seconds
    desk.ok("schedule", "install", "--by", "openclaw")
    assert name not in tab(desk)
    command = ["clsm", "schedule", "run", "--due", "03:30"]
    has(desk, {"id": "j1", "name": name, "payload": {"argv": command}})
    told = desk.ok("schedule", "status", "--json", "--now", "2026-03-02T12:00:00+01:00").json
    assert told["jobs"] == {"openclaw": command}
    assert told["next"] == {"openclaw": "2026-03-03T03:30:00+01:00"}
    assert set(asked(desk)) == {"add", "list"}
    assert desk.ok("schedule", "remove", "--dry-run").out == "removed from openclaw\n"
    assert desk.ok("schedule", "remove", "--by", "crontab").out == "not installed\n"
    assert "rm" not in asked(desk)
    assert desk.ok("schedule", "remove").out == "removed from openclaw\n"
    assert asked(desk)[-1] == "rm"
    count = len(asked(desk))
    assert desk.ok("schedule", "remove").out == "not installed\n"
    assert len(asked(desk)) == count
    assert desk.ok("doctor").code == 0


def test_an_openclaw_that_does_not_answer(desk: Cli) -> None:
    desk.ok("schedule", "install", "--by", "openclaw")
    put(desk, "openclaw", '#!/bin/sh\necho "gateway closed" >&2\nexit 1\n')
    done = desk.ok("schedule", "status")
    assert done.err == ("clsm: openclaw cron: gateway closed; see: clsm schedule install --help\n")
    assert "not installed" not in done.out
    assert "last good run" in done.out
    assert desk("schedule", "status", "--by", "openclaw").code == 12
    desk.ok("schedule", "install", "--by", "openclaw", "--dry-run")
    done = desk("schedule", "install", "--by", "crontab")
    assert (done.code, "gateway closed" in done.err) == (12, True)
    done = desk("schedule", "remove")  # out of the crontab at least; a second time asks again
    assert (done.code, "gateway closed" in done.err) == (12, True)
    assert tab(desk) == ""
    put(desk, "openclaw", '#!/bin/sh\necho "{}"\n')
    assert "no form known" in desk("schedule", "remove").err
    (desk.folder / "bin" / "openclaw").unlink()
    assert desk.ok("schedule", "status").err == ""
