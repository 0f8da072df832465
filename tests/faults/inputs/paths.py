"""Nothing outside the store and its inputs is read or written, whatever names say (promise 9).

Names of conversations, speakers, messages, tools, devices, records, topics and files are made of
what has led programs astray: parents, roots, NUL, links, pipes, devices, twins by case, dots that
only look so, 300 characters, dashes, commands. Each file and folder of a store is replaced by a
link to a copy outside, which holds a word of its own; and the files that tell clsm where to write
(what a cut-off run was about to write, what an undo puts back, the topic of a statement) are
forged. Afterwards the tree outside must have its bytes, its word must be nowhere in the store nor in
what was printed, and by the audit hook of ``warm`` no other place may have been opened.
"""

import base64
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, Warm, stage
from forking import Ended

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


_SYSTEM = ("/proc/", "/dev/null", "/etc/machine-id", "/var/lib/dbus", "/usr/share/zoneinfo", "/etc/localtime", "/usr/bin/git")  # fmt: skip


class Ground(Stage):
    """A stage, and a tree outside with a word of its own."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        super().__init__(folder, clsm)
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "file").write_text(f"{WORD} is not yours\n")
        ours = (self.store, self.folder / "inputs", self.folder / "home", weights.default_folder())
        self._allowed = (*map(str, ours), *_SYSTEM)

    def try_(
        self, outcome: Outcome, what: str, *words: str | Path, stdin: bytes = b"", **more: Any
    ) -> Ended:
        """Run a command, and count what it did that it may not."""
        before = tree(self.outside)
        ended = self(*words, stdin=stdin, seconds=600, **more)
        outcome.tried(f"{what}: {text}" for text in self.wrong(ended, before))
        return ended

    def wrong(self, ended: Ended, before: dict[str, object]) -> Iterator[str]:
        if ended.has_traceback:
            yield f"traceback {ended.err[-200:]!r}"
        if ended.timed_out:
            yield "hangs"
        if WORD.encode() in ended.out + ended.err:
            yield "shows what stands outside"
        if tree(self.outside) != before:
            yield "changed the tree outside"
        if os.listdir(self.cwd):
            yield f"wrote {os.listdir(self.cwd)} where it ran"
        for event, path in ended.heard:
            plain = path.removeprefix("file:").partition("?")[0]
            full = os.path.normpath(os.path.join(self.cwd, plain))
            is_name = "/" not in plain and plain != ".."  # in a folder that is open already
            if not is_name and not full.startswith(self._allowed):
                yield f"{event} of {path}"


def tree(folder: Path) -> dict[str, object]:
    """Every file, link and folder below, and what it is."""

    def what(path: Path) -> object:
        if path.is_symlink():
            return os.readlink(path)
        return path.read_bytes() if path.is_file() else "folder"

    return {str(path): what(path) for path in folder.rglob("*")}


_TEXTS = ("I moved to Leeds.", "I prefer tea to coffee.", "Call the harbour.")


def _linked(at: Ground, every: int) -> Outcome:
    """Each file and folder of the store is a link to its copy outside, which says more."""
    outcome = Outcome("recall, status, note, consolidate", "a link inside the store")
    kept, away = at.folder / "kept", at.outside / "away"
    shutil.copytree(at.store, kept, symlinks=True)
    inside = [p.relative_to(kept) for p in sorted(kept.rglob("*")) if p.name != "clsm.yaml"]
    for path in inside[::every]:
        shutil.rmtree(at.store)
        shutil.copytree(kept, at.store, symlinks=True)
        shutil.move(at.store / path, away)
        for file in [away, *away.rglob("*")]:
            kind = path.suffix if file == away else file.suffix
            if kind in (".md", ".jsonl", ".json"):
                file.write_bytes(file.read_bytes().replace(b"tea", WORD.encode()))
        (at.store / path).symlink_to(away)
        for words in (
            "recall prefer coffee",
            "status",
            "note Another.",
            f"consolidate --now {NOW}",
        ):
            at.try_(outcome, f"{words}, {path} is a link", *words.split())
        held = [p for p in at.store.rglob("*") if p.is_file() and not p.is_symlink()]
        held = [p for p in held if ".clsm/runs" not in str(p) and away not in p.resolve().parents]
        if any(WORD.encode() in p.read_bytes() for p in held):
            outcome.violations.append(f"{path} is a link: what it leads to was taken in")
        shutil.rmtree(away) if away.is_dir() else away.unlink(missing_ok=True)
    shutil.rmtree(at.store)
    shutil.move(kept, at.store)
    return outcome


def _named(at: Ground, count: int) -> Outcome:
    """Names of conversations, speakers, messages and tools, all in one hook."""
    outcome = Outcome("ingest -", "names that are paths")
    told = names(count)
    rows = [
        {"session": name, "speaker": name, "id": name, "tool": name, "path": name, "content": f"text {n}",
         "role": "tool" if n % 2 else "user", "timestamp": "2026-02-24T09:00:00Z"}
        for n, name in enumerate(told)
    ]  # fmt: skip
    stdin = "".join(json.dumps(row) + "\n" for row in rows).encode()
    ended = at.try_(outcome, "ingest", "ingest", "-", "--capture", stdin=stdin)
    outcome.planned = len(told)
    outcome.fired = len(told) if ended.code == 0 else 0
    for path in (at.store / "flow").rglob("*"):
        if not _SAFE.fullmatch(path.stem) and not path.name.startswith("2026"):
            outcome.violations.append(f"made {path.name!r}")
    for name in told:
        made = file_name_of(name)
        if not is_id(made) or made in (".", ".."):
            outcome.violations.append(f"{name!r} became {made!r}")
        if is_id(name) and not _SAFE.fullmatch(name):
            outcome.violations.append(f"{name!r} is taken for an id")
    return outcome


_FORMS = (
    "show -- {}", "history -- {}", "undo -- {}", "forget --yes -- {}", "pin -- {}", "edit -- {}",
    "feedback --good x -- {}", "review --accept={}", "recall --session={} x", "note x", "correct -- {} x",
)  # fmt: skip


def _asked(at: Ground, count: int) -> Outcome:
    """The same as ids, paths and devices on the command line."""
    outcome = Outcome("show, history, undo, forget, ingest …", "ids that are paths")
    fit = [name for name in names(count * 3) if "\0" not in name and "\ud800" not in name]
    for number, name in enumerate(fit[:count]):
        form = _FORMS[number % len(_FORMS)]
        words = [word.replace("{}", name) for word in form.split()]
        more: dict[str, Any] = {"CLSM_DEVICE": name} if form == "note x" else {}
        at.try_(outcome, f"{words[0]} {name[:40]!r}", *words, EDITOR="true", **more)
    return outcome


def _sources(at: Ground) -> Outcome:
    """A folder of links, pipes, devices and names, and each of them named."""
    outcome = Outcome("ingest", "sources that are no files")
    inputs = at.folder / "inputs"
    inputs.mkdir()
    (inputs / "good.md").write_text("The pier is red.\n")
    (inputs / "Good.MD").write_text("The Pier is blue.\n")
    os.mkfifo(inputs / "pipe.md")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as end:
        end.bind(str(inputs / "socket.md"))
    for name in ("$(touch pwned)", "-rf", "--store", "`touch pwned`", "a\nb", "\uff0e\uff0e"):
        (inputs / f"{name}.md").write_text(f"A file called {name!r}.\n")
    files = sorted(inputs.iterdir())
    (inputs / "link.md").symlink_to(at.outside / "file")
    (inputs / "folder").symlink_to(at.outside)
    (inputs / "loop").symlink_to(inputs)
    named: list[str | Path] = [inputs, *files, "/dev/zero", "/dev/tty", inputs / ("a" * 300), ""]
    for path in named:
        at.try_(outcome, f"ingest {str(path)[-40:]!r}", "ingest", "--capture", "--", path)
    if b"red" not in at("recall", "--no-touch", "what colour is the pier").out:
        outcome.violations.append("the good file was not read")
    return outcome


def _forged(at: Ground, every: int) -> Outcome:
    """Files of the store that say where to write, and say: outside."""
    outcome = Outcome("note, undo, consolidate, correct", "a forged path in the store")
    text = base64.b64encode(b"pwned").decode()
    new = hashlib.sha256(b"pwned").hexdigest()
    old = hashlib.sha256((at.outside / "file").read_bytes()).hexdigest()
    run = "run-0f3a9c12d08e"
    paths = ("../outside/file", "../outside/new", str(at.outside / "file"), "projects/../../outside/file",
             "flow/../../outside/new.jsonl", ".clsm/../../outside/new")  # fmt: skip
    for path in paths[::every]:
        change = {"path": path, "before": old, "after": new, "size": 1, "added": text}
        line = {"id": run, "command": "note", "at": NOW, "changes": [change]}
        (at.store / ".clsm" / "redo").write_text(json.dumps({"line": line, "data": [text]}))
        at.try_(outcome, f"redo {path}", "note", "One more.")
        (at.store / ".clsm" / "redo").unlink(missing_ok=True)
        undone = {**line, "changes": [{**change, "before": new, "after": old}]}
        with (at.store / "flow/pi/runs.jsonl").open("a") as log:
            log.write(f"\n{json.dumps(undone)}\n")
        kept = at.store / ".clsm/runs" / run
        atomic.make_folder(kept)
        for name in (new, "0", new[:12]):
            (kept / name).write_bytes(b"pwned")
        at.try_(outcome, f"undo {path}", "undo", run)
    fish = "Eels are fish."
    for topic in ("../../outside/file", "../outside", "/etc", "..")[::every]:
        row = Statement(
            id="f-0f3a9c12d08e", rev=(99, "pi"), text=fish, text_sha=topics.text_sha(fish),
            stream="projects", topic=topic, recorded_at="2026-02-24T22:00:00Z",
        )  # fmt: skip
        folder = at.store / "projects" / "graph"
        atomic.make_folder(folder)
        (folder / shards.shard_name(row.id, 1)).write_bytes(shards.render([row]))
        for words in (("correct", row.id, "Eels are birds."), ("consolidate", "--yes")):
            at.try_(outcome, f"topic {topic}", *words, "--now", NOW)
    return outcome


def _all(forged: int, every: int, count: int, asked: int) -> Iterator[Outcome]:
    with stage(Ground, _TEXTS) as at:
        for words in (("note", "A note that waits."), ("recall", "tea"), ("context",)):
            at(*words)
        yield _forged(at, forged)
        yield _sources(at)
        yield _asked(at, asked)
        yield _linked(at, every)
        yield _named(at, count)


def _control() -> Iterator[Outcome]:
    """A reader that opens what it is told, and a writer that believes a name."""
    with stage(Ground) as at:
        before = tree(at.outside)
        path = at.store / "../outside/file"
        shown = path.read_bytes()
        path.with_name("new").write_text("x")
        ended = Ended(0, shown, b"", noted=json.dumps(["open", str(path)]).encode())
        outcome = Outcome("open(name)", "names that are paths")
        outcome.tried(at.wrong(ended, before))
        yield outcome


_FORMS_OF_IT = partial(_all, 2, 50, 120, 10), partial(_all, 1, 1, 10_000, 500)
RIG = Rig("paths", (9,), *_FORMS_OF_IT, _control)
