"""The files of a labelled set: read, hashed, and compared with the digests that came with them."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders.faults import Fault, Faults
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUMS = "SHA256SUMS"
"""Name of the list of digests, as ``sha256sum`` writes it; inside a folder, or beside a file."""
HEAD = 1 << 16
"""Bytes that are enough to know a layout by."""
_LINE = re.compile(r"([0-9A-Fa-f]{64}) [ *](.+)")
_UNLISTED = Fault(f"file is not in {SUMS}", f"files are not in {SUMS}")


class Contents(NamedTuple):
    """What the files of a set are.

    Attributes:
        digest: SHA-256, hexadecimal, of the list of their digests.
        notes: What ``SHA256SUMS`` has to say of them; nothing without one.
    """

    digest: str
    notes: tuple[str, ...]


def contents(root: Path, read: Iterable[Path]) -> Contents:
    """The digest of a set, after a check of its files.

    It is what ``sha256sum FILES | sha256sum`` gives in ``root``, the files sorted by name.

    Args:
        root: The folder of the set, or the file that is the set.
        read: The files that its loader reads.

    Raises:
        BadInputError: A file cannot be read or is not the one that ``SHA256SUMS`` lists.
    """
    folder = root if root.is_dir() else root.parent
    found = {each.relative_to(folder).as_posix(): _digest(each) for each in read}
    lines = [f"{found[name]}  {name}\n" for name in sorted(found)]
    listed = _listed(folder / SUMS)
    if listed is None:
        return Contents(atomic.sha256("".join(lines).encode()), ())
    faults = Faults()
    for name in sorted(listed if root.is_dir() else listed.keys() & found.keys()):
        if (found.get(name) or _digest(folder / name)) != listed[name]:
            raise BadInputError(
                str(folder / name),
                f"is not the file that {SUMS} lists: its SHA-256 is another",
                f"get the file again, or correct {SUMS} where the change is meant",
            )
    for name in sorted(found.keys() - listed.keys()):
        faults.add(_UNLISTED, name)
    said = f"SHA-256 of {len(found.keys() & listed.keys())} of {len(found)} files checked"
    return Contents(atomic.sha256("".join(lines).encode()), (said, *faults.sentences()))


def read(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        BadInputError: It is missing, no file, or cannot be read.
    """
    _check(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def head(path: Path) -> str:
    """The beginning of a file, to know its layout by; empty for what cannot be read."""
    if not is_file(path):
        return ""
    try:
        with path.open("rb") as file:
            return file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        return ""


def is_file(path: Path) -> bool:
    """Whether there is a file; not where the way to it may not be looked at."""
    return os.path.isfile(path)  # unlike the method of paths, false where it may not look


def is_folder(path: Path) -> bool:
    """Whether there is a folder; not where the way to it may not be looked at."""
    return os.path.isdir(path)


def named(folder: Path, pattern: str) -> list[Path]:
    """Files of a folder whose names fit a pattern, sorted; none where it may not be looked at."""
    try:
        return sorted(each for each in folder.glob(pattern) if is_file(each))
    except OSError:
        return []


def _check(path: Path) -> None:
    if not is_file(path):
        reason = "is no file" if os.path.lexists(path) else "is missing"
        raise BadInputError(str(path), reason, "see docs/evaluation.md for the layout")


def _digest(path: Path) -> str:
    _check(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> BadInputError:
    reason = f"cannot be read ({error.strerror or error})"
    return BadInputError(str(path), reason, "check its permissions")


def _listed(path: Path) -> dict[str, str] | None:
    """Digests by name; None without a list."""
    if not is_file(path):
        return None
    found: dict[str, str] = {}
    for number, line in enumerate(read(path).decode("utf-8", "replace").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None and line.strip():
            raise BadInputError(
                str(path), "is no digest and name of a file", "mend or remove the line", line=number
            )
        if match is not None:
            found[match[2].removeprefix("./")] = match[1].lower()
    return found
