"""clsm in a real OpenClaw, seen from outside: ``cd tests && python -m end_to_end``.

Installs OpenClaw from npm into a scratch folder (770 MB; ``--openclaw DIR`` uses, and fills, a
folder that stays), gives it a home of its own and a scripted model on the loopback, and makes one
check after the other. Ends with 1 when one of them failed.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from clsm_cli.embedding import download, weights
from end_to_end.checks import CHECKS
from end_to_end.gateway import Gateway, install


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m end_to_end")
    parser.add_argument("--openclaw", type=Path, metavar="DIR")
    named: Path | None = parser.parse_args().openclaw
    with tempfile.TemporaryDirectory(prefix="end-to-end-") as scratch:
        openclaw = named or Path(scratch) / "openclaw"
        if not (openclaw / "node_modules" / "openclaw").exists():
            install(openclaw)
        model = weights.default_folder()
        download.install(model)
        with Gateway(Path(scratch), openclaw.resolve(), model) as gateway:
            _say(gateway.openclaw("--version"))
            failed = sum(not _holds(gateway, number) for number in range(len(CHECKS)))
    _say(f"{len(CHECKS) - failed} of {len(CHECKS)} checks hold\n")
    return min(failed, 1)


def _holds(gateway: Gateway, number: int) -> bool:
    name, check = CHECKS[number]
    began = time.monotonic()
    try:
        check(gateway)
        told = "holds"
    except (AssertionError, OSError) as error:
        told = f"FAILED: {error}"
    _say(f"{number + 1:2} {name}: {told} ({time.monotonic() - began:.0f} s)\n")
    return told == "holds"


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
