"""Nothing outside the store and its inputs is read or written, whatever names say (promise 9).

Names of conversations, speakers, messages, tools, devices, records, topics and files are made of
what has led programs astray: parents, roots, NUL, links, pipes, devices, twins by case, dots that
only look so, 300 characters, dashes, commands. Each file and folder of a store is replaced by a
link to a copy outside, which holds a word of its own; and the files that tell clsm where to write
(what a cut-off run was about to write, what an undo puts back, the topic of a statement) are
forged. Afterwards the tree outside must have its bytes, its word must be nowhere in the store nor in
what was printed, and by the audit hook of ``warm`` no other place may have been opened.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.scenarios import NOW, environment
from faults.running.warm import Ended, Warm
from ingesting import new_store, scratch, take
from sleeping import sleep

from clsm_cli.embedding import weights
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import file_name_of, is_id
from clsm_cli.store import atomic, shards, topics

WORD = "zanzibar"
"""Stands outside alone."""
SEGMENTS = (
    "..", ".", "", "etc", "passwd", "~", "\0", "a" * 300, "NOTES", "notes", "-rf", "--store", "$(touch pwned)",
    "`touch pwned`", "; touch pwned", "\uff0e\uff0e", "\u2025", "con", "nul", ".git", ".clsm", "%2e%2e", "\\..", "*",
    "\n", "\x1b[2J", "\u202e", "\ud800", "e\u0301", "\u00e9", "clsm.yaml", ".tmp-x", " ", "|", "&", "\t", "''", '"',
)  # fmt: skip
_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


def names(count: int) -> list[str]:
    """The first names of up to four segments, joined as paths; each segment comes early."""
    made = itertools.chain.from_iterable(
        itertools.product(SEGMENTS, repeat=length) for length in (1, 2, 3, 4)
    )
    joined = ("/".join(parts) for parts in made)
    rooted = itertools.chain.from_iterable((name, "/" + name) for name in joined)
    step = 1 if count > 5000 else 7
    return list(itertools.islice(rooted, 0, count * step, step))


class Ground:
    """A store, a tree outside with a word of its own, and a place to work in."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        self.folder, self.clsm = folder, clsm
        self.store, self.outside = folder / "memory", folder / "outside"
        self.cwd = folder / "cwd"
        self.cwd.mkdir(exist_ok=True)
        self.outside.mkdir(exist_ok=True)
        (self.outside / "file").write_text(f"{WORD} is not yours\n")

    def run(
        self, *words: str | Path, stdin: bytes = b"", environment: dict[str, str] | None = None
    ) -> Ended:
        """A command on the store."""
        return self.clsm(
            *words,
            "--store",
            self.store,
            cwd=self.cwd,
            stdin=stdin,
            seconds=60,
            environment=environment,
        )

    def wrong(self, what: str, ended: Ended, before: dict[str, str]) -> list[str]:
        """What a command did that it may not."""
        found = [f"{what}: traceback {ended.err[-200:]!r}"] if ended.has_traceback else []
        if ended.timed_out:
            found.append(f"{what}: hangs")
        if WORD.encode() in ended.out + ended.err:
            found.append(f"{what}: shows what stands outside")
        if tree(self.outside) != before:
            found.append(f"{what}: changed the tree outside")
        if os.listdir(self.cwd):
            found.append(f"{what}: wrote {os.listdir(self.cwd)} where it ran")
        for event, path in ended.heard:
            if not self._is_allowed(path):
                found.append(f"{what}: {event} of {path}")
        return found

    def _is_allowed(self, path: str) -> bool:
        plain = path.removeprefix("file:").partition("?")[0]
        full = os.path.normpath(os.path.join(self.cwd, plain))
        ours = (self.store, self.folder / "inputs", self.folder / "home", weights.default_folder())
        system = (
            "/proc/",
            "/dev/null",
            "/etc/machine-id",
            "/var/lib/dbus",
            "/usr/share/zoneinfo",
            "/etc/localtime",
        )
        return (
            full == ":memory:" or full.startswith((*map(str, ours), *system)) or plain == ":memory:"
        )


