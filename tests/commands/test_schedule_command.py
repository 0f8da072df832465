"""``clsm schedule``: what is put into a crontab, systemd and OpenClaw's cron, what then runs, and its status."""

import fcntl
import json
import os
import shlex
import shutil
import subprocess
from typing import Any

import pytest
from processes import Cli, ran
from scheduling import (
    CRONTAB,
    OPENCLAW,
    SYSTEMCTL,
    as_cron,
    home,
    in_forks,
    line_of,
    on_path,
    put,
    tab,
)
from small_store import talk
from using_git import git_says

from clsm_cli.integrations import schedulers
from clsm_cli.integrations.schedulers import all_schedulers

OTHERS = "# mine\r\nMAILTO=me\n5 4 * * * /bin/true # 100%"


@pytest.fixture
def desk(cli: Cli) -> Cli:
    """A command line with a crontab of its own, and no systemd."""
    put(cli, "crontab", CRONTAB)
    return in_forks(on_path(cli))


def install(cli: Cli, *options: str) -> None:
    cli.ok("schedule", "install", "--by", "crontab", *options)


def test_installed_twice_is_installed_once_and_removed_without_a_trace(desk: Cli) -> None:
    (home(desk) / "tab").write_bytes(OTHERS.encode())
    install(desk)
    first = tab(desk)
    install(desk)
    assert tab(desk) == first
    assert first.startswith(OTHERS + "\n")
    install(desk, "--at", "04:15", "--commit")
    assert tab(desk).count("schedule run") == 1
    assert "--due 04:15 --commit" in tab(desk)
    desk.ok("schedule", "remove", "--by", "crontab")
    assert tab(desk) == OTHERS + "\n"
    assert desk.ok("schedule", "remove", "--by", "crontab").out == "not installed\n"


def test_the_line_consolidates_and_decays_as_cron_runs_it(desk: Cli) -> None:
    said = ("Mara wants the gauge by Friday.", "I will order it.", "Thanks, that was all.")
    desk.ok("ingest", "-", "--session", "main", stdin="".join(talk("main", *said)).encode())
    install(desk)
    done = as_cron(desk, line_of(desk))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    [log] = desk.store.glob("flow/*/runs.jsonl")
    commands = [json.loads(line)["command"] for line in log.read_text().splitlines() if line]
    assert (commands[0], commands[-1]) == ("ingest", "decay")
    assert "consolidate" in commands
    assert desk.ok("status", "--check").code == 0
    assert desk.ok("schedule", "status", "--json").json["last"] is not None


def test_much_is_not_withdrawn_until_a_person_who_is_told_decides(desk: Cli) -> None:
    names = [first + last for first in "ABCDEF" for last in ("mund", "olf", "bert", "win", "gard")]
    lines = (f"- {each} Holm, a nurse from Lund, lives in Leiden since 2019.\n\n" for each in names)
    (desk.folder / "people.md").write_text("".join(lines))
    desk.ok("ingest", "people.md")
    desk.ok("consolidate")
    count = desk.ok("list", "-n", "99").out.count("nurse")
    assert count > 20
    (desk.folder / "people.md").write_text("Nobody is here.\n")
    (desk.folder / "mill.md").write_text("- The mill in Leiden is let to Rosa Lind since 2024.\n")
    desk.ok("ingest", "people.md", "mill.md")
    told = f"{count} of {count} statements have left their documents"
    assert desk.ok("schedule", "run", "--quiet").err.startswith(f"clsm: {told}")
    assert told in desk.ok("status").out
    held = desk.ok("list", "-n", "99").out
    assert (held.count("nurse"), held.count("mill in Leiden")) == (count, 1)
    desk.ok("consolidate", "--yes")
    assert "nurse" not in desk.ok("list", "-n", "99").out
    assert told not in desk.ok("status").out


