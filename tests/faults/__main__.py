"""Run the fault rigs: ``cd tests && python -m faults``, with ``--long`` for all they can do.

Without options the short form of every rig, which the tests run too. ``--control`` runs what is
broken on purpose instead, and fails if that is not found. ``--long --keep`` writes what was found
to docs/promises.md. Ends with 1 when something was wrong, nothing fired, or a
broken one got through.
"""

import argparse
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from faults import figures
from faults.rig import HEAD, Outcome, Rig, rigs

from clsm_cli.embedding import weights
from clsm_cli.errors import ClsmError

MOST_TOLD = 20
"""Violations that are printed of an outcome."""


def _watched(outcomes: Iterable[Outcome], *, broken: bool) -> tuple[list[Outcome], bool]:
    """The outcomes, printed as they come, and whether all are as they must be."""
    done, good, began = [], True, time.monotonic()
    for outcome in outcomes:
        done.append(outcome)
        now = time.monotonic()
        sys.stdout.write(outcome.row(now - began) + "\n")
        sys.stdout.flush()
        began = now
        good &= bool(outcome.violations) if broken else outcome.fired > 0 and not outcome.told
        if not broken:
            sys.stderr.writelines(f"    {text}\n" for text in outcome.told[:MOST_TOLD])
    return done, good and bool(done)


def _run(rig: Rig, *, long: bool, control: bool, keep: bool) -> bool:
    """Whether a rig that can run here found all as it must be."""
    forms = rig.long if long else rig.short
    if rig.lacking:
        sys.stderr.write(f"{rig.name}: left out, {rig.lacking}\n")
        return True
    good = True
    done: list[Outcome] = []
    if not control:
        sys.stdout.write(f"\n{rig.name}\n\n{HEAD}")
        done, good = _watched(forms(), broken=False)
    if control or keep:
        sys.stdout.write(f"\n{rig.name}, broken on purpose: must have violations\n\n{HEAD}")
        caught, is_caught = _watched(rig.control(), broken=True)
        good &= is_caught
        if keep:
            figures.keep(rig, datetime.now(UTC).date().isoformat(), done, caught)
    return good


def main() -> int:
    names = [rig.name for rig in rigs()]
    parser = argparse.ArgumentParser(
        prog="python -m faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rig", nargs="*", help=f"of {', '.join(names)}; without one, all")
    parser.add_argument("--long", action="store_true", help="every fault, not a sample")
    parser.add_argument("--control", action="store_true", help="what is broken on purpose")
    parser.add_argument("--keep", action="store_true", help="keep the figures of the long form")
    given = parser.parse_args()
    if given.keep and not given.long:
        parser.error("--keep needs --long: the short form is a sample")
    if unknown := {*given.rig} - {*names}:
        parser.error(f"no such rig: {', '.join(sorted(unknown))}")
    try:
        weights.check(weights.default_folder())
    except ClsmError as error:  # its own sentence: where it is not, and how to get it
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    chosen = [rig for rig in rigs() if rig.name in (given.rig or [rig.name])]
    good = [_run(rig, long=given.long, control=given.control, keep=given.keep) for rig in chosen]
    return int(not all(good))


if __name__ == "__main__":
    raise SystemExit(main())
