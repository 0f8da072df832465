"""The one place where errors become a sentence and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from clsm_cli.commands.output import Printer, abandon_stdout, end_progress
from clsm_cli.errors import ClsmError, DiskError

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
_DISK = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE, errno.EACCES, errno.EPERM}
)
"""What the operating system says of a disk or folder, wherever it was only looked at."""


def guard(action: Callable[[], object]) -> int:
    """Run a command; its exit code.

    An expected error is one sentence on stderr and the code its class owns; so is a disk that
    fails. A reader of our output that went away (``clsm recall x | head -1``) is no error. Anything
    else is a bug and passes through.
    """
    try:
        try:
            action()
        finally:
            end_progress()
    except ClsmError as error:
        Printer().warn(str(error))
        return error.exit_code
    except BrokenPipeError:
        abandon_stdout()
    except OSError as error:
        failure = disk_failure(error)
        if failure is None:
            raise
        Printer().warn(str(failure))
        return failure.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    return 0


def disk_failure(error: OSError) -> DiskError | None:
    """What the operating system said, if it is about a disk or a folder."""
    if error.errno not in _DISK:
        return None
    named = error.filename if isinstance(error.filename, str) else "the disk"
    return DiskError(named, os.strerror(error.errno))
