"""The expected errors of clsm, each with its own exit code.

A constructor takes data; the class builds the sentence: what is wrong, where, and what to do next.
Any other exception is a bug and ends with exit code 1 and a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


def file_line(path: Path | str, line: int | None = None) -> str:
    r"""A file, or what else a message is about, and its line: on one line, and seen even if it is empty.

    >>> file_line("notes.md", 3), file_line("a\nb"), file_line("")
    ('notes.md, line 3', 'a\\nb', '""')
    """
    named = str(path).replace("\n", "\\n") or '""'
    return named if line is None else f"{named}, line {line}"


def list_names(names: Sequence[str], most: int = 3) -> str:
    """The first ``most`` names for a message, and how many more there are.

    >>> list_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def fault_text(error: Exception) -> str:
    """An error that clsm did not expect, and its place, for a bug report."""
    import traceback  # slow to load

    place = traceback.extract_tb(error.__traceback__)[-1]
    name = place.filename.rpartition("clsm_cli/")[2]
    return f"{type(error).__name__} in {name}, line {place.lineno}: {error}"


class ClsmError(Exception):
    """An expected failure: one plain sentence on stderr and an exit code of its own."""

    exit_code: ClassVar[int]


class NothingRelevantError(ClsmError):
    """A recall found nothing relevant, and the caller asked for an exit code."""

    exit_code = 10

    def __init__(self) -> None:
        super().__init__("nothing relevant was found")


class StoreNotFoundError(ClsmError):
    """There is no store in the folder."""

    exit_code = 11

    def __init__(self, looked_in: str) -> None:
        super().__init__(f"no memory store at {looked_in}; create one with: clsm init {looked_in}")


class BadInputError(ClsmError):
    """A named input is missing, unreadable or not in the expected format."""

    exit_code = 12

    def __init__(self, what: str, reason: str, next_step: str, *, line: int | None = None) -> None:
        super().__init__(f"{file_line(what, line)}: {reason}; {next_step}")
        self.reason = reason


class DamagedStoreError(ClsmError):
    """A file of the store cannot be parsed."""

    exit_code = 13

    def __init__(self, path: Path | str, line: int | None, reason: str) -> None:
        step = "mend that line by hand or restore the file from git"
        super().__init__(f"{file_line(path, line)}: {reason}; {step}")
        self.path = str(path)
        self.line = line
        self.reason = reason


class DamagedBackupError(ClsmError):
    """A backup differs from the bytes that were written."""

    exit_code = 13

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}; nothing was restored, use another backup")
        self.reason = reason


class NewerFormatError(ClsmError):
    """The store was written by a newer clsm."""

    exit_code = 14

    def __init__(self, path: Path | str, found: int, known: int) -> None:
        super().__init__(
            f"{path}: store format {found} is newer than the {known} this clsm knows; "
            "upgrade with: pip install --upgrade clsm"
        )


class ModelMissingError(ClsmError):
    """The embedding model is not installed."""

    exit_code = 15

    def __init__(self, folder: Path) -> None:
        super().__init__(f"no embedding model in {folder}; install it with: clsm model install")


class HeadMissingError(ModelMissingError):
    """The weights of a classifier were not computed when the model was installed, and cannot be now."""

    def __init__(self, file: Path, reason: str) -> None:
        ClsmError.__init__(
            self, f"{file} cannot be written ({reason}); run as its owner: clsm model install"
        )


class ModelDigestError(ClsmError):
    """A model file does not have the digest that clsm expects."""

    exit_code = 15

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(
            f"{path}: sha256 is {found}, expected {expected}; "
            "reinstall it with: clsm model install --force"
        )


class ModelUnobtainableError(ClsmError):
    """Every source of the model failed."""

    exit_code = 15

    def __init__(self, tried: list[str]) -> None:
        next_step = "copy model.safetensors and vocab.txt into a folder and run: clsm model install"
        reasons = "; ".join(tried)
        super().__init__(
            f"the embedding model could not be obtained ({reasons}); {next_step} --from FOLDER"
        )


class DiskError(ClsmError):
    """The operating system refused a read or a write (full disk, read-only folder, I/O error)."""

    exit_code = 16

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}; free some space or check the folder's permissions, "
            "then run the same command again"
        )


class RefusedError(ClsmError):
    """clsm refuses: the action would be unsafe, or lose much at once."""

    exit_code = 17

    def __init__(self, what: str, reason: str, next_step: str) -> None:
        super().__init__(f"{file_line(what)}: {reason}; {next_step}")


class StaleError(ClsmError):
    """The nightly consolidation has not succeeded for too long."""

    exit_code = 18

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; run it by hand and see: clsm consolidate")


class LockedError(ClsmError):
    """Another process held the store's lock for longer than the wait."""

    exit_code = 75

    def __init__(self, store: Path | str, holder: str | None, waited: float) -> None:
        super().__init__(
            f"{store} is locked by {holder or 'another process'} (waited {waited:g} s);"
            " run the same command again later"
        )
