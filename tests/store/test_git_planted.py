"""Nothing that a memory folder or its repository names is ever run, whatever command asks git."""

import os
import subprocess
from pathlib import Path

import pytest
from processes import Cli
from using_git import commit, git

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
    "post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update",
    "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
    "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout",
    "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip


def plant(root: Path, mark: Path) -> Path:
    """Put the name of a program wherever git would take one from; the folder of a false git."""
    script = root / "bad.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat 2>/dev/null\n')
    script.chmod(0o755)
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    settings = {
        "core.fsmonitor": script, "core.pager": script, "core.editor": script,
        "core.sshCommand": script, "core.askPass": script, "core.gitProxy": script,
        "core.hooksPath": hooks, "sequence.editor": script, "gpg.program": script,
        "commit.gpgSign": "true", "log.showSignature": "true", "credential.helper": f"!{script}",
        "diff.external": script, "diff.bad.textconv": script, "diff.bad.command": script,
        "filter.bad.clean": script, "filter.bad.smudge": script, "filter.bad.required": "true",
        "merge.bad.driver": f"{script} %A", "interactive.diffFilter": script,
        "uploadpack.packObjectsHook": script, "gc.auto": "1", "gc.recentObjectsHook": script,
        "remote.origin.url": f"ext::{script}", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "remote.origin.promisor": "true", "include.path": str(root / "more.conf"),
    }  # fmt: skip
    for command in ("status", "config", "init", "rev-parse", "ls-files", "cat-file", "merge-file"):
        settings[f"alias.{command}"] = f"!{script}"
    for name, value in settings.items():
        git(root, "config", name, str(value))
    (root / "more.conf").write_text(f"[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n")
    with (root / ".gitattributes").open("a") as file:
        file.write("* filter=bad diff=bad\n*.txt merge=bad\n")
    false = root / "bin"
    false.mkdir()
    (false / "git").write_text(script.read_text())
    (false / "git").chmod(0o755)
    return false


@pytest.fixture
def memory(cli: Cli) -> Cli:
    """A store in a repository with a commit, a note in it, and one that was segmented."""
    cli.ok("init", "--git", cli.store)
    cli.ok("note", "The gate number is 4711.")
    cli.ok("note", "Mara keeps bees.")
    cli.ok("ingest")
    commit(cli.store)
    return cli


def test_no_command_runs_what_is_planted(memory: Cli, tmp_path: Path) -> None:
    mark = tmp_path / "was-run"
    root = memory.store
    false = plant(root, mark)
    path = os.pathsep.join([str(false), memory.environment["PATH"]])
    answer = memory.ok("recall", "gate number", "--json", PATH=path).json
    key = answer["memories"][0]["id"]
    commands: list[tuple[str | Path, ...]] = [
        ("init", "--git", root), ("doctor",), ("doctor", "--fix"), ("note", "Bees like clover."),
        ("undo",), ("undo", "--redo"), ("ingest",), ("consolidate", "--now", "2036-01-01"),
        ("decay",), ("status",), ("forget", key, "--dry-run"), ("forget", key, "--yes"),
        ("backup", tmp_path / "backup.tar"), ("init", "--git", root),
    ]  # fmt: skip
    for words in commands:
        for search in (path, memory.environment["PATH"]):
            for program in (root / "bad.sh", false / "git"):
                program.chmod(0o755)  # doctor --fix makes them private, and no programs
            done = memory(*words, PATH=search)
            assert not mark.exists(), (words, mark.read_text())
            assert "Traceback" not in done.err, done.err
    for program in (root / "bad.sh", false / "git"):
        program.chmod(0o755)
    git(root, "status")
    assert mark.exists()  # what was planted does run, where git is asked by somebody less careful
    mark.unlink()
    subprocess.run(["git", "status"], env={"PATH": path}, capture_output=True, check=False)
    assert mark.exists()


def test_a_repository_that_is_only_there_to_be_found(cli: Cli, tmp_path: Path) -> None:
    """A store that came as an archive, with a repository that nobody made here."""
    mark = tmp_path / "was-run"
    git(cli.store, "init", "-q")
    plant(cli.store, mark)
    for words in (("init", "--git", str(cli.store)), ("doctor",), ("status",), ("undo",)):
        cli(*words)
        assert not mark.exists(), (words, mark.read_text())