def test_only_a_night_that_has_not_been_is_done(desk: Cli) -> None:
    def ran(now: str) -> list[str]:
        done = desk.ok("schedule", "run", "--due", "03:30", "--json", "--now", now)
        return [step["name"] for step in done.json["steps"]]

    night = ["consolidate", "decay"]
    assert ran("2026-03-02T03:30:00+01:00") == night
    assert ran("2026-03-02T04:30:00+01:00") == []
    assert ran("2026-03-03T03:29:00+01:00") == []
    assert ran("2026-03-03T03:31:00+01:00") == night
    assert ran("2026-03-05T11:30:00+01:00") == night  # the machine was off
    dreams = desk("schedule", "run", "--due", "03:30", "--now", "2026-03-07T03:00:00+01:00")
    assert (dreams.code, dreams.out) == (75, "")
    assert ran("2026-03-07T03:30:00+01:00") == night


def test_a_night_of_which_a_later_step_failed_is_tried_again(desk: Cli) -> None:
    def run(hour: str, *options: str) -> Any:
        now = f"2026-03-02T{hour}:00+01:00"
        words = ("schedule", "run", "--due", "03:30", "--json", "--now", now, *options)
        return desk(*words).json["steps"]

    assert [step["code"] for step in run("03:30", "--push")] == [0, 0, 12]  # no repository
    assert "git push" in desk.ok("status").out
    assert [step["name"] for step in run("04:30")] == ["consolidate", "decay"]
    assert run("05:30") == []


def test_a_busy_memory_is_tried_again_later(desk: Cli) -> None:
    (desk.store / "clsm.yaml").open("a").write('settings: {"store.lock_wait": 0.2}\n')
    now = ("--now", "2026-03-02T03:30:00+01:00")
    handle = os.open(desk.store, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = desk("schedule", "run", "--due", "03:30", "--quiet", *now)
    finally:
        os.close(handle)
    assert done.code == 75
    assert "consolidate failed (75)" in done.err
    assert "is locked by" in done.err
    assert desk.ok("schedule", "run", "--due", "03:30", "--json", *now).json["steps"]


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("crontab") is None, reason="needs root and crontab"
)
def test_the_real_crontab_takes_it_and_gives_it_back() -> None:
    # As a user of the system who has no crontab; what he has is put back all the same.
    def crontab(word: str, given: bytes = b"") -> bytes:
        words = ["crontab", "-u", "nobody", word]
        return subprocess.run(words, input=given, capture_output=True, check=True).stdout

    try:
        before = crontab("-l")
    except subprocess.CalledProcessError:
        before = b""
    text = schedulers.crontab_with("# mine\n", job(), ["/usr/bin/nice", "-n", "10"])
    try:
        crontab("-", text.encode())
        assert crontab("-l").decode() == text
    finally:
        crontab("-", before) if before else crontab("-r")
    assert schedulers.crontab_without(text, job().name) == "# mine\n"


def job() -> schedulers.Job:
    store = "/srv/my 100% memory"
    words = ("/opt/clsm", "schedule", "run", "--store", store)
    return schedulers.Job("clsm-1234abcd", store, 210, words, {"CLSM_DEVICE": "pi"})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_units(cli: Cli) -> None:
    words = ("/bin/true", "schedule", "run", "--store", "/srv/my 100% $memory")
    for name, text in schedulers.systemd_units(job()._replace(command=words)).items():
        (cli.folder / name).write_text(text)
    timer = cli.folder / "clsm-1234abcd.timer"
    done = ran("systemd-analyze", "verify", "--man=no", timer)
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_is_given_the_units_and_gives_them_back(cli: Cli) -> None:
    put(cli, "systemctl", SYSTEMCTL)
    there = {**on_path(cli).environment, "XDG_CONFIG_HOME": str(cli.folder / "config")}
    systemd = all_schedulers(there)[0]
    wanted = job()
    assert systemd.command(wanted.name) is None
    systemd.install(wanted)
    assert systemd.command(wanted.name) == list(wanted.command)
    systemd.remove(wanted.name)
    assert systemd.command(wanted.name) is None
    assert not list((cli.folder / "config" / "systemd" / "user").iterdir())
    asked = (home(cli) / "systemctl.log").read_text().splitlines()
    timer = f"{wanted.name}.timer"
    assert asked[:2] == ["--user daemon-reload", f"--user enable --now {timer}"]
    assert asked[2:] == [f"--user disable --now {timer}", "--user daemon-reload"]


