"""Run another program from the user's PATH, with a timeout and its failure as one sentence."""

import shutil
import subprocess
from collections.abc import Mapping

from clsm_cli.errors import BadInputError


class OtherProgram:
    """Runs programs; methods raise BadInputError if one fails or cannot be started."""

    def __init__(self, environment: Mapping[str, str], seconds: int, next_step: str) -> None:
        self._environment = {**environment, "NO_COLOR": "1"}
        self._seconds = seconds
        self._next_step = next_step

    def path(self, name: str) -> str | None:
        """Path of a program; None if it is not installed."""
        return shutil.which(name, path=self._environment.get("PATH"))

    def run(self, *words: str, stdin: str = "") -> str:
        """Run a program that must succeed; its stdout."""
        done = self.start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self.failure(words, done.stderr or done.stdout)
        return done.stdout

    def start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program; its result, whether it succeeded or not."""
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
        # Text mode would change the line ends of a crontab.
        out, err = (b.decode("utf-8", "surrogateescape") for b in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def failure(self, words: tuple[str, ...], output: str) -> BadInputError:
        """The error of a call, with the last line of its output."""
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(" ".join(words[:2]), reason, self._next_step)
