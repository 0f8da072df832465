"""Every command under three umasks: each folder that it leaves has mode 0700, each file 0600.

``modes`` runs the commands that the rig ``kill`` interrupts, and those that only look or copy, on
copies of the same stores, with umask 000, 022 and 077, and looks at everything in the store's folder
afterwards, and at the backup. The short form takes what needs no model, with umask 000.

The positive control writes with ``open`` and ``os.makedirs``, as a careless program does.

Not shown: git's own folder inside the store (it lies below one that is private), and what a person
names elsewhere (a picture, a report), which gets the modes of any file of theirs.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.laying import NOW, ground
from faults.running.scenarios import BAD, SCENARIOS, Scenario
from faults.running.traceable import Forks

from clsm_cli.store.atomic import FILE_MODE, FOLDER_MODE

UMASKS = (0o000, 0o022, 0o077)
_AT = ("--store", "{store}", "--now", NOW)
_FILE = "{store}.tar.gz"
LOOKING = (
    Scenario("recall by words", "begun", ("recall", "who takes coffee", *_AT)),
    Scenario("context of a day", "begun", ("context", *_AT)),
    Scenario("status", "begun", ("status", *_AT)),
    Scenario("decay of a day", "begun", ("decay", *_AT)),
    Scenario("undo note", "begun", ("undo", "{run}", *_AT)),
    Scenario("doctor", "begun", ("doctor", "--fix", *_AT)),
    Scenario("graph", "begun", ("graph", *_AT)),
    Scenario("backup", "begun", ("backup", _FILE, "--force", *_AT)),
    Scenario("restore", "nothing", ("restore", _FILE, "{store}")),
)
"""Besides those that the rig ``kill`` interrupts; ``restore`` takes what ``backup`` wrote."""
CHEAP = frozenset({"nothing", "begun"})
"""States of stores that are made without the model."""
CONTROLS = tuple(
    Scenario(f"careless {each.name}", each.state, each.words, each.stdin, program=f"{BAD}careless")
    for each in SCENARIOS
    if each.name in ("note", "capture", "words")
)


def run(scenarios: Iterable[Scenario], umask: int) -> Outcome:
    """Run commands, each on a copy of its store, under a umask."""
    began = time.monotonic()
    outcome = Outcome("commands", f"umask {umask:03o}")
    folder = ground().folder / f"modes {umask:03o}"
    folder.mkdir()
    started: dict[str, Forks] = {}
    written = 0
    try:
        for scenario in scenarios:
            outcome.planned += 1
            if scenario.program not in started:
                started[scenario.program] = _forks(folder, scenario.program, umask)
            written += _tried(scenario, folder / "memory", started[scenario.program], outcome)
    finally:
        for forks in started.values():
            forks.__exit__(None, None, None)
        shutil.rmtree(folder)
    outcome.more = f"{written:,} written files and folders"
    if not written:
        outcome.violations.append("nothing was written")
    outcome.seconds = time.monotonic() - began
    return outcome


def _forks(folder: Path, program: str, umask: int) -> Forks:
    """Who runs a program under a umask, which processes hand down."""
    before = os.umask(umask)
    try:
        return Forks(folder / f"of {program}", ground().environments[True], program)
    finally:
        os.umask(before)


def _tried(scenario: Scenario, store: Path, forks: Forks, outcome: Outcome) -> int:
    """Run a command and look at what it left; how many files and folders it wrote."""
    before = ground().before(scenario.state)
    shutil.rmtree(store, ignore_errors=True)
    if before.exists():
        shutil.copytree(before, store)
    known = {path: (found.st_ino, found.st_mtime_ns) for path, found in _all(store)}
    ended = forks.run(scenario.command(ground(), store))
    if ended.code:
        outcome.violations.append(f"{scenario.name} ended with {ended.code}: {ended.err[-200:]!r}")
        return 0
    outcome.fired += 1
    written = 0
    for path, found in _all(store):
        is_new = known.get(path) != (found.st_ino, found.st_mtime_ns)
        written += is_new
        wanted = FOLDER_MODE if stat.S_ISDIR(found.st_mode) else FILE_MODE
        mode = stat.S_IMODE(found.st_mode)
        if mode != wanted:
            name = path.relative_to(store.parent)
            outcome.violations.append(f"{scenario.name}: {name} has mode {mode:04o}")
    return written


def _all(store: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A store's folder, all in it but git's own, and the backup beside it."""
    beside = store.with_name(f"{store.name}.tar.gz")
    waiting = [path for path in (store, beside) if path.exists()]
    while waiting:
        path = waiting.pop()
        yield path, os.lstat(path)
        if path.is_dir() and not path.is_symlink():
            waiting += [inner for inner in sorted(path.iterdir()) if inner.name != ".git"]


def _short() -> Iterator[Outcome]:
    cheap = [each for each in (*SCENARIOS, *LOOKING) if each.state in CHEAP and not each.model]
    yield run(cheap, 0o000)


def _long() -> Iterator[Outcome]:
    for umask in UMASKS:
        yield run((*SCENARIOS, *LOOKING), umask)


def _control() -> Iterator[Outcome]:
    yield run(CONTROLS, 0o000)


RIG = Rig(name="modes", promises=(14,), short=_short, long=_long, control=_control, needs=("git",))
