"""clsm with a bad habit, for the rigs to catch: it goes on when the disk refuses a write.

The module of a process of its own; nothing here touches the program under test.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from clsm_cli import __main__ as program
from clsm_cli.errors import DiskError
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path

_put, _append = atomic.put, atomic.append


def put_or_not(path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True) -> None:
    """An error is nobody's business."""
    with contextlib.suppress(DiskError):
        _put(path, data, read_as=read_as, durable=durable)


def append_or_not(path: Path, record: bytes, *, durable: bool = True) -> None:
    """The same."""
    with contextlib.suppress(DiskError):
        _append(path, record, durable=durable)


def main() -> None:
    """Run the command line with that habit."""
    atomic.put = put_or_not
    atomic.append = append_or_not
    program.main()
