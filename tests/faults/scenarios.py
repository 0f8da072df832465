"""Commands to interrupt, each with the store it starts from and what that store already promised."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ingesting import new_store, state_of, take
from sleeping import sleep

from clsm_cli.consolidation.correct import correct
from clsm_cli.embedding import weights
from clsm_cli.forgetting import memory
from clsm_cli.ingestion.note import write_note
from clsm_cli.store import atomic, logs
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample"
NOW = "2026-03-01T12:00:00+01:00"
CLSM = (sys.executable, "-m", "clsm_cli")
BAD = (sys.executable, str(Path(__file__).with_name("bad_writer.py")))


@dataclass(frozen=True)
class Scenario:
    """A command, and the store that it is run on.

    Attributes:
        prepare: Makes the store in a folder (which exists, empty) from the sources beside it.
        words: The command's words; ``{store}`` and ``{sources}`` are replaced, ``{run}`` by the last
            run of the store it starts from, ``{turn}`` by the first turn that says something of coffee.
        model: Whether the model is there; without it a run is short.
        takes_away: Whether it is there to remove turns.
        again: Exit codes of the command when it is run once more after it was done.
    """

    name: str
    prepare: Callable[[Path, Path], None]
    words: tuple[str, ...]
    stdin: bytes = b""
    model: bool = False
    program: tuple[str, ...] = field(default=CLSM)
    takes_away: bool = False
    again: tuple[int, ...] = (0,)

    def command(self, store: Path, sources: Path, before: Path) -> list[str]:
        names: dict[str, object] = {"store": store, "sources": sources}
        if "{run}" in self.words:
            rows = logs.rows(new_store(before).flow / "runs.jsonl")[0]
            names["run"] = rows[-1][1]["id"]
        if "{turn}" in self.words:
            held = memory.read(new_store(before), NOW).told
            names["turn"] = min(k for k, t in held.items() if "coffee" in t.turn.text)
        return [*self.program, *(word.format(**names) for word in self.words)]


def environment(folder: Path, *, model: bool) -> dict[str, str]:
    """Nothing in it may make two runs differ."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "CLSM_MODEL_DIR": str(weights.default_folder() if model else home / "no-model"),
        "CLSM_DEVICE": "pi",
        "TZ": "Europe/Amsterdam",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


def write_sources(folder: Path, version: int) -> Path:
    """An agent's memory, two days of it; the second changes, closes and adds."""
    folder.mkdir(exist_ok=True)
    memory = (SAMPLE / "workspace" / "MEMORY.md").read_text().splitlines(keepends=True)[:30]
    if version == 2:
        memory[8:10] = ["- The ferry leaves at nine now.\n"]
        del memory[14]
    (folder / "MEMORY.md").write_text("".join(memory))
    shutil.copy(SAMPLE / "workspace" / "USER.md", folder / "USER.md")
    chat = (SAMPLE / "sessions" / "a41f09c7.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "chat.jsonl").write_bytes(b"".join(chat if version == 2 else chat[:14]))
    return folder


def _nothing(store: Path, sources: Path) -> None:
    """``init`` makes it."""


def _begun(store: Path, sources: Path) -> None:
    """A store with notes, half a conversation and a person's note, on a machine without a model."""
    made = new_store(store)
    take(made, write_sources(sources, 1), model=False, now="2026-02-28T20:00:00+01:00")
    for text in ("Brian takes his coffee black.", "The gate code changes in May."):
        write_note(made, text, datetime.fromisoformat("2026-02-28T21:00:00+01:00"))
    write_sources(sources, 2)


def _captured(store: Path, sources: Path) -> None:
    """The same, one ingest later: all that is missing is the model's part."""
    _begun(store, sources)
    made = new_store(store)
    take(made, sources, model=False)
    state = state_of(made)
    assert state.waiting


def _described(store: Path, sources: Path) -> None:
    """A store in full use: episodes, records, an index with vectors, turns in an open episode."""
    _begun(store, sources)
    write_sources(sources, 1)
    take(new_store(store), sources)
    write_sources(sources, 2)


def _slept(store: Path, sources: Path) -> None:
    """A store after its first night, and a day later: notes changed, a conversation went on."""
    _begun(store, sources)
    write_sources(sources, 1)
    made = new_store(store)
    take(made, sources)
    sleep(made, "2026-02-28T23:00:00+01:00")
    write_sources(sources, 2)
    take(made, sources)


def _used(store: Path, sources: Path) -> None:
    """A store with a year behind it: recalls, a fact that was corrected, rows superseded long ago."""
    _slept(store, sources)
    made = new_store(store)
    held = memory.read(made, NOW)
    lines = [
        dump({"recall": f"r-{n}", "at": f"2026-03-{n + 1:02}T08:00:00Z", "ids": [key], "led": [""]})
        for n, key in enumerate(sorted(held.told)[:20])
    ]
    atomic.append(made.flow / "activation.jsonl", "\n".join(lines).encode())
    row = next(r for r in held.statements.values() if r.is_current and r.stream != "flow")
    moment = datetime.fromisoformat("2026-03-02T12:00:00+01:00")
    correct(made, row.id, "The gate code is not needed any more.", moment, lambda _: None)


def _hook() -> bytes:
    """What a hook pipes in: two turns, and the end of the conversation."""
    rows = [
        {"role": "user", "content": "Did the harbour master call?", "timestamp": NOW},
        {"role": "assistant", "content": "Not yet. I will ask tomorrow.", "timestamp": NOW},
        {"type": "end", "timestamp": NOW},
    ]
    return b"".join(json.dumps({**row, "session": "hook"}).encode() + b"\n" for row in rows)


_STORE = ("--store", "{store}", "--now", NOW)
SCENARIOS: Sequence[Scenario] = (
    Scenario("init", _nothing, ("init", "{store}", "--time-zone", "UTC")),
    Scenario("note", _begun, ("note", "The stove needs a new grate.", *_STORE)),
    Scenario("capture", _begun, ("ingest", "-", "--capture", *_STORE), stdin=_hook()),
    Scenario("words", _begun, ("ingest", "{sources}", *_STORE)),
    Scenario("segment", _captured, ("ingest", "{sources}", *_STORE), model=True),
    Scenario("whole", _described, ("ingest", "{sources}", *_STORE), model=True),
    Scenario("consolidate", _slept, ("consolidate", *_STORE), model=True),
    Scenario("decay", _used, ("decay", "--store", "{store}", "--now", "2036-06-10T03:00:00+02:00")),
    Scenario("forget", _slept, ("forget", "{turn}", "--yes", *_STORE), model=True, takes_away=True),
    Scenario("undo", _slept, ("undo", "{run}", *_STORE), takes_away=True, again=(0, 17)),
)
CONTROL = Scenario("control", _captured, ("ingest", "{sources}", *_STORE), model=True, program=BAD)
"""A writer with the habits that the rig must catch, see ``bad_writer``."""
