"""The ``openclaw`` program: it changes its own settings and plugins, so that every version does it right."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.integrations.openclaw.plugin_files import PLUGIN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TIMEOUT = 180
"""Seconds; a call takes one to seven on a fast machine."""
OLDEST = (2026, 7)
"""The oldest version that was tried."""
_MOVED = (2026, 8)
"""The first version with ``memory.search``, and with consent for what a plugin may do."""
_VERSION = re.compile(r"\b(\d{4})\.(\d{1,2})\.(\d+)")
_UNSET = "Config path is valid but unset"


class OpenClaw:
    """An installed OpenClaw.

    Attributes:
        version: As it says itself.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Find it along PATH, and ask for its version.

        Raises:
            BadInputError: It is not there, does not start, or is too old.
        """
        program = shutil.which("openclaw", path=environment.get("PATH"))
        if program is None:
            raise BadInputError(
                "openclaw",
                "is not on the PATH",
                "install it with: npm install -g openclaw, or add its folder to PATH",
            )
        self._program = program
        self._environment = dict(environment)
        self.version = self._run("--version").strip()
        found = _VERSION.search(self.version)
        self._release = (int(found[1]), int(found[2])) if found else None
        if self._release is not None and self._release < OLDEST:
            raise BadInputError(
                program, f"is {self.version}, which is too old", "upgrade: npm install -g openclaw"
            )

    @property
    def is_known(self) -> bool:
        """Whether the version could be told; another is taken for the newest."""
        return self._release is not None

    @property
    def extra_paths(self) -> str:
        """The path of the setting with the folders that are searched besides the workspace."""
        old = self._release is not None and self._release < _MOVED
        where = "agents.defaults.memorySearch" if old else "memory.search"
        return f"{where}.extraPaths"

    def settings_file(self) -> str:
        """The path of its settings."""
        return self._run("config", "file").strip().splitlines()[-1]

    def setting(self, path: str) -> Any:
        """A setting, secrets left out; None when it is unset.

        Raises:
            BadInputError: Its settings cannot be read.
        """
        done = self._start("config", "get", path, "--json")
        text = done.stdout or done.stderr
        if done.returncode != 0:
            if _UNSET in text or "not found" in text:
                return None
            raise self._failed(("config", "get", path), text)
        try:
            return json.loads(text)
        except ValueError:
            raise self._failed(("config", "get", path), text) from None

    def change(self, patch: Mapping[str, Any]) -> None:
        """Lay a patch over the settings, checked by OpenClaw itself.

        Raises:
            BadInputError: It refused; nothing was changed.
        """
        self._run("config", "patch", "--stdin", stdin=json.dumps(patch))

    def install(self, folder: Path) -> None:
        """Put a plugin in, over one of the same id.

        Raises:
            BadInputError: It refused.
        """
        consent = (
            []
            if self._release is not None and self._release < _MOVED
            else ["--accept-capabilities"]
        )
        self._run("plugins", "install", str(folder), "--force", *consent)

    def uninstall(self) -> None:
        """Take the plugin and its entry in the settings out.

        Raises:
            BadInputError: It refused.
        """
        self._run("plugins", "uninstall", PLUGIN, "--force")

    def _run(self, *words: str, stdin: str = "") -> str:
        done = self._start(*words, stdin=stdin)
        if done.returncode != 0:
            raise self._failed(words, done.stderr or done.stdout)
        return done.stdout

    def _start(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self._program, *words],
                env={**self._environment, "NO_COLOR": "1"},
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise self._failed(words, f"did not end within {TIMEOUT} s") from None
        except OSError as error:
            raise self._failed(words, error.strerror or "cannot be started") from None

    def _failed(self, words: tuple[str, ...], told: str) -> BadInputError:
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        reason = lines[-1] if lines else "failed and said nothing"
        return BadInputError(f"openclaw {' '.join(words[:2])}", reason, "see also: openclaw doctor")
