"""Damage of every kind to every kind of file: doctor finds it, mends what is safe, and loses nothing.

A store that has a file of each kind is damaged in one place: a byte flipped, the end cut off, lines
of a git conflict, a line twice, a record that leads nowhere, a file gone, two files exchanged, a
block of zeros, an empty file. It must be found where the ledger, a digest or the index knows how the
file was; elsewhere (``clsm.yaml``, a log that only grew since the last forget) another letter may be
another legal value, and is counted where it is found all the same.

Then ``--fix``, and: every memory that lies in another file is there, and so is every one that could
still be read; each line that was unreadable is in ``quarantine/`` or where it was; nothing is left
that doctor could mend; damage that is left is of the kinds that only a person can mend (``PERSON``).

Not shown: damage to git's own folder; damage to vectors that leaves their number; two at once.
"""

import contextlib
import json
import random
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from faults.rig import Outcome, Rig
from faults.stores import worn
from ingesting import embedder, scratch, tree
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from clsm_cli.embedding import weights
from clsm_cli.errors import ClsmError
from clsm_cli.forgetting import selection
from clsm_cli.health import diagnosis
from clsm_cli.health.diagnosis import Check
from clsm_cli.health.findings import Finding
from clsm_cli.store import layout
from clsm_cli.store.index import maintenance
from clsm_cli.store.shards import shard_name

MARKERS = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs\n")
_BLOCK = 512


@dataclass(frozen=True)
class Mutation:
    """What is done.

    Attributes:
        files: Path → new bytes, None for a file that goes.
    """

    kind: str
    files: dict[str, bytes | None]

    @property
    def what(self) -> str:
        """For a person."""
        return f"{self.kind} in {' and '.join(sorted(self.files))}"


def family(path: str) -> str:
    """The sort of file at a path, as figures are told of it; "" for one that is not damaged."""
    return next((sort for mark, sort in _SORTS if re.search(mark, path)), "")


_SORTS = (
    (r"^\.clsm/runs/", "kept for undo"), (r"^\.clsm/index/.*\.(?:sqlite|q4|q2)$", "index"),
    (r"^\.clsm/context\.json$", "briefing"), (r"^\.clsm/device$", "device"),
    (r"^tombstones/", "tombstones"), (r"^archive/", "archive"), (r"^clsm\.yaml$", "settings"),
    (r"/graph/", "shard"), (r"/episodes/", "episode"), (r"/inbox/", "inbox"), (r"\.jsonl$", "log"),
    (r"\.md$", "topic"),
)  # fmt: skip


def flip(data: bytes, rng: random.Random) -> bytes:
    """Change one byte."""
    changed = bytearray(data)
    place = rng.randrange(len(data))
    changed[place] ^= rng.choice([1, 2, 4, 8, 16, 32, 64, 128, rng.randrange(1, 256)])
    return bytes(changed)


def zero(data: bytes, rng: random.Random) -> bytes:
    """Write zeros over a block, as a disk does that lost a write."""
    place = rng.randrange(0, len(data), _BLOCK)
    length = min(_BLOCK, len(data) - place)
    return data[:place] + bytes(length) + data[place + length :]


def conflict(data: bytes, rng: random.Random) -> bytes:
    """Leave the lines of a git conflict round one line."""
    rows = data.splitlines(keepends=True)
    place = rng.randrange(len(rows))
    row = rows[place].removesuffix(b"\n") + b"\n"
    rows[place : place + 1] = [MARKERS[0], row, MARKERS[1], row, MARKERS[2]]
    return b"".join(rows)


def repeat(data: bytes, rng: random.Random) -> bytes:
    """Write a line twice."""
    rows = data.splitlines(keepends=True)
    place = rng.choice([n for n, row in enumerate(rows) if row.strip()] or [0])
    rows.insert(place, rows[place].removesuffix(b"\n") + b"\n")
    return b"".join(rows)


CHANGES: dict[str, Callable[[bytes, random.Random], bytes | None]] = {
    "flip": flip, "truncate": lambda data, rng: data[: rng.randrange(len(data))],
    "empty": lambda *_: b"", "delete": lambda *_: None, "zero": zero, "conflict": conflict,
    "repeat": repeat,
}  # fmt: skip
"""Damage to one file: what its bytes become."""
Files = dict[str, bytes | None]


