"""Whether others may write to a store: then what stands in it may not be the owner's.

A memory that somebody else can change is told to an agent as its own. So a store is refused, as ssh
refuses its keys: by readers too, what they read is the danger.
Others may *read* where ``git clone`` or a copy left its usual modes; that is no reason to refuse,
``clsm doctor`` says so and mends it.

Not refused are a group that is the owner's alone, which Debian, Ubuntu and Fedora give everybody and
let write by default, and a disk that keeps no modes (FAT, exFAT, a folder shared with another
system): there, no ``chmod`` could help.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.errors import DiskError, RefusedError
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path


def check(root: Path) -> None:
    """Refuse a store that others may write to; one ``stat`` where all is well.

    Raises:
        RefusedError: They may, and the owner can change that.
        DiskError: It cannot be looked at.
    """
    with atomic.disk_errors(root):
        found = os.stat(root)
        if not others_write(found) or not _keeps_modes(root):
            return
    from shlex import quote

    mode = stat.S_IMODE(found.st_mode)
    raise RefusedError(
        str(root),
        f"others may write to it (mode {mode:04o}), so what it says may not be yours",
        f"give that right back with: chmod -R go-w {quote(str(root))}",
    )


def others_write(found: os.stat_result) -> bool:
    """Whether a mode lets others write: everybody, or a group that is not the owner's alone."""
    loose = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return bool(loose) and not (loose == stat.S_IWGRP and _is_own_group(found))


def _is_own_group(found: os.stat_result) -> bool:
    """Whether a file's group is its owner's private one: of the same name, with nobody else in it."""
    import grp
    import pwd

    try:
        owner = pwd.getpwuid(found.st_uid)
        group = grp.getgrgid(found.st_gid)
    except KeyError:  # of another machine
        return False
    is_first = owner.pw_gid == found.st_gid and group.gr_name == owner.pw_name
    return is_first and set(group.gr_mem) <= {owner.pw_name}


def _keeps_modes(root: Path) -> bool:
    """Whether a file that is made private here is private, tried with one that goes at once."""
    path = root / f"{atomic.TEMP_PREFIX}mode-{os.getpid()}"
    try:
        with atomic.fresh(path) as file:
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        # A disk that is read-only takes nothing from others either; one that gives every file to
        # one owner lets nobody else change a mode.
        return error.errno not in (errno.EROFS, errno.EPERM)
    finally:
        with contextlib.suppress(DiskError):
            atomic.remove(path)
    return stat.S_IMODE(mode) == atomic.FILE_MODE
