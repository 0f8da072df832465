"""The writers of a crowd: which command each asks for next, and what its answer acknowledges."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from faults.running.history import Chain, History, Told
from faults.running.swarm import Ended

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALWAYS = frozenset({0, 75, -9})
"""Exit codes that any command of a crowd may have: done, locked out, killed."""
MIX: dict[str, float] = {
    "note": 42,
    "capture": 32,
    "recall": 10,
    "feedback": 5,
    "pin": 3,
    "correct": 3,
    "undo": 3,
    "ingest": 1.5,
    "forget": 0.2,
    "decay": 0.15,
    "consolidate": 0.15,
}
"""How often each command is asked for, of about 100."""


@dataclass(slots=True)
class Asked:
    """A command that a writer asks for.

    Attributes:
        codes: Exit codes that it may have besides those of ``ALWAYS``.
        done: Told of its answer when it has succeeded.
    """

    kind: str
    words: tuple[str, ...]
    stdin: bytes
    codes: frozenset[int]
    done: Callable[[bytes], None]
    killed: int = 0


class Writer:
    """One of the crowd: asks for a command after the other, some of them twice.

    Args:
        folder: Of the store ``memory``, and of its own document.
        history: Where it writes down what it asks for and what is acknowledged.
        clock: Gives each command a second of its own.
    """

    def __init__(
        self, number: int, folder: Path, history: History, clock: Callable[[], int], seed: int
    ) -> None:
        self._number = number
        self._folder = folder
        self._history = history
        self._clock = clock
        self._rng = random.Random(f"{seed}/{number}")
        self._notes: list[tuple[str, str]] = []
        self._recalled: list[tuple[str, list[str]]] = []
        self._again: Asked | None = None
        self._turns = 0

    def next(self) -> Asked:
        """The next command."""
        if self._again is not None and self._rng.random() < 0.5:
            asked, self._again = self._again, None
            return asked
        self._again = None
        (kind,) = self._rng.choices(list(MIX), list(MIX.values()))
        second = self._clock()
        return getattr(self, f"_{kind}")(second) or self._note(second)

    def tell(self, asked: Asked, ended: Ended) -> str:
        """Take an answer; what is wrong with it, or ""."""
        if ended.has_traceback or ended.code not in ALWAYS | asked.codes:
            last = ended.err.decode(errors="replace").strip().splitlines()[-1:]
            return f"{asked.kind} ended with {ended.code}: {last}"
        if ended.code == 0:
            asked.done(ended.out)
        elif ended.code in (-9, 75):
            asked.killed += ended.code == -9
            self._again = asked
        return ""

    def _asked(
        self,
        kind: str,
        second: int,
        *words: str,
        stdin: bytes = b"",
        codes: frozenset[int] = frozenset(),
        done: Callable[[bytes], None] = lambda _: None,
    ) -> Asked:
        store = str(self._folder / "memory")
        common = ("--json", "--store", store, "--now", _at(second))
        return Asked(kind, (*words, *common), stdin, codes, done)

    def _note(self, second: int) -> Asked:
        text = f"Note {second} of writer {self._number}."
        told = self._history.told.setdefault(text, Told())

        def done(out: bytes) -> None:
            told.is_known, told.id = True, json.loads(out)["id"]
            self._notes.append((text, _at(second)))

        return self._asked("note", second, "note", text, done=done)

    def _capture(self, second: int) -> Asked:
        """A hook: one to three turns, the first of them sometimes told before."""
        rows, new = [], []
        for _ in range(self._rng.randint(1, 3)):
            self._turns += self._rng.random() < 0.8 or not self._turns
            text = f"Turn {self._turns} of writer {self._number}."
            moment = _at(-100_000 + self._turns)
            session = f"crowd-{self._number}"
            rows.append({"role": "user", "content": text, "session": session, "timestamp": moment})
            new.append(self._history.told.setdefault(text, Told()))

        def done(_: bytes) -> None:
            for told in new:
                told.is_known = True

        stdin = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        words = ("ingest", "-", "--capture")
        return self._asked("capture", second, *words, stdin=stdin, done=done)

    def _recall(self, second: int) -> Asked:
        def done(out: bytes) -> None:
            told = json.loads(out)
            if told["memories"]:
                self._history.recalls[told["recall_id"]] = 1 + asked.killed
                self._recalled.append((told["recall_id"], [m["id"] for m in told["memories"]]))

        words = ("recall", "-k", "5", "--min-score", "0", "--touch", f"anchor {second}")
        asked = self._asked("recall", second, *words, done=done)
        return asked

    def _feedback(self, second: int) -> Asked | None:
        if not self._recalled:
            return None
        recall, ids = self._rng.choice(self._recalled[-5:])
        judged = self._history.judged
        words = ("feedback", recall, "--good", self._rng.choice(ids))
        gone = frozenset({12})  # what it returned was forgotten meanwhile
        return self._asked(
            "feedback", second, *words, codes=gone, done=lambda _: judged.add(recall)
        )

    def _pin(self, second: int) -> Asked:
        chain = self._history.chains.setdefault(f"shelf {self._number} is blue.", Chain(["True"]))
        is_pinned = chain.asked[-1] != "True"
        place = chain.ask(str(is_pinned))
        words = ("pin" if is_pinned else "unpin", self._statement("shelf"))
        return self._asked(
            "pin", second, *words, codes=frozenset({12}), done=lambda _: _known(chain, place)
        )

    def _correct(self, second: int) -> Asked:
        name = f"crate {self._number}"
        chain = self._history.chains.setdefault(name, Chain(["0 bolts."]))
        place = chain.ask(f"{second} bolts.")
        words = ("correct", self._statement("crate"), f"The {name} holds {second} bolts.")
        # Asked for again after it was done and nobody heard of it, the row is another one.
        codes = frozenset({12})
        return self._asked(
            "correct", second, *words, codes=codes, done=lambda _: _known(chain, place)
        )

    def _statement(self, what: str) -> str:
        """The id of a writer's own statement: a reader of the file sees it once at every moment."""
        lines = (self._folder / "memory/projects/crowd.md").read_text().splitlines()
        found = [line for line in lines if f" {what} {self._number} " in line]
        if len(found) != 1:
            self._history.misread.append(
                f"{what} {self._number} stood {len(found)} times in a file"
            )
            return "f-000000000000"
        return found[0].rsplit("^", 1)[-1]

    def _ingest(self, second: int) -> Asked:
        name = f"stock {self._number}"
        chain = self._history.chains.setdefault(name, Chain())
        place = chain.ask(str(second))
        path = self._folder / f"stock-{self._number}.md"
        path.write_text(f"# Stock\n\nSalt, rope and tar.\n\n{name}: edition {second}\n")
        return self._asked(
            "ingest", second, "ingest", str(path), done=lambda _: _known(chain, place)
        )

    def _undo(self, second: int) -> Asked | None:
        """Take a note of its own back, by its run."""
        text, at = self._notes.pop() if self._notes else ("", "")
        log = (self._folder / "memory/flow/pi/runs.jsonl").read_bytes()
        before, _, _ = log.rpartition(f'"at": "{at}"'.encode())
        line = before.rpartition(b"\n")[-1] if at else b""
        if b'"command": "note"' not in line:
            # The ledger's line is not waited for: a kill came before it. Nor is there one of a
            # note that was put aside.
            return None
        told = self._history.told[text]
        told.taken_back = "asked"
        run = line.split(b'"')[3].decode()

        def done(_: bytes) -> None:
            told.taken_back = "acknowledged"

        return self._asked("undo", second, "undo", run, codes=frozenset({12, 17}), done=done)

    def _forget(self, second: int) -> Asked | None:
        if not self._notes:
            return None
        text, _ = self._notes.pop(0)
        told = self._history.told[text]
        told.taken_back = "asked"

        def done(_: bytes) -> None:
            told.taken_back = "acknowledged"

        words = ("forget", told.id, "--yes")
        return self._asked("forget", second, *words, codes=frozenset({17}), done=done)

    def _decay(self, second: int) -> Asked:
        return self._asked("decay", second, "decay", "--dry-run")

    def _consolidate(self, second: int) -> Asked:
        return self._asked("consolidate", second, "consolidate")


def _at(second: int) -> str:
    return (BEGIN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _known(chain: Chain, place: int) -> None:
    chain.known = max(chain.known, place)