def swap(files: Mapping[str, bytes], path: str, rng: random.Random) -> Files:
    """Exchange two files of one sort, or of any."""
    same = [p for p in files if p != path and family(p) == family(path) and files[p] != files[path]]
    others = same or [p for p in files if family(p) and p != path]
    other = rng.choice(sorted(others))
    return {path: files[other], other: files[path]}


def orphan(files: Mapping[str, bytes], path: str, rng: random.Random) -> Files:
    """Add a record, a turn or an episode that leads nowhere."""
    sort = family(path)
    number = f"{rng.randrange(16**12):012x}"
    if sort == "inbox":
        line = json.dumps({"end": number, "session": "open", "time": None})
        return {path: files[path] + line.encode() + b"\n"}
    if sort == "episode":
        return {path.replace(path[-15:-3], number): files[path]}
    rows = [
        {"id": f"g-{number}", "record": "edge", "rev": [1, "pi"], "source": "gone", "target": "no"},
        {"id": f"f-{number}", "record": "statement", "rev": [1, "pi"], "text": "It is so.",
         "stream": "flow", "superseded_at": "2026-03-01T00:00:00Z", "sources": [number]},
        {"id": f"e-{number}", "record": "episode", "rev": [1, "pi"], "title": "Gone"},
        {"id": f"d-{number}", "record": "document", "rev": [1, "pi"], "origin": "~/gone.md",
         "blocks": [{"key": number, "lines": [1, 1]}]},
    ]  # fmt: skip
    row = rng.choice(rows)
    home = f"{path.rpartition('/')[0]}/{shard_name(str(row['id']), 1)}"
    return {home: files.get(home, b"") + f"- {json.dumps(row)}\n".encode()}


MOVES = {"swap": swap, "orphan": orphan}
_LINES = frozenset(
    {"topic", "shard", "archive", "episode", "inbox", "log", "tombstones", "settings"}
)
_ONLY = {
    "conflict": _LINES,
    "repeat": _LINES,
    "orphan": frozenset({"shard", "archive", "inbox", "episode"}),
}
"""Kinds of damage that not every sort of file can have."""


def kinds(sort: str) -> list[str]:
    return [kind for kind in (*CHANGES, *MOVES) if sort in _ONLY.get(kind, {sort})]


PERSON = frozenset(
    {"bad-bytes", "cut-short", "forget-lost", "missing-episode", "missing-file", "settings-unusable",
     "shorter", "statements-gone", "turn-mismatch", "unreadable-head"}
)  # fmt: skip
"""Damage that a person must mend: there is nothing in the store to mend it from."""
SLOWEST = 2.0
"""Seconds of processor time that a look, or a mending, may take."""
SHORT, SERIES, LONG = 28, 250, 8
"""Mutations of the short form and of a series, and series of the long form."""
LEFT_OUT = "preimages"
"""The check that the control does without."""
_DERIVED = frozenset({"briefing", "device"})
"""Sorts of files that are simply made again."""
_UNWATCHED = frozenset({"settings", *_DERIVED})
"""Sorts of files of which no digest is kept, or which their reader makes anew."""


@dataclass
class Ground:
    """The store before any damage, and what it holds."""

    folder: Path
    store: layout.Store
    golden: Path
    files: dict[str, bytes]
    held: dict[str, tuple[str, str]]
    before: frozenset[tuple[str, str, str]]
    said: dict[str, Any]
    unknown: frozenset[str]
    slowest: float = 0.0
    told: Counter[str] = field(default_factory=Counter)

    def lay(self) -> None:
        """Put every file back, its time too."""
        shutil.rmtree(self.store.root)
        shutil.copytree(self.golden, self.store.root, symlinks=True)

    def timed(self, work: Callable[[], Any]) -> Any:
        """Do something, and remember how long it took at most."""
        began = time.process_time()
        try:
            return work()
        finally:
            self.slowest = max(self.slowest, time.process_time() - began)


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """Make the store, below a home folder: paths there have the same name in every run, and so have ids."""
    home = pytest.MonkeyPatch()
    with scratch() as folder, home.context() as patch:
        patch.setenv("CLSM_MODEL_DIR", str(weights.default_folder()))
        patch.setenv("HOME", str(folder))
        store = worn.make(folder / "memory")
        patch.undo()
        golden = folder / "golden"
        shutil.copytree(store.root, golden, symlinks=True)
        files = tree(golden, derived=True)
        before = diagnosis.diagnose(store, worn.AROUND)
        assert not [each for each in before if each.severity != "note"], before
        with contextlib.closing(_index_of(store)) as index:
            said = maintenance.contents(index)
        held, marks = memories(store), _marks(before)
        yield Ground(folder, store, golden, files, held, marks, said, _unknown(files))


