"""This machine's name in a store, and the check that no other user may write to the store.

An agent takes the memory for its own, so a store that others can change is refused even for reading,
as ssh refuses such keys. Others may *read* it, as ``git clone`` and copies allow by default; ``clsm
doctor`` reports and repairs that.

Two cases are allowed: the owner's private group, which Debian, Ubuntu and Fedora create for every
user and make writable by default, and file systems without modes (FAT, exFAT, a folder shared with
another system), where ``chmod`` has no effect.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from pathlib import Path

from clsm_cli.errors import BadInputError, DamagedStoreError, DiskError, RefusedError
from clsm_cli.model.ids import is_id, sha256
from clsm_cli.store import atomic


def device_name(root: Path, environment: dict[str, str]) -> str:
    """The device name: CLSM_DEVICE, else that in ``.clsm/device``, else host name + 4 hex digits.

    The digits are derived from the machine's id and the store's path, so two machines of one name, or
    two clones on one machine, use separate folders, and deleting ``.clsm`` changes nothing.
    """
    named = environment.get("CLSM_DEVICE")
    if named:
        if not is_id(named):
            reason = f"{named!r} is not a device name"
            raise BadInputError("CLSM_DEVICE", reason, "use letters, digits and hyphens")
        return named
    try:
        recorded = atomic.read(root / ".clsm" / "device", 4096) or b""
    except (DamagedStoreError, DiskError):
        recorded = b""
    name = recorded.decode("utf-8", "replace").strip()
    if is_id(name):
        return name
    host = re.sub(r"[^a-z0-9]+", "-", os.uname().nodename.lower()).strip("-")[:40] or "machine"
    suffix = sha256(f"{machine_id()}\0{root.resolve()}".encode())[:4]
    return f"{host}-{suffix}"


def machine_id() -> str:
    """The machine's permanent id; its host name if it has none."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                return file.read().strip()
        except OSError:
            continue
    return os.uname().nodename


def check(root: Path) -> None:
    """Raise RefusedError if others may write to the store; normally costs one ``stat``."""
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
    """Whether a mode lets others write: everybody, or a group that is not the owner's private one."""
    loose = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return bool(loose) and not (loose == stat.S_IWGRP and _is_own_group(found))


def _is_own_group(found: os.stat_result) -> bool:
    """Whether a file's group is its owner's private one: same name, no other member."""
    import grp
    import pwd

    try:
        owner = pwd.getpwuid(found.st_uid)
        group = grp.getgrgid(found.st_gid)
    except KeyError:  # ids of another machine
        return False
    is_first = owner.pw_gid == found.st_gid and group.gr_name == owner.pw_name
    return is_first and set(group.gr_mem) <= {owner.pw_name}


def _keeps_modes(root: Path) -> bool:
    """Whether the file system stores modes, tried with a private temporary file."""
    path = root / f"{atomic.TEMP_PREFIX}mode-{os.getpid()}"
    try:
        with atomic.create_exclusive(path) as file:
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        # Nobody can write to a read-only disk, and where all files have one owner nobody else can
        # change a mode.
        return error.errno not in (errno.EROFS, errno.EPERM)
    finally:
        with contextlib.suppress(DiskError):
            atomic.remove(path)
    return stat.S_IMODE(mode) == atomic.FILE_MODE
