"""The command line as a stranger meets it: real processes, a clean environment, a folder of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import forking
import pytest

TIMEOUT = 300
"""Seconds after which a command hangs."""


def ran(*words: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    """How a program ended, and what it printed."""
    how = {"capture_output": True, "text": True, "timeout": TIMEOUT, **how}
    return subprocess.run(words, check=False, **how)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object it must be."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    """Runs ``clsm`` in a folder.

    Attributes:
        folder: Working folder of the processes; its ``memory`` is the store they use.
        environment: All they see; nothing of the developer's leaks in.
        prefix: Words of a program that starts the command, as one of a Python of its own.
        program: Module and function that are run where it is a fork.
    """

    folder: Path
    environment: Mapping[str, str]
    prefix: tuple[str, ...] = field(default=())
    program: str = forking.CLSM

    @property
    def store(self) -> Path:
        return self.folder / "memory"

    def holding(self, store: Path) -> Self:
        """The same with a copy of a store, which ``CLSM_STORE`` names."""
        shutil.copytree(store, self.store)
        return replace(self, environment={**self.environment, "CLSM_STORE": str(self.store)})

    def __call__(
        self, *words: str | bytes | Path, stdin: Any = b"", **environment: str | Path | None
    ) -> Done:
        """Run ``clsm WORDS``; keywords change the environment (None removes)."""
        changed = {**self.environment, **environment}
        values = {name: str(value) for name, value in changed.items() if value is not None}
        if not self.prefix and _is_ordinary(words, values):
            forks = forking.forks(self.environment)
            more: dict[str, Any] = {"program": self.program, "seconds": TIMEOUT}
            ended = forks.run(words, values, self.folder, stdin, **more)
            return Done(ended.code, ended.out.decode(), ended.err.decode())
        done = subprocess.run(
            [*self.prefix, sys.executable, "-m", "clsm_cli", *words],
            cwd=self.folder,
            env=values,
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *words: str | bytes | Path, **more: Any) -> Done:
        """The same for a command that must succeed."""
        done = self(*words, **more)
        assert done.code == 0, done.err
        return done

    def unprivileged(self) -> Self:
        """The same for a user whom file modes bind: without its capabilities root is an owner like any."""
        if os.geteuid() != 0:
            return self
        if shutil.which("setpriv") is None:
            pytest.skip("root reads and writes everywhere")
        return replace(self, prefix=("setpriv", "--bounding-set=-all", "--inh-caps=-all"))


def _is_ordinary(words: Sequence[str | bytes | Path], values: Mapping[str, str]) -> bool:
    """Whether a Python that has started already can take them over."""
    is_told = values.get("LC_ALL") == "C.UTF-8" and not any(n.startswith("PYTHON") for n in values)
    return is_told and sum(len(os.fsencode(word)) for word in words) < forking.MOST_WORDS


def environment(home: Path, model: Path) -> dict[str, str]:
    """What a process sees: this Python, a home of its own, the installed model, a fixed zone."""
    return {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
        "HOME": str(home), "CLSM_MODEL_DIR": str(model), "CLSM_DEVICE": "test",
        "TZ": "Europe/Amsterdam", "LC_ALL": "C.UTF-8", "COLUMNS": "80",
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    }  # fmt: skip