def _index_of(store: layout.Store) -> sqlite3.Connection:
    return sqlite3.connect(store.derived / "index" / "index.sqlite")


def _unknown(files: dict[str, bytes]) -> frozenset[str]:
    """Logs that the ledger does not name since the last forget: that they are gone is not known."""
    told: set[str] = set()
    for line in files["flow/pi/runs.jsonl"].split(b"\n"):
        row = json.loads(line) if line else {}
        told |= {change["path"] for change in row.get("changes", ())}
        if row and not row["changes"]:
            told.clear()
    return frozenset(path for path in files if family(path) == "log" and path not in told)


def memories(store: layout.Store) -> dict[str, tuple[str, str]]:
    """What a store remembers: key of a turn or id of a statement → file and text."""
    held = selection.read_store(store, worn.NOW)
    places = {turn.key: path for path, each in held.episodes for turn in each.turns}
    places |= {item.turn.key: box.path for box in held.inboxes for item in box.turns}
    found = {
        key: (places[key].relative_to(store.root).as_posix(), told.turn.text)
        for key, told in held.turns.items()
    }
    for row in held.statements.values():
        if row.is_current:
            shard = f"flow/pi/graph/{shard_name(row.id, 1)}"  # what happened has no Markdown
            place = shard if row.stream == "flow" else f"{row.stream}/{row.topic}.md"
            found[row.id] = (place, row.text)
    return found


def _marks(findings: Iterable[Finding]) -> frozenset[tuple[str, str, str]]:
    return frozenset((each.code, each.path, each.reason) for each in findings)


def strike(ground: Ground, mutation: Mutation, *, checks: Mapping[str, Check]) -> list[str]:
    """Do one mutation; what is wrong with doctor afterwards."""
    ground.lay()
    for path, data in mutation.files.items():
        damaged = ground.store.root / path
        damaged.parent.mkdir(parents=True, exist_ok=True)
        damaged.unlink() if data is None else damaged.write_bytes(data)
    must_be_found = _must_be_found(ground, mutation)
    store, also = _opened(ground)
    if store is None:
        return []
    findings = [*also, *ground.timed(lambda: diagnosis.diagnose(store, worn.AROUND, checks))]
    if must_be_found and not _marks(findings) - ground.before:
        return ["was not found"]
    if also or checks is not diagnosis.CHECKS:
        return []  # a store without its settings is mended by a person first
    return _mended(ground, mutation, store)


def _opened(ground: Ground) -> tuple[layout.Store | None, list[Finding]]:
    """The store as ``clsm doctor`` opens it; None where it says that there is none."""
    root = ground.store.root
    try:
        found = layout.discover(str(root), {}, root)
        return diagnosis.open_any_store(found, {"CLSM_DEVICE": "pi"})
    except ClsmError:
        return None, []


def _must_be_found(ground: Ground, mutation: Mutation) -> bool:
    """Whether a file that the ledger or a digest covers is another one now, or the index is."""
    return any(
        _says_otherwise(ground, path)
        if path.startswith(".clsm/index/")
        else data != ground.files.get(path) and not _is_free(ground, path, data)
        for path, data in mutation.files.items()
    )


def _is_free(ground: Ground, path: str, data: bytes | None) -> bool:
    """Whether nothing says how a file was: a log that was written since, settings, what is made again."""
    return path in ground.unknown or family(path) in (_DERIVED if data is None else _UNWATCHED)


def _says_otherwise(ground: Ground, path: str) -> bool:
    """Whether the index cannot be read as it was; it must not be changed by the look."""
    damaged = ground.store.root / path
    if not damaged.exists():
        return True
    if not path.endswith(".sqlite"):
        return damaged.stat().st_size < len(ground.files[path])
    copy = ground.folder / "copy.sqlite"
    for old in ground.folder.glob("copy.sqlite*"):
        old.unlink()
    shutil.copy(ground.store.root / path, copy)
    try:
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            return maintenance.contents(connection) != ground.said
    except (sqlite3.Error, ValueError, TypeError, KeyError, OverflowError, UnicodeError):
        return True


