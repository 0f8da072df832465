"""What is derived may rot: the answers stay, or it is noticed and made anew (promise 10).

Bytes of every file below ``.clsm`` are turned over, each file is cut short, and deleted. Then the
same questions are asked. An answer must be the one of before, or one that says what is wrong; and no
command may end in a traceback or be killed. After ``.clsm`` was deleted the answers must be the same.

Each byte of the headers of the database and its pages is tried, elsewhere a sample. What SQLite does
not notice by itself is a byte inside a text or a packed list; how often that changes an answer is
counted, see ``more``.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig
from faults.running.scenarios import NOW, environment
from faults.running.warm import Ended, Warm
from ingesting import new_store, scratch, take
from sleeping import sleep

from clsm_cli.embedding import weights

CODES = frozenset({0, 12, 13, 15, 16, 17})
QUESTIONS = ("where does Mara live", "what does Mara drink", "when does the ferry leave")
_TEXTS = (
    "I moved to Leeds in March.", "I prefer tea to coffee.", "The ferry leaves at nine.",
    "Call the harbour master.", "The spare key hangs behind the green lamp.",
)  # fmt: skip
PAGE = 2048
"""Bytes of a page of the database."""


class Ground:
    """A store with all that is derived, and its answers."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        self.folder, self.clsm = folder, clsm
        self.store, self.kept = folder / "memory", folder / "kept"
        for words in (("recall", "tea"), ("context",), ("recall", "ferry")):
            self.run(*words)
        shutil.copytree(self.store / ".clsm", self.kept)
        self.right = self.answers()[0]

    def run(self, *words: str) -> Ended:
        """A command on the store."""
        return self.clsm(*words, "--store", self.store, "--now", NOW, cwd=self.folder, seconds=60)

    def restore(self) -> None:
        """What is derived, as it was."""
        shutil.rmtree(self.store / ".clsm")
        shutil.copytree(self.kept, self.store / ".clsm")

    def answers(self) -> tuple[list[Any], list[Ended]]:
        """What is answered to each question, without what is of the moment; and how it ended."""
        done = [self.run("recall", "--no-touch", "--json", text) for text in QUESTIONS]
        done.append(self.run("context", "--json"))
        found: list[Any] = []
        for each in done:
            try:
                value = json.loads(each.out)
            except ValueError:
                value = None
            if isinstance(value, dict):
                value = {
                    key: value[key]
                    for key in ("memories", "answered", "text", "parts")
                    if key in value
                }
                for memory in value.get("memories", ()):
                    memory.pop("score", None)
            found.append(value)
        return found, done


@contextmanager
def ground(*, model: bool) -> Iterator[Ground]:
    """The store, consolidated, with its index."""
    weights.install(weights.default_folder())
    with scratch() as folder, Warm(environment(folder, model=model)) as clsm:
        store = new_store(folder / "memory")
        rows = [
            {"speaker": "Mara", "session": "main", "content": text, "timestamp": f"2026-02-24T08:0{n}:00Z"}
            for n, text in enumerate(_TEXTS)
        ]  # fmt: skip
        take(store, stdin="".join(json.dumps(row) + "\n" for row in rows).encode())
        sleep(store, NOW)
        yield Ground(folder, clsm)


def _series(
    at: Ground, name: str, fault: str, faults: Sequence[int], spoil: Callable[[Path, int], None]
) -> Outcome:
    """Each fault on a fresh copy; wrong answers that nothing was said of are violations."""
    outcome = Outcome(f".clsm/{name}", fault, planned=len(faults))
    begin = time.monotonic()
    changed = noticed = 0
    for number in faults:
        at.restore()
        path = at.store / ".clsm" / name
        before = path.read_bytes()
        spoil(path, number)
        outcome.fired += not path.exists() or path.read_bytes() != before
        found, done = at.answers()
        for each in done:
            outcome.violations += [f"{fault} {number}: {text}" for text in each.faults(CODES)]
        if found != at.right:
            said = any(each.err or each.code for each in done)
            noticed += said
            changed += not said
            if not said:
                outcome.violations.append(f"{fault} {number}: another answer, and nothing said")
    outcome.seconds = time.monotonic() - begin
    outcome.more = f"{changed} other answers in silence; {noticed} told"
    at.restore()
    return outcome


def _turn(path: Path, number: int) -> None:
    data = bytearray(path.read_bytes())
    data[number % len(data)] ^= 1 << (number % 8) or 1
    path.write_bytes(data)


def _cut(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes()[:number])


def _delete(path: Path, _: int) -> None:
    path.unlink()


def _deleted(at: Ground) -> Outcome:
    """Without anything derived the answers are the same."""
    outcome = Outcome(".clsm", "deleted", planned=1, fired=1)
    shutil.rmtree(at.store / ".clsm")
    if at.answers()[0] != at.right:
        outcome.violations.append("another answer")
    (at.store / ".clsm").mkdir(exist_ok=True)
    at.restore()
    return outcome


def _run(flips: int, cuts: int, *, heads: bool, model: bool) -> Iterator[Outcome]:
    rng = random.Random(1)
    with ground(model=model) as at:
        yield _deleted(at)
        names = [
            p.relative_to(at.kept).as_posix() for p in sorted(at.kept.rglob("*")) if p.is_file()
        ]
        names = [name for name in names if not name.startswith(("runs/", "shadow"))]
        for name in names:
            size = (at.kept / name).stat().st_size
            if not size:
                continue
            share = flips if name.endswith(".sqlite") else max(2, flips // 8)
            chosen = sorted(rng.randrange(size) for _ in range(share))
            if heads and name.endswith(".sqlite"):
                chosen += [
                    *range(100),
                    *(page + n for page in range(PAGE, size, PAGE) for n in range(8)),
                ]
            yield _series(at, name, "a bit turned", chosen, _turn)
            yield _series(at, name, "cut", [0, *(rng.randrange(size) for _ in range(cuts))], _cut)
            yield _series(at, name, "deleted", [0], _delete)


def short() -> Iterator[Outcome]:
    """Some bytes of each file, without the model."""
    yield from _run(8, 1, heads=False, model=False)


def long() -> Iterator[Outcome]:
    """A thousand bytes, and all of the headers; some of each file with the model too."""
    yield from _run(1000, 40, heads=True, model=False)
    yield from _run(80, 5, heads=False, model=True)


def control() -> Iterator[Outcome]:
    """A reader that believes its cache: a briefing whose text was changed, signature and all."""
    with ground(model=False) as at:
        path = at.store / ".clsm" / "context.json"
        outcome = Outcome("json.loads(context.json)", "a letter changed", planned=1, fired=1)
        path.write_bytes(path.read_bytes().replace(b"Mara", b"Nara"))
        if b"Nara" in json.dumps(json.loads(path.read_bytes())).encode():
            outcome.violations.append("another answer, and nothing said")
        yield outcome


RIG = Rig("cache", (10,), short, long, control)
