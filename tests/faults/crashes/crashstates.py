"""Every state of the disk that a power cut may leave while a command runs, and what clsm makes of it.

A command is recorded by strace and done again on a disk in memory (``disk``), and
after every call each state is looked at that POSIX allows then: bytes that were not synced kept,
lost, zeros or the first half; up to three changes of names that were not synced lost, or all.

In each state: what was promised before is there, and if the command had printed its answer what
that told of is there too; every file can be read; logs have lost nothing but what the command itself
adds; the index, brought up to date, holds what one made anew holds (this is looked at where the
files of the index are neither as before nor as in the end, and in a share of the rest). Where the command
had printed, ending what was begun leaves what an uninterrupted run leaves; only lines of
``activation.jsonl`` may be missing. In a share of the states the command is run again and must
leave what an uninterrupted run leaves.

Not shown: what git writes; a disk that says it has synced and has not, or harms what lies beside; the order of bytes
inside one write.
"""

import os
import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from faults.crashes import trace
from faults.crashes.disk import CALLS, Disk, Player, State
from faults.rig import Outcome, Rig
from faults.running.bench import USES, Bench, Workers, bench_of, lines_of, lone_worker
from faults.running.scenarios import DISK_CONTROLS, SCENARIOS, Scenario
from ingesting import opened, tree

from clsm_cli.embedding.weights import ENGINE
from clsm_cli.errors import ClsmError
from clsm_cli.store.index import database
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES
from clsm_cli.store.index.maintenance import differences
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted

FEW = 8
"""States of a command in the short form, and ``AGAIN`` of them after which it is run again."""
AGAIN = 1
MANY, LONG_AGAIN = 600, 60
"""The same in the long form: all states of most commands, and a sample of the others'."""
QUICK = frozenset(
    {"init", "note", "capture", "undo ingest", "correct", "edit", "pin", "feedback", "review",
     "recall", "label", "backup"}
)  # fmt: skip
"""Commands of the short form: those with few states, each soon looked at."""
_VECTORS = "SELECT digest, row, token, tokens FROM vectors"


