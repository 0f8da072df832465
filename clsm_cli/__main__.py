"""Entry point of ``clsm`` and ``python -m clsm_cli``."""

from __future__ import annotations

import os
import sys

from clsm_cli.commands import fast_parser


def main() -> None:
    """Run the command line and exit with its code."""
    # onnxruntime >= 1.29 writes telemetry files, and OpenBLAS starts threads that clsm does not
    # use; both read these variables when they load.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = fast_parser.run(sys.argv[1:])
    if code is not None:
        fast_parser.leave(code)
    from clsm_cli.app import app

    app(prog_name="clsm")


if __name__ == "__main__":
    main()
