"""The life of a store until its power is cut: commands, and what each promised when it ended.

A promise counts from the moment at which the command was seen to end well. What a command is there
to take away is promised no more from the moment at which it begins.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from faults.running.wording import opened, turns_of
from sleeping import rows

from clsm_cli.errors import ClsmError
from clsm_cli.inspection.overview import overview
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs
from clsm_cli.store.layout import Store

LIGHT = {"note": 5, "capture": 6, "recall": 6, "ingest": 1}
"""How often a command is chosen, as hooks would run them."""
HEAVY = {"ingest": 3, "consolidate": 4, "correct": 2, "decay": 1, "forget": 2, "undo": 1}
"""The same for what takes longer than most lives last."""
_NOUNS = ("lamp", "ladder", "boat", "bicycle", "kettle", "piano", "camera", "violin", "tent")
_PLACES = ("York", "Leeds", "Delft", "the cellar", "the harbour", "the attic", "the garden")


class Step(NamedTuple):
    """A command.

    Attributes:
        kept: What becomes true when it has ended well with this JSON.
        refuses: Exit code by which it may say that it cannot; 0: none.
    """

    kind: str
    words: tuple[str, ...]
    stdin: bytes
    kept: Callable[[Any], None]
    refuses: int = 0


@dataclass(slots=True)
class Promised:
    """What a store must hold.

    Attributes:
        texts: Turns, each with the id that was printed, "" where none was.
        gone: Turns that must not be there, and ``erased``: words that no file may hold.
        rows: Ids of statements.
        recalls: Ids of recalls, and when they ended (``time.monotonic``).
    """

    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)
    recalls: dict[str, float] = field(default_factory=dict)


class Life:
    """Chooses commands for a store; the same seed, the same commands."""

    def __init__(self, root: Path, sources: Path, rng: random.Random) -> None:
        self.root = root
        self.promised = Promised()
        self._sources = sources
        self._rng = rng
        self._number = 0
        self._now = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)

    def step(self, kind: str) -> Step:
        """The next command of a kind."""
        found: Step = getattr(self, f"_{kind}")()
        return found._replace(words=(*found.words, "--json", "--store", str(self.root)))

    def some(self, among: dict[str, int]) -> str:
        """One kind of several, by their weights."""
        return self._rng.choices(list(among), list(among.values()))[0]

    def learn(self) -> None:
        """All statements that can be read now are promised; what was before is not any more."""
        found = rows(opened(self.root))
        self.promised.rows = {row.id for row in found.values() if row.kind != "gist"}

    def _text(self) -> str:
        self._number += 1
        noun, place = self._rng.choice(_NOUNS), self._rng.choice(_PLACES)
        return f"The {noun} of Korvu{self._number:05} stands in {place}."

    def _note(self) -> Step:
        text = self._text()

        def kept(told: Any) -> None:
            self.promised.texts[text] = told["id"]

        return Step("note", ("note", text), b"", kept)

    def _capture(self) -> Step:
        texts = [self._text() for _ in range(self._rng.randint(1, 3))]
        session = f"hook-{self._rng.randrange(3)}"
        lines = []
        for text in texts:
            self._now += timedelta(seconds=20)
            row = {"session": session, "role": "user", "content": text}
            lines.append(json.dumps({**row, "timestamp": self._now.isoformat()}))
        data = "\n".join(lines).encode() + b"\n"
        return Step("capture", ("ingest", "-", "--capture"), data, self._told(texts))

    def _ingest(self) -> Step:
        path = self._sources / "diary.md"
        texts = [self._text() for _ in range(2)]
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"\n{text}\n" for text in texts)
        return Step("ingest", ("ingest", str(path)), b"", self._told(texts))

    def _told(self, texts: list[str]) -> Callable[[Any], None]:
        return lambda _: self.promised.texts.update(dict.fromkeys(texts, ""))

    def _recall(self) -> Step:
        known = [*self.promised.texts] or ["the harbour"]

        def kept(told: Any) -> None:
            if told["answered"]:
                self.promised.recalls[told["recall_id"]] = time.monotonic()

        return Step("recall", ("recall", self._rng.choice(known)), b"", kept)

    def _consolidate(self) -> Step:
        return Step("consolidate", ("consolidate",), b"", lambda _: self.learn())

    def _decay(self) -> Step:
        return Step("decay", ("decay",), b"", lambda _: None)

    def _correct(self) -> Step:
        known = rows(opened(self.root)).values()
        current = sorted(row.id for row in known if row.is_current and row.kind != "gist")
        row, text = self._rng.choice(current), self._text()

        def kept(told: Any) -> None:
            self.promised.rows |= {row, told["is"]["id"]}

        return Step("correct", ("correct", row, text), b"", kept)

    def _forget(self) -> Step:
        known = sorted(text for text, key in self.promised.texts.items() if key)
        if not known:
            return self._note()
        text = self._rng.choice(known)
        key = self.promised.texts.pop(text)
        self.promised.rows.clear()  # what rests on it alone goes with it

        def kept(_: Any) -> None:
            self.promised.gone.add(text)
            self.promised.erased.add(text.split()[3].casefold())
            self.learn()

        return Step("forget", ("forget", key, "--yes"), b"", kept)

    def _undo(self) -> Step:
        """Takes back the newest run, if that was a note; what that needs is not synced."""
        runs = [row for _, row in logs.rows(opened(self.root).flow / "runs.jsonl")[0]]
        known = [text for text, key in self.promised.texts.items() if key]
        if not runs or runs[-1]["command"] != "note" or not known:
            return self._note()
        text = known[-1]
        del self.promised.texts[text]
        words = ("undo", str(runs[-1]["id"]))
        return Step("undo", words, b"", lambda _: self.promised.gone.add(text), refuses=17)


def missing(life: Life, cut: float, patience: float) -> tuple[list[str], int]:
    """What is wrong with a store after a cut.

    Args:
        life: What it must hold; recalls that may be lost and were are taken out of it.
        cut: When the power went (``time.monotonic``).
        patience: Seconds before it in which a recall may be lost.

    Returns:
        A sentence each, and how many recalls were lost that may be.
    """
    try:
        store = opened(life.root)
        wrong = [*_of_turns(store, life.promised), *_of_files(life.root, life.promised)]
        lost = life.promised.rows - rows(store).keys()
        wrong += [f"{len(lost)} statements are lost"] if lost else []
        found = overview(store).problems
        wrong += [f"status: {each}" for each in found if not each.path.endswith(".jsonl")]
        ages = _lost_recalls(store, life.promised, cut)
    except (ClsmError, OSError, AssertionError) as error:
        return [f"cannot be read: {error!r}"], 0
    old = [age for age in ages if age > patience]
    wrong += [f"a recall that ended {age:.1f} s before the cut is lost" for age in old]
    return wrong, len(ages) - len(old)


def _of_turns(store: Store, promised: Promised) -> list[str]:
    held = turns(store)
    wrong = [f"lost: {text}" for text in promised.texts if text not in held]
    wrong += [
        f"has another id: {text}"
        for text, key in promised.texts.items()
        if key and held.get(text, key) != key
    ]
    return wrong + [f"came back: {text}" for text in promised.gone if text in held]


def turns(store: Store) -> dict[str, str]:
    """Text → id of all turns that a reader sees."""
    forgotten = logs.load_tombstones(store)
    return {
        turn.text: turn.key
        for turn in turns_of(store)
        if not logs.is_forgotten(turn.key, forgotten)
    }


def _of_files(root: Path, promised: Promised) -> list[str]:
    """Words that were erased and are still in some file."""
    wrong = []
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        data = path.read_bytes().lower()
        found = [word for word in promised.erased if word.encode() in data]
        wrong += [f"{word} is still in {path.relative_to(root)}" for word in found]
    return wrong


def _lost_recalls(store: Store, promised: Promised, cut: float) -> list[float]:
    """How long before the cut recalls ended that are in no log; they are promised no more."""
    read = [row for name in logs.ACTIVATIONS for _, row in logs.rows(store.flow / name)[0]]
    there = {row.get("recall") for row in read}
    lost = [each for each in promised.recalls if each not in there]
    return [cut - promised.recalls.pop(each) for each in lost]
