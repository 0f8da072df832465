"""Commands stopped, or refused something by the disk, at every system call that changes a store.

``kill`` ends the process at the call; ``errors`` lets the call fail with EIO, then with ENOSPC.
Calls are chosen so that as many kinds of calls and files as can be are among them: a few of each
command in the short forms, nearly all in the long one of ``kill``, fewer of ``errors``.

Not shown: a kill of git, which ``init --git`` starts; a call that does half of its work (rig
``crashstates``); errors of calls that only read.
"""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from faults.crashes.trace import KILL, Point
from faults.rig import Outcome, Rig
from faults.running.bench import Workers, bench_of, lone_worker
from faults.running.laying import ground
from faults.running.scenarios import CONTROL, SCENARIOS, Scenario

ERRORS = ("error=EIO", "error=ENOSPC")
FEW, FEWER = 2, 1
"""Points of a command in the short form; of one that opens the model, and for errors."""
SELDOM = frozenset(
    {"segment", "other engine", "half slept", "half forgotten", "undo consolidate",
     "unpin", "doctor"}
)  # fmt: skip
"""Commands that the short forms leave out, as they take long or resemble others; those of errors
all with a model."""
MOST = {KILL: (600, 600), **dict.fromkeys(ERRORS, (150, 50))}
"""Fault → points of a command in the long form, and of one that opens the model."""


def kind(point: Point) -> tuple[str, str]:
    """What a point does to which sort of file.

    >>> kind(Point("fsync", 3, "flow/pi/episodes/2026/02/.tmp-a.md"))
    ('fsync', 'flow md')
    """
    parts = point.path.split("/")
    where = parts[1] if parts[0] == ".clsm" and len(parts) > 1 else parts[0]
    return point.name, f"{where} {parts[-1].rpartition('.')[2]}"


def spread(points: Sequence[Point], rng: random.Random, few: int) -> list[Point]:
    """A few points, in their order, of as many kinds as can be; those of a copy that is thrown away last."""
    mixed = rng.sample(points, len(points))
    mixed.sort(key=lambda point: "rehearsal" in point.path)
    first: dict[tuple[str, str], Point] = {}
    for point in mixed:
        first.setdefault(kind(point), point)
    chosen = [*first.values(), *(point for point in mixed if point not in first.values())][:few]
    return sorted(chosen, key=points.index)


def run(
    scenario: Scenario,
    fault: str,
    choose: Callable[[Sequence[Point], random.Random], list[Point]],
    staff: Sequence[Workers],
) -> Outcome:
    """Try the chosen points of a scenario, as many at once as there are workers."""
    outcome = Outcome(scenario.name, fault)
    ground().before(scenario.state)

    def work(number: int) -> list[tuple[Point, bool, list[str]]]:
        bench = bench_of(scenario, staff[number])
        found = bench.points
        if number == 0:
            outcome.more = f"of {len(found):,} calls"
            if len(found) < scenario.least:
                outcome.violations.append(f"only {len(found)} calls that change the store")
        mine = choose(found, random.Random(scenario.name + fault))[number :: len(staff)]
        return [(point, *bench.strike(point, fault)) for point in mine]

    with ThreadPoolExecutor(len(staff)) as pool:
        for done in pool.map(work, range(len(staff))):
            for point, fired, wrong in done:
                outcome.tried(wrong, fired=fired)
                outcome.missed += [] if fired else [str(point)]
    return outcome


def _short(faults: Sequence[str]) -> Iterator[Outcome]:
    is_kill = KILL in faults
    chosen = [s for s in SCENARIOS if s.name not in SELDOM and (is_kill or not s.model)]
    for number, scenario in enumerate(chosen):
        few = partial(spread, few=FEW if is_kill and not scenario.model else FEWER)
        yield run(scenario, faults[number % len(faults)], few, [lone_worker()])


def _long(faults: Sequence[str]) -> Iterator[Outcome]:
    with ExitStack() as stack:
        names = range(os.cpu_count() or 1)
        staff = [stack.enter_context(Workers(f"long {name}", alone=False)) for name in names]
        for scenario in SCENARIOS:
            for fault in faults:
                yield run(scenario, fault, partial(spread, few=MOST[fault][scenario.model]), staff)


def _control(faults: Sequence[str]) -> Iterator[Outcome]:
    """Points of the bad writer's own files only."""

    def of_files(points: Sequence[Point], rng: random.Random) -> list[Point]:
        return spread([each for each in points if each.path.startswith("flow/pi/")], rng, 3)

    yield run(CONTROL, faults[0], of_files, [lone_worker()])


def _rig(name: str, promises: tuple[int, ...], faults: Sequence[str]) -> Rig:
    short, long, control = (partial(form, faults) for form in (_short, _long, _control))
    return Rig(name, promises, short, long, control, needs=("strace", "git"))


RIGS = (_rig("kill", (1, 2), (KILL,)), _rig("errors", (4,), ERRORS))
