"""Stores that commands begin from, made by the real program once a process, each from the last.

Everything lies below the home folder of the commands, so that ids, which may come from paths, are
the same in every run.
"""

import atexit
import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

from faults.crashes import trace
from faults.crashes.trace import Command, Forks
from ingesting import opened, scratch

from clsm_cli.embedding import weights
from clsm_cli.forgetting import selection
from clsm_cli.model.episodes import Turn
from clsm_cli.model.graph import Statement
from clsm_cli.store import atomic, episode_files, inbox, ledger, logs, shards
from clsm_cli.store.layout import Store

DEVICE = "pi"
NOW = "2026-03-01T12:00:00+01:00"


def turns_of(store: Store) -> Iterator[Turn]:
    """All turns of all machines, in episodes and in what is still open."""
    for flow in store.flows():
        for path in episode_files.files(flow):
            yield from episode_files.read(path).turns
        for path in inbox.files(flow / "inbox"):
            yield from (item.turn for item in inbox.read(path).turns)


def worded(words: Sequence[str], store: Path, sources: Path, before: Path) -> list[str]:
    """Words with their names in braces replaced; ids are those of the store ``before``."""
    values: dict[str, str] = {
        "store": str(store),
        "place": str(store.parent),
        "sources": str(sources),
    }
    for word in words:
        for _, name, _, _ in Formatter().parse(word):
            if name is not None and name not in values:
                values[name] = _IDS[name](opened(before))
    return [word.format(**values) for word in words]


def _last_run(store: Store, command: str = "") -> str:
    found = reversed(ledger.entries(store.flow))
    return next(entry.id for entry in found if command in entry.command)


def _turn(store: Store) -> str:
    turns = selection.read_store(store, NOW).turns.items()
    return min(key for key, told in turns if "coffee" in told.turn.text)


def _current(store: Store, *, drinks: bool) -> list[Statement]:
    rows = selection.read_store(store, NOW).statements.values()
    return [r for r in rows if r.is_current and ("coffee" in r.text) == drinks]


def _fact(store: Store) -> str:
    return min(r.id for r in _current(store, drinks=False) if r.stream == "identity")


def _drink(store: Store) -> str:
    return min(_current(store, drinks=True), key=lambda row: (row.stream, row.id)).id


_IDS: dict[str, Callable[[Store], str]] = {
    "run": _last_run,
    "night": lambda store: _last_run(store, "consolidate"),
    "turn": _turn,
    "fact": _fact,
    "drink": _drink,
}
"""What words of a command may name: the last run, the last consolidation, a turn …"""

SAMPLE = Path(__file__).parents[3] / "fixtures" / "sample"
EVENING, NIGHT, NEXT = (f"2026-{rest}:00:00+01:00" for rest in ("02-28T20", "02-28T23", "03-02T12"))
RECALL = "r-000000000000"
ITEM = logs.ReviewItem(
    "v-000000000000",
    "2026-03-01T09:00:00Z",
    ("heron", "egret"),
    "two names, perhaps of one thing",
    "heron",
    "egret",
    "open",
)
"""A question to a person."""


def environment(folder: Path, *, model: bool) -> dict[str, str]:
    """Nothing in it may make two runs differ."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": "/usr/bin:/bin", "HOME": str(home),
        "CLSM_MODEL_DIR": str(weights.default_folder() if model else home / "no-model"),
        "CLSM_DEVICE": DEVICE, "TZ": "Europe/Amsterdam", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(Path(__file__).parents[3]),
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        "EDITOR": "sed -i s/coffee/cocoa/",
    }  # fmt: skip


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


class Ground:
    """A folder with a home, sources and finished stores, and the process that made these."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environments = {model: environment(folder, model=model) for model in (False, True)}
        self.home = folder / "home"
        self.sources = write_sources(self.home / "sources", 2)
        self.forks = Forks(folder / "ground", self.environments[True])
        self._made: dict[str, Path] = {}

    def before(self, state: str) -> Path:
        """A store in a state, which nobody may change; missing for ``nothing``."""
        if state not in self._made:
            made, base = _STATES[state]
            laid = _Laid(self, self.home / state / "memory")
            laid.root.parent.mkdir()
            if base is not None:
                shutil.copytree(self.before(base), laid.root)
            made(laid)
            write_sources(self.sources, 2)
            self._made[state] = laid.root
        return self._made[state]


@cache
def ground() -> Ground:
    """The one of this process; it goes when the process ends."""
    kept = contextlib.ExitStack()
    atexit.register(kept.close)
    made = Ground(kept.enter_context(scratch()))
    kept.enter_context(made.forks)
    return made