class Lab:
    """One scenario, recorded: its states, and what is wrong in one."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.promised = _logs(bench.laid)
        self._times = _times(bench.laid)
        self._ends: set[frozenset[tuple[str, bytes]]] = set()
        bench.lay()
        ended = bench.run()
        assert ended.code == 0, ended.err
        self.vectors = _vectors(opened(bench.store))
        final = _logs(bench.place)
        self.promised = {
            name: rows & final.get(name, set()) for name, rows in self.promised.items()
        }

    def states(self) -> list[State]:
        """Every state that a power cut may leave, each once."""
        bench = self.bench
        bench.lay()
        options = ["-e", f"trace={trace.TRACED},{','.join(CALLS)}", "-xx", "-s", str(1 << 28)]
        ended, lines = trace.traced(bench.forks, bench.command, options)
        assert ended.code == 0, ended.err
        self._times |= _times(bench.place)
        disk = Disk.of(bench.place, bench.laid)
        player = Player(bench.place, bench.forks.folder / "out", disk)
        found: dict[object, State] = {}
        for state in disk.states("before"):
            found[_key(state)] = state
        for line in lines:
            why = player.play(line)
            for state in disk.states(why) if why is not None else ():
                found.setdefault(_key(state), state)
        last = next(disk.states("end")).files
        real = {n: d for n, d in tree(bench.place, derived=True).items() if not n.endswith("-shm")}
        assert last == real, sorted(n for n in last | real if last.get(n) != real.get(n))
        states = list(found.values())
        self._ends = {_index_of(states[0].files), _index_of(real)}
        return states

    def wrong(self, state: State, *, again: bool) -> list[str]:
        """What is wrong in a state; ``again``: also after the command is run once more."""
        self._lay(state)
        try:
            found = self._wrong(state, is_sample=again)
        except (ClsmError, OSError, AssertionError) as error:
            found = [f"cannot be read: {error!r}"]
        if again:
            self._lay(state)
            found += self.bench.completed()
        return [f"{state.why}: {text}" for text in found]

    def _wrong(self, state: State, *, is_sample: bool) -> list[str]:
        store = self.bench.store
        found = self.bench.kept(is_reported=bool(state.told))
        logs = _logs(self.bench.place)
        lost = (name for name, rows in self.promised.items() if rows - logs.get(name, set()))
        found += [f"{name} lost lines" for name in lost]
        if not (store / "clsm.yaml").exists():
            return found
        found += self.bench.problems(store)
        if is_sample or _index_of(state.files) not in self._ends:
            found += self._index(opened(store))
        return [*found, *self._acknowledged()] if state.told else found

    def _index(self, store: Store) -> list[str]:
        """Whether the index, brought up to date as a reader does, is what a new one would be."""
        with open_index(store, None) as index:
            other = differences(store, index.index.connection)
        now = _vectors(store)
        bad = [key for key in now if now[key] != self.vectors.get(key, now[key])]
        found = [f"the index is not what a new one is: {other}"] if other else []
        return [*found, f"{len(bad)} vectors are wrong"] if bad else found

    def _acknowledged(self) -> list[str]:
        """What the command told of is as it told, once what was begun is ended."""
        store = opened(self.bench.store)
        with locked(store.root, 5):
            complete_interrupted(store)
        now, golden = self.bench.essence(), self.bench.golden
        names = {n for n in now | golden if now.get(n) != golden.get(n)}
        names -= {n for n in names if n == USES}
        return [f"told of, and lost: {sorted(names)}"] if names else []

    def _lay(self, state: State) -> None:
        """Make the folder so; files that did not change keep their times, which the index knows."""
        root = self.bench.place
        shutil.rmtree(root, ignore_errors=True)
        if not state.files and not state.folders:
            return
        root.mkdir(0o700)
        for name in sorted(state.folders):
            os.mkdir(root / name, 0o700)
        for name, data in state.files.items():
            fd = os.open(root / name, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(fd, data)
            os.close(fd)
            time_ns = self._times.get((name, data))
            if time_ns is not None:
                os.utime(root / name, ns=(time_ns, time_ns))


def _index_of(files: Mapping[str, bytes]) -> frozenset[tuple[str, bytes]]:
    return frozenset(each for each in files.items() if ".clsm/index/" in each[0])


def _key(state: State) -> object:
    return frozenset(state.files.items()), state.folders, bool(state.told)


def _times(root: Path) -> dict[tuple[str, bytes], int]:
    return {
        (name, data): (root / name).stat().st_mtime_ns
        for name, data in tree(root, derived=True).items()
    }


def _logs(root: Path) -> dict[str, set[bytes]]:
    return {
        name: lines_of(data)
        for name, data in tree(root, derived=True).items()
        if name.endswith(".jsonl") and ".clsm/" not in name and "/inbox/" not in name
    }


def _vectors(store: Store) -> dict[int, tuple[bytes, bytes]]:
    """Digest of a text → the rows that the index has of it, of the sentence and of its tokens."""
    connection = database.open_to_read(store.derived)
    if connection is None:
        return {}
    vectors = VectorFiles(connection, store.derived)
    sentences, tokens = vectors.sentence_rows(), vectors.token_rows()
    is_whole = vectors.is_whole(ENGINE)  # else they are made anew
    rows = connection.execute(_VECTORS).fetchall() if is_whole else []
    connection.close()
    if sentences is None or tokens is None:
        return {}
    return {
        digest: (
            bytes(sentences[row * SENTENCE_BYTES : (row + 1) * SENTENCE_BYTES]),
            bytes(tokens[token * TOKEN_BYTES : (token + n) * TOKEN_BYTES]),
        )
        for digest, row, token, n in rows
    }


def run(
    scenario: Scenario, worker: Workers, few: int, again: int, *, broken: bool = False
) -> Outcome:
    """Look at a few states of a scenario; ``again`` of them with a second run.

    What is ``broken`` on purpose is looked at until that is found.
    """
    lab = Lab(bench_of(scenario, worker))
    states = lab.states()
    rng = random.Random(scenario.name)
    chosen = rng.sample(states, min(few, len(states)))
    outcome = Outcome(scenario.name, "power cut")
    twice = set(rng.sample(range(len(chosen)), min(again, len(chosen))))
    for number, state in enumerate(chosen):
        outcome.tried(lab.wrong(state, again=number in twice))
        if broken and outcome.violations:
            break
    outcome.more = f"of {len(states):,} states; {len(twice)} run again"
    return outcome


def _short() -> Iterator[Outcome]:
    for scenario in SCENARIOS:
        if scenario.name in QUICK:
            yield run(scenario, lone_worker(), FEW, AGAIN)


def _long() -> Iterator[Outcome]:
    with Workers("many states") as worker:
        for scenario in SCENARIOS:
            if "--git" not in scenario.words:
                yield run(scenario, worker, MANY, LONG_AGAIN)


def _control() -> Iterator[Outcome]:
    """Writers that do not sync, that write in place, and that write in the wrong order."""
    for scenario in DISK_CONTROLS:
        yield run(scenario, lone_worker(), 40, 0, broken=True)


RIG = Rig("crashstates", (1, 2, 3), _short, _long, _control, ("strace", "git"))
