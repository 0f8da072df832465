"""The one place where errors become a sentence and an exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from clsm_cli.commands.output import abandon_stdout
from clsm_cli.errors import ClsmError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def guard(action: Callable[[], object]) -> int:
    """Run a command.

    An expected error is one sentence on stderr and the code its class owns. A reader of our output
    that went away (``clsm recall x | head -1``) is no error. Anything else is a bug and passes
    through.

    Returns:
        The exit code.
    """
    try:
        action()
    except ClsmError as error:
        if sys.stderr is not None:
            print(f"clsm: {safe(str(error))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        abandon_stdout()
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    return 0