class _Laid:
    """A store while it is made."""

    def __init__(self, ground: Ground, root: Path) -> None:
        self.ground = ground
        self.root = root

    def opened(self) -> Store:
        return opened(self.root)

    def command(self, *words: str, now: str, model: bool = True) -> Command:
        found = worded(words, self.root, self.ground.sources, self.root)
        where = ["--store", str(self.root), "--now", now]
        return Command([*found, *where], self.ground.environments[model])

    def clsm(self, *words: str, now: str, model: bool = True) -> None:
        ended = self.ground.forks.do(self.command(*words, now=now, model=model))
        assert ended.code == 0, ended.err

    def ingest(self, version: int, now: str = NOW, *, model: bool = True) -> None:
        write_sources(self.ground.sources, version)
        self.clsm("ingest", "{sources}", now=now, model=model)

    def cut(self, *words: str, after: tuple[str, str], at: str, now: str) -> None:
        """Kill a command at its first call ``at`` after another: name and path."""
        copy = self.root.with_name("whole")
        shutil.copytree(self.root, copy)
        command = self.command(*words, now=now)
        found = trace.points(self.ground.forks, command, self.root)
        shutil.rmtree(self.root)
        copy.rename(self.root)
        begun = [(each.name, each.path) for each in found].index(after)
        point = next(each for each in found[begun + 1 :] if each.name == at)
        _, fired = trace.strike(self.ground.forks, command, self.root, point, trace.KILL)
        assert fired


def _nothing(_: _Laid) -> None:
    """``init`` makes it."""


def _begun(laid: _Laid) -> None:
    """A store with notes, half a conversation and a person's note, on a machine without a model."""
    laid.clsm("init", "--time-zone", "Europe/Amsterdam", now=EVENING)
    laid.ingest(1, EVENING, model=False)
    for text in ("Brian takes his coffee black.", "The gate code changes in May."):
        laid.clsm("note", text, now=EVENING)


def _captured(laid: _Laid) -> None:
    """The same, one ingest later: all that is missing is the model's part."""
    laid.ingest(2, model=False)


def _described(laid: _Laid) -> None:
    """A store in full use: episodes, records, an index with vectors, turns in an open episode."""
    laid.ingest(1)


def _slept(laid: _Laid) -> None:
    """A store after its first night, and a day later: notes changed, a conversation went on."""
    laid.clsm("consolidate", now=NIGHT)
    laid.ingest(2)


def _used(laid: _Laid) -> None:
    """A store with two nights behind it: recalls, a correction, something for review, a pin."""
    laid.clsm("consolidate", now=NOW)
    store = laid.opened()
    for n, key in enumerate(sorted(selection.read_store(store, NOW).turns)[:20]):
        line = logs.Activation(f"r-{n:012}", f"2026-03-{n + 1:02}T08:00:00Z", (key,), ("",))
        atomic.append(store.flow / "activation.jsonl", line.render())
    atomic.append(store.flow / "review.jsonl", logs.render(ITEM))
    laid.clsm("correct", "{fact}", "The gate code is not needed any more.", now=NEXT)
    laid.clsm("pin", "juno", now=NEXT)


def _other_engine(laid: _Laid) -> None:
    """The vectors in the index are of another engine."""
    folder = laid.opened().derived / "index"
    with contextlib.closing(sqlite3.connect(folder / "index.sqlite")) as index, index:
        index.execute("UPDATE meta SET value = 'other' WHERE key = 'engine'")
    for name in ("sentences.q4", "tokens.q2"):
        path = folder / name
        path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))


def _backed_up(laid: _Laid) -> None:
    """There is a backup, and no store."""
    laid.clsm("backup", "{place}/memory.tar.gz", now=NEXT)
    shutil.rmtree(laid.root)


def _damaged(laid: _Laid) -> None:
    """Lines that cannot be read, in a shard and in a log."""
    store = laid.opened()
    for path in (shards.shard_files(store.graph("projects"))[0], store.flow / "review.jsonl"):
        path.write_bytes(path.read_bytes() + b'- {"id": \n')


def _half_slept(laid: _Laid) -> None:
    """A consolidation was killed after it wrote down what it would write."""
    laid.cut("consolidate", after=("rename", ".clsm/.tmp-redo"), at="rename", now=NOW)


def _half_forgotten(laid: _Laid) -> None:
    """A forget was killed after all was written, before every trace was destroyed."""
    laid.cut("forget", "{turn}", "--yes", after=("unlink", ".clsm/redo"), at="pwrite64", now=NOW)


_STATES: dict[str, tuple[Callable[[_Laid], None], str | None]] = {
    "nothing": (_nothing, None), "begun": (_begun, None), "captured": (_captured, "begun"),
    "described": (_described, "begun"), "slept": (_slept, "described"), "used": (_used, "slept"),
    "other engine": (_other_engine, "used"), "backed up": (_backed_up, "used"),
    "damaged": (_damaged, "used"), "half slept": (_half_slept, "slept"),
    "half forgotten": (_half_forgotten, "slept"),
}  # fmt: skip
"""Name → how it is made, and from which other."""
