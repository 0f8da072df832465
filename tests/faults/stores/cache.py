"""What is derived may rot: the answers stay, or it is noticed and made anew (promise 10).

Bytes of every file below ``.clsm`` are turned over, each file is cut short, and deleted. Then the
same questions are asked. An answer must be the one of before, or one that says what is wrong; and no
command may end in a traceback or be killed. After ``.clsm`` was deleted the answers must be the same.

Each byte of the headers of the database and its pages is tried, elsewhere a sample. What SQLite does
not notice by itself is a byte inside a text or a packed list; how often that changes an answer is
counted, see ``more``.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, Warm, stage
from forking import Ended

CODES = frozenset({0, 12, 13, 15, 16, 17})
QUESTIONS = ("where does Mara live", "what does Mara drink", "when does the ferry leave")
_TEXTS = (
    "I moved to Leeds in March.", "I prefer tea to coffee.", "The ferry leaves at nine.",
    "Call the harbour master.", "The spare key hangs behind the green lamp.",
)  # fmt: skip
PAGE = 2048
"""Bytes of a page of the database."""
_KEPT = ("memories", "answered", "text", "parts")
"""What of an answer is not of the moment."""


class Ground(Stage):
    """A store with all that is derived, and its answers."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        super().__init__(folder, clsm)
        self.derived, self.kept = self.store / ".clsm", folder / "kept"
        for words in (("recall", "tea"), ("context",), ("recall", "ferry")):
            self(*words, "--now", NOW)
        shutil.copytree(self.derived, self.kept)
        self.right = self.answers()[0]

    def restore(self) -> None:
        shutil.rmtree(self.derived, ignore_errors=True)
        shutil.copytree(self.kept, self.derived)

    def answers(self) -> tuple[list[Any], list[Ended]]:
        asked = [("recall", "--no-touch", text) for text in QUESTIONS]
        done = [self(*words, "--json", "--now", NOW) for words in (*asked, ("context",))]
        return [_plain(each.out) for each in done], done


def _plain(out: bytes) -> Any:
    try:
        value = json.loads(out)
    except ValueError:
        return None
    found = {key: value[key] for key in _KEPT if key in value}
    for memory in found.get("memories", ()):
        memory.pop("score", None)
    return found


def _series(
    at: Ground, name: str, fault: str, faults: Sequence[int], spoil: Callable[[Path, int], None]
) -> Outcome:
    """Each fault on a fresh copy; wrong answers that nothing was said of are violations."""
    outcome = Outcome(f".clsm/{name}", fault)
    changed = noticed = 0
    for number in faults:
        at.restore()
        path = at.derived / name
        before = path.read_bytes()
        spoil(path, number)
        fired = not path.exists() or path.read_bytes() != before
        found, done = at.answers()
        wrong = [text for each in done for text in each.faults(CODES)]
        if found != at.right:
            said = any(each.err or each.code for each in done)
            noticed += said
            changed += not said
            wrong += [] if said else ["another answer, and nothing said"]
        outcome.tried([f"{fault} {number}: {text}" for text in wrong], fired=fired)
    outcome.more = f"{changed} other answers in silence; {noticed} told"
    return outcome


def _turn(path: Path, number: int) -> None:
    data = bytearray(path.read_bytes())
    data[number % len(data)] ^= 1 << (number % 8) or 1
    path.write_bytes(data)


def _cut(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes()[:number])


def _delete(path: Path, _: int) -> None:
    path.unlink()


def _run(flips: int, cuts: int, *, heads: bool = False, model: bool = False) -> Iterator[Outcome]:
    rng = random.Random(1)
    with stage(Ground, _TEXTS, model=model) as at:
        outcome = Outcome(".clsm", "deleted")
        shutil.rmtree(at.derived)
        outcome.tried([] if at.answers()[0] == at.right else ["another answer"])
        yield outcome
        files = {p.relative_to(at.kept).as_posix(): p for p in at.kept.rglob("*") if p.is_file()}
        for name in sorted(n for n in files if not n.startswith("runs/")):
            size, is_database = files[name].stat().st_size, name.endswith(".sqlite")
            if not size:
                continue
            share = flips if is_database else max(2, flips // 8)
            chosen = sorted(rng.randrange(size) for _ in range(share))
            if heads and is_database:
                chosen += range(100)
                chosen += [page + n for page in range(PAGE, size, PAGE) for n in range(8)]
            yield _series(at, name, "a bit turned", chosen, _turn)
            yield _series(at, name, "cut", [0, *(rng.randrange(size) for _ in range(cuts))], _cut)
            yield _series(at, name, "deleted", [0], _delete)


def _long() -> Iterator[Outcome]:
    """A thousand bytes, and all of the headers; some of each file with the model too."""
    yield from _run(1000, 40, heads=True)
    yield from _run(80, 5, model=True)


def _control() -> Iterator[Outcome]:
    """A reader that believes its cache: a briefing whose text was changed, signature and all."""
    with stage(Ground, _TEXTS) as at:
        outcome = Outcome("json.loads(context.json)", "a letter changed")
        shown = (at.derived / "context.json").read_bytes().replace(b"Mara", b"Nara")
        is_wrong = b"Nara" in json.dumps(json.loads(shown)).encode()
        outcome.tried(["another answer, and nothing said"] if is_wrong else [])
        yield outcome


RIG = Rig("cache", (10,), lambda: _run(8, 1), _long, _control)
