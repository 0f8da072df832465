"""P5: many processes on one store at once, some of them killed, and what is acknowledged is there.

Eight writers ask for one command after the other: notes, captures of a hook, recalls that are
logged, feedback, pins, corrections, ingests of a document, undos of a note, now and then a forget, a
consolidation, a dry decay. Each command is a process, forked from one that has imported clsm and
built its command line, and then runs ``clsm_cli.__main__.main`` with its own words, streams and
second of ``--now``. About four times a second one of them gets SIGKILL; half of those that were
killed or locked out are asked for again, word for word. What was acknowledged is written down
outside. All the time a reader recalls what was there before the crowd.

When the writers are done, one consolidation ends what was begun. Then every acknowledged text is
there once, none that was acknowledged as forgotten or undone, every corrected value and pin is the
last that was acknowledged or one asked for later, every acknowledged recall is logged, no more often
than it ran (a kill may come behind the line), and
``status`` finds nothing but torn ends of logs. No process may end by a bug, nor with a code that its
command does not justify; every reader found everything, whole and once.

The stores lie in memory: a kill takes back nothing that the kernel has, so no disk is needed; that an
acknowledged write also survives a power cut is another rig's. There is no model, so that a process
is short; the long form has a new store every 500 acknowledged commands, as each of them reads the
inbox. Not shown: two machines on one folder, network file systems.

``python -m faults.crowds.herd --help`` runs a crowd of one's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig

PATIENCE = 4 * 3600


def _herd(*options: str) -> dict[str, Any]:
    """What became of a crowd; see ``faults.crowds.herd.Told``."""
    done = subprocess.run(
        [sys.executable, "-m", "faults.crowds.herd", *options],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=PATIENCE,
    )
    return dict(json.loads(done.stdout))


def _outcome(told: dict[str, Any], fault: str) -> Outcome:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(told["by_kind"].items()))
    more = (
        f"{told['acknowledged']:,} acknowledged commands ({kinds}), {told['locked_out']} locked out,"
        f" {told['stores']} stores, {len(told['readings']):,} readers, {told['tracebacks']} tracebacks"
    )
    readers = [
        f"{name} {_at(told[key], 0.5):.0f} and {_at(told[key], 0.99):.0f}"
        for name, key in (
            ("beside the writers", "readings"),
            ("alone", "alone"),
            ("beside eight that only use the processors", "beside"),
        )
        if told[key]
    ]
    if told["alone"]:
        more += f"; a reader's ms, median and 99th of 100: {', '.join(readers)}"
    return Outcome(
        "8 writers and a reader",
        fault,
        planned=told["sent"],
        fired=told["killed"],
        violations=told["violations"],
        seconds=told["seconds"],
        more=more,
    )


def _at(seconds: Sequence[float], share: float) -> float:
    """A quantile, in milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _short() -> Iterator[Outcome]:
    yield _outcome(_herd("--seconds", "4", "--operations", "40"), "SIGKILL")


def _long() -> Iterator[Outcome]:
    yield _outcome(_herd("--operations", "100000", "--readings", "500"), "SIGKILL")


def _control() -> Iterator[Outcome]:
    """Writers for whom the lock is always free, until something is wrong."""
    outcome = _outcome(told := _herd("--seconds", "60", "--every", "1000", "--unlocked"), "no lock")
    outcome.planned = outcome.fired = told["acknowledged"]
    yield outcome


RIG = Rig("crowd", promises=(5,), short=_short, long=_long, control=_control)
