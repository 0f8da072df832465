"""Real git, without the settings of whoever runs the tests."""

import os
import subprocess
from pathlib import Path

WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))
}
"""Who commits."""
_QUICK = ("-c", "core.fsync=none", "-c", "gc.auto=0")


def git(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, as ``git WORDS``; a merge driver of clsm is found."""
    return subprocess.run(
        ["git", "-C", str(folder), *_QUICK, *words],
        env={
            "PATH": os.environ["PATH"], "HOME": str(folder.parent),
            "PYTHONPATH": str(Path(__file__).parents[1]), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, **WHO, **environment,
        },
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )  # fmt: skip


def git_says(folder: Path, *words: str) -> str:
    """The same where git must succeed; what it prints."""
    done = git(folder, *words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.rstrip("\n")


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "c")
