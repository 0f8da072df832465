"""The key that seals recalled text: one per user and machine, stored outside every store.

A store may be shared or in git; with the key, anyone could write text that ingest leaves out.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from clsm_cli.errors import ClsmError, DamagedStoreError
from clsm_cli.store import atomic
from clsm_cli.text.fence_lines import KEY_BYTES

_MAX_BYTES = 4 << 10
_CONSEQUENCE = "until then recalled text that comes back is taken for something that was said"


def key_path() -> Path:
    """Path of the key, in the user's data folder beside the models."""
    data = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification says to ignore a relative path.
    base = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "clsm" / "fence.key"


def obtain_key(warn: Callable[[str], None], *, create: bool = True) -> bytes | None:
    """The key, created on first use; on failure, warn and return None."""
    try:
        path = key_path()
        key = _load(path)
        return _create(path) if key is None and create else key
    except DamagedStoreError as error:
        next_step = f"delete it, the next recall makes another; {_CONSEQUENCE}"
        warn(f"{error.path}: {error.reason}; {next_step}")
    except (ClsmError, RuntimeError) as error:
        warn(f"{error}; {_CONSEQUENCE}")
    return None


def key_reader(warn: Callable[[str], None]) -> Callable[[], bytes | None]:
    """A function that reads the key once, on first call; None if it is missing or unusable."""
    return cache(lambda: obtain_key(warn, create=False))


def _load(path: Path) -> bytes | None:
    key = atomic.read(path, _MAX_BYTES)
    if key is not None and len(key) != KEY_BYTES:
        raise DamagedStoreError(path, None, f"is no key of {KEY_BYTES} bytes")
    return key


def _create(path: Path) -> bytes:
    """Create the key, or return that of a concurrent process: all must use the same."""
    from clsm_cli.embedding.weights import folder_lock

    atomic.make_folder(path.parent)
    with atomic.disk_errors(path.parent), folder_lock(path.parent):
        key = _load(path)
        if key is None:
            key = os.urandom(KEY_BYTES)
            atomic.put(path, key)
    return key
