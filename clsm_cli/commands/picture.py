"""Pictures that a command draws into a file: ``--plot FILE``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.commands.runtime import UsageError
from clsm_cli.errors import BadInputError
from clsm_cli.inspection.chart import FORMS
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.inspection.chart import Picture


def check(path: Path | None) -> None:
    """Refuse a file that could not be written later, before any work is done.

    Raises:
        UsageError: Its name does not say which form is wanted.
        BadInputError: Its folder is not there, or something else than a file has that name.
    """
    if path is None:
        return
    if path.suffix.lower() not in FORMS:
        raise UsageError("--plot", f"name a file that ends in {' or '.join(FORMS)}")
    if not path.expanduser().parent.is_dir():
        raise BadInputError(str(path.parent), "is no folder", "make it, or name another file")
    if path.expanduser().exists() and not path.expanduser().is_file():
        raise BadInputError(str(path), "is not a regular file", "name another one with --plot")


def write(path: Path, picture: Picture) -> None:
    """Write a checked file; it is private, as the memory is, and what it was is replaced whole.

    Raises:
        DiskError: The operating system refused.
    """
    data = FORMS[path.suffix.lower()](picture).encode("utf-8")
    atomic.put(path.__class__(os.path.realpath(path.expanduser())), data)
