"""Run a program of somebody else: found along the user's PATH, in limited time, its failure in a sentence."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping


class OtherProgram:
    """What starts a program; its methods raise BadInputError where that fails or cannot be started."""

    def __init__(self, environment: Mapping[str, str], seconds: int, next_step: str) -> None:
        self._environment = {**environment, "NO_COLOR": "1"}
        self._seconds = seconds
        self._next_step = next_step

    def path(self, name: str) -> str | None:
        """Where a program is; None where it is not."""
        return shutil.which(name, path=self._environment.get("PATH"))

    def run(self, *words: str, stdin: str = "") -> str:
        """What a program prints; it must succeed."""
        done = self.start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self.failure(words, done.stderr or done.stdout)
        return done.stdout

    def start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """How a program ended, whether it succeeded or not."""
        try:
            done = subprocess.run(
                [self.path(words[0]) or words[0], *words[1:]],
                env=self._environment,
                input=stdin.encode("utf-8", "surrogateescape"),
                capture_output=True,
                check=False,
                timeout=self._seconds,
            )
        except subprocess.TimeoutExpired:
            raise self.failure(words, f"did not end within {self._seconds} s") from None
        except OSError as error:
            raise self.failure(words, error.strerror or "cannot be started") from None
        # Not as text: that would change the line ends of a crontab.
        out, err = (b.decode("utf-8", "surrogateescape") for b in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def failure(self, words: tuple[str, ...], told: str) -> BadInputError:
        """The error of a call, with the last line of what it said."""
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(" ".join(words[:2]), reason, self._next_step)
