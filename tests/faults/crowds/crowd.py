"""Many processes on one store at once, some of them killed, and what is acknowledged is there (promise 5).

Eight writers ask for one command after the other: notes, captures of a hook, recalls that are
logged, corrections, ingests of a document, undos of a note, now and then a forget or a consolidation.
Each command is a process. About four times a second one of them gets SIGKILL; half of those that were
killed or locked out are asked for again, word for word. What was acknowledged is written down outside.
All the time a reader recalls what was there before the crowd.

When the writers are done, one consolidation ends what was begun and moves all turns to episodes, while
the reader goes on. Then every acknowledged text is there once, none that was acknowledged as forgotten
or undone, every corrected value is the last that was acknowledged or one asked for later, every
acknowledged recall is logged, no more often than it ran (a kill may come behind the line), and
``status`` finds nothing but torn ends of logs. No process may end by a bug, nor with a code that its
command does not justify; every reader found everything, whole and once.

The stores lie in memory and there is no model, so that a process is short; the long form has a new
store every 500 acknowledged commands, as each of them reads the inbox. Not shown: two machines on one
folder, network file systems.
"""

import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import forking
from faults.rig import Outcome, Rig
from faults.running.laying import environment, turns_of
from forking import Ended
from ingesting import opened, scratch

from clsm_cli.model.episodes import Document
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.layout import Store

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIX = {
    "note": 43, "capture": 34, "recall": 10, "correct": 6, "undo": 4, "ingest": 2, "forget": 0.3,
    "consolidate": 0.2,
}  # fmt: skip
"""How often each command is asked for, of about 100."""


@dataclass(slots=True)
class Told:
    """A text that was to be remembered; ``taken_back``: "", "asked" or "acknowledged"."""

    is_known: bool = False
    taken_back: str = ""
    id: str = ""


@dataclass(slots=True)
class Chain:
    """Values that one writer gave to one thing; ``known``: place of the last that was acknowledged."""

    asked: list[str] = field(default_factory=list)
    known: int = -1

    def ask(self, value: str) -> Callable[[bytes], None]:
        """Add a value; what notes that it was acknowledged."""
        self.asked.append(value)
        place = len(self.asked) - 1

        def done(_: bytes) -> None:
            self.known = max(self.known, place)

        return done

    def wrong(self, name: str, held: Sequence[str]) -> Iterator[str]:
        """It is the last one that was acknowledged, or one that was asked for later."""
        if not held and self.known < 0:
            return  # what makes it was never acknowledged
        if len(held) != 1:
            yield f"{name} has the values {held}"
        elif held[0] not in self.asked[max(self.known, 0) :]:
            yield f"{name} is {held[0]!r}, and {self.asked[self.known]!r} was acknowledged"


@dataclass(slots=True)
class History:
    """All that was asked of one store.

    Attributes:
        chains: By the name of what has a value: ``crate 3``, ``stock 3``.
        recalls: Ids of acknowledged recalls, with how often each ran: one that is killed behind its
            line in the log, and asked for again, stands there twice.
        wrong: What a writer missed in a file that it read, or in an answer.
    """

    told: dict[str, Told] = field(default_factory=dict)
    chains: dict[str, Chain] = field(default_factory=dict)
    recalls: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def compare(self, store: Store) -> Iterator[str]:
        """What the store does not hold as it must; it is quiet, and what was begun is ended."""
        records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
        texts = {turn.key: turn.text for turn in turns_of(store)}
        counts = Counter(turn.text for turn in turns_of(store))
        for text, told in self.told.items():
            if counts[text] > 1:
                yield f"{text!r} is there {counts[text]} times"
            elif told.is_known and not told.taken_back and not counts[text]:
                yield f"{text!r} was acknowledged and is lost"
            elif told.taken_back == "acknowledged" and counts[text]:
                yield f"{text!r} is there, and was acknowledged as taken back"
        held: dict[str, list[str]] = {name: [] for name in self.chains}
        rows = record_files.load_statements(store, records, "").values()
        documents = (record for record in records.values() if isinstance(record, Document))
        said = [row.text.partition(" holds ") for row in rows if row.is_current]
        said += [texts.get(b.key, "").partition(": edition ") for d in documents for b in d.blocks]
        for name, _, value in said:
            held.setdefault(name.removeprefix("The "), []).append(value)
        for name, chain in self.chains.items():
            yield from chain.wrong(name, held[name])
        recalled = Counter(
            row.get("recall")
            for name in logs.ACTIVATIONS
            for _, row in logs.rows(store.flow / name)[0]
        )
        for recall, runs in sorted(self.recalls.items()):
            if not 1 <= recalled[recall] <= runs:
                yield f"recall {recall} ran {runs} times and is logged {recalled[recall]} times"
        yield from self.wrong