def test_openclaws_agent_is_asked_an_hour_before(cli: Cli) -> None:
    put(cli, "openclaw", OPENCLAW)
    cli = on_path(cli)
    (home(cli) / "jobs.json").write_text('{"jobs": []}')
    assert cli("schedule", "install", "--by", "crontab", "--adviser").code == 2
    done = cli.ok("schedule", "install", "--by", "openclaw", "--adviser", "--json").json
    asked = shlex.split(done["lines"][1])
    name = f"{done['name']}-adviser"
    assert asked[:3] == ["openclaw", "cron", "add"]
    assert asked[asked.index("--declaration-key") + 1] == name
    assert asked[asked.index("--cron") + 1] == "30 2 * * *"
    assert asked[asked.index("--session") + 1] == "isolated"
    task = asked[asked.index("--message") + 1]
    commands = [line[8:] for line in task.splitlines() if line[3:].startswith("Run: ")]
    assert [shlex.split(each)[-3:] for each in commands] == [
        ["--ask", "--budget", "8000"],
        [str(cli.store), "--answer", "clsm-answer.json"],
    ]
    assert (home(cli) / "openclaw.log").read_text().count("cron add") == 2
    jobs = [
        {"id": "j1", "name": done["name"], "payload": {"argv": ["x"]}},
        {"id": "j2", "name": name, "payload": {"message": task}},
    ]
    (home(cli) / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    found = cli.ok("schedule", "status", "--by", "openclaw", "--json").json["jobs"]
    assert found == {"openclaw": ["x"], "openclaw's agent": ["advises", "the", "memory"]}
    cli.ok("schedule", "install", "--by", "openclaw")  # a second time replaces the first
    assert "cron rm j2" in (home(cli) / "openclaw.log").read_text()
    cli.ok("schedule", "remove", "--by", "openclaw")
    assert "cron rm j1" in (home(cli) / "openclaw.log").read_text()
    row = {"role": "user", "time": "2026-02-10T02:30:00+01:00", "text": f"[cron:j2 {name}] {task}"}
    told = cli.ok("ingest", "-", "--session", "cron", "--json", stdin=json.dumps(row).encode()).json
    assert told["files"][0]["dropped"] == {"task of the adviser": 1}
    assert (told["episodes"], told["open_turns"]) == (0, 0)


def test_a_night_ends_in_a_commit_that_is_pushed(cli: Cli) -> None:
    git_says(cli.folder, "init", "-q", "-b", "main", str(cli.store))
    git_says(cli.folder, "init", "-q", "--bare", str(cli.folder / "remote.git"))
    git_says(cli.store, "remote", "add", "origin", str(cli.folder / "remote.git"))
    cli.ok("init", "--git", cli.store)
    cli.ok("note", "Mara likes tea.")
    (cli.store / ".git" / "hooks" / "pre-push").write_text("#!/bin/sh\ntouch ran; exit 1\n")
    (cli.store / ".git" / "hooks" / "pre-push").chmod(0o700)
    cli = in_forks(cli)
    steps = cli.ok("schedule", "run", "--commit", "--push", "--json").json["steps"]
    assert [step["code"] for step in steps] == [0, 0, 0, 0]
    remote = git_says(cli.folder, "-C", str(cli.folder / "remote.git"), "rev-parse", "main")
    assert remote == git_says(cli.store, "rev-parse", "HEAD")
    assert git_says(cli.store, "status", "--porcelain") == ""
    cli.ok("schedule", "run", "--commit")
    again = cli.ok("schedule", "run", "--commit", "--json").json["steps"]
    assert again[-1]["told"] == "nothing new to commit"


@pytest.mark.parametrize("name", ["core.sshCommand", "filter.x.clean"])
def test_a_repository_that_names_programs_gets_no_commit(cli: Cli, name: str) -> None:
    git_says(cli.folder, "init", "-q", "-b", "main", str(cli.store))
    git_says(cli.store, "remote", "add", "origin", "ssh://example.org/x")
    git_says(cli.store, "config", "include.path", "../more")
    git_says(cli.store, "config", "-f", str(cli.store / "more"), name, f"touch {cli.folder}/ran")
    (cli.store / ".gitattributes").write_text("* filter=x\n")
    done = in_forks(cli)("schedule", "run", "--commit", "--push")
    assert done.code == 12
    assert name.lower() in done.err
    assert not (cli.folder / "ran").exists()


@pytest.fixture
def both(cli: Cli) -> Cli:
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


def test_the_next_run_is_at_its_hour(both: Cli) -> None:
    assert next_at(both, "2026-03-02T12:00:00+01:00") == {}
    both.ok("schedule", "install", "--by", "crontab")
    for now in ("2026-03-02T03:30:00+01:00", "2026-03-03T03:29:00+01:00"):
        assert next_at(both, now) == {"crontab": "2026-03-03T03:30:00+01:00"}
    shown = both.ok("schedule", "status", "--now", "2026-03-02T12:00:00+01:00").out
    assert "\nnext run: 2026-03-03T03:30:00+01:00\n" in shown


def test_a_job_that_openclaw_has_is_remembered(both: Cli) -> None:
    name = both.ok("schedule", "install", "--by", "crontab", "--json").json["name"]
    both.ok("schedule", "status")
    assert asked(both) == []  # it takes seconds
    both.ok("schedule", "install", "--by", "openclaw")
    assert name not in tab(both)
    command = ["clsm", "schedule", "run", "--due", "03:30"]
    has(both, {"id": "j1", "name": name, "payload": {"argv": command}})
    told = both.ok("schedule", "status", "--json", "--now", "2026-03-02T12:00:00+01:00").json
    assert told["jobs"] == {"openclaw": command}
    assert told["next"] == {"openclaw": "2026-03-03T03:30:00+01:00"}
    assert set(asked(both)) == {"add", "list"}
    assert both.ok("schedule", "remove", "--dry-run").out == "removed from openclaw\n"
    assert both.ok("schedule", "remove", "--by", "crontab").out == "not installed\n"
    assert "rm" not in asked(both)
    assert both.ok("schedule", "remove").out == "removed from openclaw\n"
    assert asked(both)[-1] == "rm"
    count = len(asked(both))
    assert both.ok("schedule", "remove").out == "not installed\n"
    assert len(asked(both)) == count
    assert both.ok("doctor").code == 0


def test_an_openclaw_that_does_not_answer(both: Cli) -> None:
    both.ok("schedule", "install", "--by", "openclaw")
    put(both, "openclaw", '#!/bin/sh\necho "gateway closed" >&2\nexit 1\n')
    done = both.ok("schedule", "status")
    assert done.err == ("clsm: openclaw cron: gateway closed; see: clsm schedule install --help\n")
    assert "not installed" not in done.out
    assert "last good run" in done.out
    assert both("schedule", "status", "--by", "openclaw").code == 12
    both.ok("schedule", "install", "--by", "openclaw", "--dry-run")
    done = both("schedule", "install", "--by", "crontab")
    assert (done.code, "gateway closed" in done.err) == (12, True)
    done = both("schedule", "remove")  # out of the crontab at least; a second time asks again
    assert (done.code, "gateway closed" in done.err) == (12, True)
    assert tab(both) == ""
    put(both, "openclaw", '#!/bin/sh\necho "{}"\n')
    assert "no form known" in both("schedule", "remove").err
    (both.folder / "bin" / "openclaw").unlink()
    assert both.ok("schedule", "status").err == ""
