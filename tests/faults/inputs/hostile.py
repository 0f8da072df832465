"""Text that was made to break a reader, in every place where clsm reads (promise 8).

Each input of ``hostile_inputs`` is taken in (a note, a transcript, a hook), put into a store (a
shard, a topic, an episode, an inbox, a log, a configuration …) and asked (a query, a line of a
batch). A command may refuse it by name or report it; it may not end in a traceback, hang, be
killed, take more than ``SECONDS`` of processor time or more than ``MEMORY`` MiB; what else lies in
the store must still be found; and nothing in the input may run. An input counts as fired when the
command really opened the file it stands in.

Not shown: what the model does with such a text is measured in the long form alone, where its time
grows with the number of passages and has no limit here.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from faults.inputs.hostile_inputs import FILLERS, JSON, KIB, MIB, TEXT, YAML, filled, large
from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, Warm, stage
from forking import Ended
from ingesting import opened, take

SECONDS, MEMORY = 2.0, 300
"""Processor seconds and MiB of a command at most."""
PART = 128 * KIB
"""Of what is taken in, so much may take ``SECONDS``: sentences, names, dates and changes are found."""
MEMORIES = 4096
"""And so many memories that it becomes: each is a row with its words."""
TRIES = 3
"""Of a command that takes too long."""
BUSY = 5
"""So many times as long in the short form, which runs beside other tests: it is to find a hang."""
CODES = frozenset({0, 2, 10, 11, 12, 13, 14, 15, 16, 17, 75})
"""Exit codes that clsm.errors names, and 2 for wrong use."""
KNOWN = "The spare key of the boathouse hangs behind the green lamp."
_TEXTS = ("I moved to Leeds.", KNOWN, "I prefer tea to coffee.", "Thanks.")
_QUESTION = "where is the spare key of the boathouse"
_RECALL = ("recall", "--no-touch", _QUESTION)
_STATUS = ("status", "--json")


def _front(data: bytes) -> bytes:
    return b"---\n" + data + b"\n---\n\n- a line\n"


def _as_settings(data: bytes) -> bytes:
    return b"format: 1\nstore: x\n" + data


_MARKED = {f"front matter: {name}": _front(data) for name, data in YAML.items()}


@dataclass(frozen=True)
class Place:
    """Where an input is put in a store.

    Attributes:
        commands: What reads it; each is run.
        must_answer: Whether a recall must still find what else is there.
    """

    path: str
    inputs: dict[str, bytes]
    commands: Sequence[Sequence[str]] = (_RECALL, _STATUS)
    must_answer: bool = True


_DECAY = ("decay", "--now", NOW, "--dry-run", "--json")
_SLEEP = ("consolidate", "--now", NOW, "--dry-run", "--json")
_LOGS = ("activation", "uses", "archived", "review", "runs")
_EPISODE = "flow/pi/episodes/2026/02/20260224T071500Z-e-0123456789ab.md"
PLACES = (
    Place("projects/graph/3.yaml", YAML | JSON, (_RECALL, _STATUS, ("graph",), ("context",))),
    Place("flow/x/graph/3.yaml", YAML, (_RECALL, _STATUS)),
    Place("archive/projects/3.yaml", YAML, (_DECAY, _RECALL, _STATUS)),
    Place("projects/evil.md", TEXT | _MARKED, (_RECALL, _STATUS, ("history", "boathouse"))),
    Place(_EPISODE, TEXT | _MARKED, (_RECALL, _STATUS, _SLEEP)),
    Place("flow/pi/inbox/evil.jsonl", JSON, (_RECALL, _STATUS, ("context",), ("ingest",))),
    *(
        Place(f"flow/pi/{name}.jsonl", JSON, (_DECAY, ("review", "--json"), _RECALL, _STATUS))
        for name in _LOGS
    ),
    Place("flow/pi/feedback.jsonl", JSON, (_RECALL, _STATUS)),
    Place("tombstones/x.jsonl", JSON, (_RECALL, _STATUS, ("note", "One more."))),
    Place("clsm.yaml", YAML | {f"settings: {n}": _as_settings(d) for n, d in YAML.items()},
          (_RECALL, _STATUS, ("note", "One more.")), must_answer=False),
    Place(".clsm/context.json", JSON, (("context",), ("context", "--format", "prompt"))),
    Place(".clsm/redo", JSON | YAML, (("ingest",), _RECALL, _STATUS, ("note", "One more."))),
    Place(".clsm/index/index.sqlite", TEXT, (_RECALL, _STATUS, ("ingest",))),
)  # fmt: skip


class Ground(Stage):
    """A store with an index to spoil, and the process that runs commands on copies of it."""

    seconds = SECONDS
    outcome: Outcome
    slowest: float
    highest: int

    def __init__(self, folder: Path, clsm: Warm) -> None:
        super().__init__(folder, clsm)
        note = folder / "note.md"
        note.write_text(f"# House\n\n{KNOWN}\n\n- Mara lives in Leeds.\n")
        take(opened(self.store), note)
        self.good = self.store.rename(folder / "good")

    def fresh(self) -> None:
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.good, self.store, symlinks=True)

    def run(
        self, what: str, *words: str | Path, parts: float = 0, stdin: bytes | Path = b""
    ) -> Ended:
        """A command; what no input may bring about goes into the outcome.

        One that takes too long is run again from where it began: what a busy machine slows down is
        not slow every time.

        Args:
            parts: How often it may take what a command may.
        """
        most = self.seconds * max(1, parts)
        before = self.folder / "before"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(self.store, before, symlinks=True)
        for number in range(TRIES):
            if number:
                shutil.rmtree(self.store)
                shutil.copytree(before, self.store, symlinks=True)
            ended = self(*words, stdin=stdin, seconds=most * 10 + 20, processor=int(most * 5 + 10))
            most = max(most, self.seconds * _added(ended) / MEMORIES)
            if ended.seconds <= most:
                break
        wrong = ended.faults(CODES)
        wrong += [f"took {ended.seconds:.1f} s"] if ended.seconds > most else []
        wrong += [f"took {ended.peak} MiB"] if ended.peak > MEMORY else []
        wrong += ["wrote into the working folder"] if os.listdir(self.cwd) else []
        self.outcome.violations += [f"{words[0]}, {what}: {each}" for each in wrong]
        self.slowest = max(self.slowest, ended.seconds)
        self.highest = max(self.highest, ended.peak)
        return ended

    @contextmanager
    def series(self, what: str, fault: str) -> Iterator[Outcome]:
        """An outcome that is filled while it is open."""
        self.outcome = Outcome(what, fault)
        self.slowest, self.highest = 0.0, 0
        yield self.outcome
        self.outcome.more = f"slowest {self.slowest:.1f} s; at most {self.highest} MiB"

    def knows(self, ended: Ended) -> bool:
        return KNOWN.encode() in ended.out


def _added(ended: Ended) -> int:
    """Memories that ``ingest --json`` made."""
    if not ended.out.startswith(b'{"schema": "clsm.ingest/'):
        return 0
    return sum(file["added"] for file in json.loads(ended.out)["files"])


def _planted(at: Ground, place: Place, names: Iterable[str], commands: int = 9) -> Outcome:
    with at.series(place.path, "is hostile") as outcome:
        for name in names:
            at.fresh()
            path = at.store / place.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(place.inputs[name])
            fired = False
            for words in place.commands[:commands]:
                ended = at.run(name, *words, parts=len(place.inputs[name]) / MIB)
                fired |= any(os.fspath(path) in heard for _, heard in ended.heard)
                if words == _RECALL and place.must_answer and not at.knows(ended):
                    outcome.violations.append(f"recall, {name}: {KNOWN!r} is not found")
            outcome.tried(fired=fired)
    return outcome


def _taken(at: Ground, title: str, inputs: dict[str, bytes], ending: str) -> Outcome:
    """A file that is named, or standard input; then what else is there is asked for."""
    with at.series(f"ingest {title}", "is hostile") as outcome:
        for number, (name, data) in enumerate(inputs.items()):
            at.fresh()
            path, parts = at.folder / f"input{number}.{ending}", len(data) / PART
            path.write_bytes(data)
            if ending == "stdin":
                at.run(name, "ingest", "-", "--capture", parts=parts, stdin=path)
                outcome.tried()
            else:
                ended = at.run(name, "ingest", path, "--json", "--now", NOW, parts=parts)
                outcome.tried(fired=("open", os.fspath(path)) in ended.heard)
            path.unlink()
            if not at.knows(at.run(f"{name}, afterwards", *_RECALL, parts=parts)):
                outcome.violations.append(f"{title}, {name}: {KNOWN!r} is not found afterwards")
    return outcome


def _asked(at: Ground, queries: Sequence[bytes]) -> Outcome:
    """Words on the command line, and lines of a batch beside a good one."""
    good = json.dumps({"id": "good", "query": _QUESTION}).encode()
    with at.series("recall", "a hostile query") as outcome:
        at.fresh()
        for number, query in enumerate(queries):
            word = query.replace(b"\0", b"")[: 100 * 1024].decode("utf-8", "surrogateescape")
            at.run(f"query {number}", "recall", "--no-touch", "--", word)
            row = json.dumps({"query": query.decode("latin-1")}).encode()
            batch, words = b"\n".join([query, row, good]), ("--no-touch", "--json", "--batch", "-")
            ended = at.run(f"batch {number}", "recall", *words, stdin=batch)
            wrong = [] if at.knows(ended) else [f"batch {number}: the good line has no answer"]
            outcome.tried(wrong, fired=ended.code == 0)
    return outcome


def _streamed(at: Ground, size: int) -> Outcome:
    """A line that never ends, from a pipe."""
    with at.series("ingest -", f"a line of {size // 10**6} MB") as outcome:
        at.fresh()
        pipe = at.folder / "pipe"
        os.mkfifo(pipe)
        row = b'{"role": "user", "content": "The kettle is blue.", "timestamp": "2026-02-24T09:00:00Z"}'

        def write() -> None:
            with open(pipe, "wb") as stream:
                stream.writelines(b"x" * MIB for _ in range(size // MIB))
                stream.write(b"\n" + row + b"\n")

        thread = threading.Thread(target=write)
        thread.start()
        ended = at.run("stream", "ingest", "-", "--capture", "--format", "jsonl", stdin=pipe)
        thread.join()
        is_found = b"kettle" in at.run("afterwards", "recall", "--no-touch", "kettle").out
        wrong = [] if is_found else ["what came behind the line is not found"]
        outcome.tried(wrong, fired=ended.code == 0)
    return outcome


def _fillers(size: int) -> dict[str, bytes]:
    return {f"{piece!r} again and again": filled(piece, size) for piece in FILLERS}


def _long() -> Iterator[Outcome]:
    """Every input in every place; without the model, then what is told with it."""
    with stage(Ground, _TEXTS) as at:
        for place in PLACES:
            yield _planted(at, place, place.inputs)
        yield _taken(at, "a note", TEXT | _MARKED | _fillers(PART), "md")
        yield _taken(at, "a long note", _fillers(MIB), "md")
        yield _taken(at, "a transcript", JSON, "jsonl")
        yield _taken(at, "a hook", JSON | TEXT, "stdin")
        for name, ending, data in large():
            yield _taken(at, name, {name: data}, ending)
        yield _streamed(at, 200 * 10**6)
        yield _asked(at, [*JSON.values(), *TEXT.values(), *_fillers(100 * 1024).values()])
    with stage(Ground, _TEXTS, model=True) as at:
        small = {name: data[: 64 * 1024] for name, data in (TEXT | _fillers(16 * 1024)).items()}
        yield _slept(at, small)


def _slept(at: Ground, inputs: dict[str, bytes]) -> Outcome:
    """Taken in by the model, and slept over: in all, as what a model costs is no part of a limit."""
    with at.series("ingest, consolidate", "hostile notes, with the model") as outcome:
        at.fresh()
        for number, (name, data) in enumerate(inputs.items()):
            path = at.folder / f"input{number}.md"
            path.write_bytes(data)
            for words in (("ingest", path, "--now", NOW), ("consolidate", "--now", NOW)):
                at.run(name, *words, parts=32)
            outcome.tried()
        if not at.knows(at.run("afterwards", *_RECALL, parts=8)):
            outcome.violations.append(f"{KNOWN!r} is not found afterwards")
    return outcome


def _short() -> Iterator[Outcome]:
    """Some inputs in each place, other ones in each."""
    with stage(Ground, _TEXTS) as at:
        at.seconds *= BUSY
        for number, place in enumerate(PLACES):
            yield _planted(at, place, list(place.inputs)[number % 7 :: 29][:1], 2)
        notes = dict(islice((TEXT | _MARKED).items(), 1, None, 25))
        yield _taken(at, "a note", notes, "md")
        yield _taken(at, "a transcript", dict(islice(JSON.items(), 0, None, 4)), "jsonl")
        yield _streamed(at, 100 * 10**6)
        yield _asked(at, list(islice(JSON.values(), 0, None, 9)))


_BARE = """
import json, sys, yaml
data = yaml.load(open(sys.argv[1], "rb").read(), yaml.CSafeLoader)
print(len(json.dumps(data)))
"""


def _control() -> Iterator[Outcome]:
    """A reader that trusts its input: PyYAML's, and what it gave written out."""
    outcome = Outcome("yaml.CSafeLoader", "is hostile")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        for name in ("100,000 [", "python tag", "NUL"):
            path.write_bytes(YAML[name])
            limits = "ulimit -v 1000000 -t 10; exec "
            done = subprocess.run(
                ["sh", "-c", f'{limits} "$0" -c "$1" "$2"', sys.executable, _BARE, str(path)],
                capture_output=True, check=False,
            )  # fmt: skip
            outcome.tried([f"{name}: ended with {done.returncode}"] if done.returncode else [])
    yield outcome


RIG = Rig("hostile", (8,), _short, _long, _control)