@dataclass(slots=True)
class Asked:
    """A command that a writer asks for.

    Attributes:
        codes: Exit codes that it may have besides those of every command: done, locked out, killed.
        done: Told of its answer when it has succeeded.
    """

    words: tuple[str, ...]
    stdin: bytes = b""
    codes: frozenset[int] = frozenset()
    done: Callable[[bytes], None] = lambda _: None
    killed: int = 0


class Writer:
    """One of the crowd: asks for a command after the other, some of them twice.

    Args:
        folder: Of the store ``memory``, and of its own document.
        history: Where it writes down what it asks for and what is acknowledged.
        clock: Gives each command a second of its own.
    """

    def __init__(
        self,
        number: int,
        folder: Path,
        history: History,
        clock: Iterator[int],
        seed: int,
        mix: Mapping[str, float],
    ) -> None:
        self._number, self._folder = number, folder
        self._history, self._clock, self._mix = history, clock, mix
        self._rng = random.Random(f"{seed}/{number}")
        self._notes: list[tuple[str, str]] = []
        self._again: Asked | None = None
        self._turns = 0

    def next(self) -> Asked:
        asked, self._again = self._again, None
        if asked is not None and self._rng.random() < 0.5:
            return asked
        (kind,) = self._rng.choices(list(self._mix), list(self._mix.values()))
        second = next(self._clock)
        asked = getattr(self, f"_{kind}")(second) or self._note(second)
        asked.words += ("--json", "--store", str(self._folder / "memory"), "--now", _at(second))
        return asked

    def tell(self, asked: Asked, ended: Ended) -> None:
        if ended.has_traceback or ended.code not in {0, 75, -9, *asked.codes}:
            last = ended.err.decode(errors="replace").strip().splitlines()[-1:]
            self._history.wrong.append(f"{asked.words[0]} ended with {ended.code}: {last}")
        elif ended.code == 0:
            asked.done(ended.out)
        elif ended.code in (-9, 75):
            asked.killed += ended.code == -9
            self._again = asked

    def _note(self, second: int) -> Asked:
        text = f"Note {second} of writer {self._number}."
        told = self._history.told.setdefault(text, Told())

        def done(out: bytes) -> None:
            told.is_known, told.id = True, json.loads(out)["id"]
            self._notes.append((text, _at(second)))

        return Asked(("note", text), done=done)

    def _capture(self, _: int) -> Asked:
        """A hook: one to three turns, the first of them sometimes told before."""
        rows, new = [], []
        for _ in range(self._rng.randint(1, 3)):
            self._turns += self._rng.random() < 0.8 or not self._turns
            text = f"Turn {self._turns} of writer {self._number}."
            said = {"session": f"crowd-{self._number}", "timestamp": _at(-100_000 + self._turns)}
            rows.append(json.dumps({"role": "user", "content": text, **said}))
            new.append(self._history.told.setdefault(text, Told()))

        def done(_: bytes) -> None:
            for told in new:
                told.is_known = True

        return Asked(("ingest", "-", "--capture"), "\n".join(rows).encode(), done=done)

    def _recall(self, second: int) -> Asked:
        def done(out: bytes) -> None:
            told = json.loads(out)
            if told["memories"]:
                self._history.recalls[told["recall_id"]] = 1 + asked.killed

        words = ("recall", "-k", "5", "--min-score", "0", "--touch", f"anchor {second}")
        asked = Asked(words, done=done)
        return asked

    def _correct(self, second: int) -> Asked | None:
        name = f"crate {self._number}"
        lines = (self._folder / "memory/projects/crowd.md").read_text().splitlines()
        found = [line.rsplit("^", 1)[-1] for line in lines if f" {name} " in line]
        if len(found) != 1:  # a reader of the file sees it once at every moment
            self._history.wrong.append(f"{name} stood {len(found)} times in a file")
            return None
        done = self._history.chains.setdefault(name, Chain(["0 bolts."])).ask(f"{second} bolts.")
        # Asked for again after it was done and nobody heard of it, the row is another one.
        words = ("correct", found[0], f"The {name} holds {second} bolts.")
        return Asked(words, codes=frozenset({12}), done=done)

    def _ingest(self, second: int) -> Asked:
        name = f"stock {self._number}"
        path = self._folder / f"stock-{self._number}.md"
        path.write_text(f"# Stock\n\nSalt, rope and tar.\n\n{name}: edition {second}\n")
        done = self._history.chains.setdefault(name, Chain()).ask(str(second))
        return Asked(("ingest", str(path)), done=done)

    def _undo(self, _: int) -> Asked | None:
        """Take a note of its own back, by its run."""
        text, at = self._notes.pop() if self._notes else ("", "")
        log = (self._folder / "memory/flow/pi/runs.jsonl").read_bytes()
        before = log.rpartition(f'"at": "{at}"'.encode())[0]
        line = before.rpartition(b"\n")[-1] if at else b""
        # The ledger's line is not waited for: a kill came before it. Nor is there one of a note that
        # was put aside.
        is_there = b'"command": "note"' in line
        return self._taken_back(("undo", line.split(b'"')[3].decode()), text) if is_there else None

    def _forget(self, _: int) -> Asked | None:
        if not self._notes:
            return None
        text = self._notes.pop(0)[0]
        return self._taken_back(("forget", self._history.told[text].id, "--yes"), text)

    def _taken_back(self, words: tuple[str, ...], text: str) -> Asked:
        told = self._history.told[text]
        told.taken_back = "asked"

        def done(_: bytes) -> None:
            told.taken_back = "acknowledged"

        return Asked(words, codes=frozenset({12, 17}), done=done)

    def _consolidate(self, _: int) -> Asked:
        return Asked(("consolidate",))


