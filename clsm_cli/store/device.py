"""This machine's name in a store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError, DamagedStoreError, DiskError
from clsm_cli.model.hashing import sha256
from clsm_cli.model.ids import is_id
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path


def device_name(root: Path, environment: dict[str, str]) -> str:
    """This machine's name in the store: CLSM_DEVICE, else host name + 4 hex digits.

    The digits come from the machine's id and the store's path, so that two machines of one name,
    or two clones on one machine, do not write one folder; and deleting ``.clsm`` changes nothing.

    Raises:
        BadInputError: CLSM_DEVICE is not a safe folder name.
    """
    named = environment.get("CLSM_DEVICE")
    if named:
        if not is_id(named):
            raise BadInputError(
                "CLSM_DEVICE", f"{named!r} is not a device name", "use letters, digits and hyphens"
            )
        return named
    try:
        recorded = atomic.read(root / ".clsm" / "device", 4096) or b""
    except (DamagedStoreError, DiskError):
        recorded = b""
    name = recorded.decode("utf-8", "replace").strip()
    if is_id(name):
        return name
    import socket

    host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:40] or "machine"
    suffix = sha256(f"{machine_id()}\0{root.resolve()}".encode())[:4]
    return f"{host}-{suffix}"


def machine_id() -> str:
    """What this machine calls itself once and for all; its host name where it has no id."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                return file.read().strip()
        except OSError:
            continue
    import socket

    return socket.gethostname()