def _mended(ground: Ground, mutation: Mutation, store: layout.Store) -> list[str]:
    """What is wrong after ``--fix``."""
    try:
        readable = memories(store)
    except (ClsmError, OSError, ValueError) as error:
        return [f"nothing can be read: {error!r}"]
    report = ground.timed(lambda: diagnosis.fix(store, worn.AROUND, embedder(), lambda *_: None))
    left = [each for each in report.findings if each.severity == "damage"]
    bad = [("left", each) for each in left if each.code not in PERSON]
    bad += [("still mends", each) for each in report.findings if each.mends]
    wrong = [f"{how} {each.code} in {each.path}: {each.reason}" for how, each in bad]
    ground.told["left to a person" if left else "mended"] += 1
    return [*wrong, *_lost(ground, mutation, readable), *_not_kept(ground, mutation)]


def _lost(ground: Ground, mutation: Mutation, readable: dict[str, tuple[str, str]]) -> list[str]:
    """Memories of other files, and those that could be read, are there."""
    now = memories(ground.store)
    wanted = {key for key, (path, _) in ground.held.items() if path not in mutation.files}
    gone = sorted((wanted | readable.keys()) - now.keys())
    other = sorted(k for k in wanted & now.keys() if now[k][1] != ground.held[k][1])
    return [f"lost {key}" for key in gone] + [f"changed {key}" for key in other]


def _not_kept(ground: Ground, mutation: Mutation) -> list[str]:
    """Lines that were there after the damage, could not be read, and are nowhere now."""
    now = b"".join(tree(ground.store.root).values())
    return [
        f"{line[:60]!r} of {path} is nowhere"
        for path, data in mutation.files.items()
        if data is not None and not path.startswith(".clsm/")
        for line in data.split(b"\n")
        if line.strip() and not line.startswith(b"#") and line not in now and not _is_read(line)
    ][:3]


def _is_read(line: bytes) -> bool:
    """Whether a line is a record, which is written in its own way."""
    text = line.decode(errors="replace").removeprefix("- ")
    with contextlib.suppress(ValueError):
        return isinstance(json.loads(text), dict)
    try:
        return isinstance(YAML(typ="safe").load(text), dict)  # clsm reads that too
    except YAMLError:
        return False


def chosen(ground: Ground, count: int, seed: int) -> Iterator[Mutation]:
    """Mutations, each sort of file and each kind of damage in turn."""
    rng = random.Random(seed)
    sorts: dict[str, list[str]] = {}
    for path, data in ground.files.items():
        if family(path) and data:
            sorts.setdefault(family(path), []).append(path)
    pairs = [(sort, kind) for sort in sorted(sorts) for kind in kinds(sort)]
    rng.shuffle(pairs)
    for number in range(count):
        sort, kind = pairs[number % len(pairs)]
        path, files = rng.choice(sorts[sort]), ground.files
        if kind in MOVES:
            yield Mutation(kind, MOVES[kind](files, path, rng))
        else:
            yield Mutation(kind, {path: CHANGES[kind](files[path], rng)})


def run(count: int, seed: int = 13, checks: Mapping[str, Check] = diagnosis.CHECKS) -> Outcome:
    """Strike so often, and tell of it; a doctor that lacks checks until it has missed something."""
    outcome = Outcome("doctor", "one damaged file")
    with ground() as made:
        for number, mutation in enumerate(chosen(made, count, seed)):
            try:
                wrong = strike(made, mutation, checks=checks)
            except Exception as error:  # noqa: BLE001 - a traceback is what must not be
                wrong = [f"traceback {error!r}"]
            outcome.tried(f"#{number} {mutation.what}: {text}" for text in wrong)
            if outcome.violations and checks is not diagnosis.CHECKS:
                break
        if made.slowest > SLOWEST:
            outcome.violations.append(f"took {made.slowest:.1f} s")
        told = "; ".join(f"{count} {name}" for name, count in sorted(made.told.items()))
        outcome.more = f"{told}; slowest {made.slowest:.2f} s"
    return outcome


RIG = Rig(
    "mutate",
    promises=(13,),
    short=lambda: [run(SHORT)],
    long=lambda: (run(SERIES, seed) for seed in range(LONG)),
    # A doctor that leaves a check out must miss something.
    control=lambda: [
        run(SHORT, checks={n: each for n, each in diagnosis.CHECKS.items() if n != LEFT_OUT})
    ],
)