def _at(second: int) -> str:
    return (BEGIN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


WRITERS = 8
ANCHORS = 12
"""Memories that are there from the beginning, which every reader must find."""
READ_EVERY = 0.25
"""Seconds between two readers at least."""
A_STORE, FEW = 500, 40
"""Acknowledged commands after which a store is looked at, and another is begun; of something broken."""
KILLED = 3
"""Processes that are killed at least."""
LATE = 600.0
_READ = ("recall", "anchor", "--json", "--no-touch", "-k", "50", "--min-score", "0")


@dataclass(slots=True)
class Tally:
    """What became of a crowd: how commands ended, readers, and how many signals were sent."""

    ended: Counter[int] = field(default_factory=Counter)
    sent: int = 0
    readers: int = 0
    stores: int = 0
    violations: list[str] = field(default_factory=list)


class Herd:
    """A crowd on a store of its own, a thread each.

    Args:
        forks: A process that forks commands for each writer, for what is done alone, and the reader.
        every: Seconds between two kills, in the mean.
    """

    def __init__(
        self,
        forks: list[forking.Forks],
        folder: Path,
        told: Tally,
        every: float,
        mix: Mapping[str, float],
    ) -> None:
        self._forks, self._folder, self._told = forks, folder, told
        self._store = folder / "memory"
        self._environment = environment(folder.parent, model=False)
        self._history = History()
        self._every, self._mix = every, mix
        self._busy: dict[int, int] = {}
        self._is_over = threading.Event()
        self._is_quiet = threading.Event()

    def _run(self, number: int, *words: str, stdin: bytes = b"") -> Ended:
        """A command of a writer, which may be killed, or of somebody whom nobody disturbs."""
        pid = self._forks[number].begin(
            words, self._environment, "/", forking.in_memory(stdin), hear="imports"
        )
        if number < WRITERS:
            self._busy[number] = pid
        ended = self._forks[number].end(LATE)
        self._busy.pop(number, None)
        return ended

    def _do(self, *words: str) -> Ended:
        ended = self._run(WRITERS, *words, "--store", str(self._store))
        if ended.code != 0:
            self._told.violations.append(f"{words[0]}, alone: {ended.code}: {ended.err[-200:]!r}")
        return ended

    def lay(self) -> None:
        """The store before: statements to correct, and something to recall, whose turns wait."""
        self._run(WRITERS, "init", str(self._store), "--time-zone", "UTC")
        lines = [f"- The crate {number} holds 0 bolts.\n" for number in range(WRITERS)]
        head = "---\ntitle: Crowd\nstream: projects\ntopic: crowd\n---\n"
        (self._store / "projects/crowd.md").write_text(head + "".join(lines))
        self._do("consolidate", "--now", "2026-02-20T09:00:00Z")
        for number in range(ANCHORS):
            now = f"2026-03-01T11:00:{number:02}Z"
            self._do("note", f"Anchor {number} lies deep.", "--now", now)

    def work(self, until: Callable[[], bool], seed: int) -> None:
        """Let them write and read until it is enough, then until all have ended; and check."""
        rng, clock = random.Random(seed), count()
        crowd = [
            Writer(n, self._folder, self._history, clock, seed, self._mix) for n in range(WRITERS)
        ]
        with ThreadPoolExecutor(WRITERS + 1) as pool, ExitStack() as at_end:
            at_end.callback(self._is_quiet.set)
            at_end.callback(self._is_over.set)
            at_work = [pool.submit(self._write, *each) for each in enumerate(crowd)]
            reader = pool.submit(self._read)
            while not until() and not any(each.done() for each in (*at_work, reader)):
                time.sleep(min(1.0, rng.expovariate(1 / self._every)))
                if self._busy and self._every < LATE:
                    with suppress(IndexError, ProcessLookupError):  # it has just ended
                        os.kill(rng.choice([*self._busy.values()]), signal.SIGKILL)
                        self._told.sent += 1
            self._is_over.set()
            for each in at_work:
                each.result()
            self._do("consolidate", "--now", "2026-03-20T09:00:00Z")
            self._is_quiet.set()
            reader.result()
        self._check()

    def _write(self, number: int, writer: Writer) -> None:
        while not self._is_over.is_set():
            asked = writer.next()
            ended = self._run(number, *asked.words, stdin=asked.stdin)
            self._told.ended[ended.code] += 1
            writer.tell(asked, ended)

    def _read(self) -> None:
        """Every anchor is there, whole and once."""
        wanted = [f"Anchor {number} lies deep." for number in range(ANCHORS)]
        while not self._is_quiet.wait(READ_EVERY):
            self._told.readers += 1
            ended = self._run(WRITERS + 1, *_READ, "--store", str(self._store))
            if ended.code != 0 or ended.has_traceback:
                found = [f"a reader ended with {ended.code}: {ended.err[-300:]!r}"]
            else:
                seen = Counter(memory["text"] for memory in json.loads(ended.out)["memories"])
                found = [f"a reader saw {t!r} {seen[t]} times" for t in wanted if seen[t] != 1]
            self._told.violations += found

    def _check(self) -> None:
        self._told.stores += 1
        told = json.loads(self._do("status", "--json").out or b"{}")
        found = [f"status: {p}" for p in told.get("problems") or () if ".jsonl" not in p["path"]]
        self._told.violations += [*found, *self._history.compare(opened(self._store))]


def _crowd(
    operations: int, seconds: float, every: float = 0.25, program: str = forking.CLSM
) -> Outcome:
    """Crowds one after the other, until it is enough, or until something broken is found out."""
    told = Tally()
    is_broken = program != forking.CLSM
    mix = {"correct": 1} if is_broken else MIX

    def is_over() -> bool:
        if is_broken:
            return time.monotonic() > end or bool(told.violations)
        is_enough = told.ended[-9] >= KILLED and told.ended[0] >= operations
        return time.monotonic() > end and is_enough

    with scratch() as root, ExitStack() as stack:
        env = environment(root, model=False)
        made = (forking.Forks(env, ("clsm_cli.app",), program) for _ in range(WRITERS + 2))
        forks = [stack.enter_context(each) for each in made]
        first, folder = root / "first", root / "herd"
        first.mkdir()
        Herd(forks, first, told, every, mix).lay()
        end = time.monotonic() + seconds
        while not is_over():
            shutil.copytree(first, folder)
            most = told.ended[0] + (FEW if is_broken else A_STORE)
            Herd(forks, folder, told, every, mix).work(
                lambda most=most: is_over() or told.ended[0] >= most,  # type: ignore[misc]
                10_000 + told.stores,
            )
            shutil.rmtree(folder)
    return Outcome(
        "8 writers and a reader",
        "no lock" if is_broken else "SIGKILL",
        planned=told.ended[0] if is_broken else told.sent,
        fired=told.ended[0] if is_broken else told.ended[-9],
        violations=told.violations,
        more=f"{told.ended[0]:,} acknowledged commands; {told.ended[75]:,} locked out;"
        f" {told.stores:,} stores; {told.readers:,} readers",
    )


def _control() -> Iterator[Outcome]:
    """Writers for whom the lock is always free, until something is wrong."""
    yield _crowd(0, 60, LATE, "faults.broken:unlocked")


RIG = Rig("crowd", (5,), lambda: [_crowd(40, 4)], lambda: [_crowd(100_000, 0)], _control)
