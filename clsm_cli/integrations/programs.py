"""Programs of the system, found along the user's PATH and asked without a terminal."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = 60


class Programs:
    """Programs found along the user's PATH."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Know where to look, and what they see."""
        self._environment = {**environment, "NO_COLOR": "1"}

    def has(self, name: str) -> bool:
        """Whether there is such a program."""
        return self._path(name) is not None

    def polite(self) -> list[str]:
        """What makes a program wait for all others, as far as it is there."""
        found = []
        for name, *options in (("nice", "-n", "10"), ("ionice", "-c", "3")):
            path = self._path(name)
            found += [] if path is None else [path, *options]
        return found

    def run(self, *words: str, stdin: str = "") -> str:
        """What a program prints.

        Raises:
            BadInputError: It failed, or cannot be started.
        """
        done = self.start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self.failed(words, done.stderr or done.stdout)
        return done.stdout

    def start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """How a program ends.

        Raises:
            BadInputError: It does not, or cannot be started.
        """
        try:
            done = subprocess.run(
                [self._path(words[0]) or words[0], *words[1:]],
                env=self._environment,
                input=stdin.encode("utf-8", "surrogateescape"),
                capture_output=True,
                check=False,
                timeout=_SECONDS,
            )
            out, err = (b.decode("utf-8", "surrogateescape") for b in (done.stdout, done.stderr))
            return subprocess.CompletedProcess(done.args, done.returncode, out, err)
        except subprocess.TimeoutExpired:
            raise self.failed(words, f"did not end within {_SECONDS} s") from None
        except OSError as error:
            raise self.failed(words, error.strerror or "cannot be started") from None

    def failed(self, words: tuple[str, ...], told: str) -> BadInputError:
        """The sentence that says so, with the last line of what it printed."""
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(" ".join(words[:2]), reason, "see: clsm schedule install --help")

    def _path(self, name: str) -> str | None:
        return shutil.which(name, path=self._environment.get("PATH"))
