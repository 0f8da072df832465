"""The writers of a crowd: what each asks for, what was acknowledged, and what the store must hold for it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from faults.running.wording import turns_of
from forking import Ended

from clsm_cli.model.episodes import Document
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.layout import Store

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIX = {
    "note": 43,
    "capture": 34,
    "recall": 10,
    "correct": 6,
    "undo": 4,
    "ingest": 2,
    "forget": 0.3,
    "consolidate": 0.2,
}
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
        self, number: int, folder: Path, history: History, clock: Iterator[int], seed: int
    ) -> None:
        self._number, self._folder = number, folder
        self._history, self._clock = history, clock
        self._rng = random.Random(f"{seed}/{number}")
        self._notes: list[tuple[str, str]] = []
        self._again: Asked | None = None
        self._turns = 0

    def next(self) -> Asked:
        """The next command."""
        asked, self._again = self._again, None
        if asked is not None and self._rng.random() < 0.5:
            return asked
        (kind,) = self._rng.choices(list(MIX), list(MIX.values()))
        second = next(self._clock)
        asked = getattr(self, f"_{kind}")(second) or self._note(second)
        asked.words += ("--json", "--store", str(self._folder / "memory"), "--now", _at(second))
        return asked

    def tell(self, asked: Asked, ended: Ended) -> None:
        """Take an answer."""
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