def tree(folder: Path) -> dict[str, str]:
    """Every file, link and folder below, with a digest of what it is."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[str(path)] = "folder"
    return found


@contextmanager
def ground() -> Iterator[Ground]:
    """A store that slept once; the word is in none of it."""
    weights.install(weights.default_folder())
    with scratch() as folder, Warm(environment(folder, model=False)) as clsm:
        store = new_store(folder / "memory")
        rows = [
            {"speaker": "Mara", "session": "main", "content": text, "timestamp": f"2026-02-24T08:0{n}:00Z"}
            for n, text in enumerate(("I moved to Leeds.", "I prefer tea to coffee.", "Call the harbour."))
        ]  # fmt: skip
        take(store, stdin="".join(json.dumps(row) + "\n" for row in rows).encode())
        sleep(store, NOW)
        at = Ground(folder, clsm)
        at.run("note", "A note that waits.")
        at.run("recall", "tea")
        at.run("context")
        yield at


def _linked(at: Ground, every: int) -> Outcome:
    """Each file and folder of the store is a link to its copy outside, which says more."""
    outcome = Outcome("recall, status, note, consolidate", "a link inside the store")
    begin = time.monotonic()
    kept = at.folder / "kept"
    shutil.copytree(at.store, kept, symlinks=True)
    inside = [
        path.relative_to(kept) for path in sorted(kept.rglob("*")) if path.name != "clsm.yaml"
    ]
    for path in inside[::every]:
        shutil.rmtree(at.store)
        shutil.copytree(kept, at.store, symlinks=True)
        away = at.outside / "away"
        shutil.move(at.store / path, away)
        for file in [away, *away.rglob("*")]:
            if file.suffix in (".md", ".jsonl", ".json") or (
                file == away and path.suffix in (".md", ".jsonl")
            ):
                file.write_bytes(file.read_bytes().replace(b"tea", WORD.encode()))
        (at.store / path).symlink_to(away)
        before = tree(at.outside)
        outcome.planned += 1
        outcome.fired += 1
        for words in (
            ("recall", "prefer coffee"),
            ("status",),
            ("note", "Another."),
            ("consolidate", "--now", NOW),
        ):
            ended = at.run(*words)
            outcome.violations += at.wrong(f"{words[0]}, {path} is a link", ended, before)
        held = [
            p
            for p in at.store.rglob("*")
            if p.is_file() and not p.is_symlink() and ".clsm/runs" not in str(p)
        ]
        if any(WORD.encode() in p.read_bytes() for p in held if away not in p.resolve().parents):
            outcome.violations.append(f"{path} is a link: what it leads to was taken in")
        shutil.rmtree(away) if away.is_dir() else away.unlink(missing_ok=True)
    shutil.rmtree(at.store)
    shutil.move(kept, at.store)
    outcome.seconds = time.monotonic() - begin
    return outcome


def _named(at: Ground, count: int) -> Outcome:
    """Names of conversations, speakers, messages and tools, all in one hook."""
    outcome = Outcome("ingest -", "names that are paths")
    begin = time.monotonic()
    told = names(count)
    rows = [
        {"session": name, "speaker": name, "id": name, "tool": name, "path": name, "content": f"text {n}",
         "role": "tool" if n % 2 else "user", "timestamp": "2026-02-24T09:00:00Z"}
        for n, name in enumerate(told)
    ]  # fmt: skip
    before = tree(at.outside)
    stdin = "".join(json.dumps(row) + "\n" for row in rows).encode()
    ended = at.clsm(
        "ingest", "-", "--capture", "--store", at.store, cwd=at.cwd, stdin=stdin, seconds=600
    )
    outcome.planned = len(told)
    outcome.fired = len(told) if ended.code == 0 else 0
    outcome.violations += at.wrong("ingest", ended, before)
    for path in (at.store / "flow").rglob("*"):
        if not _SAFE.fullmatch(path.stem) and not path.name.startswith("2026"):
            outcome.violations.append(f"made {path.name!r}")
    for name in told:
        made = file_name_of(name)
        if not is_id(made) or made in (".", ".."):
            outcome.violations.append(f"{name!r} became {made!r}")
        if is_id(name) and not _SAFE.fullmatch(name):
            outcome.violations.append(f"{name!r} is taken for an id")
    outcome.seconds = time.monotonic() - begin
    return outcome


def _asked(at: Ground, count: int) -> Outcome:
    """The same as ids, paths and devices on the command line."""
    outcome = Outcome("show, history, undo, forget, ingest …", "ids that are paths")
    begin = time.monotonic()
    before = tree(at.outside)
    chosen = [name for name in names(count * 3) if "\0" not in name and "\ud800" not in name][
        :count
    ]
    for number, name in enumerate(chosen):
        forms: list[tuple[tuple[str, ...], dict[str, str]]] = [
            (("show", "--", name), {}), (("history", "--", name), {}), (("undo", "--", name), {}),
            (("forget", "--yes", "--", name), {}), (("pin", "--", name), {}), (("edit", "--", name), {}),
            (("feedback", "--good", "x", "--", name), {}), (("review", "--accept=" + name), {}),
            (("recall", "--session=" + name, "x"), {}), (("note", "x"), {"CLSM_DEVICE": name}),
            (("correct", "--", name, "x"), {}),
        ]  # fmt: skip
        words, more = forms[number % len(forms)]
        ended = at.run(*words, environment={"EDITOR": "true", **more})
        outcome.planned += 1
        outcome.fired += 1
        outcome.violations += at.wrong(f"{words[0]} {name[:40]!r}", ended, before)
    outcome.seconds = time.monotonic() - begin
    return outcome


def _sources(at: Ground) -> Outcome:
    """A folder of links, pipes, devices and names, and each of them named."""
    outcome = Outcome("ingest", "sources that are no files")
    begin = time.monotonic()
    inputs = at.folder / "inputs"
    inputs.mkdir()
    (inputs / "good.md").write_text("The pier is red.\n")
    (inputs / "Good.MD").write_text("The Pier is blue.\n")
    (inputs / "link.md").symlink_to(at.outside / "file")
    (inputs / "folder").symlink_to(at.outside)
    (inputs / "loop").symlink_to(inputs)
    os.mkfifo(inputs / "pipe.md")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as end:
        end.bind(str(inputs / "socket.md"))
    for name in (
        "$(touch pwned).md",
        "-rf.md",
        "--store.md",
        "`touch pwned`.md",
        "a\nb.md",
        "\uff0e\uff0e.md",
    ):
        (inputs / name).write_text(f"A file called {name!r}.\n")
    before = tree(at.outside)
    words: list[Sequence[str | Path]] = [
        ("ingest", inputs), *(("ingest", "--", inputs / name) for name in sorted(os.listdir(inputs)) if name not in ("folder", "link.md", "loop")),
        ("ingest", "/dev/zero"), ("ingest", "/dev/tty"), ("ingest", inputs / ("a" * 300)), ("ingest", ""),
    ]  # fmt: skip
    for each in words:
        ended = (
            at.run(*each, "--capture")
            if each[1] != "--"
            else at.run("ingest", "--capture", *each[1:])
        )
        outcome.planned += 1
        outcome.fired += 1
        outcome.violations += at.wrong(f"ingest {str(each[-1])[-40:]!r}", ended, before)
    found = at.run("recall", "--no-touch", "what colour is the pier")
    if b"red" not in found.out:
        outcome.violations.append("the good file was not read")
    outcome.seconds = time.monotonic() - begin
    return outcome


def _forged(at: Ground, every: int) -> Outcome:
    """Files of the store that say where to write, and say: outside."""
    outcome = Outcome("note, undo, consolidate, correct", "a forged path in the store")
    begin = time.monotonic()
    text = base64.b64encode(b"pwned").decode()
    old = hashlib.sha256((at.outside / "file").read_bytes()).hexdigest()
    paths = ("../outside/file", "../outside/new", str(at.outside / "file"), "projects/../../outside/file",
             "flow/../../outside/new.jsonl", ".clsm/../../outside/new")  # fmt: skip
    for path in paths[::every]:
        change = {
            "path": path,
            "before": old,
            "after": hashlib.sha256(b"pwned").hexdigest(),
            "size": 1,
            "added": text,
        }
        line = {"id": "run-0f3a9c12d08e", "command": "note", "at": NOW, "changes": [change]}
        (at.store / ".clsm" / "redo").write_text(json.dumps({"line": line, "data": [text]}))
        _try(at, outcome, f"redo {path}", ("note", "One more."))
        (at.store / ".clsm" / "redo").unlink(missing_ok=True)
        undone = {**line, "changes": [{**change, "before": change["after"], "after": old}]}
        with (at.store / "flow/pi/runs.jsonl").open("a") as log:
            log.write("\n" + json.dumps(undone) + "\n")
        kept = at.store / ".clsm/runs/run-0f3a9c12d08e"
        for name in (change["after"], "0", str(change["after"])[:12]):
            atomic.make_folder(kept)
            (kept / str(name)).write_bytes(b"pwned")
        _try(at, outcome, f"undo {path}", ("undo", "run-0f3a9c12d08e"))
    for topic in ("../../outside/file", "../outside", "/etc", "..")[::every]:
        row = Statement(
            id="f-0f3a9c12d08e", rev=(99, "pi"), text="Eels are fish.", text_sha=topics.text_sha("Eels are fish."),
            stream="projects", topic=topic, recorded_at="2026-02-24T22:00:00Z",
        )  # fmt: skip
        folder = at.store / "projects" / "graph"
        atomic.make_folder(folder)
        (folder / shards.shard_name(row.id, 1)).write_bytes(shards.render([row]))
        _try(
            at,
            outcome,
            f"topic {topic}",
            ("correct", "f-0f3a9c12d08e", "Eels are birds.", "--now", NOW),
        )
        _try(at, outcome, f"topic {topic}", ("consolidate", "--now", NOW, "--yes"))
    outcome.seconds = time.monotonic() - begin
    return outcome


def _try(at: Ground, outcome: Outcome, what: str, words: Sequence[str]) -> None:
    before = tree(at.outside)
    ended = at.run(*words)
    outcome.planned += 1
    outcome.fired += 1
    outcome.violations += at.wrong(what, ended, before)


def _all(forged: int, every: int, count: int, asked: int) -> Iterator[Outcome]:
    with ground() as at:
        yield _forged(at, forged)
        yield _sources(at)
        yield _asked(at, asked)
        yield _linked(at, every)
        yield _named(at, count)


def short() -> Iterator[Outcome]:
    """Some of each."""
    yield from _all(2, 50, 120, 10)


def long() -> Iterator[Outcome]:
    """All forged files, every file and folder as a link, 10,000 names, 500 ids."""
    yield from _all(1, 1, 10_000, 500)


def control() -> Iterator[Outcome]:
    """A reader that opens what it is told, and a writer that believes a name."""
    with scratch() as folder, Warm(environment(folder, model=False)) as clsm:
        at = Ground(folder, clsm)
        before = tree(at.outside)
        outcome = Outcome("open(name)", "names that are paths", planned=1, fired=1)
        path = at.folder / "memory" / "../outside/file"
        at.store.mkdir()
        shown = path.read_bytes()
        path.with_name("new").write_text("x")
        from faults.running.warm import Ended

        ended = Ended(0, shown, b"", 0.0, 0, False, frozenset({("open", str(path))}))
        outcome.violations = at.wrong("open", ended, before)
        yield outcome


RIG = Rig("paths", (9,), short, long, control)
