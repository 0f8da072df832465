"""Exclude files by ``--exclude``, the setting ``ingest.exclude``, and ``.clsmignore`` files.

All three have the rules of gitignore (by pathspec): a pattern counts below the folder that was named,
or that holds the file; of several the last that fits decides, and the file nearest to what it is about.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.ingestion.folders import ancestors
from clsm_cli.ingestion.jsonl_rows import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathspec import GitIgnoreSpec

FILE = ".clsmignore"
_MOST = 1 << 20


class Exclusion:
    """What is left out, and what was wrong with the files that say so."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Leave out what fits ``patterns``, and what the files name that lie beside and above it.

        Raises:
            ValueError: One is no pattern; its text is the argument.
        """
        self.problems: list[Problem] = []
        self._patterns = _compiled(patterns) if patterns else None
        self._files: dict[str, GitIgnoreSpec | None] = {}

    def reason(self, path: str, root: str, *, is_folder: bool) -> str | None:
        """Why a file or folder is left out; None when it is not.

        Args:
            path: Absolute.
            root: The folder that was named, or that holds the file that was.
            is_folder: A folder is left out with all that is in it.
        """
        if self._patterns is not None and _fits(self._patterns, path, root, is_folder=is_folder):
            return "excluded"
        for folder in ancestors(os.path.dirname(path)):
            spec = self._of(folder)
            decided = spec and _fits(spec, path, folder, is_folder=is_folder)
            if decided is not None:
                return f"excluded by {os.path.join(folder, FILE)}" if decided else None
        return None

    def _of(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._files:
            self._files[folder] = self._read(os.path.join(folder, FILE))
        return self._files[folder]

    def _read(self, path: str) -> GitIgnoreSpec | None:
        if not os.path.isfile(path):
            return None
        try:
            with open(path, "rb") as stream:
                lines = stream.read(_MOST).decode("utf-8-sig", "replace").splitlines()
        except OSError as error:
            self.problems.append(Problem(path, None, error.strerror or "cannot be read"))
            return None
        return _compiled(self._usable(lines, path))

    def _usable(self, lines: Sequence[str], path: str) -> list[str]:
        usable: list[str] = []
        for number, line in enumerate(lines, 1):
            try:
                _compiled([line])
            except ValueError:
                self.problems.append(Problem(path, number, "is no pattern of gitignore"))
            else:
                usable.append(line)
        return usable


def _compiled(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            raise ValueError(pattern) from None
    return GitIgnoreSpec.from_lines(patterns)


def _fits(spec: GitIgnoreSpec, path: str, root: str, *, is_folder: bool) -> bool | None:
    """Whether the last pattern that fits leaves a path out; None where none fits."""
    below = os.path.relpath(path, root)
    return spec.check_file(below + "/" if is_folder else below).include
