"""Cut the power while git commits a memory, and see what is left of both.

A store made by ``clsm init --git`` lies on an image of ext4 or xfs. Notes are written, and after each
``git add -A && git commit``; at a random moment the file system is shut down (see ``powercut``).
Then git must find all of its objects (``git fsck``), its branch and its index readable, clsm every
note, and after what a killed git left behind (``*.lock``, which ``clsm doctor`` reports) is deleted,
the next commit must succeed.

Counted and no fault of clsm: the locks, and commits that ended and are not in the branch any more,
as git does not sync the folder of a branch: the files that they held are there, and the next commit
has them. Not shown: a network in between, or a git that packs at that moment.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack

from faults.power import mounts
from faults.power.powerlife import turns
from faults.rig import Outcome, Rig
from faults.running.laying import environment, opened
from faults.running.swarm import Forks
from ingesting import scratch

from clsm_cli.errors import ClsmError
from clsm_cli.inspection.overview import overview

CUTS = {"ext4": 125, "xfs": 75}
LIFE = 5
"""Cuts of one image."""
MIB = {"ext4": 64, "xfs": 300}
_COMMIT = "git add -A && git commit --quiet -m night"
_PEOPLE = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}


class Repository:
    """A store under git on a disk of its own, and what was promised about it."""

    def __init__(self, stack: ExitStack, kind: str, *, synced: bool) -> None:
        self.disk = stack.enter_context(mounts.disk(kind))
        self.folder = stack.enter_context(scratch())
        self.environment = environment(self.folder, model=False) | _PEOPLE
        self.forks = Forks(self.environment)
        self.rng = random.Random(f"git {kind}")
        self.outcome = Outcome(f"{kind}, core.fsync {'all' if synced else 'unset'}", "power cut")
        self.root = self.disk.point / "memory"
        self.locks = self.commits = self.lost = self.notes = 0
        self.texts: set[str] = set()
        self.head = ""
        self.disk.make(MIB[kind])
        self.disk.mount()
        self._clsm("init", "--git")
        if not synced:
            self._git("config", "--unset-all", "core.fsync")
        self._git("add", "-A")
        self._git("commit", "--quiet", "-m", "first")
        self.disk.unmount()
        self.image = self.folder / "template"
        self.disk.keep(self.image)

    def live(self, cuts: int) -> None:
        """A new image, and some cuts of its power, until something is wrong."""
        self.disk.bring(self.image)
        self.disk.mount()
        self.texts, self.head = set(), ""
        for _ in range(cuts):
            self.outcome.planned += 1
            self._until_cut(time.monotonic() + self.rng.uniform(0.02, 1.0))
            self.outcome.fired += 1
            wrong = [*self._of_clsm(), *self._of_git()]
            self.outcome.violations += [f"{self.outcome.fired}: {each}" for each in wrong]
            if wrong:
                break
        self.disk.unmount()

    def _until_cut(self, end: float) -> None:
        """Write and commit until the power goes; what is running then is killed."""
        while self._noted(end) and self._committed(end):
            pass
        self.disk.unmount()
        self.disk.mount()

    def _noted(self, end: float) -> bool:
        """Write a note; False when the power went meanwhile."""
        self.notes += 1
        text = f"The code of gate {self.notes} is {self.rng.randrange(10**6)}."
        running = self.forks.start(("note", text, "--store", str(self.root)))
        for _, ended in self.forks.ended(end - time.monotonic()):
            if ended.code:
                self.outcome.violations.append(f"note ended with {ended.code}: {ended.err!r}")
            else:
                self.texts.add(text)
            return True
        self.disk.cut(synced=self._is_synced())
        running.kill()
        list(self.forks.ended(60.0))
        return False

    def _committed(self, end: float) -> bool:
        """Commit; False when the power went meanwhile."""
        shell = subprocess.Popen(
            ["sh", "-c", f"exec 2>&1; {_COMMIT}"],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            said, _ = shell.communicate(timeout=max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.disk.cut(synced=self._is_synced())
            os.killpg(shell.pid, signal.SIGKILL)  # the group that begins with it
            shell.communicate()
            return False
        if shell.returncode:
            self.outcome.violations.append(f"git refuses: {said.decode()[-200:]!r}")
            return True
        self.commits += 1
        self.head = self._git("rev-parse", "HEAD").strip()
        return True

    def _is_synced(self) -> bool:
        return self.rng.randrange(3) == 0

    def _of_clsm(self) -> list[str]:
        """What is wrong with the memory."""
        try:
            store = opened(self.root)
            wrong = [f"lost: {text}" for text in self.texts - turns(store).keys()]
            found = overview(store).problems
            return wrong + [f"status: {each}" for each in found if not each.path.endswith(".jsonl")]
        except (ClsmError, OSError) as error:
            return [f"cannot be read: {error!r}"]

    def _of_git(self) -> list[str]:
        """What is wrong with the repository; locks are counted and deleted."""
        locks = sorted((self.root / ".git").rglob("*.lock"))
        self.locks += bool(locks)
        for path in locks:
            path.unlink()
        wrong = []
        asked = (
            ("fsck", "--full", "--strict"),
            ("rev-parse", "--verify", "HEAD^{commit}"),
            ("status", "--porcelain"),
        )
        for words in asked:
            try:
                self._git(*words)
            except RuntimeError as error:
                wrong.append(str(error))
        if wrong:
            return wrong
        if self.head and self._fails("merge-base", "--is-ancestor", self.head, "HEAD"):
            self.lost += 1
            self.head = ""
        self._git("add", "-A")
        self._git("commit", "--quiet", "--allow-empty", "-m", "again")
        return []

    def _fails(self, *words: str) -> bool:
        try:
            self._git(*words)
        except RuntimeError:
            return True
        return False

    def _git(self, *words: str) -> str:
        """What git says.

        Raises:
            RuntimeError: It fails.
        """
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-200:]
            raise RuntimeError(f"git {words[0]} ends with {done.returncode}: {said!r}")
        return done.stdout

    def _clsm(self, *words: str) -> None:
        ended = self.forks.run((*words, "--store", str(self.root)))
        if ended.code:
            raise RuntimeError(f"clsm {words} ends with {ended.code}: {ended.err!r}")


def _cut(kind: str, lives: int, cuts: int, *, synced: bool) -> Outcome:
    began = time.monotonic()
    with ExitStack() as stack:
        repository = Repository(stack, kind, synced=synced)
        for _ in range(lives):
            repository.live(cuts)
        found = repository.outcome
    found.seconds = time.monotonic() - began
    found.more = (
        f"{repository.notes:,} notes; {repository.commits:,} commits;"
        f" {repository.locks} cuts left a lock; {repository.lost} took the last commit"
    )
    return found


def long() -> Iterator[Outcome]:
    """Both file systems, git as ``clsm init --git`` sets it."""
    for kind, cuts in CUTS.items():
        yield _cut(kind, cuts // LIFE, LIFE, synced=True)


def control() -> Iterator[Outcome]:
    """git as it is by itself."""
    yield _cut("ext4", 15, 1, synced=False)


RIG = Rig(
    name="gitcut",
    promises=(1,),
    short=None,
    long=long,
    control=control,
    needs=("git", "mount", "mkfs.ext4", "mkfs.xfs"),
    root=True,
)
