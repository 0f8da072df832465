"""What a fork does to be a command: streams, environment and words of its own, then the program.

Three rigs' processes fork commands, as a fresh Python takes longer to import clsm than clsm takes to
answer: ``warm`` limits and listens to one, ``swarm`` runs many at once, ``traceable`` holds one back
until strace follows it.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


CLSM = "clsm_cli.__main__:main"
"""The program as its users start it: module and function."""


def become(
    words: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    ready: Callable[[], object],
    program: str = CLSM,
) -> NoReturn:
    """Be a command; to be called in a process that was just forked.

    Args:
        words: Of the command line, without the program.
        environment: All that it sees.
        streams: Descriptors that become standard input, output and error.
        ready: Called last before the program.
        program: Module and function that run; their end is told like the interpreter does.
    """
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = (open(n, "w" if n else "r") for n in range(3))  # noqa: SIM115
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        sys.argv = ["clsm", *words]
        module, _, function = program.partition(":")
        main = getattr(import_module(module), function)
        ready()
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  # as the interpreter does
        traceback.print_exc()
    finally:
        for printed in (sys.stdout, sys.stderr):
            printed.flush()
        os._exit(code)
